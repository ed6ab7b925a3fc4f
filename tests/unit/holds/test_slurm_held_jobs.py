"""Which holds on Slurm are listed, and whether what each is said to stop is all stopped."""

from __future__ import annotations

from dataclasses import replace

import pytest
from unit.slurm.surveys import gated, task, waiting, wanted

from converter.holds.slurm import held_jobs
from converter.slurm.job import Job

LETTERS = wanted()
HELD = waiting(LETTERS, hold=7)
PARTS = [wanted(f"maps-part{n}", campaign="maps", part=n) for n in (1, 2)]
OTHERS = replace(LETTERS, repository="git.example.com/team/other")
ALONE = waiting(LETTERS, hold=7, comment="")


@pytest.mark.parametrize(
    ("beside", "enforced"),
    [
        ([], "yes"),
        # What has ended is over, and what cannot start is stopped, by git or another hold.
        ([task(LETTERS, 0, "COMPLETED"), task(LETTERS, 1, "CANCELLED")], "yes"),
        ([waiting(LETTERS, hold=1, job_id=90, array_tasks="", array_task_id=0)], "yes"),
        ([task(LETTERS, 0)], "partly"),
        ([task(LETTERS, 0, "COMPLETING", end=None)], "partly"),
        ([task(LETTERS, 0, "NEW_STATE")], "partly"),
        ([task(LETTERS, 0, "PENDING", end=None)], "partly"),
        # An apply opens it.
        ([gated(LETTERS, job_id=90, array_tasks="", array_task_id=0)], "partly"),
        # A campaign of another name, and of another repository.
        ([task(wanted("deeds"), 0), task(OTHERS, 0)], "yes"),
    ],
)
def test_of_a_campaign(beside: list[Job], enforced: str) -> None:
    found = {held.target: held.enforced for held in held_jobs([*beside, HELD])}
    assert found["job/31_[0-3]"] == enforced


def test_a_part_of_a_campaign_is_what_a_hold_is_said_to_stop() -> None:
    first, second = PARTS
    (held,) = held_jobs([waiting(first, hold=7), task(second, 0)])
    assert (held.stops, held.enforced) == ("campaign maps, part 1", "yes")
    (held,) = held_jobs([waiting(first, hold=7), task(first, 0)])
    assert (held.stops, held.enforced) == ("campaign maps, part 1", "partly")


def test_a_job_of_no_campaign_stands_for_itself() -> None:
    (held,) = held_jobs([ALONE, task(LETTERS, 0, comment="")])
    assert (held.stops, held.enforced) == ("job/31_[0-3]", "yes")


def test_gits_own_pause_is_none_that_anybody_placed() -> None:
    assert held_jobs([waiting(LETTERS, hold=1)]) == ()
    (held,) = held_jobs([waiting(LETTERS, hold=1, comment="")])
    assert held.mark.instance == 1
