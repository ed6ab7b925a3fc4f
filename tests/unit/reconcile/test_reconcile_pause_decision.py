"""What it takes to make a campaign's pause on the cluster what git says it is (apply.md, Pause)."""

import pytest
from unit.reconcile.live_objects import (
    Object,
    applied,
    deactivated,
    ended,
    evicted,
    held,
    job,
    queued,
    running,
    workload,
)

from converter.names import HOLD_ANNOTATION
from converter.queues.kueue import Kueue
from converter.reconcile.pause import Decision, Move, decide, holds, kueue_deactivation
from converter.reconcile.plan import PauseWish

PAUSE = PauseWish("scan", "scan", active=False)
RESUME = PauseWish("scan", "scan", active=True)
OUTSIDE = applied(Kueue().prepare(job(suspended=True).body, None).body)
RUNS = running(job())
PATCH = Decision(Move.PATCH, ("job-scan",))
NOTHING = Decision(Move.NOTHING)
HELD = Decision(
    Move.KEEP,
    (),
    "stays inactive: hold 7 is in force (nobody said why); "
    "`campaigns release scan --instance 7 --deadline 30s` lifts it",
)


def stranded(of: Object) -> Object:
    made = workload(of, active=True, Evicted="DeactivatedDueToAdmissionCheck")
    requeued = {
        "type": "Requeued",
        "status": "False",
        "reason": "DeactivatedDueToAdmissionCheck",
    }
    made["status"]["conditions"].append(requeued)
    return made


def admitted_again(of: Object) -> Object:
    made = stranded(of)
    made["status"]["conditions"].append({"type": "QuotaReserved", "status": "True"})
    return made


@pytest.mark.parametrize(
    ("wish", "live", "workloads", "decision"),
    [
        (PAUSE, RUNS, [workload(RUNS)], PATCH),
        (PAUSE, RUNS, [workload(RUNS, active=True)], PATCH),
        (PAUSE, RUNS, [workload(RUNS, active=False)], NOTHING),
        (PAUSE, RUNS, [], Decision(Move.WAIT)),
        (PAUSE, queued(job()), [], Decision(Move.WAIT)),
        (PAUSE, OUTSIDE, [], NOTHING),
        (PAUSE, ended(job()), [workload(RUNS)], NOTHING),
        (PAUSE, None, [], NOTHING),
        (PAUSE, RUNS, [workload(RUNS, Finished="Succeeded")], NOTHING),
        (RESUME, evicted(job()), [workload(RUNS, active=False)], PATCH),
        (RESUME, RUNS, [workload(RUNS)], NOTHING),
        (RESUME, queued(job()), [], NOTHING),
        (
            RESUME,
            evicted(job()),
            [deactivated(RUNS)],
            Decision(Move.RENEW, ("job-scan",), "DeactivatedDueToRequeuingLimitExceeded"),
        ),
        (RESUME, evicted(job()), [held(RUNS)], HELD),
        (
            RESUME,
            evicted(job()),
            [stranded(RUNS)],
            Decision(Move.RENEW, ("job-scan",), "DeactivatedDueToAdmissionCheck"),
        ),
        (RESUME, RUNS, [admitted_again(RUNS)], NOTHING),
        (PAUSE, evicted(job()), [stranded(RUNS)], PATCH),
    ],
    ids=[
        "runs",
        "runs, active spelt out",
        "is paused",
        "has no Workload yet",
        "waits and has no Workload yet",
        "outside the queue, so cannot start",
        "has ended",
        "was never created",
        "its Workload has ended",
        "paused",
        "runs already",
        "not yet in the queue",
        "deactivated by Kueue",
        "held",
        "active, and forgotten by Kueue",
        "deactivated once, and admitted since",
        "active, and forgotten by Kueue: a pause",
    ],
)
def test_decide(
    wish: PauseWish, live: Object | None, workloads: list[Object], decision: Decision
) -> None:
    assert decide(wish, live, workloads, reactivate=True) == decision


def dying(present: Object) -> Object:
    stamp = {"deletionTimestamp": "2026-01-03T00:00:00Z"}
    return {**present, "metadata": {**present["metadata"], **stamp}}


@pytest.mark.parametrize(
    ("wish", "workloads", "move"),
    [
        (PAUSE, [dying(workload(RUNS))], Move.WAIT),
        (PAUSE, [dying(workload(RUNS)), workload(RUNS, name="new")], Move.PATCH),
        (RESUME, [dying(deactivated(RUNS))], Move.NOTHING),
    ],
)
def test_a_workload_on_its_way_out_is_left_aside(
    wish: PauseWish, workloads: list[Object], move: Move
) -> None:
    """Kueue makes another, which is active."""
    assert decide(wish, RUNS, workloads, reactivate=True).move is move


def test_what_kueue_deactivated_is_not_made_anew_under_a_hold() -> None:
    on_hold = stranded(RUNS)
    on_hold["metadata"]["annotations"] = {HOLD_ANNOTATION: "7"}
    assert decide(RESUME, evicted(job()), [on_hold], reactivate=True).move is Move.KEEP


@pytest.mark.parametrize(
    ("live", "workloads", "expected"),
    [
        (None, [], True),
        (ended(job()), [], True),
        (dying(RUNS), [], True),
        (OUTSIDE, [], True),
        (RUNS, [workload(RUNS, active=False)], False),
        (evicted(job()), [workload(RUNS, active=False)], True),
        (evicted(job()), [workload(RUNS)], False),
        (evicted(job()), [], False),
        (evicted(job()), [dying(workload(RUNS, active=False))], False),
        (evicted(job()), [workload(RUNS, active=False), workload(RUNS, name="new")], False),
    ],
)
def test_when_a_pause_holds(live: Object | None, workloads: list[Object], expected: bool) -> None:
    assert holds(live, workloads) is expected


def test_every_workload_of_a_job_is_paused() -> None:
    several = [
        workload(RUNS, name="a"),
        workload(RUNS, name="b", active=False),
        workload(RUNS, name="c", active=True),
    ]
    assert decide(PAUSE, RUNS, several, reactivate=True).workloads == ("a", "c")


def test_one_held_workload_keeps_all_of_a_job_inactive() -> None:
    both = [workload(RUNS, name="a", active=False), held(RUNS)]
    assert decide(RESUME, evicted(job()), both, reactivate=True).move is Move.KEEP


@pytest.mark.parametrize(
    ("present", "move"),
    [
        (deactivated(RUNS), Move.KEEP),
        (deactivated(RUNS, "Deactivated"), Move.PATCH),
        (workload(RUNS, active=False), Move.PATCH),
    ],
    ids=["by Kueue", "by a person", "by a pause"],
)
def test_reactivate_never_leaves_what_kueue_deactivated(present: Object, move: Move) -> None:
    decision = decide(RESUME, evicted(job()), [present], reactivate=False)
    assert decision.move is move
    if move is Move.KEEP:
        assert kueue_deactivation(present) in decision.reason
