"""The protocol of holds in a small model, every interleaving of it: the rules are the real ones.

A supervisor makes calls in order, one when each earlier one has ended or its deadline and bound
have passed. A request that was sent may land at any time until then, or never. Other writers move
the resourceVersion. What must hold: no instance comes into force after a higher one was accepted,
and no call is refused for the sake of a lower instance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

import pytest

from converter.holds.rules import Action, Call, State, Verdict, decide

OTHER_WRITES = 2


@dataclass(frozen=True)
class Rules:
    """What a caller and its supervisor keep to; each is left out once."""

    precondition: bool = True
    deadline: bool = True
    bound: bool = True
    supervised: bool = True


@dataclass(frozen=True)
class Caller:
    """How far a call is: new, reading, decided, on the wire, ended."""

    at: str = "new"
    seen: State = field(default_factory=State)
    version: int = 0
    before: State | None = None
    after: State | None = None
    expired: bool = False
    gone: bool = False


ENDED = Caller(at="ended")


@dataclass(frozen=True)
class World:
    """The object, its callers, and the highest instance that was ever in force."""

    callers: tuple[Caller, ...]
    state: State = field(default_factory=State)
    version: int = 0
    writes: int = 0
    highest: int = 0
    fault: str = ""

    def with_caller(self, index: int, **changes: object) -> World:
        callers = list(self.callers)
        callers[index] = replace(callers[index], **changes)  # type: ignore[arg-type]
        return replace(self, callers=tuple(callers))

    def without_caller(self, index: int) -> World:
        """This call has ended, and what it had read makes no difference any more."""
        return replace(self, callers=(*self.callers[:index], ENDED, *self.callers[index + 1 :]))


def steps(world: World, calls: Sequence[Call], rules: Rules) -> Iterator[World]:
    """Every world that one step leads to."""
    if world.writes < OTHER_WRITES:
        yield replace(world, version=world.version + 1, writes=world.writes + 1)
    # Whether a deadline and bound have passed is asked by the caller, and by the supervisor.
    timed = rules.deadline or rules.supervised
    for index, (call, caller) in enumerate(zip(calls, world.callers, strict=True)):
        if caller.at == "new":
            if not rules.supervised or all(map(_is_over, world.callers[:index])):
                yield world.with_caller(index, at="reading")
            continue
        late = rules.deadline and caller.expired
        if caller.at == "reading":
            yield world.without_caller(index) if late else _read(world, index, call)
        if caller.at == "decided":
            yield world.without_caller(index) if late else world.with_caller(index, at="wire")
        if caller.at == "wire":
            yield world.without_caller(index)
            yield _landed(world, index, rules)
        if caller.at == "ended" or not timed:
            continue
        if not caller.expired:
            yield world.with_caller(index, expired=True, gone=not rules.bound)
        elif not caller.gone:
            # Without deadlines on the requests, the bound is a hope.
            on_the_wire = caller.at == "wire" and rules.deadline
            yield (
                world.without_caller(index) if on_the_wire else world.with_caller(index, gone=True)
            )


def _is_over(caller: Caller) -> bool:
    return caller.at == "ended" or caller.gone


def _read(world: World, index: int, call: Call) -> World:
    decision = decide(world.state, call, world.callers[index].before)
    if decision.after is not None:
        return world.with_caller(
            index, at="decided", seen=world.state, version=world.version, after=decision.after
        )
    ended = world.without_caller(index)
    mark = world.state.mark
    lower = mark is not None and mark.instance is not None and mark.instance < call.instance
    if decision.verdict is Verdict.STALE and call.action is Action.HOLD and lower:
        return replace(ended, fault=f"hold {call.instance} was refused for an older one")
    return ended


def _landed(world: World, index: int, rules: Rules) -> World:
    caller = world.callers[index]
    if rules.precondition and caller.version != world.version:
        return world.with_caller(index, at="reading", before=caller.seen)
    assert caller.after is not None
    moved = replace(world.without_caller(index), state=caller.after)
    moved = replace(moved, version=world.version + 1)
    mark, was = caller.after.mark, world.state.mark
    instance = (mark.instance or 0) if mark is not None else 0
    in_force = (was.instance or 0) if was is not None else 0
    if instance and instance < world.highest:
        return replace(moved, fault=f"hold {instance} came into force after {world.highest}")
    if not instance and in_force and caller.seen.mark != was:
        return replace(moved, fault=f"a release of another hold lifted hold {in_force}")
    return replace(moved, highest=max(instance, world.highest))


def faults(calls: Sequence[Call], rules: Rules) -> set[str]:
    """What can go wrong in any order of steps."""
    start = World(callers=tuple(Caller() for _ in calls))
    seen, found = {start}, set()
    left = [start]
    while left:
        world = left.pop()
        if world.fault:
            found.add(world.fault)
            continue
        for following in steps(world, calls, rules):
            if following not in seen:
                seen.add(following)
                left.append(following)
    return found


def hold(instance: int) -> Call:
    return Call(Action.HOLD, instance)


def release(instance: int) -> Call:
    return Call(Action.RELEASE, instance)


ORDERS = [
    (hold(1), hold(2)),
    (hold(1), release(1), hold(2)),
    (hold(1), hold(2), release(2)),
    (hold(1), release(1), release(1), hold(2)),
    (hold(1), hold(2), hold(3)),
    (hold(1), release(1), hold(2), release(2), hold(3)),
]


def shown(calls: Sequence[Call]) -> str:
    return ", ".join(f"{call.action} {call.instance}" for call in calls)


@pytest.mark.parametrize("calls", ORDERS, ids=shown)
def test_no_order_of_steps_lets_an_older_hold_replace_a_newer_one(calls: Sequence[Call]) -> None:
    assert faults(calls, Rules()) == set()


@pytest.mark.parametrize(
    ("calls", "rules", "fault"),
    [
        (
            (hold(1), hold(2)),
            Rules(precondition=False, supervised=False),
            "hold 1 came into force after 2",
        ),
        (
            (hold(1), release(1), hold(2)),
            Rules(precondition=False, supervised=False),
            "a release of another hold lifted hold 2",
        ),
        (
            (hold(1), hold(2), release(2)),
            Rules(deadline=False),
            "hold 1 came into force after 2",
        ),
        ((hold(1), hold(2)), Rules(bound=False), "hold 2 was refused for an older one"),
    ],
    ids=["precondition: hold", "precondition: release", "deadline", "bound"],
)
def test_what_is_left_out_is_missed(calls: Sequence[Call], rules: Rules, fault: str) -> None:
    assert fault in faults(calls, rules)


def test_calls_that_nobody_orders_never_overwrite_a_newer_hold() -> None:
    """Placed at once, of a release's kind none: the preconditions alone see to it."""
    unordered = Rules(supervised=False, deadline=False)
    found = faults((hold(1), hold(2), hold(3)), unordered)
    assert not {fault for fault in found if "came into force" in fault}
