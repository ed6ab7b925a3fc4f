"""The tasks of a job array as Slurm writes them: ``0-3,5,7-13:2%4``."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from converter.slurm.errors import CutTasks, InvalidTasks

# Slurm's own limit of MaxArraySize, less one.
LAST_TASK: Final = 4_000_000

_WHOLE: Final = re.compile(r"(?P<tasks>[^%]*)(?:%(?P<window>[0-9]{1,10}))?")
_SOME: Final = re.compile(
    r"(?P<first>[0-9]{1,7})(?:-(?P<last>[0-9]{1,7})(?::(?P<step>[0-9]{1,7}))?)?"
)


@dataclass(frozen=True, slots=True)
class Tasks:
    """Some tasks of an array; at most `window` of the array run at a time, None without a limit."""

    ids: frozenset[int]
    window: int | None = None

    def __str__(self) -> str:
        """As Slurm takes it for ``--array``."""
        return spelt(self.ids) + (f"%{self.window}" if self.window is not None else "")


def tasks_of(text: str) -> Tasks:
    """Read a list of tasks; the empty text has none.

    Raises CutTasks where Slurm has cut it (``1,3,5,...``, after 64 characters unless its tools run
    with ``SLURM_BITSTR_LEN=0``), and InvalidTasks for what is no list.
    """
    if "..." in text:
        raise CutTasks(
            f"Slurm has cut the list of array tasks {text!r}: run its tools with SLURM_BITSTR_LEN=0"
        )
    whole = _WHOLE.fullmatch(text)
    if whole is None:
        raise _invalid(text)
    listed = whole["tasks"]
    ids = frozenset(
        each for some in (listed.split(",") if listed else ()) for each in _ids(some, text)
    )
    # Slurm reads a limit of 0 as none.
    window = int(whole["window"] or 0)
    return Tasks(ids, window or None)


def spelt(ids: Iterable[int]) -> str:
    """The shortest list of ranges, in order: ``0-3,5``. The same for the same set."""
    ordered = sorted(set(ids))
    ranges = []
    for _, run in groupby(enumerate(ordered), key=lambda each: each[1] - each[0]):
        members = [task for _, task in run]
        ranges.append(str(members[0]) + (f"-{members[-1]}" if len(members) > 1 else ""))
    return ",".join(ranges)


def _ids(some: str, text: str) -> range:
    found = _SOME.fullmatch(some)
    if found is None:
        raise _invalid(text)
    first = int(found["first"])
    last = int(found["last"] or first)
    step = int(found["step"] or 1)
    if last < first or step < 1 or last > LAST_TASK:
        raise _invalid(text)
    return range(first, last + 1, step)


def _invalid(text: str) -> InvalidTasks:
    return InvalidTasks(
        f"{text!r} is no list of array tasks such as 0-3,5,7-13:2%4 with numbers up to {LAST_TASK}"
    )


def spared_only_ended(complaint: str) -> bool:
    """Whether a change of an array came to all tasks of it that are left.

    With some that have ended Slurm exits with 1, and says of each set of tasks what came of it, of
    those that were changed ``No error`` (22.05.8).
    """
    lines = [line.strip() for line in complaint.splitlines() if line.strip()]
    spared = (": Job has already finished", ": No error")
    return bool(lines) and all(line.endswith(spared) for line in lines)
