"""Whatever becomes of the file or the objects of a held campaign, apply starts nothing of it."""

import copy
from dataclasses import replace

import pytest
from unit.reconcile.live_objects import (
    Object,
    campaign,
    ended,
    evicted,
    held,
    job,
    pipeline,
    stamped_volumes,
    state,
    volumes,
    workload,
)
from unit.reconcile.plans import live_campaign, planned, verbs

from converter.manifest import Manifest
from converter.reconcile.live import Live, workloads_of
from converter.reconcile.pause import Move, decide
from converter.reconcile.plan import PauseWish, Verb

STOPPED = evicted(job())
HELD = state(*live_campaign(STOPPED), workloads=(held(STOPPED),))


def parts(*numbers: int) -> list[Manifest]:
    made = []
    for number in numbers:
        of = f"scan-part{number}"
        made += [volumes(of, campaign="scan"), job(of, campaign="scan")]
    return made


def renamed() -> list[Manifest]:
    """The same volumes in a file of another name."""
    of, made = campaign("again")
    body = copy.deepcopy(dict(of.body))
    body["data"] = dict(volumes("scan").body["data"])
    return [Manifest(of.role, body, of.pipeline, of.campaign), made]


def live_parts(*numbers: int, on_hold: tuple[int, ...]) -> Live:
    jobs = [evicted(job(f"scan-part{number}", campaign="scan")) for number in numbers]
    found = [
        held(each) if number in on_hold else workload(each)
        for number, each in zip(numbers, jobs, strict=True)
    ]
    return state(*(one for each in jobs for one in live_campaign(each)), workloads=tuple(found))


def dying(of: Object) -> Object:
    return {**of, "metadata": {**of["metadata"], "deletionTimestamp": "2026-01-03T00:00:00Z"}}


GONE = state(stamped_volumes(volumes("scan"), "uid-scan"))
GOING = state(*live_campaign(dying(STOPPED)), workloads=(held(STOPPED),))
FINISHED_TOO = state(
    *live_campaign(evicted(job("scan-part1", campaign="scan"))),
    *live_campaign(ended(job("scan-part2", campaign="scan"))),
    workloads=(held(evicted(job("scan-part1", campaign="scan"))),),
)


@pytest.mark.parametrize(
    ("manifests", "live", "says"),
    [
        (campaign(volumes=4), HELD, "its list of volumes differs"),
        (campaign(inputs="inputs-2"), HELD, "its pipeline, its size or the settings"),
        (campaign(pipeline="hwr"), HELD, "its pipeline was ocr and is now hwr"),
        (campaign(window=1), HELD, "its window changed while hold 7 is in force"),
        (renamed(), HELD, "scan"),
        (parts(1, 2), HELD, "its list of volumes differs"),
        (campaign(), live_parts(1, 2, on_hold=(1, 2)), "its list of volumes differs"),
        (parts(1), live_parts(1, 2, on_hold=(2,)), "its list of volumes differs"),
        (parts(1, 2, 3), live_parts(1, 2, on_hold=(1, 2)), "scan-part3 would be created while"),
        (parts(1, 2), live_parts(1, on_hold=(1,)), "scan-part2 would be created while hold 7"),
        (campaign(), GONE, "its Job scan was created and is gone"),
        (campaign(), GOING, "somebody has deleted its Job scan"),
        ([pipeline()], HELD, "its file is gone, and hold 7 is in force"),
    ],
    ids=[
        "another list",
        "another recipe",
        "another pipeline",
        "another window",
        "renamed",
        "split",
        "no longer split",
        "a part removed",
        "a part added",
        "apply was stopped before its second part",
        "the Job was deleted by hand",
        "the Job is being deleted by hand",
        "the file is gone",
    ],
)
@pytest.mark.parametrize("suspended", [False, True])
def test_a_held_campaign_is_neither_started_nor_made_again(
    manifests: list[Manifest], live: Live, says: str, suspended: bool
) -> None:
    """With a flip of `suspend` beside the change, and with --prune, too."""
    given = [replace(each, suspended=suspended) for each in manifests]
    intended = planned(given, live).keeping_held()
    assert any(says in each.reason for each in intended.held_back)
    assert not [target for target, _ in verbs(intended) if target.startswith("Job/")]
    assert not [target for target in intended.unwanted if target.kind == "Job"]
    for wish in intended.pauses:
        found = live.jobs.get(wish.job)
        move = decide(wish, found, workloads_of(found, live.workloads), reactivate=True).move
        assert not wish.active or move in (Move.KEEP, Move.NOTHING)


@pytest.mark.parametrize("reactivate", [False, True])
@pytest.mark.parametrize("others", [(), ("Evicted",), ("QuotaReserved",), ("Admitted",)])
def test_no_state_of_kueue_makes_a_resume_of_what_is_held(
    others: tuple[str, ...], reactivate: bool
) -> None:
    wish = PauseWish("scan", "scan", active=True)
    of = held(STOPPED)
    of["status"]["conditions"] = [
        {"type": kind, "status": "True", "reason": "DeactivatedDueToRequeuingLimitExceeded"}
        for kind in others
    ]
    second = workload(STOPPED, active=False, name="other")
    for found in ([of], [of, second], [second, of]):
        assert decide(wish, STOPPED, found, reactivate=reactivate).move is Move.KEEP


def test_a_part_that_has_ended_is_none_that_is_still_to_come() -> None:
    intended = planned(parts(1, 2), FINISHED_TOO)
    assert intended.held_back == ()
    assert [target for target, verb in verbs(intended) if verb is Verb.CREATE] == []
