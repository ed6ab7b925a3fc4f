"""What the judge of a history calls a fault, and what it lets pass. No cluster is asked."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import pytest
from cluster.history import Change, Judge, report

Write = Callable[[int], Change]


def _change(kind: str, of: str, metadata: dict[str, Any], **rest: Any) -> Write:
    return lambda version: Change(version, kind, of, {"metadata": metadata, **rest})


def _conditions(**statuses: bool) -> list[dict[str, str]]:
    return [{"type": kind, "status": str(status)} for kind, status in statuses.items()]


def job(suspend: bool, done: str = "", **conditions: bool) -> Write:
    status = {"completedIndexes": done, "conditions": _conditions(**conditions)}
    metadata = {"name": "one", "uid": "job"}
    return _change("jobs", "MODIFIED", metadata, spec={"suspend": suspend}, status=status)


def workload(admitted: bool, active: bool = True, of: str = "MODIFIED") -> Write:
    metadata = {"name": "w", "uid": "w", "labels": {"kueue.x-k8s.io/job-uid": "job"}}
    status = {"conditions": _conditions(Admitted=admitted)}
    return _change("workloads", of, metadata, spec={"active": active}, status=status)


def pod(of: str = "ADDED", phase: str = "Pending", uid: str = "pod") -> Write:
    metadata = {
        "name": "one-0",
        "uid": uid,
        "annotations": {"batch.kubernetes.io/job-completion-index": "0"},
        "ownerReferences": [{"controller": True, "uid": "job"}],
    }
    return _change("pods", of, metadata, status={"phase": phase})


def reported(*paused: str) -> Write:
    return lambda version: report(version, paused)


def judged(*writes: Write) -> Judge:
    history = [write(version) for version, write in zip(itertools.count(1), writes, strict=False)]
    return Judge().hear(history)


QUEUED = (job(True, Suspended=True), workload(admitted=False))
STARTED = (*QUEUED, workload(admitted=True), job(False), pod())
EVICTED = (workload(admitted=True, active=False), job(True), workload(False, active=False))
OVERTAKEN = (
    *QUEUED,
    workload(admitted=False, active=False),
    reported("one"),
    workload(admitted=True, active=False),
    job(False),
)

PASSES = {
    "a run": (*STARTED, pod("MODIFIED", "Succeeded"), job(False, "0")),
    "a pause": (*STARTED, *EVICTED, reported("one"), job(True, Suspended=True), pod("DELETED")),
    "a pod made before its controller knows": (*STARTED[:-1], *EVICTED, pod(), pod("DELETED")),
    "a pause outside the queue": (job(True), reported("one")),
    "a pause of what has ended": (*STARTED, job(False, "0", Complete=True), reported("one")),
    "an admission under way": (*OVERTAKEN, pod(), job(True), pod("DELETED")),
    "a volume again that was not counted": (
        *STARTED,
        pod("MODIFIED", "Succeeded"),
        pod(uid="second"),
        pod("MODIFIED", "Succeeded", uid="second"),
        job(False, "0"),
    ),
}
FAULTS = {
    "4: Job one started with no admission": (*QUEUED, job(True), job(False)),
    "5: Job one started with no admission": (
        *QUEUED,
        workload(admitted=True),
        workload(admitted=True, of="DELETED"),
        job(False),
    ),
    "6: Job one was reported as paused, and is not": (*STARTED, reported("one")),
    "3: Job one was reported as paused, and is not": (*QUEUED, reported("one")),
    "6: Job one started after its pause was reported": (
        *QUEUED,
        workload(admitted=False, active=False),
        reported("one"),
        workload(admitted=True),
        job(False),
    ),
    "8: Job one started after its pause was reported": (*OVERTAKEN, job(True), job(False)),
    "8: pod one-0, made too late, ran to its end": (
        *OVERTAKEN,
        pod(),
        pod("MODIFIED", "Succeeded"),
    ),
    "10: pod one-0 of a Job that may have none": (
        *STARTED,
        *EVICTED,
        job(True, Suspended=True),
        pod(uid="second"),
    ),
    "7: pod one-0 of a volume that is done": (*STARTED, job(False, "0"), pod(uid="second")),
    "7: Job one lost the indexes [0]": (*STARTED, job(False, "0"), job(False)),
}


@pytest.mark.parametrize("writes", PASSES.values(), ids=PASSES)
def test_what_passes(writes: tuple[Write, ...]) -> None:
    assert judged(*writes).faults == []


@pytest.mark.parametrize(("fault", "writes"), FAULTS.items(), ids=FAULTS)
def test_what_is_a_fault(fault: str, writes: tuple[Write, ...]) -> None:
    assert judged(*writes).faults == [fault]


def test_what_is_counted() -> None:
    seen = judged(*OVERTAKEN, pod(), job(True), pod("DELETED"))
    assert (seen.overtaken, len(seen.late), seen.stopped, seen.again) == (1, 1, 1, 0)
    seen = judged(*PASSES["a volume again that was not counted"])
    assert (seen.overtaken, len(seen.late), seen.stopped, seen.again) == (0, 0, 0, 1)
