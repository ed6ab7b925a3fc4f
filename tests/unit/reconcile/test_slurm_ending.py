"""Which volumes of a campaign on a Slurm failed."""

from __future__ import annotations

from dataclasses import replace

import pytest
from unit.slurm.surveys import NOW, state, survey_of, task, waiting, wanted

from converter.errors import Refused
from converter.reconcile.slurm.array import array_of
from converter.reconcile.slurm.ending import record_of, volumes_of, volumes_to_retry
from converter.slurm.state import Step
from converter.slurm.survey import Survey

LETTERS = wanted(number=3)
ENDS = {"letters": {0: 0, 1: 13, 2: 0}}
ENDED = survey_of([state(LETTERS)], [task(LETTERS, 1, "FAILED")], ENDS)
OTHER = replace(LETTERS, volumes=("x", "y", "z"), volumes_sha256="other")


def recorded() -> Survey:
    record = record_of(array_of("letters", ENDED), LETTERS.volumes, "2026-12-01T15:00:00Z")
    return survey_of([state(LETTERS, Step.ENDED, record=record)])


def test_those_of_the_record_whatever_git_says_by_now() -> None:
    for git in ([LETTERS], [OTHER], []):
        assert volumes_to_retry("letters", recorded(), git) == ("letters-1",)


def test_those_of_the_results_where_no_apply_has_recorded_it() -> None:
    assert volumes_to_retry("letters", ENDED, [LETTERS]) == ("letters-1",)
    forgotten = survey_of([state(LETTERS)], (), ENDS)
    assert volumes_to_retry("letters", forgotten, [LETTERS]) == ("letters-1",)


def test_a_list_that_changed_since_names_no_volume() -> None:
    """The index would be that of another volume."""
    assert volumes_of(ENDED.states["letters"], LETTERS) == LETTERS.volumes
    assert volumes_of(ENDED.states["letters"], OTHER) == ()
    with pytest.raises(Refused, match="git has other volumes than those it ran: apply first"):
        volumes_to_retry("letters", ENDED, [OTHER])


def test_all_parts_of_a_campaign_count() -> None:
    parts = [wanted(f"maps-part{n}", 2, campaign="maps", part=n) for n in (1, 2)]
    ends = {"maps-part1": {0: 0, 1: 1}, "maps-part2": {0: 1, 1: 0}}
    found = survey_of(map(state, parts), (), ends)
    assert volumes_to_retry("maps", found, parts) == ("maps-part1-1", "maps-part2-0")
    half = survey_of(map(state, parts), [waiting(parts[1])], ends)
    with pytest.raises(Refused, match="maps has not ended yet"):
        volumes_to_retry("maps", half, parts)


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (survey_of(), "nothing is known of campaign letters on the Slurm host"),
        (survey_of(unreadable=["a.json"]), "Slurm host: a.json of the state cannot be read"),
        (survey_of([state(LETTERS)], [waiting(LETTERS)]), "has not ended yet"),
        (survey_of([state(LETTERS, Step.SUBMITTING)]), "has not ended yet"),
        # A task that failed a moment ago may be queued again.
        (survey_of([state(LETTERS)], [task(LETTERS, 1, "FAILED", end=NOW - 5)]), "not ended yet"),
    ],
)
def test_what_cannot_be_told(found: Survey, said: str) -> None:
    with pytest.raises(Refused, match=said):
        volumes_to_retry("letters", found, [LETTERS])
