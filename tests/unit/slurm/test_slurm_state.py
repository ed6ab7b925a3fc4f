"""What is kept of an array: read back as it was written, and never taken for something else."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest
from unit.slurm.arrays import LETTERS, kept, over

from converter.slurm.state import State, Step, UnreadableState, state_of


@pytest.mark.parametrize(
    "state",
    [
        kept(step=Step.SUBMITTING),
        kept(step=Step.SUBMITTED),
        kept(),
        kept(paused=True),
        over(),
        over(LETTERS, "letters-1", "letters-3"),
        replace(kept(), campaign="letters", name="letters-part2", part=2, priority="high"),
    ],
    ids=["submitting", "submitted", "opened", "paused", "finished", "failed", "a part"],
)
def test_it_is_read_back_as_it_was(state: State) -> None:
    line = state.to_json()
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert state_of(line) == state


def changed(**members: Any) -> str:
    return json.dumps({**json.loads(over().to_json()), **members})


def without(member: str) -> str:
    values = json.loads(over().to_json())
    del values[member]
    return json.dumps(values)


@pytest.mark.parametrize(
    "line",
    [
        "",
        "\n",
        "null",
        "[]",
        "{",
        over().to_json()[:-3],
        over().to_json() + over().to_json(),
        changed(version=2),
        changed(version="1"),
        without("version"),
        without("step"),
        without("record"),
        without("volumes_sha256"),
        changed(more=1),
        changed(step="done"),
        changed(step=None),
        changed(record={}),
        changed(record="Finished"),
        changed(record={**json.loads(over().to_json())["record"], "volumesTotal": "many"}),
        changed(name=""),
        changed(campaign=None),
        changed(repository=7),
        changed(step="ended", record=None),
        changed(job="31"),
        changed(job=-1),
        changed(at=None),
        changed(total=True),
        changed(paused="false"),
        changed(window=2.5),
        changed(volumes_sha256=None),
        changed(at=10**12),
        changed(total=10**9),
        changed(job=2**32),
    ],
    ids=[
        *("empty", "blank", "null", "a list", "broken", "cut", "two"),
        *("another version", "a version as text", "no version", "no step"),
        *("no record", "no digest", "an unknown member", "an unknown step", "null for a step"),
        *("an empty record", "a text for a record", "a record without numbers", "no name"),
        *("null for a campaign", "a number for a repository", "ended without a record"),
        *("a text for a number", "a number below zero", "no time", "a bool for a number"),
        *("a text for a bool", "a part of a task", "null for a digest"),
        *("a time beyond all calendars", "more volumes than tasks", "no number of a job"),
    ],
)
def test_what_this_release_did_not_write_is_unreadable(line: str) -> None:
    """A campaign of which nothing can be read is held back; one that is misread may run again."""
    with pytest.raises(UnreadableState):
        state_of(line)
