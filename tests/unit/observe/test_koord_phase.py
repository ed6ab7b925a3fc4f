"""Where a Job of Koord-Queue is, from its own state and its QueueUnit's."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from unit.reconcile.koord_store import BY_GIT, koord_job, queue_unit
from unit.reconcile.live_objects import Object

from converter.model import Backend
from converter.names import (
    BUDGET_SPENT_ANNOTATION,
    HOLD_ANNOTATION,
    KOORD_ACTIVE_ANNOTATION,
    SUSPEND_ANNOTATION,
)
from converter.observe.job_phase import JobPhase
from converter.observe.koord_phase import koord_phase
from converter.observe.phase import Phase
from converter.observe.status import of_job

CREATED = "2026-01-01T00:00:00Z"
SUSPENDED_AT = "2026-01-02T08:00:00Z"
STARTED = "2026-01-02T10:00:00Z"
READY_AT = "2026-01-02T10:05:00Z"
NOW = datetime(2026, 1, 3, tzinfo=UTC)
IN_GIT = {SUSPEND_ANNOTATION: "true"}


def condition(kind: str, at: str, reason: str = "", status: str = "True") -> Object:
    return {"type": kind, "status": status, "lastTransitionTime": at, "reason": reason}


SUSPENDED: dict[str, Any] = {"conditions": [condition("Suspended", SUSPENDED_AT)]}
DEACTIVATED = condition("Evicted", "2026-01-02T23:59:00Z", "Deactivated")
WAITS = koord_job(**SUSPENDED)
RUNS = koord_job(suspend=False, startTime=STARTED, active=2)
PAUSED = koord_job(BY_GIT | IN_GIT, **SUSPENDED)


def unit(phase: str = "", **status: Any) -> Object:
    return queue_unit(WAITS, phase, **status)


def stopped(phase: str = "Enqueued", **status: Any) -> Object:
    return queue_unit(WAITS, phase, active=False, **status)


def held(made: Object, instance: str = "7") -> Object:
    made["metadata"]["annotations"][HOLD_ANNOTATION] = instance
    return made


def admissions(reclaimed: int = 0, replicas: int = 2) -> list[Object]:
    found: Object = {"name": "scan", "replicas": replicas, "running": 0}
    if reclaimed:
        found["reclaimState"] = {"replicas": reclaimed}
    return [found]


def checks(**states: str) -> list[Object]:
    return [{"name": name, "state": state} for name, state in states.items()]


QUOTA_FULL = "limited quotaName:gpu,\n limited resKey:cpu"

# What it is in words, the Job, its QueueUnit, how many pods it has, and what is said.
STATES: tuple[tuple[str, Object, Object | None, int, Phase, str], ...] = (
    ("no QueueUnit", WAITS, None, 0, Phase.WAITING, "Koord-Queue has made no QueueUnit for it"),
    (
        "no QueueUnit to pause",
        PAUSED,
        None,
        0,
        Phase.PAUSING,
        "Koord-Queue has made no QueueUnit to pause: apply again",
    ),
    (
        "its QueueUnit was deleted while it runs",
        RUNS,
        None,
        2,
        Phase.RUNNING,
        "Koord-Queue has no QueueUnit for it",
    ),
    (
        "the same, paused in git",
        koord_job(IN_GIT, suspend=False),
        None,
        2,
        Phase.PAUSING,
        "Koord-Queue has no QueueUnit for it",
    ),
    ("paused", PAUSED, stopped(), 0, Phase.PAUSED, ""),
    ("born paused, without a status", PAUSED, stopped(""), 0, Phase.PAUSED, ""),
    (
        "born paused: Koord-Queue calls that evicted",
        PAUSED,
        stopped(conditions=[DEACTIVATED]),
        0,
        Phase.PAUSED,
        "",
    ),
    (
        "paused, and admitted all the same",
        PAUSED,
        stopped("Dequeued"),
        0,
        Phase.PAUSING,
        "its QueueUnit is inactive, but Koord-Queue has admitted it and may start it",
    ),
    ("paused while it backed off", PAUSED, stopped("TimeoutBackoff"), 0, Phase.PAUSED, ""),
    (
        "its execution time is over",
        WAITS,
        stopped(conditions=[condition("Evicted", CREATED, "MaximumExecutionTimeExceeded")]),
        0,
        Phase.PAUSED,
        "its execution time of 600 s is over",
    ),
    (
        "the same, after the reason was written over",
        koord_job({BUDGET_SPENT_ANNOTATION: CREATED}, **SUSPENDED),
        stopped(conditions=[DEACTIVATED]),
        0,
        Phase.PAUSED,
        "its execution time of 600 s is over",
    ),
    (
        "somebody stopped it",
        WAITS,
        stopped(),
        0,
        Phase.PAUSED,
        "not by git: its execution time is over, or somebody stopped it",
    ),
    (
        "somebody stopped it by the annotation",
        koord_job({KOORD_ACTIVE_ANNOTATION: "false"}, **SUSPENDED),
        stopped(),
        0,
        Phase.PAUSED,
        "not by git: its execution time is over, or somebody stopped it",
    ),
    (
        "inactive, and not stopped",
        koord_job(BY_GIT, suspend=False, startTime=STARTED),
        stopped("Running"),
        2,
        Phase.PAUSING,
        "its QueueUnit is inactive, but Koord-Queue has not stopped it: 2 pods running",
    ),
    ("pods are ending", PAUSED, stopped(), 1, Phase.PAUSING, "1 pod ending"),
    (
        "to be paused, and being preempted",
        koord_job(BY_GIT, suspend=False),
        stopped("Dequeued", admissions=admissions(1)),
        1,
        Phase.PAUSING,
        "it is being preempted, and is stopped after that",
    ),
    ("held", WAITS, held(stopped()), 0, Phase.HELD, "hold 7"),
    ("held, and paused by git", PAUSED, held(stopped()), 0, Phase.HELD, "hold 7"),
    (
        "being held",
        RUNS,
        held(stopped("Running")),
        2,
        Phase.PAUSING,
        "being held by hold 7: its QueueUnit is inactive, but Koord-Queue has not stopped it: "
        "2 pods running",
    ),
    (
        "held by name alone",
        RUNS,
        held(unit("Running")),
        2,
        Phase.RUNNING,
        "hold 7 does not stop it",
    ),
    (
        "to be paused, and still active",
        koord_job(IN_GIT, suspend=False),
        unit("Running"),
        2,
        Phase.PAUSING,
        "its QueueUnit is still active: apply again",
    ),
    (
        "being preempted",
        RUNS,
        unit("Running", admissions=admissions(1)),
        3,
        Phase.WAITING,
        "being preempted, 3 pods left",
    ),
    ("preempted", WAITS, unit("Preempted"), 0, Phase.WAITING, "being preempted, 0 pods left"),
    (
        "backing off, and it is said until when",
        WAITS,
        unit("TimeoutBackoff", requeueState={"count": 3, "requeueAt": "2026-01-03T00:02:40Z"}),
        0,
        Phase.WAITING,
        "backing off: try 3 in 2 min 40 s",
    ),
    (
        "backing off for less than a minute",
        WAITS,
        unit("TimeoutBackoff", requeueState={"count": 1, "requeueAt": "2026-01-03T00:00:09Z"}),
        0,
        Phase.WAITING,
        "backing off: try 1 in 9 s",
    ),
    (
        "backing off, and its time has come",
        WAITS,
        unit("TimeoutBackoff", requeueState={"count": 1, "requeueAt": "2026-01-02T00:00:00Z"}),
        0,
        Phase.WAITING,
        "backing off: try 1 is due",
    ),
    (
        "backing off without a time",
        WAITS,
        unit("TimeoutBackoff"),
        0,
        Phase.WAITING,
        "backing off before try 1",
    ),
    (
        "waits on checks",
        WAITS,
        unit("Reserved", admissionChecks=checks(a="Ready", b="Pending", c="Retry")),
        0,
        Phase.WAITING,
        "waits for the admission checks b, c",
    ),
    ("has its quota", WAITS, unit("Reserved"), 0, Phase.WAITING, "has its quota"),
    ("just made", WAITS, unit(), 0, Phase.WAITING, ""),
    (
        "queued, with a message",
        WAITS,
        unit("Enqueued", message=QUOTA_FULL),
        0,
        Phase.WAITING,
        "limited quotaName:gpu, limited resKey:cpu",
    ),
    ("failed to be placed", WAITS, unit("SchedFailed"), 0, Phase.WAITING, ""),
    ("evicted", WAITS, unit("Enqueued"), 2, Phase.WAITING, "evicted, 2 pods ending"),
    (
        "counted as admitted, and never started",
        WAITS,
        unit("Enqueued", admissions=admissions()),
        0,
        Phase.WAITING,
        "Koord-Queue counts it as admitted and does not start it: see `campaigns explain`",
    ),
    *(
        (f"{phase}, to start", WAITS, unit(phase), 0, Phase.WAITING, "admitted, about to start")
        for phase in ("Dequeued", "SchedReady", "SchedSucceed")
    ),
    ("started", RUNS, unit("Dequeued"), 0, Phase.RUNNING, ""),
    ("runs", RUNS, unit("Running"), 2, Phase.RUNNING, ""),
    (
        "runs, and was evicted once",
        RUNS,
        unit("Running", conditions=[DEACTIVATED]),
        2,
        Phase.RUNNING,
        "",
    ),
    (
        "suspended by hand, which Koord-Queue takes no notice of",
        WAITS,
        unit("Running"),
        0,
        Phase.WAITING,
        "Koord-Queue says Running, but somebody suspended its Job",
    ),
    ("ending", RUNS, unit("Succeed"), 1, Phase.RUNNING, ""),
    (
        "a phase of a later release",
        RUNS,
        unit("Somehow"),
        2,
        Phase.RUNNING,
        "Koord-Queue says Somehow",
    ),
    (
        "the same, and suspended",
        WAITS,
        unit("Somehow\n else"),
        0,
        Phase.WAITING,
        "Koord-Queue says Somehow else",
    ),
)


@pytest.mark.parametrize(
    ("words", "job", "of", "pods", "phase", "detail"), STATES, ids=[state[0] for state in STATES]
)
def test_every_state(
    words: str, job: Object, of: Object | None, pods: int, phase: Phase, detail: str
) -> None:
    del words
    if of is not None and not of["spec"].get("active", True):
        of = {**of, "spec": {**of["spec"], "maximumExecutionTimeSeconds": 600}}
    found = koord_phase(job, () if of is None else (of,), pods, NOW)
    assert replace(found, since="") == JobPhase(phase, detail)


def test_the_next_try_where_the_time_is_not_known() -> None:
    state = {"count": 3, "requeueAt": "2026-01-03T00:02:40Z"}
    found = koord_phase(WAITS, (unit("TimeoutBackoff", requeueState=state),), 0)
    assert found.detail == "backing off: try 3 at 2026-01-03T00:02:40Z"


@pytest.mark.parametrize(
    ("job", "of", "since"),
    [
        (WAITS, unit("Enqueued"), SUSPENDED_AT),
        (PAUSED, stopped(conditions=[DEACTIVATED]), SUSPENDED_AT),
        (koord_job(), unit("Enqueued"), CREATED),
        (RUNS, unit("Running", conditions=[condition("PodsReady", READY_AT)]), READY_AT),
        (RUNS, unit("Dequeued"), STARTED),
        (RUNS, None, STARTED),
        (koord_job(suspend=False), unit("Dequeued"), CREATED),
    ],
    ids=[
        "waits: not since the last try",
        "paused: not since the last look",
        "not seen by the Job's controller yet",
        "runs",
        "starts",
        "runs without a QueueUnit",
        "started in this moment",
    ],
)
def test_since_when(job: Object, of: Object | None, since: str) -> None:
    """What Koord-Queue stamps anew with each try or look says nothing."""
    assert koord_phase(job, () if of is None else (of,), 0, NOW).since == since


def test_a_job_that_has_ended_is_told_by_itself() -> None:
    done = koord_job(
        BY_GIT,
        suspend=False,
        conditions=[condition("Complete", READY_AT)],
        completedIndexes="0-2",
    )
    status = of_job(done, [unit("Running")], backend=Backend.KOORD_QUEUE, now=NOW)
    assert status.phase is Phase.FINISHED


def test_a_queue_unit_on_its_way_out_says_nothing() -> None:
    dying = stopped()
    dying["metadata"]["deletionTimestamp"] = CREATED
    status = of_job(WAITS, [dying], backend=Backend.KOORD_QUEUE, now=NOW)
    assert (status.phase, status.detail) == (
        Phase.WAITING,
        "Koord-Queue has made no QueueUnit for it",
    )


def test_the_execution_time_is_part_of_the_status() -> None:
    running = unit("Running", conditions=[condition("PodsReady", "2026-01-02T23:55:00Z")])
    running["spec"]["maximumExecutionTimeSeconds"] = 600
    status = of_job(RUNS, [running], backend=Backend.KOORD_QUEUE, now=NOW)
    assert (status.execution_time.used, status.execution_time.left) == (300, 300)
    assert status.queue == "gpu"
