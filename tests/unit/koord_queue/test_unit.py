"""What a QueueUnit says of itself."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from unit.reconcile.koord_store import koord_job, queue_unit
from unit.reconcile.live_objects import Object

from converter.koord_queue.definition import spec_fields
from converter.koord_queue.unit import (
    ExecutionTime,
    Requeue,
    backoff,
    evicted_for,
    execution_time,
    has_ended,
    holds_quota,
    is_admitted,
    is_being_preempted,
    is_spent,
    is_stuck,
    owner_uid,
    phase_of,
    requeue_of,
)
from converter.names import BUDGET_SPENT_ANNOTATION, KOORD_MAX_EXECUTION_ANNOTATION

JOB = koord_job()
READY_AT = "2026-01-01T12:00:00Z"
NOW = datetime(2026, 1, 1, 12, 5, tzinfo=UTC)


def condition(kind: str, reason: str = "", status: str = "True") -> Object:
    return {"type": kind, "status": status, "reason": reason, "lastTransitionTime": READY_AT}


def unit(phase: str = "Enqueued", **status: Any) -> Object:
    return queue_unit(JOB, phase, **status)


@pytest.mark.parametrize(
    ("number", "nominal"),
    [(1, 10), (2, 20), (3, 40), (4, 80), (5, 160), (6, 320), (7, 640), (8, 900), (9, 900)],
)
def test_the_wait_before_each_try_doubles_and_varies_by_a_tenth(number: int, nominal: int) -> None:
    shortest, longest = backoff(number)
    assert shortest == timedelta(seconds=nominal * 0.9)
    assert longest == timedelta(seconds=nominal * 1.1)


@pytest.mark.parametrize("number", [8, 9, 1000, 2**31 - 1])
def test_the_variation_comes_after_the_limit(number: int) -> None:
    assert backoff(number) == (timedelta(seconds=810), timedelta(seconds=990))


@pytest.mark.parametrize("number", [0, -1])
def test_a_count_that_is_none_is_the_first(number: int) -> None:
    assert backoff(number) == backoff(1)


@pytest.mark.parametrize(
    ("phase", "state", "expected"),
    [
        ("TimeoutBackoff", {"count": 3, "requeueAt": READY_AT}, (3, True)),
        ("TimeoutBackoff", {"count": 3}, (3, False)),
        ("TimeoutBackoff", {"requeueAt": READY_AT}, (1, True)),
        ("TimeoutBackoff", {"count": 2, "requeueAt": "soon"}, (2, False)),
        ("TimeoutBackoff", None, (1, False)),
        ("TimeoutBackoff", {}, (1, False)),
        ("Enqueued", {"count": 3, "requeueAt": READY_AT}, None),
        ("Running", {"count": 3, "requeueAt": READY_AT}, None),
        ("", None, None),
    ],
)
def test_the_next_try_of_one_that_backs_off(
    phase: str, state: Object | None, expected: tuple[int, bool] | None
) -> None:
    found = requeue_of(unit(phase, requeueState=state))
    if expected is None:
        assert found is None
        return
    number, is_said = expected
    at = datetime(2026, 1, 1, 12, tzinfo=UTC) if is_said else None
    assert found == Requeue(number, at)


def limited(
    phase: str, seconds: int | None, *conditions: Object, used: int | None = None
) -> Object:
    made = unit(phase, conditions=list(conditions))
    if seconds is not None:
        made["spec"]["maximumExecutionTimeSeconds"] = seconds
    if used is not None:
        made["status"]["accumulatedPastExecutionTimeSeconds"] = used
    return made


@pytest.mark.parametrize(
    ("of", "now", "expected"),
    [
        (limited("Enqueued", 600), NOW, ExecutionTime(600, 0)),
        (limited("Enqueued", 600, used=120), NOW, ExecutionTime(600, 120)),
        (limited("Running", 600, condition("PodsReady")), NOW, ExecutionTime(600, 300)),
        (limited("Running", 600, condition("PodsReady"), used=120), NOW, ExecutionTime(600, 420)),
        (limited("Running", 600, condition("PodsReady"), used=120), None, ExecutionTime(600, 120)),
        (limited("Running", 200, condition("PodsReady")), NOW, ExecutionTime(200, 300)),
        (
            limited("Running", 600, condition("PodsReady", status="False"), used=120),
            NOW,
            ExecutionTime(600, 120),
        ),
        (limited("Succeed", 600, condition("PodsReady"), used=120), NOW, ExecutionTime(600, 120)),
        (limited("Running", None, condition("PodsReady")), NOW, ExecutionTime()),
        (
            limited("Running", 600, condition("PodsReady")),
            datetime(2026, 1, 1, 11, tzinfo=UTC),
            ExecutionTime(600, 0),
        ),
    ],
    ids=[
        "not started",
        "counted before",
        "since its pods are ready",
        "both",
        "by what is stored alone",
        "more than its limit",
        "its pods are not ready",
        "ended, and the condition stays true",
        "no limit",
        "a clock that is behind",
    ],
)
def test_the_execution_time(of: Object, now: datetime | None, expected: ExecutionTime) -> None:
    assert execution_time(JOB, [of], now) == expected


@pytest.mark.parametrize(
    ("said", "limit"), [("600", 600), ("", None), ("1h", None), ("-1", None), ("٣", None)]
)
def test_the_execution_time_that_a_job_asks_for_before_it_has_a_queue_unit(
    said: str, limit: int | None
) -> None:
    assert execution_time(koord_job({KOORD_MAX_EXECUTION_ANNOTATION: said}), []).limit == limit


def test_what_is_left_of_it_is_never_negative() -> None:
    assert ExecutionTime(600, 100).left == 500
    assert ExecutionTime(600, 601).left == 0
    assert ExecutionTime().left is None


SPENT = condition("Evicted", "MaximumExecutionTimeExceeded")


@pytest.mark.parametrize(
    ("phase", "reason", "expected"),
    [
        ("Enqueued", "Deactivated", "Deactivated"),
        ("", "MaximumExecutionTimeExceeded", "MaximumExecutionTimeExceeded"),
        ("TimeoutBackoff", "BackoffTimeout", "BackoffTimeout"),
        ("Preempted", "Preempted", "Preempted"),
        ("Reserved", "Deactivated", ""),
        ("Dequeued", "Deactivated", ""),
        ("Running", "Deactivated", ""),
        ("Succeed", "Deactivated", ""),
    ],
)
def test_an_eviction_counts_while_it_waits_since(phase: str, reason: str, expected: str) -> None:
    """The condition stays true when it has been admitted again."""
    made = unit("Enqueued", conditions=[condition("Evicted", reason)])
    made["status"]["phase"] = phase
    assert evicted_for(made) == expected
    made["status"]["conditions"][0]["status"] = "False"
    assert evicted_for(made) == ""


@pytest.mark.parametrize(
    ("active", "conditions", "noted", "expected"),
    [
        (False, [SPENT], "", True),
        (False, [condition("Evicted", "Deactivated")], "", False),
        (False, [condition("Evicted", "Deactivated")], READY_AT, True),
        (True, [SPENT], "", False),
        (None, [SPENT], "", False),
        (False, [], "", False),
    ],
)
def test_whether_its_execution_time_has_stopped_it(
    active: bool | None, conditions: list[Object], noted: str, expected: bool
) -> None:
    made = queue_unit(JOB, "Enqueued", active=active, conditions=conditions)
    job = koord_job({BUDGET_SPENT_ANNOTATION: noted} if noted else {})
    assert is_spent(job, [made]) is expected


def admitted(replicas: int, reclaimed: int | None = None, name: str = "scan") -> list[Object]:
    found: Object = {"name": name, "replicas": replicas, "running": 0}
    if reclaimed is not None:
        found["reclaimState"] = {"replicas": reclaimed}
    return [found]


@pytest.mark.parametrize(
    ("phase", "active", "suspend", "admissions", "expected"),
    [
        ("Enqueued", None, True, admitted(2), True),
        ("", True, True, admitted(2), True),
        ("Enqueued", True, True, admitted(3), True),
        ("Enqueued", True, True, admitted(1), False),
        ("Enqueued", True, True, [], False),
        ("Enqueued", True, True, admitted(2, name="other"), False),
        ("Enqueued", False, True, admitted(2), False),
        ("Enqueued", True, False, admitted(2), False),
        ("Dequeued", True, True, admitted(2), False),
        ("Running", True, True, admitted(2), False),
    ],
)
def test_what_counts_as_admitted_and_waits_is_stuck(
    phase: str, active: bool | None, suspend: bool, admissions: list[Object], expected: bool
) -> None:
    made = queue_unit(JOB, "Enqueued", active=active, admissions=admissions)
    made["status"]["phase"] = phase
    assert is_stuck(made, koord_job(suspend=suspend)) is expected


def test_one_that_wants_no_pods_is_not_stuck() -> None:
    made = unit(admissions=[])
    made["spec"]["podSet"] = [{"name": "scan", "count": 0}]
    assert not is_stuck(made, JOB)


@pytest.mark.parametrize(
    ("phase", "admissions", "expected"),
    [
        ("Running", admitted(2, 1), True),
        ("Running", admitted(2, 0), False),
        ("Running", admitted(2), False),
        ("Running", [*admitted(2), *admitted(2, 1, "other")], True),
        ("Preempted", [], True),
        ("Enqueued", [], False),
    ],
)
def test_whether_it_is_being_preempted(
    phase: str, admissions: list[Object], expected: bool
) -> None:
    assert is_being_preempted(unit(phase, admissions=admissions)) is expected


def test_whether_it_holds_quota() -> None:
    assert holds_quota(unit(admissions=admitted(1)))
    assert not holds_quota(unit(admissions=admitted(0)))
    assert not holds_quota(queue_unit(JOB))


@pytest.mark.parametrize(
    ("phase", "admitted", "ended"),
    [
        ("", False, False),
        ("Enqueued", False, False),
        ("SchedFailed", False, False),
        ("TimeoutBackoff", False, False),
        ("Reserved", True, False),
        ("Dequeued", True, False),
        ("Running", True, False),
        ("Succeed", False, True),
        ("Failed", False, True),
        ("Somehow", False, False),
    ],
)
def test_what_a_phase_says(phase: str, admitted: bool, ended: bool) -> None:
    made = queue_unit(JOB, phase)
    assert (is_admitted(made), has_ended(made)) == (admitted, ended)
    assert phase_of(made) == (phase or "Enqueued")


def owners(*made: Object) -> Object:
    found = queue_unit(JOB)
    found["metadata"]["ownerReferences"] = list(made)
    return found


@pytest.mark.parametrize(
    ("of", "expected"),
    [
        (queue_unit(JOB), "uid-scan"),
        (owners(), ""),
        (owners({"kind": "Job", "name": "scan"}), ""),
        (owners({"kind": "Job", "name": "another", "uid": "uid-scan"}), ""),
        (owners({"kind": "TFJob", "name": "scan", "uid": "u"}), ""),
        (owners({"kind": "Pod", "name": "scan"}, {"kind": "Job", "name": "scan", "uid": "u"}), "u"),
    ],
)
def test_whose_it_is(of: Object, expected: str) -> None:
    """By the Job's uid: that of an earlier Job of the name stays until it is collected."""
    assert owner_uid(of) == expected


def test_nothing_of_a_queue_unit_has_to_be_there() -> None:
    """The CustomResourceDefinition requires neither a spec nor a status."""
    bare: Object = {"metadata": {"name": "scan"}}
    assert owner_uid(bare) == ""
    assert execution_time(JOB, [bare]) == ExecutionTime()
    assert not is_stuck(bare, JOB)
    assert not is_spent(JOB, [bare])


def test_the_fields_of_a_definition() -> None:
    kind = {"group": "scheduling.x-k8s.io", "version": "v1alpha1", "kind": "QueueUnit"}
    spec: Object = {"properties": {"podSet": {}, "active": {}}}
    units = {"x-kubernetes-group-version-kind": [kind], "properties": {"spec": spec}}
    lists = {"x-kubernetes-group-version-kind": [{**kind, "kind": "QueueUnitList"}]}
    document = {"components": {"schemas": {"list": lists, "plain": {}, "unit": units}}}
    assert spec_fields(document) == {"podSet", "active"}
    assert spec_fields({}) == frozenset()
    assert spec_fields({"components": {"schemas": {"list": lists}}}) == frozenset()
