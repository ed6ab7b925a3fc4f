"""An API server with one Job, its Workload and pods, which keeps resourceVersions as a real one."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from unit.cluster.api_server import Answer, Object, Request, failure

JOB_PATH = "/apis/batch/v1/namespaces/n/jobs/one"
WORKLOADS_PATH = "/apis/kueue.x-k8s.io/v1beta2/namespaces/n/workloads"
WORKLOAD_PATH = f"{WORKLOADS_PATH}/job-one"
PODS_PATH = "/api/v1/namespaces/n/pods"
JOB_UID = "uid-of-one"


def job(**spec: Any) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": "one", "namespace": "n", "uid": JOB_UID, "resourceVersion": "1"},
        "spec": {"suspend": False, "parallelism": 1, **spec},
    }


def workload() -> Object:
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "one", "uid": JOB_UID}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": "job-one",
            "namespace": "n",
            "uid": "uid-of-workload",
            "resourceVersion": "1",
            "labels": {"kueue.x-k8s.io/job-uid": JOB_UID},
            "ownerReferences": [{**owner, "controller": True}],
        },
        "spec": {"active": True, "queueName": "team"},
    }


@dataclass
class HeldServer:
    """`before` is called with each request that is a GET or a PUT; an Answer is given instead.

    After a write of another, `touch` has another resourceVersion.
    """

    objects: dict[str, Object] = field(
        default_factory=lambda: {JOB_PATH: job(), WORKLOAD_PATH: workload()}
    )
    pods: list[Object] = field(default_factory=list)
    before: Callable[[Request], Answer | None] = lambda request: None
    lose: int = 0

    def __call__(self, request: Request) -> Answer:
        if (instead := self.before(request)) is not None:
            return instead
        if request.method == "PUT":
            answer = self._write(request)
            if self.lose:
                self.lose -= 1
                return Answer(lost=True)
            return answer
        if request.path == WORKLOADS_PATH:
            return _listing([self.objects[WORKLOAD_PATH]] if WORKLOAD_PATH in self.objects else [])
        if request.path == PODS_PATH:
            return _listing(self.pods)
        found = self.objects.get(request.path)
        return failure(404, "NotFound") if found is None else Answer(200, found)

    def touch(self, path: str) -> None:
        """A write of the status."""
        self._put(path, self.objects[path])

    def annotations(self, path: str) -> dict[str, str]:
        """The annotations of an object, without the domain; not the history."""
        found = self.objects[path]["metadata"].get("annotations") or {}
        short = {key.split("/")[1]: value for key, value in found.items()}
        short.pop("hold-history", None)
        return short

    def _write(self, request: Request) -> Answer:
        there = self.objects.get(request.path)
        if there is None:
            return failure(404, "NotFound")
        if request.body["metadata"]["resourceVersion"] != there["metadata"]["resourceVersion"]:
            return failure(409, "Conflict", "the object has been modified")
        return Answer(200, self._put(request.path, request.body))

    def _put(self, path: str, body: Object) -> Object:
        version = int(self.objects[path]["metadata"]["resourceVersion"]) + 1
        stored = copy.deepcopy(body)
        stored["metadata"]["resourceVersion"] = str(version)
        self.objects[path] = stored
        return stored


def _listing(items: list[Object]) -> Answer:
    return Answer(200, {"metadata": {"resourceVersion": "1"}, "items": items})
