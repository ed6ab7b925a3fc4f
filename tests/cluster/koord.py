"""A stand-in for Koord-Queue's two controllers, on a real API server.

It keeps to what their source does (github.com/koordinator-sh/koord-queue): which Jobs are taken up
and what is written on them (pkg/jobext/handles/job.go), how a QueueUnit is made and followed
(pkg/jobext/framework/default_job_reconciler.go), how a deactivation is carried out
(pkg/jobext/framework/activation.go). Quotas are a number of pods a queue.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from converter.cluster.client import Client
from converter.cluster.objects import annotation, is_active, job_end, label, name, uid
from converter.cluster.resources import JOBS, QUEUE_UNITS
from converter.errors import ApiError, ClusterUnavailable, Conflict, NotFound
from converter.names import (
    KOORD_ACTIVE_ANNOTATION,
    KOORD_MAX_EXECUTION_ANNOTATION,
    KOORD_PRIORITY_ANNOTATION,
    KOORD_QUOTA_LABEL,
)

Object = dict[str, Any]

ENQUEUED = "koord-queue/job-has-enqueued"
ENQUEUED_AT = "koord-queue/job-enqueue-timestamp"
DEQUEUED_AT = "koord-queue/job-dequeue-timestamp"
ENDED = ("Succeed", "Failed")
MANAGER = "koord-queue-controllers"
PERIOD_SECONDS = 0.1


@dataclass
class KoordQueue:
    """Both controllers for one namespace.

    `pods` is the quota of each queue. `queue_gate` and `controllers_gate` are the feature gate
    QueueUnitActive of the one binary and of the other; `keeps_admissions` is the suspected fault by
    which what was stopped is never uncounted.
    """

    client: Client
    namespace: str
    pods: dict[str, int]
    queue_gate: bool = True
    controllers_gate: bool = True
    keeps_admissions: bool = False
    _stop: threading.Event = field(default_factory=threading.Event)
    _seen: dict[str, str] = field(default_factory=dict)

    def run(self) -> None:
        """Until it is stopped."""
        while not self._stop.wait(PERIOD_SECONDS):
            try:
                self._round()
            except (ApiError, ClusterUnavailable):
                # Somebody else was faster, or the API server is away: once more.
                continue

    def stop(self) -> None:
        self._stop.set()

    def _round(self) -> None:
        # In this order: an annotation that is older than the field would undo a resume.
        units = {name(each): dict(each) for each in self.client.list(QUEUE_UNITS, self.namespace)}
        jobs = self.client.list(JOBS, self.namespace)
        for job in jobs:
            try:
                self._reconcile(dict(job), units.get(name(job)))
            except (Conflict, NotFound):
                # As a controller does that is told to try again.
                self._seen.pop(name(job), None)
        fresh = self.client.list(QUEUE_UNITS, self.namespace)
        self._admit([dict(each) for each in fresh], {name(job): dict(job) for job in jobs})

    # The job extension.

    def _reconcile(self, job: Object, unit: Object | None) -> None:
        managed = annotation(job, ENQUEUED) or (
            job["spec"].get("suspend") is True and not job.get("status", {}).get("startTime")
        )
        if not managed or job["metadata"].get("deletionTimestamp"):
            return
        version = job["metadata"]["resourceVersion"]
        if not annotation(job, ENQUEUED):
            now = f"{datetime.now(UTC)}"
            self._annotate(job, {ENQUEUED: "true", ENQUEUED_AT: now})
            self._create(job)
            return
        if unit is None or _owner(unit) != uid(job):
            if job_end(job) is None and unit is None:
                self._create(job)
            return
        phase = (unit.get("status") or {}).get("phase", "")
        # A change of a running QueueUnit does not wake its Job's reconciler.
        if phase == "Running" and self._seen.get(name(job)) == version and job_end(job) is None:
            return
        self._seen[name(job)] = version
        self._follow(job, unit, phase)

    def _follow(self, job: Object, unit: Object, phase: str) -> None:
        if phase in ENDED:
            return
        if end := job_end(job):
            self._status(
                unit, phase="Succeed" if end["type"] == "Complete" else "Failed", admissions=[]
            )
            return
        if self.controllers_gate:
            said = annotation(job, KOORD_ACTIVE_ANNOTATION)
            if said in ("true", "false") and is_active(unit) is not (said == "true"):
                self._spec(unit, active=said == "true")
                return
            if not is_active(unit) and (phase != "Enqueued" or not job["spec"].get("suspend")):
                self._deactivate(job, unit, phase)
                return
        if phase == "Enqueued" and (unit.get("status") or {}).get("admissions"):
            self._uncount(job, unit)
        elif phase == "Dequeued" and job["spec"].get("suspend"):
            self._suspend(job, suspend=False)
        elif phase == "Dequeued" and job.get("status", {}).get("ready"):
            self._status(unit, phase="Running", condition=("PodsReady", "True", "PodsRunning"))

    def _deactivate(self, job: Object, unit: Object, phase: str) -> None:
        admissions = (unit.get("status") or {}).get("admissions") or []
        if any((each.get("reclaimState") or {}).get("replicas") for each in admissions):
            return
        if not job["spec"].get("suspend"):
            self._suspend(job, suspend=True)
        if phase != "Enqueued":
            self._status(
                unit,
                phase="Enqueued",
                message="Evicted because the queue unit is deactivated",
                condition=("Evicted", "True", "Deactivated"),
            )

    def _uncount(self, job: Object, unit: Object) -> None:
        """Also where it was made active in the meantime, or nothing would start it again."""
        if not job.get("status", {}).get("active") and not self.keeps_admissions:
            self._status(unit, phase="Enqueued", admissions=[])

    def _create(self, job: Object) -> None:
        spec: Object = {
            "consumerRef": {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": name(job),
                "namespace": self.namespace,
            },
            "podSet": [
                {"name": name(job), "count": _count(job), "template": job["spec"]["template"]}
            ],
        }
        if priority := annotation(job, KOORD_PRIORITY_ANNOTATION):
            spec["priority"] = int(priority)
        if annotation(job, KOORD_ACTIVE_ANNOTATION) == "false":
            spec["active"] = False
        if seconds := annotation(job, KOORD_MAX_EXECUTION_ANNOTATION):
            spec["maximumExecutionTimeSeconds"] = int(seconds)
        metadata = {
            "name": name(job),
            "namespace": self.namespace,
            "labels": job["metadata"].get("labels", {}),
            "annotations": job["metadata"].get("annotations", {}),
            "ownerReferences": [
                {"apiVersion": "batch/v1", "kind": "Job", "name": name(job), "uid": uid(job)}
            ],
        }
        body = {
            "apiVersion": "scheduling.x-k8s.io/v1alpha1",
            "kind": "QueueUnit",
            "metadata": metadata,
            "spec": spec,
        }
        self.client.create(QUEUE_UNITS, self.namespace, body)

    # The queue.

    def _admit(self, units: list[Object], jobs: dict[str, Object]) -> None:
        free = dict(self.pods)
        waiting = []
        for unit in units:
            queue = label(unit, KOORD_QUOTA_LABEL)
            taken = sum(
                int(each.get("replicas") or 0)
                for each in (unit.get("status") or {}).get("admissions") or ()
            )
            free[queue] = free.get(queue, 0) - taken
            phase = (unit.get("status") or {}).get("phase", "")
            stopped = self.queue_gate and not is_active(unit)
            if phase in ("", "Enqueued") and not taken and not stopped and name(unit) in jobs:
                waiting.append(unit)
        waiting.sort(key=lambda each: -int(each["spec"].get("priority") or 0))
        for unit in waiting:
            queue, count = label(unit, KOORD_QUOTA_LABEL), unit["spec"]["podSet"][0]["count"]
            if free.get(queue, 0) >= count:
                free[queue] -= count
                pods = unit["spec"]["podSet"][0]["name"]
                admission = {"name": pods, "replicas": count, "running": 0}
                self._status(
                    unit,
                    phase="Dequeued",
                    message="Dequeued",
                    admissions=[admission],
                    condition=("Admitted", "True", "Admitted"),
                )
            elif not (unit.get("status") or {}).get("phase"):
                self._status(unit, phase="Enqueued", message=f"insufficient quota in {queue}")

    # Writes.

    def _annotate(self, job: Object, annotations: dict[str, str]) -> None:
        metadata = {"resourceVersion": job["metadata"]["resourceVersion"]}
        patch = {"metadata": {**metadata, "annotations": annotations}}
        self.client.merge_patch(JOBS, self.namespace, name(job), patch, MANAGER)

    def _suspend(self, job: Object, *, suspend: bool) -> None:
        at = "" if suspend else f"{datetime.now(UTC)}"
        metadata = {
            "resourceVersion": job["metadata"]["resourceVersion"],
            "annotations": {DEQUEUED_AT: at},
        }
        patch = {"metadata": metadata, "spec": {"suspend": suspend}}
        self.client.merge_patch(JOBS, self.namespace, name(job), patch, MANAGER)

    def _spec(self, unit: Object, **keys: object) -> None:
        metadata = {"resourceVersion": unit["metadata"]["resourceVersion"]}
        patch = {"metadata": metadata, "spec": keys}
        self.client.merge_patch(QUEUE_UNITS, self.namespace, name(unit), patch, MANAGER)

    def _status(
        self, unit: Object, condition: tuple[str, str, str] | None = None, **keys: object
    ) -> None:
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        status = {**(unit.get("status") or {}), **keys, "lastUpdateTime": now}
        if condition is not None:
            kind, value, reason = condition
            others = [each for each in status.get("conditions", ()) if each["type"] != kind]
            made = {"type": kind, "status": value, "reason": reason, "lastTransitionTime": now}
            status["conditions"] = [*others, made]
        set_status(self.client, self.namespace, unit, status)


def set_status(client: Client, namespace: str, unit: Object, status: Object) -> None:
    """Write the status of a QueueUnit as it was read."""
    body = {**unit, "status": status}
    path = f"{QUEUE_UNITS.path(namespace, name(unit))}/status"
    client._request("PUT", path, f"QueueUnit/{name(unit)}", body=body)


@contextmanager
def running(kubeconfig: Path, namespace: str, **settings: Any) -> Iterator[KoordQueue]:
    """The stand-in, as the administrator, in a thread of its own."""
    queue = KoordQueue(Client.from_kubeconfig(kubeconfig=kubeconfig), namespace, **settings)
    thread = threading.Thread(target=queue.run, daemon=True)
    thread.start()
    try:
        yield queue
    finally:
        queue.stop()
        thread.join()


def wait_for_definition(client: Client) -> None:
    """Until QueueUnits are served."""
    deadline = time.monotonic() + 30
    while True:
        try:
            client.list(QUEUE_UNITS, "default")
        except ApiError:
            assert time.monotonic() < deadline, "QueueUnits are not served"
            time.sleep(0.2)
        else:
            return


def _owner(unit: Object) -> str:
    owners = unit["metadata"].get("ownerReferences") or [{}]
    return str(owners[0].get("uid", ""))


def _count(job: Object) -> int:
    left = job["spec"]["completions"] - int(job.get("status", {}).get("succeeded") or 0)
    return int(min(job["spec"]["parallelism"], left))
