"""An API server with a campaign of several parts: Jobs, their Workloads, pods and Events."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from unit.cluster.api_server import Answer, Object, Request, failure

from converter.names import (
    CAMPAIGN_LABEL,
    KUEUE_JOB_UID_LABEL,
    MANAGED_BY_LABEL,
    MANAGED_BY_VALUE,
    REPOSITORY_ANNOTATION,
    ROLE_LABEL,
)

NAMESPACE = "team"
REPOSITORY = "git.example.com/team/campaigns"
COMPLETE = {"conditions": [{"type": "Complete", "status": "True"}]}


def job(
    name: str, campaign: str = "letters", repository: str = REPOSITORY, *, ended: bool = False
) -> Object:
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "uid": f"uid-{name}",
            "resourceVersion": "1",
            "labels": {
                MANAGED_BY_LABEL: MANAGED_BY_VALUE,
                CAMPAIGN_LABEL: campaign,
                ROLE_LABEL: "campaign",
            },
            "annotations": {REPOSITORY_ANNOTATION: repository},
        },
        "spec": {"suspend": False},
        "status": COMPLETE if ended else {"active": 1},
    }


def workload(of: Object, **spec: Any) -> Object:
    owner = {"apiVersion": "batch/v1", "kind": of["kind"], "controller": True}
    named, uid = of["metadata"]["name"], of["metadata"]["uid"]
    conditions = []
    if (of.get("status") or {}) == COMPLETE:
        conditions.append({"type": "Finished", "status": "True"})
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "Workload",
        "metadata": {
            "name": f"job-{named}",
            "namespace": NAMESPACE,
            "uid": f"uid-job-{named}",
            "resourceVersion": "1",
            "labels": {KUEUE_JOB_UID_LABEL: uid},
            "ownerReferences": [{**owner, "name": named, "uid": uid}],
        },
        "spec": {"active": True, **spec},
        "status": {"conditions": conditions},
    }


def jobs_and_workloads(*jobs: Object) -> list[Object]:
    return [each for made in jobs for each in (made, workload(made))]


@dataclass
class Server:
    """By plural and name. `refuses` gives an answer of its own to a request, or None."""

    objects: dict[str, dict[str, Object]] = field(
        default_factory=lambda: {
            name: {} for name in ("jobs", "workloads", "trainjobs", "pods", "events")
        }
    )
    refuses: Callable[[Request], Answer | None] = lambda request: None

    def add(self, *objects: Object) -> Server:
        for each in objects:
            plural = f"{each['kind'].lower()}s"
            self.objects[plural][each["metadata"]["name"]] = copy.deepcopy(each)
        return self

    def __call__(self, request: Request) -> Answer:
        if (answer := self.refuses(request)) is not None:
            return answer
        plural, *named = request.path.partition(f"/namespaces/{NAMESPACE}/")[2].split("/")
        kind = self.objects[plural]
        if request.method == "POST":
            kind[request.body["metadata"]["name"]] = request.body
            return Answer(201, request.body)
        if not named:
            found = [each for each in kind.values() if _chosen(each, request)]
            return Answer(200, {"metadata": {}, "items": found})
        live = kind.get(named[0])
        if live is None:
            return failure(404, "NotFound", f'{plural} "{named[0]}" not found')
        if request.method == "GET":
            return Answer(200, live)
        version = live["metadata"]["resourceVersion"]
        if request.body["metadata"]["resourceVersion"] != version:
            return failure(409, "Conflict")
        kind[named[0]] = copy.deepcopy(request.body)
        kind[named[0]]["metadata"]["resourceVersion"] = str(int(version) + 1)
        return Answer(200, kind[named[0]])

    @property
    def events(self) -> list[Object]:
        return list(self.objects["events"].values())


def _chosen(live: Object, request: Request) -> bool:
    """Whether a label selector of equalities and existing keys takes an object."""
    labels = live["metadata"].get("labels", {})
    wanted = filter(None, request.query.get("labelSelector", "").split(","))
    return all(
        labels.get(key) == value if equals else key in labels
        for key, equals, value in (each.partition("=") for each in wanted)
    )
