"""What a record says of itself."""

from __future__ import annotations

import pytest
from unit.slurm.records import job

from converter.slurm.errors import CutTasks, InvalidTasks
from converter.slurm.job import Phase, records_of


@pytest.mark.parametrize(
    ("words", "phase"),
    [
        ("PENDING", Phase.PENDING),
        ("REQUEUE_HOLD", Phase.PENDING),
        ("SPECIAL_EXIT", Phase.PENDING),
        ("RESV_DEL_HOLD", Phase.PENDING),
        ("PENDING REQUEUE_HOLD", Phase.PENDING),
        ("PENDING LAUNCH_FAILED", Phase.PENDING),
        ("RUNNING", Phase.RUNNING),
        ("SUSPENDED", Phase.RUNNING),
        ("CONFIGURING", Phase.RUNNING),
        ("RUNNING POWER_UP_NODE", Phase.RUNNING),
        ("STOPPED", Phase.RUNNING),
        ("SIGNALING", Phase.RUNNING),
        ("RESIZING", Phase.RUNNING),
        ("COMPLETING", Phase.COMPLETING),
        ("PENDING COMPLETING", Phase.COMPLETING),
        ("PENDING COMPLETING REQUEUE_HOLD", Phase.COMPLETING),
        ("CANCELLED COMPLETING", Phase.COMPLETING),
        ("COMPLETED COMPLETING", Phase.COMPLETING),
        ("REQUEUED", Phase.COMPLETING),
        ("PENDING REQUEUED", Phase.COMPLETING),
        ("STAGE_OUT", Phase.COMPLETING),
        ("COMPLETED", Phase.ENDED),
        ("CANCELLED", Phase.ENDED),
        ("FAILED", Phase.ENDED),
        ("TIMEOUT", Phase.ENDED),
        ("NODE_FAIL", Phase.ENDED),
        ("PREEMPTED", Phase.ENDED),
        ("BOOT_FAIL", Phase.ENDED),
        ("DEADLINE", Phase.ENDED),
        ("OUT_OF_MEMORY", Phase.ENDED),
        ("REVOKED", Phase.ENDED),
        ("COMPLETED SIGNALING", Phase.ENDED),
        ("?", Phase.UNKNOWN),
        ("HIBERNATING", Phase.UNKNOWN),
    ],
)
def test_the_phase_is_told_by_the_words_alone(words: str, phase: Phase) -> None:
    state, *flags = words.split()
    assert job(state=state, flags=tuple(flags)).phase is phase


@pytest.mark.parametrize(
    ("state", "reason", "priority", "gated", "by_owner"),
    [
        ("PENDING", "JobHeldUser", 0, True, True),
        ("PENDING", "None", 0, True, True),
        ("PENDING", "JobHeldAdmin", 0, True, False),
        ("PENDING", "job_requeued_in_held_state", 0, True, False),
        ("PENDING", "job requeued in held state", 0, True, False),
        ("PENDING", "JobHoldMaxRequeue", 0, True, False),
        ("SPECIAL_EXIT", "JobHeldUser", 0, True, False),
        ("PENDING", "JobHeldUser", None, True, True),
        ("PENDING", "None", 4_294_901_758, False, False),
        ("PENDING", "BeginTime", 25, False, False),
        ("PENDING", "Dependency", None, False, False),
    ],
)
def test_whose_gate_is_closed(
    state: str, reason: str, priority: int | None, gated: bool, by_owner: bool
) -> None:
    found = job(state=state, reason=reason, priority=priority)
    assert (found.gated, found.gated_by_owner) == (gated, by_owner)


@pytest.mark.parametrize(
    ("others", "address", "tasks"),
    [
        ({}, "31", []),
        ({"array_job_id": 29, "array_task_id": 0, "job_id": 30}, "29_0", [0]),
        ({"array_job_id": 29, "array_tasks": "0-1,3%2", "job_id": 29}, "29_[0-1,3]", [0, 1, 3]),
        # The last waiting task has the array's own number, which would be all of its tasks.
        ({"array_job_id": 29, "array_task_id": 2, "job_id": 29}, "29_2", [2]),
    ],
)
def test_a_record_is_addressed_alone(
    others: dict[str, object], address: str, tasks: list[int]
) -> None:
    found = job(**others)
    assert found.address == address
    assert found.tasks == frozenset(tasks)


def test_a_rest_whose_list_was_cut_has_no_address() -> None:
    with pytest.raises(CutTasks):
        _ = job(array_job_id=29, array_tasks="1,3,5,...%2").address
    with pytest.raises(InvalidTasks, match="names none of its tasks"):
        _ = job(array_job_id=29).address


def test_the_records_of_an_array_come_in_the_order_of_their_tasks() -> None:
    rest = job(job_id=29, array_job_id=29, array_tasks="4-9%2")
    cut = job(job_id=33, array_job_id=29, array_tasks="1,3,...")
    second = job(job_id=30, array_job_id=29, array_task_id=2)
    tenth = job(job_id=35, array_job_id=29, array_task_id=10)
    other = job(job_id=31)
    jobs = [cut, tenth, other, rest, second]
    assert records_of(jobs, 29) == [second, rest, tenth, cut]
    assert records_of(jobs, 30) == [second]
    assert records_of(jobs, 31) == [other]
    assert records_of(jobs, 2) == []
