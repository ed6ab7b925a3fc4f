"""How far each campaign is: the phases of `campaigns status`."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from unit.reconcile.live_objects import (
    REPOSITORY,
    Object,
    applied,
    ended,
    evicted,
    foreign,
    held,
    job,
    queued,
    running,
    stamped_volumes,
    state,
    volumes,
    workload,
)

from converter.holds.mark import Mark
from converter.names import (
    HOLD_ANNOTATION,
    KUEUE_MIN_PARALLELISM_ANNOTATION,
    KUEUE_QUEUE_LABEL,
)
from converter.observe.phase import Phase
from converter.observe.places import Place, places_of
from converter.observe.status import Status, of_job, statuses
from converter.observe.wanted import Wanted, WantedPart
from converter.queues.kueue import Kueue
from converter.reconcile.record import records_to_write

PAUSED = job(suspended=True)
UNREADABLE = "a hold whose instance cannot be read"
OUTSIDE = applied(Kueue().prepare(PAUSED.body, None).body)


def git(volumes: int, **said: Any) -> dict[str, Wanted]:
    """One campaign of so many volumes, as whole as its Jobs."""
    made = Wanted(
        parts={"scan": WantedPart(volumes, "inputs-1", 2)},
        pipeline="ocr",
        size="s",
        queue="gpu",
        priority="",
        suspended=False,
    )
    return {"scan": replace(made, **said)}


def waiting(of: Object, message: str) -> Object:
    made = workload(of)
    made["status"]["conditions"] = [
        {"type": "QuotaReserved", "status": "False", "message": message}
    ]
    return made


def not_requeued(of: Object, reason: str) -> Object:
    made = workload(of, active=True, Evicted=reason)
    made["status"]["conditions"].append({"type": "Requeued", "status": "False", "reason": reason})
    return made


def active_again(of: Object) -> Object:
    return {**of, "spec": {"active": True}}


def with_pods(live: Object, active: int, terminating: int = 0) -> Object:
    return {**live, "status": {"active": active, "terminating": terminating}}


@pytest.mark.parametrize(
    ("live", "workloads", "phase", "detail"),
    [
        (running(job()), [workload(running(job()))], Phase.RUNNING, ""),
        (queued(job()), [], Phase.WAITING, "Kueue has made no Workload for it"),
        (
            queued(job()),
            [waiting(queued(job()), "no  quota\nleft")],
            Phase.WAITING,
            "no quota left",
        ),
        (
            evicted(job()),
            [workload(evicted(job()), Evicted="Preempted")],
            Phase.WAITING,
            "evicted, waiting to be admitted again",
        ),
        (
            evicted(job()),
            [not_requeued(evicted(job()), "DeactivatedDueToAdmissionCheck")],
            Phase.PAUSED,
            "Kueue deactivated it (DeactivatedDueToAdmissionCheck): apply again",
        ),
        (
            evicted(job()),
            [not_requeued(evicted(job()), "PodsReadyTimeout")],
            Phase.WAITING,
            "evicted, waiting to be admitted again",
        ),
        (evicted(PAUSED), [workload(evicted(PAUSED), active=False)], Phase.PAUSED, ""),
        (
            evicted(job()),
            [workload(evicted(job()), active=False, Evicted="DeactivatedDueToAdmissionCheck")],
            Phase.PAUSED,
            "Kueue deactivated it (DeactivatedDueToAdmissionCheck)",
        ),
        (evicted(PAUSED), [held(evicted(PAUSED))], Phase.HELD, "hold 7"),
        (
            with_pods(evicted(PAUSED), 2),
            [workload(evicted(PAUSED), active=False)],
            Phase.PAUSING,
            "2 pods ending",
        ),
        (
            with_pods(evicted(PAUSED), 0, terminating=1),
            [workload(evicted(PAUSED), active=False)],
            Phase.PAUSING,
            "1 pod ending",
        ),
        (
            with_pods(running(PAUSED), 2),
            [workload(running(PAUSED), active=False, Admitted="Admitted")],
            Phase.PAUSING,
            "its Workload is inactive, but Kueue has not stopped it: 2 pods running",
        ),
        (
            with_pods(running(PAUSED), 2),
            [workload(running(PAUSED), active=False, Admitted="Admitted", Evicted="Deactivated")],
            Phase.PAUSING,
            "evicted, 2 pods still running",
        ),
        (
            evicted(PAUSED),
            [workload(evicted(PAUSED), active=False, QuotaReserved="QuotaReserved")],
            Phase.PAUSING,
            "its quota is not free yet",
        ),
        (
            with_pods(running(job()), 3),
            [workload(running(job()), Admitted="Admitted", Evicted="Preempted")],
            Phase.WAITING,
            "evicted (Preempted), 3 pods ending",
        ),
        (
            with_pods(evicted(job()), 0, terminating=1),
            [workload(evicted(job()), Evicted="Preempted")],
            Phase.WAITING,
            "evicted (Preempted), 1 pod ending",
        ),
        (
            evicted(PAUSED),
            [workload(evicted(PAUSED))],
            Phase.PAUSING,
            "its Workload is still active: apply again",
        ),
        (evicted(PAUSED), [], Phase.PAUSING, "Kueue has made no Workload to pause: apply again"),
        (
            evicted(PAUSED),
            [workload(evicted(PAUSED), active=False), workload(evicted(PAUSED), name="second")],
            Phase.PAUSING,
            "another Workload of it is active",
        ),
        (
            evicted(job()),
            [workload(evicted(job()), name="second"), held(evicted(job()))],
            Phase.PAUSING,
            "being held by hold 7: another Workload of it is active",
        ),
        (
            with_pods(evicted(job()), 2),
            [held(evicted(job()), held_by="ops")],
            Phase.PAUSING,
            "being held by hold 7: 2 pods ending",
        ),
        (
            evicted(job()),
            [held(evicted(job()), held_by="ops", held_at="today", hold_reason="a node\nis lost")],
            Phase.HELD,
            "hold 7 of ops since today: a node is lost",
        ),
        (evicted(job()), [held(evicted(job()), "soon")], Phase.HELD, UNREADABLE),
        (
            evicted(PAUSED),
            [
                workload(evicted(PAUSED), active=False),
                workload(evicted(PAUSED), name="second", Finished="Succeeded"),
            ],
            Phase.PAUSED,
            "",
        ),
        (
            with_pods(running(job()), 1),
            [active_again(held(running(job())))],
            Phase.RUNNING,
            "hold 7 does not stop it",
        ),
        (OUTSIDE, [], Phase.PAUSED, ""),
        (OUTSIDE, [workload(OUTSIDE)], Phase.PAUSED, ""),
        (ended(job()), [], Phase.FINISHED, ""),
        (ended(job(), "Failed", "0"), [], Phase.PARTLY_FAILED, ""),
        (ended(job(), "Failed", ""), [], Phase.FAILED, ""),
    ],
)
def test_the_phase_of_a_job(
    live: Object, workloads: list[Object], phase: Phase, detail: str
) -> None:
    status = of_job(live, workloads)
    assert (status.phase, status.detail) == (phase, detail)


def test_counts_are_volumes() -> None:
    live = running(job())
    live["status"] = {"active": 1, "terminating": 0, "completedIndexes": "0", "failedIndexes": "2"}
    status = of_job(live, ())
    assert (status.total, status.done, status.failed, status.active) == (3, 1, 1, 1)


def test_a_campaign_in_git_without_job_and_record_is_missing() -> None:
    found = statuses(git(3), state(foreign(running(job()))), REPOSITORY)
    missing = Status("scan", Phase.MISSING, 3, pipeline="ocr", size="s")
    assert found == [missing]


def test_a_record_speaks_for_a_reaped_job_and_a_live_job_for_itself() -> None:
    made = stamped_volumes(volumes(), "uid-scan")
    (body,) = records_to_write(state(ended(job(), "Failed", "0"), made), REPOSITORY)
    (reaped,) = statuses(git(3), state(made, applied(body)), REPOSITORY)
    assert (reaped.phase, reaped.done, reaped.failed) == (Phase.PARTLY_FAILED, 1, 2)
    (alive,) = statuses({}, state(running(job()), made, applied(body)), REPOSITORY)
    assert alive.phase is Phase.RUNNING


def test_a_record_that_cannot_be_read_does_not_spoil_the_table() -> None:
    (body,) = records_to_write(state(ended(job())), REPOSITORY)
    broken = applied({**body, "data": {}})
    found = statuses(git(3), state(broken, running(job("other"))), REPOSITORY)
    assert [status.phase for status in found] == [Phase.RUNNING, Phase.MISSING]


@pytest.mark.parametrize(
    ("one", "other", "phase"),
    [
        (running, ended, Phase.RUNNING),
        (queued, ended, Phase.WAITING),
        (queued, running, Phase.RUNNING),
        (ended, ended, Phase.FINISHED),
        (ended, lambda of: ended(of, "Failed", ""), Phase.PARTLY_FAILED),
        (lambda of: ended(of, "Failed", ""),) * 2 + (Phase.FAILED,),
    ],
)
def test_the_parts_of_a_campaign_are_one_row(one: object, other: object, phase: Phase) -> None:
    assert callable(one)
    assert callable(other)
    live = state(one(job("scan-part1", campaign="scan")), other(job("scan-part2", campaign="scan")))
    (status,) = statuses(git(6), live, REPOSITORY)
    assert (status.name, status.phase, status.total) == ("scan", phase, 6)


@pytest.mark.parametrize("recorded", [False, True])
def test_a_campaign_of_which_a_part_is_gone_has_not_finished(recorded: bool) -> None:
    one = ended(job("scan-part1", campaign="scan"))
    (record,) = records_to_write(state(one), REPOSITORY)
    live = state(applied(record) if recorded else one)
    (status,) = statuses(git(6), live, REPOSITORY)
    assert (status.phase, status.done, status.total) == (Phase.MISSING, 3, 6)


def test_a_campaign_rests_when_all_of_its_parts_do() -> None:
    one, other = (job(f"scan-part{number}", campaign="scan") for number in (1, 2))
    on_hold, waits = evicted(one), queued(other)
    live = state(on_hold, waits, workloads=(held(on_hold), workload(waits)))
    (status,) = statuses(git(6), live, REPOSITORY)
    assert status.phase is Phase.WAITING


def test_a_workload_on_its_way_out_says_nothing_any_more() -> None:
    waits = queued(job())
    dying = workload(waits, active=False, Evicted="DeactivatedDueToAdmissionCheck")
    dying["metadata"]["deletionTimestamp"] = "2026-01-03T00:00:00Z"
    assert of_job(waits, [dying]).phase is Phase.WAITING


def test_a_hold_is_on_one_line() -> None:
    on_hold = evicted(PAUSED)
    found = of_job(on_hold, [held(on_hold, hold_reason="x\n::error::\x1b[31mgotcha")])
    assert found.detail == "hold 7: x ::error::gotcha"


def alone(suspended: bool, **annotations: str) -> Object:
    """A Job that no queue system knows."""
    live = evicted(job()) if suspended else running(job())
    del live["metadata"]["labels"][KUEUE_QUEUE_LABEL]
    live["metadata"]["annotations"] |= annotations
    return live


def test_a_job_without_a_queue_carries_its_hold_itself() -> None:
    hold = {HOLD_ANNOTATION: "7"}
    assert of_job(alone(True, **hold), ()).phase is Phase.HELD
    assert of_job(with_pods(alone(True, **hold), 1), ()).phase is Phase.PAUSING
    going = of_job(alone(False, **hold), ())
    assert (going.phase, going.detail) == (Phase.RUNNING, "hold 7 does not stop it")
    assert of_job({**evicted(job())}, ()).hold is None


def test_the_newest_hold_of_several_parts_is_shown() -> None:
    one, two = (evicted(job(f"scan-part{number}", campaign="scan")) for number in (1, 2))
    live = state(one, two, workloads=(held(one, "7"), held(two, "12")))
    (status,) = statuses(git(6), live, REPOSITORY)
    assert status.hold == Mark(12)
    live = state(one, two, workloads=(held(one, "soon"), held(two, "12")))
    (status,) = statuses(git(6), live, REPOSITORY)
    assert status.hold == Mark(None)


def test_a_list_that_has_grown_in_git_leaves_the_campaign_what_it_is() -> None:
    (status,) = statuses(git(6), state(ended(job())), REPOSITORY)
    assert (status.phase, status.total) == (Phase.FINISHED, 3)


def test_a_campaign_is_as_old_as_its_oldest_part_whose_age_is_known() -> None:
    """The record of a part that never started has no start."""
    one, other = (job(f"scan-part{number}", campaign="scan") for number in (1, 2))
    never = ended(one, "Failed", "")
    del never["status"]["startTime"]
    (body,) = records_to_write(state(never), REPOSITORY)
    young = running(other)
    young["metadata"]["creationTimestamp"] = "2026-01-05T00:00:00Z"
    (status,) = statuses({}, state(applied(body), young), REPOSITORY)
    assert status.created == "2026-01-05T00:00:00Z"


@pytest.mark.parametrize(
    ("phase", "is_end", "rests"),
    [
        (Phase.FINISHED, True, True),
        (Phase.FAILED, True, True),
        (Phase.PAUSED, False, True),
        (Phase.HELD, False, True),
        (Phase.PAUSING, False, False),
        (Phase.WAITING, False, False),
        (Phase.RUNNING, False, False),
    ],
)
def test_what_a_wait_ends_on(phase: Phase, is_end: bool, rests: bool) -> None:
    assert (phase.is_end, phase.rests) == (is_end, rests)


def by_hand(parallelism: int) -> Object:
    live = running(job())
    return {**live, "spec": {**live["spec"], "parallelism": parallelism}}


def partly_admitted(pods: int) -> Object:
    live = by_hand(pods)
    live["metadata"]["annotations"][KUEUE_MIN_PARALLELISM_ANNOTATION] = "1"
    return live


@pytest.mark.parametrize(
    ("live", "said", "drifted"),
    [
        (running(job()), {}, ""),
        (running(job(window=3)), {}, "its window is 3, and git says 2"),
        (by_hand(3), {}, "its Job's parallelism is 3, and git says window 2"),
        (by_hand(1), {}, "its Job's parallelism is 1, and git says window 2"),
        (partly_admitted(1), {}, ""),
        (running(job(inputs="other")), {}, "its volumes, pipeline, size or settings changed"),
        (running(job(pipeline="old")), {}, "it runs pipeline old, and git says ocr"),
        (running(job(volumes=4)), {}, "it has 4 volumes, and git has 3"),
        (running(job()), {"suspended": True}, "git pauses it, and no apply has"),
        (evicted(PAUSED), {}, "git lets it run, and no apply has resumed it"),
        (evicted(PAUSED), {"suspended": True}, ""),
        (OUTSIDE, {"suspended": True}, ""),
        (running(job()), {"priority": "urgent"}, "its priority is none, and git says urgent"),
        (running(job()), {"queue": "cpu"}, "it is in queue gpu, and git says cpu"),
        (running(job()), {"parts": {"scan-part1": WantedPart(3, "", 2)}}, "git has other volumes"),
        (ended(job(inputs="other")), {}, ""),
    ],
)
def test_what_is_not_as_in_git_has_drifted_while_it_goes_on(
    live: Object, said: dict[str, Any], drifted: str
) -> None:
    paused = live["spec"].get("suspend") is True
    there = state(live, workloads=(workload(live, active=not paused),))
    (status,) = statuses(git(3, **said), there, REPOSITORY)
    assert status.drift.startswith(drifted)
    assert bool(status.drift) is bool(drifted)
    assert status.shown_phase == ("Drifted" if drifted else str(status.phase))


def test_a_pause_that_is_not_carried_out_is_no_drift() -> None:
    runs = with_pods(running(PAUSED), 2)
    live = state(runs, workloads=(workload(runs, active=False),))
    (status,) = statuses(git(3), live, REPOSITORY)
    assert status.drift
    assert status.shown_phase == "Pausing"


def test_what_git_has_no_more_has_drifted_until_it_has_ended() -> None:
    going_on, ended_job = running(job()), ended(job("old"))
    old, scan = statuses({}, state(going_on, ended_job), REPOSITORY)
    assert (old.shown_phase, scan.shown_phase) == ("Finished", "Drifted")
    assert scan.drift == "it is not in git: apply with --prune cancels it"


def test_places_count_from_1_and_name_who_is_ahead() -> None:
    def pending(name: str, local: int, whole: int) -> Object:
        places = {"positionInLocalQueue": local, "positionInClusterQueue": whole}
        return {"metadata": {"name": name}, "priority": 5, **places}

    found = places_of([pending("job-b", 1, 3), pending("job-a", 0, 1)])
    line = ("job-a", "job-b")
    assert found == {"job-a": Place(1, 2, 5, line), "job-b": Place(2, 4, 5, line)}
    assert [found[each].ahead for each in line] == [(), ("job-a",)]
    assert found["job-b"].others == 2


def test_only_what_waits_has_a_place() -> None:
    place = Place(1, 2, 0)
    waits, runs = queued(job()), running(job("other"))
    live = state(waits, runs, workloads=(workload(waits), workload(runs)))
    places = {"job-scan": place, "job-other": place}
    other, scan = statuses({}, live, REPOSITORY, places)
    assert (other.place, scan.place) == (None, place)


def test_the_parts_of_a_campaign_stand_where_the_first_of_them_does() -> None:
    parts = [queued(job(f"scan-part{number}", campaign="scan")) for number in (1, 2)]
    live = state(*parts, workloads=tuple(map(workload, parts)))
    places = {"job-scan-part1": Place(4, 9, 0), "job-scan-part2": Place(3, 8, 0)}
    (status,) = statuses(git(6), live, REPOSITORY, places)
    assert (status.place, status.parts) == (Place(3, 8, 0), 2)


def test_an_admission_is_its_flavors_and_the_time_in_all_its_turns() -> None:
    runs = running(job())
    admitted = workload(runs, Admitted="Admitted")
    admitted["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-01T01:00:00Z"
    admitted["status"]["accumulatedPastExecutionTimeSeconds"] = 90
    assigned = [{"name": "main", "flavors": {"cpu": "a100", "memory": "a100"}}]
    admitted["status"]["admission"] = {"podSetAssignments": assigned}
    status = of_job(runs, [admitted])
    assert status.admission.flavors == ("a100",)
    assert status.since == "2026-01-01T01:00:00Z"
    assert status.admission.seconds(datetime(2026, 1, 1, 1, 1, tzinfo=UTC)) == 150


def test_a_pause_is_as_old_as_the_eviction() -> None:
    stopped = evicted(PAUSED)
    wl = workload(stopped, active=False, Evicted="Deactivated")
    wl["status"]["conditions"][0]["lastTransitionTime"] = "2026-01-02T00:00:00Z"
    assert of_job(stopped, [wl]).since == "2026-01-02T00:00:00Z"
