"""What a hold, a release or an opening does to an object in a given state. Pure.

The same rules for every kind of object: what stops a Workload is ``spec.active: false``, which
Kueue carries out, and what stops a Job or TrainJob without a queue is ``spec.suspend: true``.
"""

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from converter.holds.history import Entry
from converter.holds.mark import Mark


class Action(StrEnum):
    """What is called for. An opening starts an object that waits at its start gate."""

    HOLD = "hold"
    RELEASE = "release"
    OPEN = "open"


@dataclass(frozen=True, slots=True)
class Call:
    """One call; an opening has no instance. `at` is RFC 3339 in UTC."""

    action: Action
    instance: int = 0
    at: str = ""
    by: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True)
class State:
    """What was read of an object.

    `stopped` is what the object itself says: a Workload that is inactive, a Job that is suspended.
    `stopped_by_other` says that neither git nor a hold can have done that. `queued` says that a
    queue system starts the object: then nobody else opens it or waits for its pods.
    """

    mark: Mark | None = None
    stopped: bool = False
    stopped_by_other: bool = False
    queued: bool = True
    opened: bool = True
    ended: bool = False
    going: bool = False
    paused_in_git: bool = False
    pods_remain: int = 0


class Verdict(StrEnum):
    """How a call ends, as far as one look at the object tells."""

    WRITE = "write"
    DONE = "done"
    REJECTED = "rejected"
    STALE = "stale"
    PODS_REMAIN = "pods remain"


@dataclass(frozen=True, slots=True)
class Decision:
    """A verdict; `after` is the state that the one write makes, `starts` whether it starts pods.

    `entry` is what the write adds to the history of the object's holds.
    """

    verdict: Verdict
    why: str = ""
    after: State | None = None
    starts: bool = False
    entry: Entry | None = None


_DONE: Final = Decision(Verdict.DONE)


def decide(state: State, call: Call, before: State | None = None) -> Decision:
    """What to do about a call, from what was just read.

    `before` is what an earlier look of the same call saw, where its write met a conflict: a hold
    that has changed since then was changed by another call, and this one comes too late.
    """
    if call.action is Action.OPEN:
        return _open(state)
    if call.action is Action.HOLD:
        return _hold(state, call, before)
    return _release(state, call)


def _hold(state: State, call: Call, before: State | None) -> Decision:
    mark = state.mark
    if mark is not None and mark.instance == call.instance:
        if state.stopped or state.ended:
            return _DONE
        # Somebody has started it beside the hold, which is then in force by name alone.
        return Decision(Verdict.WRITE, after=replace(state, stopped=True))
    if mark is not None and mark.instance is None:
        return Decision(Verdict.REJECTED, UNREADABLE)
    if mark is not None and mark.instance is not None and mark.instance > call.instance:
        return Decision(Verdict.STALE, f"hold {mark.instance} is in force, which is newer")
    if before is not None and _instance(before) != _instance(state):
        return Decision(Verdict.STALE, f"another call was faster: {in_force(state)}")
    if state.ended:
        return Decision(Verdict.REJECTED, "it has ended, so there is nothing to hold")
    if state.going:
        return Decision(Verdict.REJECTED, "it is being deleted, and a hold on it would go with it")
    placed = Mark(
        call.instance,
        at=call.at,
        by=call.by,
        reason=call.reason,
        was_inactive=mark.was_inactive if mark is not None else state.stopped_by_other,
    )
    return Decision(Verdict.WRITE, after=replace(state, mark=placed, stopped=True))


def _release(state: State, call: Call) -> Decision:
    mark = state.mark
    if mark is None or mark.instance != call.instance:
        if mark is not None and mark.instance is None:
            return Decision(Verdict.REJECTED, UNREADABLE)
        return Decision(Verdict.STALE, f"{in_force(state)}, not hold {call.instance}")
    free = replace(state, mark=None)
    stays = state.ended or state.paused_in_git or mark.was_inactive or not state.opened
    if stays or not state.stopped:
        return Decision(Verdict.WRITE, after=free)
    if state.queued:
        # Kueue admits nothing anew before the pods of the earlier admission are gone.
        return Decision(Verdict.WRITE, after=replace(free, stopped=False))
    if state.pods_remain:
        some = (
            f"{state.pods_remain} of its pods have" if state.pods_remain > 1 else "a pod of it has"
        )
        return Decision(Verdict.PODS_REMAIN, f"{some} not ended; release it when they are gone")
    return Decision(Verdict.WRITE, after=replace(free, stopped=False), starts=True)


def _open(state: State) -> Decision:
    if state.queued:
        return Decision(Verdict.REJECTED, "a queue system starts it, and nobody else may")
    if state.ended:
        return Decision(Verdict.REJECTED, "it has ended, and is not run again")
    if state.going:
        return Decision(Verdict.REJECTED, "it is being deleted")
    if state.opened:
        return _DONE
    opened = replace(state, opened=True)
    if state.mark is not None or state.paused_in_git or not state.stopped:
        return Decision(Verdict.WRITE, after=opened)
    return Decision(Verdict.WRITE, after=replace(opened, stopped=False), starts=True)


UNREADABLE: Final = (
    "its hold has an instance that is no number from 1 to 4294967295, so no call can be newer: "
    "an administrator has to take the annotations of the hold away"
)


def in_force(state: State) -> str:
    """What is in force, in words."""
    if state.mark is None:
        return "no hold is in force"
    if state.mark.instance is None:
        return "a hold whose instance cannot be read is in force"
    return f"hold {state.mark.instance} is in force"


def _instance(state: State) -> int | None:
    return state.mark.instance if state.mark is not None else 0
