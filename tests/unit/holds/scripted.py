"""A store of one object that does what a script says, and a clock that only the script moves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from converter.errors import Conflict, NotFound
from converter.holds.carry_out import Done, carry_out
from converter.holds.deadline import Deadline, deadline_in
from converter.holds.mark import Mark
from converter.holds.rules import Action, Call, Decision, State

AT, BY, REASON = "2026-01-01T00:00:00Z", "night shift", "a lost node"


@dataclass
class Clock:
    """Seconds that pass when somebody says so."""

    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@dataclass
class ScriptedStore:
    """An object; None is one that is gone. `script` has what happens before a read or write.

    Its keys are ``read 1``, ``write 1`` and so on; what fails is raised there. A write sends
    nothing when it raises Forbidden or the like, which the tests of these say by themselves.
    """

    state: State | None = field(default_factory=State)
    script: Mapping[str, Callable[[ScriptedStore], object]] = field(default_factory=dict)
    version: int = 1
    seen: int = 0
    reads: int = 0
    writes: int = 0
    starts: int = 0
    landed: list[State] = field(default_factory=list)

    @property
    def target(self) -> str:
        return "Job/one"

    def read(self, deadline: Deadline) -> State:
        del deadline
        self.reads += 1
        self._play(f"read {self.reads}")
        self.seen = self.version
        return self._there("get")

    def write(self, decision: Decision, deadline: Deadline) -> None:
        del deadline
        self.writes += 1
        self._play(f"write {self.writes}")
        self._there("put")
        if self.seen != self.version:
            raise Conflict("put", self.target, 409, "Conflict", "the object has been modified")
        assert decision.after is not None
        self.starts += decision.starts
        self.landed.append(decision.after)
        self.become(decision.after)

    def become(self, state: State | None) -> None:
        """Another write to the object."""
        self.state = state
        self.version += 1

    def touch(self) -> None:
        """A write of its status."""
        self.become(self.state)

    def _there(self, verb: str) -> State:
        if self.state is None:
            raise NotFound(verb, self.target, 404, "NotFound", 'jobs.batch "one" not found')
        return self.state

    def _play(self, step: str) -> None:
        if step in self.script:
            self.script[step](self)


def attempt(
    store: ScriptedStore, call: Call, seconds: float | None = 30.0, clock: Clock | None = None
) -> Done:
    """The call as its command makes it: with so many seconds from now."""
    return carry_out(store, call, deadline_in(seconds, clock or Clock()))


def hold(instance: int) -> Call:
    return Call(Action.HOLD, instance, at=AT, by=BY, reason=REASON)


def release(instance: int) -> Call:
    return Call(Action.RELEASE, instance)


OPEN = Call(Action.OPEN)


def held(instance: int | None, **also: bool | int) -> State:
    """A stopped object with this hold."""
    return replace(State(mark=Mark(instance), stopped=True), **also)  # type: ignore[arg-type]
