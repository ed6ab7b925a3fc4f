"""What each call comes to in each state of an object, as the design of holds has it.

Nothing here asks the rules. A row fits a cell that has all of its words; the first that fits
counts.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from unit.holds.scripted import AT, BY, OPEN, REASON, hold, release

from converter.holds.mark import Mark
from converter.holds.rules import Call, State


class Outcome(StrEnum):
    """How a call ends, and what it makes of the object."""

    PLACED = "placed"
    PLACED_ON_INACTIVE = "placed; no release makes the object active"
    STOPPED_AGAIN = "in force already; the object is stopped again"
    IN_FORCE = "in force already; nothing written"
    LIFTED = "lifted; the object stays as it is"
    HANDED_BACK = "lifted; the queue may start it"
    STARTED = "lifted and started"
    OPENED = "opened; the object stays as it is"
    OPENED_AND_STARTED = "opened and started"
    OPEN = "open already; nothing written"
    STALE = "StaleHold"
    PODS_REMAIN = "PodsRemain"
    REJECTED = "Rejected"
    TOO_LATE = "DeadlinePassed"
    INVALID = "InvalidCall"


Row = tuple[str, Outcome]

# The instance of the call, and what may be in force when it comes.
OWN: Final = 50
HOLDS: Final[Mapping[str, int | None]] = {
    "unheld": 0,
    "older": 20,
    "own": OWN,
    "newer": 90,
    "unreadable": None,
}
CALLS: Final[Mapping[str, Call]] = {"hold": hold(OWN), "release": release(OWN), "open": OPEN}

# One look at the object, with nobody else about.
ALONE: Final[tuple[Row, ...]] = (
    ("hold own stopped", Outcome.IN_FORCE),
    ("hold own ended", Outcome.IN_FORCE),
    ("hold own running", Outcome.STOPPED_AGAIN),
    ("hold newer", Outcome.STALE),
    ("hold unreadable", Outcome.REJECTED),
    ("hold ended", Outcome.REJECTED),
    ("hold deleting", Outcome.REJECTED),
    ("hold older held-inactive", Outcome.PLACED_ON_INACTIVE),
    ("hold older", Outcome.PLACED),
    ("hold unheld inactive-by-other", Outcome.PLACED_ON_INACTIVE),
    ("hold unheld", Outcome.PLACED),
    ("release unheld", Outcome.STALE),
    ("release older", Outcome.STALE),
    ("release newer", Outcome.STALE),
    ("release unreadable", Outcome.REJECTED),
    ("release own ended", Outcome.LIFTED),
    ("release own running", Outcome.LIFTED),
    ("release own paused-in-git", Outcome.LIFTED),
    ("release own held-inactive", Outcome.LIFTED),
    ("release own gated", Outcome.LIFTED),
    ("release own queued", Outcome.HANDED_BACK),
    ("release own plain pods", Outcome.PODS_REMAIN),
    ("release own plain", Outcome.STARTED),
    ("open queued", Outcome.REJECTED),
    ("open ended", Outcome.REJECTED),
    ("open deleting", Outcome.REJECTED),
    ("open opened", Outcome.OPEN),
    ("open gated running", Outcome.OPENED),
    ("open gated paused-in-git", Outcome.OPENED),
    ("open gated unheld", Outcome.OPENED_AND_STARTED),
    ("open gated", Outcome.OPENED),
)

# After a conflict: what the last look saw (saw-...) and what this one sees. None: as one look has
# it.
AFTER_A_CONFLICT: Final[tuple[tuple[str, Outcome | None], ...]] = (
    ("open", None),
    ("hold own", None),
    ("hold newer", Outcome.STALE),
    ("hold unreadable", Outcome.REJECTED),
    ("hold saw-same", None),
    ("hold", Outcome.STALE),
    ("release own", None),
    ("release unreadable", Outcome.REJECTED),
    ("release", Outcome.STALE),
)

# What a call writes; what is not here writes nothing.
WRITES: Final[Mapping[Outcome, Mapping[str, object]]] = {
    Outcome.PLACED: {"mark": Mark(OWN, AT, BY, REASON), "stopped": True},
    Outcome.PLACED_ON_INACTIVE: {"mark": Mark(OWN, AT, BY, REASON, True), "stopped": True},
    Outcome.STOPPED_AGAIN: {"stopped": True},
    Outcome.LIFTED: {"mark": None},
    Outcome.HANDED_BACK: {"mark": None, "stopped": False},
    Outcome.STARTED: {"mark": None, "stopped": False},
    Outcome.OPENED: {"opened": True},
    Outcome.OPENED_AND_STARTED: {"opened": True, "stopped": False},
}
STARTS: Final = (Outcome.STARTED, Outcome.OPENED_AND_STARTED)

# Others that write the object; None: it is gone.
EVENTS: Final[Mapping[str, Callable[[State], State | None]]] = {
    "status": lambda state: state,
    "older hold": lambda state: replace(state, mark=Mark(1), stopped=True),
    "same hold": lambda state: replace(state, mark=Mark(OWN), stopped=True),
    "newer hold": lambda state: replace(state, mark=Mark(99), stopped=True),
    "unreadable hold": lambda state: replace(state, mark=Mark(None), stopped=True),
    "release": lambda state: replace(state, mark=None, stopped=False),
    "end": lambda state: replace(state, ended=True),
    "deletion begins": lambda state: replace(state, going=True),
    "deletion": lambda state: None,
}
# When another writes. Before a retry there was a write of the status already.
STEPS: Final = ("before the read", "before the write", "before the retry")
DEADLINES: Final = ("none", "passed", "passes before the write", "passes before the retry")


@dataclass(frozen=True)
class Cell:
    """A call on an object, and what comes between: an event at a step, or the deadline."""

    state: State
    action: str
    event: str = ""
    step: str = ""
    deadline: str = "ok"


@dataclass(frozen=True)
class Expected:
    """How it ends, the object after it, the updates sent, and the hold that the last look saw."""

    outcome: Outcome
    state: State | None
    sent: int = 0
    in_force: int | None = None


def states() -> Iterator[State]:
    """Every state that an object can be in, as its stores can read it."""
    for instance, flags in itertools.product(
        HOLDS.values(), itertools.product(*[(False, True)] * 9)
    ):
        stopped, by_other, kept, queued, opened, ended, going, paused, pods = flags
        unheld = instance == 0
        if (by_other and not (unheld and stopped and queued)) or (kept and unheld):
            continue
        if queued and not opened:
            continue
        yield State(
            mark=None if unheld else Mark(instance, was_inactive=kept),
            stopped=stopped,
            stopped_by_other=by_other,
            queued=queued,
            opened=opened,
            ended=ended,
            going=going,
            paused_in_git=paused,
            pods_remain=int(pods),
        )


def cells() -> Iterator[Cell]:
    """Every cell."""
    for state, action in itertools.product(states(), CALLS):
        yield Cell(state, action)
        for deadline in DEADLINES:
            yield Cell(state, action, deadline=deadline)
        for event, step in itertools.product(EVENTS, STEPS):
            yield Cell(state, action, event, step)


def expected(cell: Cell) -> Expected:
    """What the tables say of a cell."""
    if cell.deadline in ("none", "passed"):
        late = Outcome.INVALID if cell.deadline == "none" else Outcome.TOO_LATE
        return Expected(late, cell.state)
    event = EVENTS[cell.event or "status"]
    if cell.step == "before the read":
        there = event(cell.state)
        if there is None:
            return Expected(Outcome.REJECTED, None)
        return _ends(first_row(ALONE, words(there, cell.action)), there, 0)
    outcome = first_row(ALONE, words(cell.state, cell.action))
    if outcome not in WRITES:
        return _ends(outcome, cell.state, 0)
    if cell.deadline != "ok":
        sent = 0 if cell.deadline == "passes before the write" else 1
        return Expected(Outcome.TOO_LATE, cell.state, sent)
    if not cell.step:
        return _ends(outcome, cell.state, 0)
    conflicts = STEPS.index(cell.step)
    there = event(cell.state)
    if there is None:
        return Expected(Outcome.REJECTED, None, conflicts)
    found = words(there, cell.action) | _seen(cell.state, there)
    again = first_row(AFTER_A_CONFLICT, found)
    return _ends(again or first_row(ALONE, found), there, conflicts)


def outcome_of(state: State, action: str, instance: int) -> Outcome:
    """What the table says of a call on an object as it was read."""
    mark = state.mark
    if mark is not None and mark.instance is not None:
        # The rows know an instance by how it stands to that of the call.
        order = (mark.instance > instance) - (mark.instance < instance)
        state = replace(state, mark=replace(mark, instance=OWN + order))
    found = first_row(ALONE, words(state, action))
    assert found is not None
    return found


def ends(outcome: Outcome) -> str:
    """How a call ends, as tests on a cluster have it: "wrote", "stands", or its error's name."""
    if outcome in WRITES:
        return "wrote"
    return "stands" if outcome in (Outcome.IN_FORCE, Outcome.OPEN) else outcome.value


