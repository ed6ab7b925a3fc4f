"""A Job and its QueueUnit behind HTTP, with just enough of an API server for tests of faults.

Merge patches, resourceVersions, uids and dry runs are as on a real one. A CRD without
``spec.active`` refuses or drops the field; the server can be stopped after any write.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from unit.cluster.api_server import Answer, Object, Request, failure
from unit.reconcile.live_objects import NAMESPACE, applied, job

from converter.names import (
    KOORD_ACTIVE_ANNOTATION,
    KOORD_QUOTA_LABEL,
    KUEUE_QUEUE_LABEL,
    MANAGED_BY_LABEL,
    MANAGED_BY_VALUE,
    PAUSED_ANNOTATION,
)

BY_GIT = {KOORD_ACTIVE_ANNOTATION: "false", PAUSED_ANNOTATION: "true"}
JOB_PATH = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs/scan"
UNITS_PATH = f"/apis/scheduling.x-k8s.io/v1alpha1/namespaces/{NAMESPACE}/queueunits"
UNIT_PATH = f"{UNITS_PATH}/scan"
SCHEMA_PATH = "/openapi/v3/apis/scheduling.x-k8s.io/v1alpha1"
STRICT = 'strict decoding error: unknown field "spec.active"'


def koord_job(
    annotations: Mapping[str, str] | None = None, *, suspend: bool = True, **status: Any
) -> Object:
    """A campaign's Job in the quota ``gpu``, live."""
    live = applied(job("scan", suspended=True))
    labels = live["metadata"]["labels"]
    del labels[KUEUE_QUEUE_LABEL], live["metadata"]["annotations"]["gitops-campaigns.io/suspend"]
    labels[KOORD_QUOTA_LABEL] = "gpu"
    live["metadata"]["annotations"] |= dict(annotations or {})
    live["metadata"]["creationTimestamp"] = "2026-01-01T00:00:00Z"
    live["spec"]["suspend"] = suspend
    live["status"] = status
    return live


def queue_unit(
    of: Object,
    phase: str = "",
    *,
    active: bool | None = None,
    annotations: Mapping[str, str] | None = None,
    **status: Any,
) -> Object:
    """The QueueUnit of a Job, as Koord-Queue makes it; without a phase it has no status."""
    named = of["metadata"]["name"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": named, "uid": of["metadata"]["uid"]}
    spec: Object = {"podSet": [{"name": named, "count": 2}]}
    if active is not None:
        spec["active"] = active
    made: Object = {
        "apiVersion": "scheduling.x-k8s.io/v1alpha1",
        "kind": "QueueUnit",
        "metadata": {
            "name": named,
            "namespace": NAMESPACE,
            "uid": f"uid-unit-{named}",
            "resourceVersion": "1",
            "labels": {MANAGED_BY_LABEL: MANAGED_BY_VALUE, KOORD_QUOTA_LABEL: "gpu"},
            "annotations": dict(annotations or {}),
            "ownerReferences": [owner],
        },
        "spec": spec,
    }
    if phase:
        made["status"] = {"phase": phase, "lastUpdateTime": "2026-01-01T01:00:00Z", **status}
    return made


@dataclass
class KoordStore:
    """`declares` says whether QueueUnits have ``spec.active``, `strict` whether that is said.

    `writes_left` None means no end; at 0 no write is answered as an API server would. `before` is
    called with each request; an Answer of its is given instead.
    """

    objects: dict[str, Object] = field(default_factory=dict)
    declares: bool = True
    strict: bool = True
    writes_left: int | None = None
    before: Callable[[Request], Answer | None] = lambda request: None

    def put(self, *objects: Object) -> KoordStore:
        for each in objects:
            path = JOB_PATH if each["kind"] == "Job" else UNIT_PATH
            self.objects[path] = copy.deepcopy(each)
        return self

    @property
    def job(self) -> Object:
        return self.objects[JOB_PATH]

    @property
    def unit(self) -> Object:
        return self.objects[UNIT_PATH]

    def touch(self, path: str) -> None:
        """A write of somebody else."""
        metadata = self.objects[path]["metadata"]
        metadata["resourceVersion"] = str(int(metadata["resourceVersion"]) + 1)

    def __call__(self, request: Request) -> Answer:
        if (instead := self.before(request)) is not None:
            return instead
        if request.path == SCHEMA_PATH:
            return Answer(200, _schema(["podSet", *(["active"] if self.declares else [])]))
        if request.method == "GET":
            return self._read(request.path)
        if self.writes_left == 0:
            return Answer(200, b"<html>")
        answer = self._patch(request)
        if answer.status == 200 and "dryRun" not in request.query and self.writes_left is not None:
            self.writes_left -= 1
        return answer

    def _read(self, path: str) -> Answer:
        if path in (UNITS_PATH, JOB_PATH.rpartition("/")[0]):
            found = [each for at, each in self.objects.items() if at.startswith(f"{path}/")]
            return Answer(200, {"metadata": {"resourceVersion": "1"}, "items": found})
        there = self.objects.get(path)
        return failure(404, "NotFound") if there is None else Answer(200, there)

    def _patch(self, request: Request) -> Answer:
        there = self.objects.get(request.path)
        if there is None:
            return failure(404, "NotFound")
        patch = copy.deepcopy(request.body)
        for key in ("uid", "resourceVersion"):
            wanted = patch.get("metadata", {}).pop(key, None)
            if wanted not in (None, there["metadata"][key]):
                return failure(409, "Conflict", "the object has been modified")
        if request.path == UNIT_PATH and not self.declares and "active" in patch.get("spec", {}):
            if self.strict and request.query.get("fieldValidation") == "Strict":
                return failure(422, "Invalid", STRICT)
            del patch["spec"]["active"]
        after = _merged(there, patch)
        if "dryRun" not in request.query and after != there:
            self.objects[request.path] = after
            self.touch(request.path)
        return Answer(200, copy.deepcopy(after))


def _merged(value: Any, patch: Mapping[str, Any]) -> Object:
    result = copy.deepcopy(value) if isinstance(value, dict) else {}
    for key, member in patch.items():
        if member is None:
            result.pop(key, None)
        elif isinstance(member, Mapping):
            result[key] = _merged(result.get(key), member)
        else:
            result[key] = member
    return result


def _schema(fields: list[str]) -> Object:
    kind = {"group": "scheduling.x-k8s.io", "version": "v1alpha1", "kind": "QueueUnit"}
    spec: Object = {"properties": {name: {} for name in fields}}
    schema = {"x-kubernetes-group-version-kind": [kind], "properties": {"spec": spec}}
    return {"components": {"schemas": {"unit": schema}}}
