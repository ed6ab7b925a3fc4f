"""A namespace behind HTTP with just enough of server-side apply and of Kueue for tests of faults.

The normal ways are tested on a real cluster; this one can be stopped between any two writes, and it
notes every Job that could start pods without having been admitted.
"""

import copy
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from unit.cluster.api_server import Answer, Object, Request, failure
from unit.cluster.lease_store import LeaseStore
from unit.reconcile.live_objects import fields_of
from unit.reconcile.queue_objects import roomy

from converter.names import KUEUE_JOB_UID_LABEL, KUEUE_QUEUE_LABEL

Path = tuple[str, ...]

QUEUE_KINDS = ("localqueues/", "clusterqueues/", "resourceflavors/", "workloadpriorityclasses/")


@dataclass
class Namespace:
    """`writes_left` None means no end; at 0 no request is answered as an API server would.

    `refuses` gives an answer of its own to a request, or None. `default_queue` is the LocalQueue
    that Kueue's webhook puts Jobs without a queue into. `queues` are the queue objects, by plural
    and name. With `stops` false Kueue does nothing about a Workload that was made inactive.
    """

    objects: dict[str, dict[str, Object]] = field(
        default_factory=lambda: {"jobs": {}, "configmaps": {}, "workloads": {}}
    )
    leases: LeaseStore = field(default_factory=LeaseStore)
    writes_left: int | None = None
    default_queue: str = ""
    queues: dict[str, Object] = field(default_factory=roomy)
    stops: bool = True
    refuses: Callable[[Request], Answer | None] = lambda request: None
    written: list[tuple[str, str]] = field(default_factory=list)
    started_unadmitted: list[str] = field(default_factory=list)
    _made: Counter[str] = field(default_factory=Counter)

    def __call__(self, request: Request) -> Answer:
        if self.writes_left == 0:
            return Answer(200, b"<html>")
        if "/leases" in request.path:
            return self.leases(request)
        if request.query.get("watch") == "true":
            # It has lists only: who would rather watch has to ask again and again.
            return failure(405, "MethodNotAllowed")
        if (answer := self.refuses(request)) is not None:
            return answer
        plural, _, name_of = request.path.rpartition("/")
        if (of_queue := f"{plural.rpartition('/')[2]}/{name_of}").startswith(QUEUE_KINDS):
            found = self.queues.get(of_queue)
            return failure(404, "NotFound") if found is None else Answer(200, found)
        _, _, place = request.path.partition("/namespaces/")
        _, plural, *name = place.split("/")
        kind = self.objects[plural]
        if request.method == "GET":
            if not name:
                return Answer(200, {"metadata": {}, "items": list(kind.values())})
            return Answer(200, kind[name[0]]) if name[0] in kind else failure(404, "NotFound")
        answer = self._write(request, kind, plural, name[0])
        if answer.status == 200 and "dryRun" not in request.query:
            self.written.append((request.method, f"{plural}/{name[0]}"))
            if self.writes_left is not None:
                self.writes_left -= 1
        return answer

    def add(self, *objects: Object) -> None:
        for each in objects:
            plural = {"Job": "jobs", "ConfigMap": "configmaps"}.get(
                each.get("kind", ""), "workloads"
            )
            self.objects[plural][each["metadata"]["name"]] = copy.deepcopy(each)

    def job(self, name: str = "scan") -> Object:
        return self.objects["jobs"][name]

    def _write(self, request: Request, kind: dict[str, Object], plural: str, name: str) -> Answer:
        live = kind.get(name)
        if request.method == "DELETE":
            if live is None:
                return failure(404, "NotFound")
            if live["metadata"]["uid"] != request.body["preconditions"]["uid"]:
                return failure(409, "Conflict")
            del kind[name]
            return Answer(200, {})
        if plural == "workloads":
            if live is None:
                return failure(404, "NotFound")
            read = request.body.get("metadata", {}).get("resourceVersion")
            if read not in (None, live["metadata"]["resourceVersion"]):
                return failure(409, "Conflict")
            live["spec"] |= request.body.get("spec", {})
            noted = request.body.get("metadata", {}).get("annotations", {})
            live["metadata"].setdefault("annotations", {}).update(noted)
            self._suspend_as_kueue_does(live)
            return Answer(200, live)
        return self._apply(request, kind, plural, name)

    def _suspend_as_kueue_does(self, workload: Object) -> None:
        """Kueue stops the Job of a Workload that was made inactive."""
        of = workload["metadata"]["labels"][KUEUE_JOB_UID_LABEL]
        for job in self.objects["jobs"].values():
            if self.stops and job["metadata"]["uid"] == of:
                job["spec"]["suspend"] |= workload["spec"].get("active") is False

    def _apply(self, request: Request, kind: dict[str, Object], plural: str, name: str) -> Answer:
        manager, body = request.query["fieldManager"], copy.deepcopy(request.body)
        live = copy.deepcopy(kind.get(name))
        uid = body["metadata"].pop("uid", "")
        if uid and live is None:
            return failure(409, "Conflict", "uid mismatch: the object was deleted")
        if live is None:
            live = self._created(body, plural)
        elif uid and live["metadata"]["uid"] != uid:
            return failure(422, "Invalid", "metadata.uid")
        wanted = set(_leaves(fields_of(body)))
        entries = live["metadata"]["managedFields"]
        for entry in entries:
            taken = [
                path
                for path in set(_leaves(entry["fieldsV1"])) & wanted
                if entry["manager"] != manager and _get(live, path) != _get(body, path)
            ]
            if taken and "force" not in request.query:
                return _conflict(entry["manager"], taken[0])
        others = {
            path
            for entry in entries
            if entry["manager"] != manager
            for path in _leaves(entry["fieldsV1"])
        }
        for entry in [entry for entry in entries if entry["manager"] == manager]:
            for path in set(_leaves(entry["fieldsV1"])) - wanted - others:
                _drop(live, path)
            entries.remove(entry)
        for path in wanted:
            _set(live, path, _get(body, path))
        entries.append({"manager": manager, "operation": "Apply", "fieldsV1": fields_of(body)})
        if "dryRun" in request.query:
            return Answer(200 if name in kind else 201, live)
        if plural == "jobs" and not live["spec"].get("suspend"):
            was = kind.get(name)
            if was is None or was["spec"].get("suspend"):
                self.started_unadmitted.append(name)
        self._made[name] += name not in kind
        kind[name] = live
        return Answer(200, live)

    def _created(self, body: Object, plural: str) -> Object:
        live = copy.deepcopy(body)
        uid = f"{live['metadata']['name']}-{self._made[live['metadata']['name']]}"
        live["metadata"] |= {"uid": uid, "managedFields": []}
        if plural == "jobs":
            labels = live["metadata"].setdefault("labels", {})
            if self.default_queue:
                labels.setdefault(KUEUE_QUEUE_LABEL, self.default_queue)
            if KUEUE_QUEUE_LABEL in labels:
                live["spec"]["suspend"] = True
        return live


def _leaves(fields: Mapping[str, Any], path: Path = ()) -> Iterator[Path]:
    """Paths of members; a list counts as one value."""
    for key, child in fields.items():
        kind, _, name = key.partition(":")
        if kind != "f":
            continue
        if any(each.startswith("f:") for each in child):
            yield from _leaves(child, (*path, name))
        else:
            yield (*path, name)


def _get(value: Any, path: Path) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def _set(value: Object, path: Path, member: Any) -> None:
    for name in path[:-1]:
        value = value.setdefault(name, {})
    value[path[-1]] = member


def _drop(value: Object, path: Path) -> None:
    for name in path[:-1]:
        value = value.get(name, {})
    value.pop(path[-1], None)


def _conflict(manager: str, path: Path) -> Answer:
    message = f'conflict with "{manager}" using batch/v1'
    cause = {"reason": "FieldManagerConflict", "message": message, "field": f".{'.'.join(path)}"}
    return failure(409, "Conflict", message, details={"causes": [cause]})