def outcomes(*, queued: bool) -> set[Outcome]:
    """Every one that a call can come to with a queue, or without one, whoever else writes."""
    alone = (outcome_of(s, c, OWN) for s in states() for c in CALLS if s.queued is queued)
    return set(alone)


def first_row(
    rows: tuple[tuple[str, Outcome | None], ...], found: frozenset[str]
) -> Outcome | None:
    """The outcome of the first row that fits."""
    return next(outcome for needed, outcome in rows if _split(needed) <= found)


def words(state: State, action: str) -> frozenset[str]:
    """A state and a call as the rows have them."""
    instance = state.mark.instance if state.mark is not None else 0
    standing = {None: "unreadable", 0: "unheld", OWN: "own"}
    other = "newer" if instance is not None and instance > OWN else "older"
    said = {
        "held-inactive": state.mark is not None and state.mark.was_inactive,
        "stopped": state.stopped,
        "running": not state.stopped,
        "inactive-by-other": state.stopped_by_other,
        "queued": state.queued,
        "plain": not state.queued,
        "opened": state.opened,
        "gated": not state.opened,
        "ended": state.ended,
        "deleting": state.going,
        "paused-in-git": state.paused_in_git,
        "pods": state.pods_remain > 0,
    }
    return frozenset({action, standing.get(instance, other), *(w for w, so in said.items() if so)})


_SPLIT: dict[str, frozenset[str]] = {}


def _split(needed: str) -> frozenset[str]:
    if needed not in _SPLIT:
        _SPLIT[needed] = frozenset(needed.split())
    return _SPLIT[needed]


def _seen(before: State, now: State) -> frozenset[str]:
    then, here = (each.mark.instance if each.mark is not None else 0 for each in (before, now))
    return frozenset({"saw-same" if then == here else "saw-another"})


def _ends(outcome: Outcome | None, state: State, conflicts: int) -> Expected:
    assert outcome is not None
    in_force = state.mark.instance if state.mark is not None else None
    if outcome not in WRITES:
        return Expected(outcome, state, conflicts, in_force)
    after = replace(state, **WRITES[outcome])  # type: ignore[arg-type]
    return Expected(outcome, after, conflicts + 1, in_force)
