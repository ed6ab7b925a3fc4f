"""Numbered holds on jobs of a real Slurm: every state, and every way in which Slurm misleads."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from slurm.lab import Lab, eventually, outcomes, why

from converter.errors import ClusterUnavailable
from converter.holds.errors import DeadlinePassed, InvalidCall, Rejected
from converter.holds.slurm import SlurmHolds
from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_state import Reads, reading
from converter.slurm.comment import Comment, written
from converter.slurm.host import Host
from converter.slurm.layout import repository_key
from converter.slurm.times import BASE_SECONDS, REQUEUE_SECONDS, decode

INSTANCES = (1, 2, 65535, 2**31 - 1, 2**31, 2**32 - 1)
CALL: dict[str, Any] = {"deadline": 20.0, "by": "tests"}


@pytest.fixture
def holds(lab: Lab) -> SlurmHolds:
    return SlurmHolds(Host(), str(lab.front.parent / "lock"))


def reads(lab: Lab, job: int) -> tuple[Reads, int | None]:
    record = lab.one(job)
    found = reading_of(record)
    return found.reads, found.instance


def hold(holds: SlurmHolds, target: object, instance: int) -> dict[str, str]:
    return outcomes(holds.hold(str(target), instance, **CALL))


def release(holds: SlurmHolds, target: object, instance: int) -> dict[str, str]:
    return outcomes(holds.release(str(target), instance, **CALL))


# States.


def test_gated_held_both_and_neither(lab: Lab, holds: SlurmHolds) -> None:
    job = lab.gated(command="sleep 300")
    here = f"job/{job}"
    assert reads(lab, job) == (Reads.GATED, None)
    assert release(holds, job, 7) == {here: "StaleHold"}
    assert hold(holds, job, 7) == {here: "wrote"}
    assert reads(lab, job) == (Reads.GATED_AND_HELD, 7)
    assert hold(holds, job, 7) == {here: "in force"}
    assert hold(holds, job, 6) == {here: "StaleHold"}
    assert hold(holds, job, 9) == {here: "wrote"}
    before = lab.one(job)
    assert release(holds, job, 7) == {here: "StaleHold"}
    assert lab.one(job) == before

    # The gate opens, and the hold stays: at first with no reason at all.
    lab.scontrol("release", str(job))
    assert reads(lab, job) == (Reads.HELD, 9)
    eventually(lambda: lab.one(job).reason == "BeginTime", "the reason of it")
    assert reads(lab, job) == (Reads.HELD, 9)
    (held,) = holds.list()
    assert (held.target, held.mark.instance, held.mark.by) == (here, 9, "tests")
    assert release(holds, job, 9) == {here: "wrote"}
    eventually(lambda: lab.state(job) == "RUNNING", "it runs")
    assert hold(holds, job, 10) == {here: "Rejected"}
    assert holds.list() == ()


def test_a_release_leaves_the_gate_shut(lab: Lab, holds: SlurmHolds) -> None:
    job = lab.gated()
    hold(holds, job, 7)
    assert release(holds, job, 7) == {f"job/{job}": "wrote"}
    assert reads(lab, job) == (Reads.GATED, None)
    assert lab.one(job).comment == ""


@pytest.mark.parametrize("gate", ["hold", "requeuehold"])
def test_what_an_operator_gates_can_be_held_too(gate: str, lab: Lab, holds: SlurmHolds) -> None:
    if gate == "hold":
        job = lab.slurm.submit("true", "--begin=now+1hour")
        lab.scontrol("hold", str(job))
        assert lab.one(job).reason == "JobHeldAdmin"
    else:
        job = lab.running()
        lab.scontrol("requeuehold", str(job))
        eventually(lambda: lab.one(job).gated and lab.state(job) == "PENDING", "it is back")
    assert hold(holds, job, 7) == {f"job/{job}": "wrote"}
    assert reads(lab, job) == (Reads.GATED_AND_HELD, 7)


def test_every_boundary_of_the_instances(lab: Lab, holds: SlurmHolds) -> None:
    """Also the two whose epoch is a sentinel of 32 bits, which scontrol prints as a word."""
    job = lab.gated()
    submit = lab.one(job).submit
    assert submit is not None
    sentinels = [epoch - submit - BASE_SECONDS for epoch in (2**32 - 2, 2**32 - 1)]
    for instance in sorted({*INSTANCES, *sentinels}):
        assert hold(holds, job, instance) == {f"job/{job}": "wrote"}
        record = lab.one(job)
        assert decode(record.eligible, record.submit) == instance
        assert hold(holds, job, instance) == {f"job/{job}": "in force"}
    assert release(holds, job, 2**32 - 1) == {f"job/{job}": "wrote"}
    for instance in (0, -1, 2**32):
        with pytest.raises(InvalidCall):
            holds.hold(str(job), instance, **CALL)


def test_what_completes_is_not_held_though_slurm_would_take_it(lab: Lab, holds: SlurmHolds) -> None:
    job = lab.running()
    lab.slurm.set_epilog_seconds(4)
    lab.scontrol("requeue", str(job))
    eventually(lambda: lab.state(job) == "COMPLETING", "it completes")
    calls = lab.watch("scontrol")
    assert "it completes" in why(holds.hold(str(job), 50, **CALL))
    assert " update " not in calls.read_text()
    lab.plain()
    eventually(lambda: lab.state(job) == "PENDING", "it is back")
    assert reads(lab, job) == (Reads.PENDING, None)
    assert hold(holds, job, 50) == {f"job/{job}": "wrote"}


def test_what_has_ended_or_is_unknown_is_not_held(lab: Lab, holds: SlurmHolds) -> None:
    job = lab.gated()
    hold(holds, job, 7)
    lab.slurm.ask("scancel", str(job))
    # Its reason and its times are as they were.
    assert lab.state(job) == "CANCELLED"
    assert "it has ended" in why(holds.hold(str(job), 8, **CALL))
    assert release(holds, job, 7) == {f"job/{job}": "Rejected"}
    with pytest.raises(Rejected, match="Slurm knows no such job"):
        holds.hold("999999", 7, **CALL)


@pytest.mark.parametrize("target", ["", ",", "1,2", "-1", "1;true", "job/", "29_", "*", "1 2"])
def test_what_is_no_target_is_not_sent(target: str, lab: Lab, holds: SlurmHolds) -> None:
    """Slurm takes an empty number for success, and changes the first of a list."""
    calls = lab.watch("squeue"), lab.watch("scontrol")
    with pytest.raises(InvalidCall):
        holds.hold(target, 7, **CALL)
    assert [each.read_text() for each in calls] == ["", ""]


def test_a_start_of_its_own_is_replaced_and_said_to_be(lab: Lab, holds: SlurmHolds) -> None:
    job = lab.slurm.submit("true", "--begin=now+1hour")
    eventually(lambda: lab.one(job).reason == "BeginTime", "it waits for its time")
    record = lab.one(job)
    assert "which a hold would replace" in reading(record, None).note
    assert hold(holds, job, 7) == {f"job/{job}": "wrote"}
    assert release(holds, job, 7) == {f"job/{job}": "wrote"}


def test_a_hold_outlives_a_dependency(lab: Lab, holds: SlurmHolds) -> None:
    first = lab.running()
    job = lab.gated(f"--dependency=afterany:{first}", command="sleep 300")
    hold(holds, job, 7)
    lab.scontrol("release", str(job))
    eventually(lambda: lab.one(job).reason == "Dependency", "it depends")
    assert reads(lab, job) == (Reads.HELD, 7)
    lab.slurm.ask("scancel", str(first))
    eventually(lambda: lab.one(job).reason == "BeginTime", "the hold alone")
    release(holds, job, 7)
    eventually(lambda: lab.state(job) == "RUNNING", "it runs")


def test_a_restart_of_the_controller_keeps_a_hold(lab: Lab, holds: SlurmHolds) -> None:
    job = lab.gated()
    hold(holds, job, 7)
    lab.slurm.stop_controller()
    try:
        began = time.monotonic()
        with pytest.raises(ClusterUnavailable):
            holds.release(str(job), 7, deadline=3, by="tests")
        assert time.monotonic() - began < 15
    finally:
        lab.slurm.start_controller()
    assert reads(lab, job) == (Reads.GATED_AND_HELD, 7)
    assert release(holds, job, 7) == {f"job/{job}": "wrote"}


# Requeues.


def cancelled_and_requeued(lab: Lab, holds: SlurmHolds, instance: int) -> int:
    """The start stays, and the submit time moves."""
    job = lab.gated()
    hold(holds, job, instance)
    time.sleep(2)
    lab.slurm.ask("scancel", str(job))
    lab.scontrol("requeue", str(job))
    assert lab.one(job).restarts == 1
    return job


def test_a_requeued_job_shows_another_instance_that_is_no_hold(lab: Lab, holds: SlurmHolds) -> None:
    job = cancelled_and_requeued(lab, holds, 100)
    record = lab.one(job)
    alias = decode(record.eligible, record.submit)
    assert alias is not None
    assert 90 < alias < 100
    found = reading_of(record)
    assert found.mark is None
    assert "alias: not our hold" in found.note
    for instance in (alias, 100):
        assert release(holds, job, instance) == {f"job/{job}": "StaleHold"}
    assert holds.list() == ()
    # It would wait for ten years: a hold on it and its release have it start.
    assert hold(holds, job, 101) == {f"job/{job}": "wrote"}
    assert release(holds, job, 101) == {f"job/{job}": "wrote"}


def test_a_small_instance_of_a_requeued_job_lies_below_all_holds(
    lab: Lab, holds: SlurmHolds
) -> None:
    job = cancelled_and_requeued(lab, holds, 1)
    record = lab.one(job)
    assert decode(record.eligible, record.submit) is None
    note = reading_of(record).note
    assert "years away and is no hold" in note


def test_a_requeue_of_what_was_never_held_is_no_hold(lab: Lab, holds: SlurmHolds) -> None:
    """Slurm gives it a start two minutes away, with the reason of a hold."""
    job = lab.running()
    lab.scontrol("requeue", str(job))
    eventually(lambda: lab.one(job).reason == "BeginTime", "it waits")
    assert reads(lab, job) == (Reads.PENDING, None)
    assert release(holds, job, 7) == {f"job/{job}": "StaleHold"}
    assert hold(holds, job, 7) == {f"job/{job}": "wrote"}


def test_a_task_that_was_just_requeued_does_not_start_at_once(lab: Lab, holds: SlurmHolds) -> None:
    """It would fail before it has begun, by the credential of its try before."""
    job = lab.running()
    lab.scontrol("requeue", str(job))
    eventually(lambda: lab.one(job).reason == "BeginTime", "it is back in the queue")
    assert hold(holds, job, 7) == {f"job/{job}": "wrote"}
    assert release(holds, job, 7) == {f"job/{job}": "wrote"}
    found = lab.one(job)
    assert found.submit is not None
    assert found.eligible == found.submit + REQUEUE_SECONDS
    assert reads(lab, job) == (Reads.PENDING, None)

    def runs() -> bool:
        lab.hasten([lab.one(job)])
        return lab.state(job) == "RUNNING"

    eventually(runs, "it runs")


def test_a_comment_of_somebody_else_is_left_alone(lab: Lab, holds: SlurmHolds) -> None:
    job = lab.gated("--comment=mine, all of it")
    assert hold(holds, job, 7) == {f"job/{job}": "wrote"}
    assert lab.one(job).comment == "mine, all of it"
    assert reads(lab, job) == (Reads.GATED_AND_HELD, 7)
    assert release(holds, job, 7) == {f"job/{job}": "wrote"}


# Arrays.


def test_an_array_with_tasks_in_every_state(lab: Lab, holds: SlurmHolds) -> None:
    """Pending tasks are held, and the call fails all the same: some go on."""
    array = lab.array("0-9%2", command='[ "$SLURM_ARRAY_TASK_ID" = 0 ] || sleep 300')
    eventually(
        lambda: (
            [job.state for job in lab.records(array)].count("RUNNING") == 2
            and lab.records(array)[0].state == "COMPLETED"
        ),
        "one has ended, two run",
    )
    found = hold(holds, array, 7)
    assert found == {
        f"job/{array}_0": "Rejected",
        f"job/{array}_1": "Rejected",
        f"job/{array}_2": "Rejected",
        f"job/{array}_[3-9]": "wrote",
    }
    parts = holds.hold(str(array), 7, **CALL)
    assert [part.failed for part in parts] == [False, True, True, False]

    # One task alone, which Slurm takes out of the rest.
    assert hold(holds, f"{array}_5", 9) == {f"job/{array}_5": "wrote"}
    assert release(holds, array, 7)[f"job/{array}_5"] == "StaleHold"
    lab.slurm.ask("scancel", f"{array}_[1-2]")
    eventually(
        lambda: (
            {job.array_task_id for job in lab.records(array) if job.state == "RUNNING"} == {3, 4}
        ),
        "those that are released run",
    )
    still = [job for job in lab.records(array) if reading_of(job).mark]
    assert [job.array_task_id for job in still] == [5]


def test_tasks_that_start_while_the_rest_is_held_are_told(lab: Lab, holds: SlurmHolds) -> None:
    array = lab.array("0-3%1", "--hold")
    # They start between the look at the rest and the write.
    lab.command(
        "scontrol",
        f'[ "$1" != update ] || [ -e {lab.front}/done ] || {{ touch {lab.front}/done; '
        f'"$real" release {array}; sleep 2; }}\nexec "$real" "$@"',
    )
    parts = holds.hold(str(array), 7, **CALL)
    assert outcomes(parts) == {f"job/{array}_[1-3]": "wrote", f"job/{array}_0": "Rejected"}
    assert [part.failed for part in parts] == [False, True]


def test_a_campaign_is_held_by_what_its_comment_says(lab: Lab, holds: SlurmHolds) -> None:
    said = written(
        Comment("letters", commit="c0ffee", digest="abcd", repository=repository_key("archive"))
    )
    other = written(
        Comment("letters", commit="c0ffee", digest="abcd", repository=repository_key("library"))
    )
    array = lab.array("0-3", "--hold", f"--comment={said}")
    lab.array("0-3", "--hold", f"--comment={other}")
    of_archive = SlurmHolds(Host(), str(lab.front.parent / "lock"), repository="archive")
    assert hold(of_archive, "letters", 7) == {f"job/{array}_[0-3]": "wrote"}
    (held,) = of_archive.list()
    assert (held.campaign, held.part) == ("letters", 0)
    assert release(of_archive, "letters", 7) == {f"job/{array}_[0-3]": "wrote"}
    assert lab.one(array).comment == said
    with pytest.raises(Rejected, match="no job of a campaign deeds"):
        of_archive.hold("deeds", 7, **CALL)


# What the caller's environment and clock are.


@pytest.mark.parametrize("zone", ["UTC", "America/New_York", "Europe/Berlin", "No/Where"])
@pytest.mark.parametrize("times", [None, "relative", "%s", "%Y"])
def test_the_callers_zone_and_formats_change_nothing(
    zone: str, times: str | None, lab: Lab, holds: SlurmHolds, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TZ", zone)
    for name, value in (("SLURM_TIME_FORMAT", times), ("SQUEUE_STATES", "RUNNING")):
        if value is not None:
            monkeypatch.setenv(name, value)
    job = lab.gated()
    calls = lab.watch("scontrol")
    assert hold(holds, job, 7) == {f"job/{job}": "wrote"}
    (update,) = [line for line in calls.read_text().splitlines() if " update " in line]
    assert update.startswith(f"UTC %s update JobId={job} StartTime=20")
    lab.plain()
    assert reads(lab, job) == (Reads.GATED_AND_HELD, 7)


@pytest.mark.parametrize("hours", [-48, 48])
def test_the_clock_of_the_host_is_what_counts_there(
    hours: int, lab: Lab, holds: SlurmHolds
) -> None:
    """However it is set, a call has its time and no more."""
    lab.command("date", f'echo "$(( $(/bin/date +%s) + {hours} * 3600 ))"')
    job = lab.gated()
    assert hold(holds, job, 7) == {f"job/{job}": "wrote"}
    late(lab, 3)
    with pytest.raises(DeadlinePassed, match="the deadline has passed"):
        raise_of(holds.hold(str(job), 8, deadline=2, by="tests"))
    assert reads(lab, job) == (Reads.GATED_AND_HELD, 7)


def late(lab: Lab, seconds: float) -> None:
    """What is sent to be written arrives so late, as through a connection that was away."""
    lab.command("sh", f'case "$*" in *"update.sh"*) sleep {seconds} ;; esac\nexec /bin/sh "$@"')


def raise_of(parts: object) -> None:
    assert isinstance(parts, tuple)
    (part,) = parts
    if isinstance(part.outcome, Exception):
        raise part.outcome


def test_what_arrives_after_the_deadline_is_not_started(lab: Lab, holds: SlurmHolds) -> None:
    job = lab.gated()
    late(lab, 3)
    calls = lab.watch("scontrol")
    with pytest.raises(DeadlinePassed):
        raise_of(holds.hold(str(job), 7, deadline=2, by="tests"))
    assert " update " not in calls.read_text()
    assert reads(lab, job) == (Reads.GATED, None)


def test_a_late_release_does_not_lift_a_newer_hold(lab: Lab, holds: SlurmHolds) -> None:
    """Slurm would: it has no precondition."""
    job = lab.gated()
    hold(holds, job, 1)
    late(lab, 2)
    with ThreadPoolExecutor() as pool:
        release_1 = pool.submit(release, holds, job, 1)
        time.sleep(1)
        lab.plain()
        assert hold(holds, job, 2) == {f"job/{job}": "wrote"}
        assert release_1.result() == {f"job/{job}": "StaleHold"}
    assert reads(lab, job) == (Reads.GATED_AND_HELD, 2)


def test_releases_that_race_a_newer_hold_never_undo_it(lab: Lab, holds: SlurmHolds) -> None:
    for _ in range(5):
        job = lab.gated()
        hold(holds, job, 1)
        with ThreadPoolExecutor() as pool:
            calls = [pool.submit(partial(release, holds, job, 1)) for _ in range(2)]
            newer = pool.submit(partial(hold, holds, job, 2))
            held = newer.result()[f"job/{job}"]
            done = [call.result()[f"job/{job}"] for call in calls]
        if held == "wrote":
            assert done.count("wrote") <= 1
            assert reads(lab, job) == (Reads.GATED_AND_HELD, 2)
        else:
            # What it had read was lifted before it could write, and it says so.
            assert (held, done.count("wrote")) == ("StaleHold", 1)
            assert reads(lab, job) == (Reads.GATED, None)


def test_the_caller_may_be_another_user_than_root(lab: Lab) -> None:
    """Slurm's own word is what it is told."""
    job = lab.gated()
    lab.command(
        "scontrol",
        '[ "$1" != update ] || { echo "Invalid user id for job 20" >&2; exit 1; }\n'
        'exec "$real" "$@"',
    )
    found = why(SlurmHolds(Host(), str(lab.front.parent / "lock")).hold(str(job), 7, **CALL))
    assert "Slurm refuses: Invalid user id" in found
