"""Slurm's states, and what each call does to a job in each; and the arrays of such jobs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.slurm.records import SUBMIT, answer, as_22_05, job

from converter.holds.errors import InvalidCall
from converter.holds.mark import Mark
from converter.holds.rules import Action, Call, Decision, Verdict
from converter.holds.slurm_array import any_failed, decide_array
from converter.holds.slurm_rules import (
    decide_hold,
    decide_open,
    decide_release,
    placed_by,
    placing_of,
    refused_requeue,
)
from converter.holds.slurm_state import Reads, reading
from converter.slurm.comment import Comment, Placing, written
from converter.slurm.job import Job
from converter.slurm.squeue import parse_jobs
from converter.slurm.times import BASE_SECONDS, decode, encode, epoch_of

N = 50
OLDER, NEWER = 20, 90
AT, BY, WHY = "2026-12-01T14:19:37Z", "night shift", "a lost node"
WRITE, DONE = Verdict.WRITE, Verdict.DONE
REJECTED, STALE = Verdict.REJECTED, Verdict.STALE
COMPLETING, ENDED = {"state": "COMPLETING"}, {"state": "COMPLETED"}


def hold(instance: int = N) -> Call:
    return Call(Action.HOLD, instance, at=AT, by=BY, reason=WHY)


def release(instance: int = N) -> Call:
    return Call(Action.RELEASE, instance, at=AT, by=BY)


def start(instance: int) -> int:
    return SUBMIT + BASE_SECONDS + instance


def placed(instance: int, **others: Any) -> Placing:
    return replace(Placing(instance, SUBMIT, 0, AT, BY, WHY), **others)


@dataclass(frozen=True)
class Row:
    """A state, as what it is reported, and how a hold, a release and an opening end there."""

    said: str
    job: Job | None
    reads: Reads
    hold: Verdict
    release: Verdict
    open: Verdict
    instance: int | None = None
    placing: Placing | None = None
    note: str = ""
    mark: Mark | None = None


def opened(**others: Any) -> Job:
    """A pending job with an open gate."""
    return job(**{"reason": "None", "priority": 4_294_901_758, "eligible": SUBMIT, **others})


ROWS = [
    Row("gated", job(), Reads.GATED, WRITE, STALE, WRITE),
    *(
        Row(
            f"gated over {k}",
            job(eligible=start(k)),
            Reads.GATED_AND_HELD,
            by_hold,
            by_release,
            WRITE,
            k,
            placed(k),
            mark=Mark(k, AT, BY, WHY),
        )
        for k, by_hold, by_release in (
            (OLDER, WRITE, STALE),
            (N, DONE, WRITE),
            (NEWER, STALE, STALE),
        )
    ),
    *(
        Row(
            f"gated by {reason}",
            job(reason=reason),
            Reads.GATED,
            WRITE,
            STALE,
            REJECTED,
            note="only an operator of Slurm releases it",
        )
        for reason in ("JobHeldAdmin", "job_requeued_in_held_state", "JobHoldMaxRequeue")
    ),
    Row(
        "gated by an operator over a hold",
        job(reason="JobHeldAdmin", eligible=start(N)),
        Reads.GATED_AND_HELD,
        DONE,
        WRITE,
        REJECTED,
        N,
        placed(N),
    ),
    Row(
        "special exit",
        job(state="SPECIAL_EXIT"),
        Reads.GATED,
        WRITE,
        STALE,
        REJECTED,
        note="only an operator of Slurm releases it",
    ),
    *(
        Row(
            f"{reason}, held by {k}",
            opened(reason=reason, eligible=start(k), start=SUBMIT + 600),
            Reads.HELD,
            by_hold,
            by_release,
            DONE,
            k,
            placed(k),
        )
        # None is the window after a release or an update; the start may be an estimate.
        for reason in ("None", "BeginTime", "Dependency", "Resources", "Priority")
        for k, by_hold, by_release in (
            (OLDER, WRITE, STALE),
            (N, DONE, WRITE),
            (NEWER, STALE, STALE),
        )
    ),
    Row("pending", opened(), Reads.PENDING, WRITE, STALE, DONE),
    Row("just submitted", opened(eligible=None), Reads.PENDING, WRITE, STALE, DONE),
    Row(
        "requeued, begins in two minutes",
        opened(reason="BeginTime", eligible=SUBMIT + 121, restarts=1),
        Reads.PENDING,
        WRITE,
        STALE,
        DONE,
        note="it begins at 2026-12-01T14:18:37 UTC, which a hold would replace",
    ),
    Row(
        "begins in a year",
        opened(reason="BeginTime", eligible=SUBMIT + 31_536_000),
        Reads.PENDING,
        WRITE,
        STALE,
        DONE,
        note="which a hold would replace",
    ),
    *(
        Row(
            f"far start {away}",
            opened(reason="BeginTime", eligible=SUBMIT + away),
            Reads.FAR_START,
            WRITE,
            STALE,
            DONE,
            note="its start is years away and is no hold; it waits until 20",
        )
        for away in (BASE_SECONDS // 2 + 1, BASE_SECONDS - 5, BASE_SECONDS - 1, BASE_SECONDS)
    ),
    Row(
        "a start beyond the last instance",
        opened(reason="BeginTime", eligible=start(2**32)),
        Reads.FAR_START,
        WRITE,
        STALE,
        DONE,
        note="it waits until 2173-01-07T08:44:52 UTC",
    ),
    Row(
        "a start beyond what Slurm takes",
        opened(eligible=2**40),
        Reads.FAR_START,
        WRITE,
        STALE,
        DONE,
        note="it waits until after the year 9999",
    ),
    Row(
        "half the base away",
        opened(eligible=SUBMIT + BASE_SECONDS // 2),
        Reads.PENDING,
        WRITE,
        STALE,
        DONE,
    ),
    Row(
        "gated, far start",
        job(eligible=SUBMIT + BASE_SECONDS - 5),
        Reads.GATED,
        WRITE,
        STALE,
        WRITE,
        note="its start is years away and is no hold",
    ),
    *(
        Row(f"completing: {words}", found, Reads.COMPLETING, REJECTED, REJECTED, REJECTED)
        for words, found in (
            ("one word", opened(state="COMPLETING", eligible=start(N))),
            ("requeued", opened(flags=("COMPLETING",), eligible=start(N))),
            ("requeued with a gate", job(flags=("COMPLETING", "REQUEUE_HOLD"))),
            ("cancelled", opened(state="CANCELLED", flags=("COMPLETING",))),
        )
    ),
    *(
        Row(state, opened(state=state), Reads.RUNNING, REJECTED, REJECTED, DONE)
        for state in ("RUNNING", "SUSPENDED", "CONFIGURING")
    ),
    Row(
        "running with scontrol hold for its next start",
        job(state="RUNNING", reason="JobHeldAdmin"),
        Reads.RUNNING,
        REJECTED,
        REJECTED,
        DONE,
    ),
    Row(
        "running over a dormant hold",
        opened(state="RUNNING", eligible=start(N)),
        Reads.RUNNING,
        REJECTED,
        REJECTED,
        DONE,
        placing=placed(N),
        note="requeued, it would wait for that",
    ),
    *(
        Row(
            f"{state} with what is left of a hold and a gate",
            job(state=state, eligible=start(N)),
            Reads.ENDED,
            REJECTED,
            REJECTED,
            REJECTED,
            placing=placed(N),
        )
        for state in ("CANCELLED", "COMPLETED", "FAILED", "TIMEOUT", "NODE_FAIL")
    ),
    Row("purged", None, Reads.NOT_FOUND, REJECTED, REJECTED, REJECTED, note="no such job"),
    Row(
        "a word of a later release",
        job(state="HIBERNATING", eligible=start(N)),
        Reads.UNKNOWN,
        REJECTED,
        REJECTED,
        REJECTED,
        placing=placed(N),
        note="its state HIBERNATING is none that is known here",
    ),
    # Seen: hold 100, cancelled and requeued four seconds after the submission.
    Row(
        "alias by restarts and submit time",
        opened(submit=SUBMIT + 4, restarts=1, reason="BeginTime", eligible=start(100)),
        Reads.FAR_START,
        WRITE,
        STALE,
        DONE,
        placing=placed(100),
        note="alias: not our hold: it decodes as 96, but the job was requeued (restarts 1), 0 at "
        "hold 100; it waits until 2036-12-01T02:18:16 UTC, or until it is held and released",
    ),
    Row(
        "alias with the very number of the call",
        opened(submit=SUBMIT + 10, restarts=1, eligible=start(N + 10)),
        Reads.FAR_START,
        WRITE,
        STALE,
        DONE,
        placing=placed(N + 10),
        note="alias: not our hold: it decodes as 50",
    ),
    Row(
        "alias by the restarts alone",
        opened(restarts=1, eligible=start(N)),
        Reads.FAR_START,
        WRITE,
        STALE,
        DONE,
        placing=placed(N),
        note="alias: not our hold",
    ),
    Row(
        "alias by the submit time alone",
        opened(submit=SUBMIT + 1, eligible=start(N)),
        Reads.FAR_START,
        WRITE,
        STALE,
        DONE,
        placing=placed(N),
        note="but its submit time has changed since hold 50 was placed",
    ),
    Row(
        "alias behind a gate",
        job(submit=SUBMIT + 4, restarts=1, eligible=start(100)),
        Reads.GATED,
        WRITE,
        STALE,
        WRITE,
        placing=placed(100),
        note="alias: not our hold",
    ),
    Row(
        "the orphan of a small instance",
        opened(submit=SUBMIT + 10, restarts=1, reason="BeginTime", eligible=start(5)),
        Reads.FAR_START,
        WRITE,
        STALE,
        DONE,
        placing=placed(5),
        note="is no hold (the job was requeued (restarts 1), 0 at hold 5); it waits until 2036",
    ),
    Row(
        "a hold placed again after a requeue",
        opened(submit=SUBMIT + 10, restarts=1, eligible=start(N) + 10),
        Reads.HELD,
        DONE,
        WRITE,
        DONE,
        N,
        placed(N, submit=SUBMIT + 10, restarts=1),
        mark=Mark(N, AT, BY, WHY),
    ),
    Row(
        "placed by hand, never requeued",
        opened(eligible=start(N)),
        Reads.HELD,
        DONE,
        WRITE,
        DONE,
        N,
        note="placed with scontrol by hand",
        mark=Mark(N),
    ),
    Row(
        "placed by hand, requeued",
        opened(eligible=start(N), restarts=2),
        Reads.FAR_START,
        WRITE,
        STALE,
        DONE,
        note="the job was requeued (restarts 2) and nothing keeps the hold",
    ),
    Row(
        "placed by hand over a kept one",
        opened(eligible=start(NEWER)),
        Reads.HELD,
        STALE,
        STALE,
        DONE,
        NEWER,
        placed(OLDER),
        note="its comment keeps hold 20: this one was placed by hand",
        mark=Mark(NEWER),
    ),
    Row(
        "lifted by hand",
        opened(),
        Reads.PENDING,
        WRITE,
        STALE,
        DONE,
        placing=placed(NEWER),
        note="its comment keeps hold 90, which somebody has lifted by hand",
    ),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.said)
class TestEveryState:
    def test_what_it_reads_as(self, row: Row) -> None:
        found = reading(row.job, row.placing)
        assert (found.reads, found.instance) == (row.reads, row.instance)
        assert row.note in found.note
        assert bool(row.note) is bool(found.note)
        assert row.mark is None or found.mark == row.mark

    def test_a_hold(self, row: Row) -> None:
        decision = decide_hold(row.job, row.placing, hold())
        assert decision.verdict is row.hold
        assert bool(decision.why) is (row.hold in (REJECTED, STALE))
        if row.hold is WRITE:
            assert decision.after is not None
            assert decision.after.mark == Mark(N, AT, BY, WHY)
            assert decision.after.stopped

    def test_a_release(self, row: Row) -> None:
        decision = decide_release(row.job, row.placing, release())
        assert decision.verdict is row.release
        assert bool(decision.why) is (row.release in (REJECTED, STALE))
        if row.release is WRITE:
            assert decision.after is not None
            assert decision.after.mark is None
            gated = row.job is not None and row.job.gated
            assert (decision.after.stopped, decision.starts) == (gated, not gated)

    def test_an_opening(self, row: Row) -> None:
        decision = decide_open(row.job, row.placing)
        assert decision.verdict is row.open
        assert bool(decision.why) is (row.open is REJECTED)
        if row.open is WRITE:
            assert decision.after is not None
            assert decision.after.opened
            assert (decision.after.mark is not None) is (row.instance is not None)
            assert decision.starts is (row.instance is None)

    def test_what_refuses_writes_nothing(self, row: Row) -> None:
        for decision in (
            decide_hold(row.job, row.placing, hold()),
            decide_release(row.job, row.placing, release()),
            decide_open(row.job, row.placing),
        ):
            assert (decision.after is not None) is (decision.verdict is WRITE)


@pytest.mark.parametrize("instance", [0, -1, 2**32, True])
def test_what_is_no_instance_is_refused_before_anything_is_read(instance: int) -> None:
    with pytest.raises(InvalidCall, match="write a number from 1 to 4294967295"):
        decide_hold(None, None, hold(instance))
    with pytest.raises(InvalidCall, match="write a number from 1 to 4294967295"):
        decide_release(None, None, release(instance))


def test_a_call_of_another_kind_is_a_mistake_of_the_program() -> None:
    with pytest.raises(ValueError, match="release is no hold"):
        decide_hold(job(), None, release())
    with pytest.raises(ValueError, match="hold is no release"):
        decide_release(job(), None, hold())


def test_the_reasons_say_what_is_in_force() -> None:
    held = job(eligible=start(NEWER))
    assert decide_hold(held, placed(NEWER), hold()).why == "hold 90 is in force, which is newer"
    why = decide_release(held, placed(NEWER), release()).why
    assert why == "hold 90 is in force, not hold 50"
    assert decide_release(job(), None, release()).why == "no hold is in force, not hold 50"


def test_a_job_without_a_submit_time_cannot_be_held() -> None:
    decision = decide_hold(job(submit=None), None, hold())
    assert decision == Decision(
        REJECTED, "Slurm tells no submit time of it, which a hold counts from"
    )
    with pytest.raises(ValueError, match="without a submit time"):
        placed_by(job(submit=None), hold())


def test_a_requeued_job_with_a_comment_of_its_owner_is_not_held() -> None:
    owners = opened(restarts=1, comment="run of Anna")
    decision = decide_hold(owners, None, hold())
    assert decision.verdict is REJECTED
    assert decision.why.endswith("take it away with scontrol update JobId=31 Comment=")
    assert decide_hold(replace(owners, restarts=0), None, hold()).verdict is WRITE
    assert decide_hold(replace(owners, comment=""), None, hold()).verdict is WRITE


def test_a_running_job_that_would_come_back_waiting_is_not_requeued() -> None:
    assert refused_requeue(opened(state="RUNNING")) == ""
    dormant = opened(state="RUNNING", eligible=start(N))
    assert refused_requeue(dormant).startswith("it runs under a start time that is years away")
    orphan = opened(state="RUNNING", eligible=start(N) - 100, restarts=1)
    assert refused_requeue(orphan).startswith("it runs under a start time that is years away")
    assert refused_requeue(opened(state="RUNNING", may_requeue=False)) == (
        "it was submitted with --no-requeue"
    )


@pytest.mark.parametrize("epoch", [2**32 - 2, 2**32 - 1])
def test_a_hold_on_a_second_that_32_bits_call_no_value_is_a_hold(epoch: int) -> None:
    instance = epoch - BASE_SECONDS - SUBMIT
    [found] = parse_jobs(answer(as_22_05(eligible_time=epoch, start_time=epoch)))
    assert reading(found, placed(instance)).instance == instance


@given(st.integers(1, 2**32 - 1), st.integers(1, 2**33), st.integers(0, 99), st.booleans())
def test_what_is_placed_is_in_force_and_only_its_release_lifts_it(
    instance: int, submit: int, restarts: int, gated: bool
) -> None:
    before = (
        job(submit=submit, restarts=restarts)
        if gated
        else opened(submit=submit, eligible=submit, restarts=restarts)
    )
    assert decide_hold(before, None, hold(instance)).verdict is WRITE
    comment = Comment("letters", placing=placed_by(before, hold(instance)))
    after = replace(before, eligible=epoch_of(encode(submit, instance)), comment=written(comment))
    placing = placing_of(after)
    assert reading(after, placing).instance == instance
    assert decide_hold(after, placing, hold(instance)).verdict is DONE
    assert decide_release(after, placing, release(instance)).verdict is WRITE
    other = instance % (2**32 - 1) + 1
    assert decide_release(after, placing, release(other)).verdict is STALE
    expected = STALE if other < instance else WRITE
    assert decide_hold(after, placing, hold(other)).verdict is expected


@given(st.integers(1, 2**32 - 1), st.integers(1, 10**6), st.integers(1, 5))
def test_no_requeue_makes_another_hold_of_one(instance: int, shift: int, restarts: int) -> None:
    after = opened(submit=SUBMIT + shift, restarts=restarts, eligible=start(instance))
    for placing in (placed(instance), None):
        found = reading(after, placing)
        assert found.reads is Reads.FAR_START
        assert found.instance is None
        assert "it waits until" in found.note
        shown = decode(after.eligible, after.submit)
        assert found.note.startswith("alias: not our hold") is (shown is not None)
        assert decide_release(after, placing, release(shown or 1)).verdict is STALE


def record(**others: Any) -> Job:
    """A record of the array 29."""
    return opened(**{"job_id": 29, "array_job_id": 29, **others})


def task(number: int, **others: Any) -> Job:
    return record(job_id=100 + number, array_task_id=number, **others)


def rest(tasks: str = "4-9", **others: Any) -> Job:
    return record(array_tasks=tasks, **others)


def held(instance: int = N, **others: Any) -> dict[str, Any]:
    """What makes a record a held one, with its comment."""
    placing = placed(instance, **others)
    return {
        "eligible": placing.submit + BASE_SECONDS + instance,
        "submit": placing.submit,
        "restarts": placing.restarts,
        "comment": written(Comment("letters", placing=placing)),
    }


@pytest.mark.parametrize(
    ("records", "call", "verdicts", "failed"),
    [
        ([rest()], hold(), [WRITE], False),
        ([task(0), rest()], hold(), [WRITE, WRITE], False),
        ([task(0, **ENDED), rest()], hold(), [REJECTED, WRITE], False),
        ([task(0, **ENDED), task(1, **ENDED)], hold(), [REJECTED, REJECTED], True),
        # Pending tasks are held, and still the call says that one of the others runs.
        ([task(0, state="RUNNING"), rest()], hold(), [REJECTED, WRITE], True),
        ([task(0, **COMPLETING), rest()], hold(), [REJECTED, WRITE], True),
        ([task(0, state="RUNNING")], hold(), [REJECTED], True),
        ([task(0, **held()), rest()], hold(), [DONE, WRITE], False),
        ([task(0, **held(NEWER)), rest(**held(OLDER))], hold(), [STALE, WRITE], True),
        ([rest("1,3,...%2")], hold(), [REJECTED], True),
        ([task(0), rest("1,3,...%2")], hold(), [WRITE, REJECTED], True),
        ([task(0, **held()), rest(**held())], release(), [WRITE, WRITE], False),
        ([task(0, state="RUNNING"), rest(**held())], release(), [REJECTED, WRITE], False),
        ([task(0, **COMPLETING), rest(**held())], release(), [REJECTED, WRITE], False),
        ([task(0, **ENDED), rest(**held())], release(), [REJECTED, WRITE], False),
        ([task(0), rest(**held())], release(), [STALE, WRITE], True),
        ([task(0, **held(NEWER)), rest(**held())], release(), [STALE, WRITE], True),
        ([task(0, state="RUNNING")], release(), [REJECTED], True),
        # A task that was requeued since keeps the comment, and is not held by it.
        (
            [task(0, **{**held(), "restarts": 1, "submit": SUBMIT + 9}), rest(**held())],
            release(),
            [STALE, WRITE],
            True,
        ),
        ([task(0, **held(restarts=1, submit=SUBMIT + 9))], release(), [WRITE], False),
        ([], hold(), [], True),
    ],
)
def test_an_array(records: list[Job], call: Call, verdicts: list[Verdict], failed: bool) -> None:
    decided = decide_array(records, call)
    assert [each.decision.verdict for each in decided] == verdicts
    assert any_failed(decided) is failed


def test_an_array_is_opened() -> None:
    gated = rest(reason="JobHeldUser", priority=0)
    decided = decide_array(
        [task(0, state="RUNNING"), task(1, **COMPLETING), gated], Call(Action.OPEN)
    )
    assert [each.decision.verdict for each in decided] == [DONE, REJECTED, WRITE]
    assert not any_failed(decided)


def test_an_array_tells_of_each_of_its_tasks() -> None:
    first, others = decide_array([task(3, state="RUNNING"), rest("4-5,8%2", **held())], hold())
    assert (set(first.tasks), first.reading.reads, first.failed) == ({3}, Reads.RUNNING, True)
    assert first.decision.why == (
        "it runs, and only what is pending can be held: it goes on to its end, unless "
        "`scancel 29_3` ends it"
    )
    assert (set(others.tasks), others.reading.instance, others.failed) == ({4, 5, 8}, N, False)
    [cut] = decide_array([rest("1,3,...%2")], hold())
    assert not cut.tasks
    assert "SLURM_BITSTR_LEN=0" in cut.decision.why
