"""What is known of an array that was submitted, on the Slurm host: one file each, one line of JSON.

It is written before a step is taken and after, so that an apply that was killed between two steps
is gone on with and not begun again.
"""

import json
from dataclasses import asdict, dataclass, fields
from enum import StrEnum
from typing import Any, Final

from converter.errors import CampaignsError
from converter.reconcile.record import Record
from converter.slurm.tasks import LAST_TASK

VERSION: Final = 1

# Of the year 9999, and of what Slurm counts jobs with.
_LAST_SECOND: Final = 253_402_300_799
_LAST_JOB: Final = 2**32 - 1


class UnreadableState(CampaignsError):
    """A file of the state that this release did not write, or that somebody has edited."""


class Step(StrEnum):
    """How far an array is. Submitting: it may have been, and which number it has is not known."""

    SUBMITTING = "submitting"
    SUBMITTED = "submitted"
    OPENED = "opened"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class State:
    """An array. `job` is its number, 0 while that is not known; `at` is when its step was taken,
    an epoch of the host's clock. `total` is the number of its volumes, and `record` how it ended.
    `cluster` is the name of the Slurm that it was submitted to, and `user` who did.
    """

    name: str
    campaign: str
    part: int
    repository: str
    pipeline: str
    priority: str
    commit: str
    volumes_sha256: str
    inputs_sha256: str
    total: int
    window: int
    step: Step
    at: int
    job: int = 0
    paused: bool = False
    cluster: str = ""
    user: str = ""
    record: Record | None = None

    def to_json(self) -> str:
        """One line."""
        values: dict[str, Any] = asdict(self)
        values["record"] = self.record.to_data() if self.record is not None else None
        return json.dumps({"version": VERSION, **values}, sort_keys=True) + "\n"


def state_of(line: str) -> State:
    """Read one line back. Raises UnreadableState."""
    try:
        values = json.loads(line)
        if not isinstance(values, dict) or values.pop("version", None) != VERSION:
            raise ValueError("it is not of this version")
        values["step"] = Step(values["step"])
        values["record"] = _record(values["record"])
        state = State(**values)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise UnreadableState(f"a file of the state cannot be read ({error})") from error
    for each in fields(State):
        value = getattr(state, each.name)
        if each.type in (str, int, bool) and type(value) is not each.type:
            raise UnreadableState(f"a file of the state has the {each.name} {value!r}")
    if not (state.name and state.campaign and state.repository):
        raise UnreadableState("a file of the state names no campaign")
    if min(state.job, state.part, state.total, state.window, state.at) < 0:
        raise UnreadableState("a file of the state has a number below zero")
    if state.at > _LAST_SECOND or state.total > LAST_TASK + 1 or state.job > _LAST_JOB:
        raise UnreadableState("a file of the state has a number beyond what there is")
    if (state.step is Step.ENDED) is not (state.record is not None):
        raise UnreadableState("a file of the state has an end without a record, or none with one")
    return state


def _record(data: Any) -> Record | None:
    if data is None:
        return None
    if not isinstance(data, dict) or not all(isinstance(each, str) for each in data.values()):
        raise ValueError("its record is none")
    return Record.from_data(data)
