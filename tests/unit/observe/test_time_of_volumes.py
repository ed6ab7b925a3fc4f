"""Volumes whose running time nobody knows: there is no telling when the others will have ended."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest
from unit.reconcile.live_objects import (
    REPOSITORY,
    Object,
    applied,
    ended,
    evicted,
    job,
    running,
    state,
    workload,
)

from converter.observe.document import eta_at
from converter.observe.phase import Phase
from converter.observe.status import Status, statuses
from converter.reconcile.record import records_to_write

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def ago(**time: int) -> str:
    return (NOW - timedelta(**time)).isoformat()


def runs(name: str = "scan", *, done: int, created: str = ago(hours=12)) -> Object:
    live = running(job(name, campaign="scan", volumes=1000))
    live["metadata"]["creationTimestamp"] = created
    live["status"] = {"active": 2, "completedIndexes": f"0-{done - 1}" if done else ""}
    return live


def of(live: Object, *, since: str, created: str = ago(hours=12), past: int = 0) -> Object:
    """Its Workload, made and admitted at these times."""
    made = workload(live, Admitted="Admitted")
    made["metadata"]["creationTimestamp"] = created
    made["status"]["conditions"][0]["lastTransitionTime"] = since
    made["status"]["accumulatedPastExecutionTimeSeconds"] = past
    return made


def seen(*objects: Object, workloads: tuple[Object, ...] = ()) -> Status:
    (status,) = statuses({}, state(*objects, workloads=workloads), REPOSITORY)
    assert status.phase is Phase.RUNNING
    return status


def seconds(status: Status) -> int | None:
    eta = eta_at(status, NOW)
    return eta.seconds if eta is not None else None


@pytest.mark.parametrize(
    ("done", "made", "since", "past", "expected"),
    [
        (500, ago(hours=12), ago(hours=10), 0, 36_000),
        (500, ago(hours=12), ago(seconds=60), 35_940, 36_000),
        (500, ago(minutes=5), ago(seconds=60), 0, None),
        (500, ago(hours=11, minutes=59, seconds=30), ago(hours=10), 0, 36_000),
        (0, ago(minutes=5), ago(seconds=60), 0, None),
    ],
    ids=["once", "twice", "a new Workload", "a Workload that was late", "nothing has ended"],
)
def test_a_new_workload_has_forgotten_the_time_of_the_one_before(
    done: int, made: str, since: str, past: int, expected: int | None
) -> None:
    live = runs(done=done)
    status = seen(live, workloads=(of(live, since=since, created=made, past=past),))
    assert seconds(status) == expected


def test_a_job_whose_workload_is_gone_has_no_time() -> None:
    live = runs(done=500)
    assert seconds(seen(live)) is None


@pytest.mark.parametrize("done", [0, 500])
def test_a_part_that_was_reaped_has_left_its_count_and_not_its_time(done: int) -> None:
    first = ended(job("scan-part1", campaign="scan", volumes=1000), "Complete", "0-999")
    (record,) = records_to_write(state(first), REPOSITORY)
    live = runs("scan-part2", done=done)
    status = seen(applied(record), live, workloads=(of(live, since=ago(seconds=60)),))
    assert status.done == 1000 + done
    assert seconds(status) is None


@pytest.mark.parametrize(("ran_for", "expected"), [(36_000, 18_044), (0, None)])
def test_a_part_that_rests_counts_with_its_time(ran_for: int, expected: int | None) -> None:
    one = evicted(job("scan-part1", campaign="scan", volumes=1000))
    one["status"] = {"completedIndexes": "0-999"}
    rests = workload(one, active=False)
    rests["status"]["accumulatedPastExecutionTimeSeconds"] = ran_for
    live = runs("scan-part2", done=333)
    workloads = (rests, of(live, since=ago(seconds=60)))
    assert seconds(seen(one, live, workloads=workloads)) == expected
