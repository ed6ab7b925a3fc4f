"""What an apply to a Slurm does about each array."""

from __future__ import annotations

from dataclasses import replace

import pytest
from unit.slurm.surveys import NUMBER, state, survey_of, task, waiting, wanted

from converter.errors import Refused
from converter.reconcile.slurm.array import array_of, names_in
from converter.reconcile.slurm.deciding import check_prune, settling, unwanted
from converter.reconcile.slurm.planning import plan
from converter.slurm.job import Job
from converter.slurm.state import Step

LETTERS = wanted()


def test_of_a_new_campaign_that_is_held_back_there_is_nothing_to_pause() -> None:
    """Its directory is not there either, so that a pause of it would fail, each time."""
    other = replace(wanted("other", suspended=True), volumes=LETTERS.volumes)
    found = survey_of([state(LETTERS)], [waiting(LETTERS)])
    intended = plan([LETTERS, other], found)
    assert list(intended.held_back) == ["other"]
    assert intended.paused == ()


@pytest.mark.parametrize("known", [True, False], ids=["recorded", "in Slurm alone"])
def test_what_is_there_is_paused_whatever_holds_it_back(known: bool) -> None:
    there = wanted(inputs="others")
    found = survey_of([state(there)] if known else (), [waiting(there)])
    paused = replace(LETTERS, suspended=True)
    intended = plan([paused], found)
    assert list(intended.held_back) == ["letters"]
    assert intended.paused == (paused,)


def test_another_priority_is_held_back_until_the_array_has_ended() -> None:
    urgent = replace(LETTERS, priority="urgent")
    live = survey_of([state(LETTERS)], [waiting(LETTERS)])
    reason = plan([urgent], live).held_back["letters"]
    assert reason.startswith("its priority was none and is now urgent, and an array keeps the one")
    ended = survey_of([state(LETTERS, Step.ENDED)])
    assert plan([urgent], ended).held_back == {}


def test_what_has_ended_lays_claim_to_no_volume_recorded_or_not() -> None:
    again = replace(wanted("letters-retry1", 1), volumes=LETTERS.volumes[:1])
    for step in (Step.OPENED, Step.ENDED):
        found = survey_of([state(LETTERS, step)], begun={"letters"})
        intended = plan([LETTERS, again], found)
        assert intended.submitted == (again,)
    live = plan([LETTERS, again], survey_of([state(LETTERS)], [task(LETTERS, 3)]))
    assert "volume letters-0 is in campaign letters too" in live.held_back["letters-retry1"]


CANCELLED = task(LETTERS, 0, "CANCELLED")
COMPLETING = task(LETTERS, 0, "COMPLETING", end=None)


@pytest.mark.parametrize(
    ("jobs", "left"),
    [
        ([CANCELLED], ()),
        ([COMPLETING], ()),
        ([CANCELLED, COMPLETING], ()),
        ([COMPLETING, task(LETTERS, 1)], ("letters",)),
        ([waiting(LETTERS)], ("letters",)),
        ([task(LETTERS, 0, "NEW_STATE")], ("letters",)),
    ],
)
def test_what_a_prune_has_cancelled_is_gone_though_slurm_remembers_it(
    jobs: list[Job], left: tuple[str, ...]
) -> None:
    assert plan([], survey_of(jobs=jobs)).unwanted == left


def test_what_is_kept_is_unwanted_whatever_slurm_knows() -> None:
    found = survey_of([state(LETTERS, Step.ENDED)], [CANCELLED])
    assert plan([], found).unwanted == ("letters",)


def test_a_campaign_on_hold_stays_whole() -> None:
    parts = [wanted(f"maps-part{n}", campaign="maps", part=n) for n in (1, 2)]
    found = survey_of(
        map(state, parts), [waiting(parts[0], hold=7), task(parts[1], 0), waiting(LETTERS)]
    )
    gone = unwanted(plan([], found), found)
    assert [(each.name, bool(each.hold)) for each in gone] == [
        ("letters", False),
        ("maps-part1", True),
        ("maps-part2", True),
    ]
    # What is on hold is not counted unless it is cancelled too.
    check_prune(gone, found, 1, release_holds=False)
    with pytest.raises(Refused, match="prune would cancel 2 campaigns"):
        check_prune(gone, found, 1, release_holds=True)


@pytest.mark.parametrize(
    ("kept", "jobs", "adopted", "window"),
    [
        (state(LETTERS), [waiting(LETTERS)], 0, None),
        (state(LETTERS, window=9), [waiting(LETTERS)], 0, 9),
        (state(LETTERS, window=9), [task(LETTERS, 0)], 0, 9),
        (state(LETTERS, window=9), [task(LETTERS, 0, "COMPLETED")], 0, None),
        (state(LETTERS, Step.SUBMITTING), [waiting(LETTERS)], NUMBER, None),
        (state(LETTERS, Step.SUBMITTING, window=9), [waiting(LETTERS)], NUMBER, 9),
        (None, [waiting(LETTERS)], NUMBER, None),
    ],
)
def test_what_is_put_right(kept: object, jobs: list[Job], adopted: int, window: int | None) -> None:
    found = survey_of([kept] if kept else (), jobs)  # type: ignore[list-item]
    settled = settling(LETTERS, array_of("letters", found))
    assert (settled.adopted, settled.window) == (adopted, window)


def test_names_of_arrays_and_of_campaigns_are_taken() -> None:
    part = wanted("maps-part1", campaign="maps", part=1)
    other = wanted("old-part2", campaign="old", part=2)
    found = survey_of([state(part)], [task(other, 0, "CANCELLED")])
    assert names_in(found) == {"maps-part1", "maps", "old-part2", "old"}
