"""Calls at random moments on an object without a queue: one execution at a time, whatever comes.

A call reads the object, then its pods, then writes; between any two of these the others go on: the
other calls, the controller that makes and ends pods, and writers of the status.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from random import Random

import pytest
from hypothesis import Phase, find, given, settings
from hypothesis import strategies as st
from unit.holds.scripted import OPEN, hold, release

from converter.holds.rules import Action, Call, State, decide

CALLS = (OPEN, *(call for n in (1, 2) for call in (hold(n), release(n))))
# The same call may be made twice at a time.
CALLERS = CALLS * 2
OTHERS = ("sync", "watch", "gone", "failed", "status")
# Who goes on, and by how many steps: three are a call.
Schedule = list[tuple[int, int]]
SCHEDULES = st.lists(
    st.tuples(st.integers(0, len(CALLERS) + len(OTHERS) - 1), st.sampled_from([3, 1, 2])),
    min_size=30,
    max_size=60,
)


@dataclass
class Pods:
    """Those that may still run: asked to go, or not."""

    running: int = 0
    ending: int = 0

    @property
    def left(self) -> int:
        return self.running + self.ending


@dataclass
class World:
    """An object at its start gate, and its controller, which acts on what it last saw of it.

    `patient`: it makes no pod while another has yet to go (podReplacementPolicy: Failed).
    `counted` is whether a call sees the pods at all.
    """

    lagging: bool
    patient: bool
    counted: bool = True
    state: State = field(default_factory=lambda: State(queued=False, opened=False, stopped=True))
    version: int = 0
    pods: Pods = field(default_factory=Pods)
    stopped_in_cache: bool = True
    most: int = 0
    executions: int = 0
    starts: int = 0
    underway: dict[int, Iterator[None]] = field(default_factory=dict)

    def step(self, number: int) -> None:
        """One caller or one of the others goes on."""
        if number < len(CALLERS):
            course = self.underway.setdefault(number, self._course(CALLERS[number]))
            if next(course, self) is self:
                del self.underway[number]
        else:
            getattr(self, f"_{OTHERS[number - len(CALLERS)]}")()
        self.most = max(self.most, self.pods.left)

    def _course(self, call: Call) -> Iterator[None]:
        """One call: each yield is a moment at which others go on."""
        before = None
        for _ in range(9):
            state, version = self.state, self.version
            yield
            state = replace(state, pods_remain=self.pods.left if self.counted else 0)
            yield
            decision = decide(state, call, before)
            if decision.after is None:
                return
            if version == self.version:
                self._land(call, replace(decision.after, pods_remain=0), decision.starts)
                return
            before = state
            yield

    def _land(self, call: Call, after: State, starts: bool) -> None:
        then, now = (each.mark.instance or 0 if each.mark else 0 for each in (self.state, after))
        if now < then:
            assert (call.action, call.instance, now) == (Action.RELEASE, then, 0)
        assert starts is (self.state.stopped and not after.stopped)
        assert not after.mark or after.stopped
        self.state = after
        self.version += 1
        self.starts += starts
        if not self.lagging:
            self._watch()

    def _watch(self) -> None:
        self.stopped_in_cache = self.state.stopped

    def _sync(self) -> None:
        if self.stopped_in_cache:
            self.pods.ending, self.pods.running = self.pods.left, 0
        elif not self.pods.running and not (self.patient and self.pods.ending):
            self.pods.running = 1
            self.executions += 1

    def _gone(self) -> None:
        self.pods.ending = max(0, self.pods.ending - 1)

    def _failed(self) -> None:
        self.pods.running = 0

    def _status(self) -> None:
        self.version += 1


def played(world: World, schedule: Schedule) -> World:
    for number, steps in schedule:
        for _ in range(steps):
            world.step(number)
    return world


@pytest.mark.parametrize(("lagging", "patient"), [(False, False), (True, True)])
def test_no_order_of_calls_runs_it_twice_at_a_time(lagging: bool, patient: bool) -> None:
    @settings(max_examples=200, deadline=None)
    @given(SCHEDULES)
    def one_at_a_time(schedule: Schedule) -> None:
        world = played(World(lagging, patient), schedule)
        assert world.most <= 1
        assert not world.executions or world.starts

    one_at_a_time()


@pytest.mark.parametrize(
    ("counted", "what"),
    [
        (False, lambda world: world.most > 1),
        # A property of runs that never come about would hold as well.
        (True, lambda world: world.executions > 1 and world.starts > 1),
    ],
    ids=["a release that does not look at the pods runs it twice", "it is run anew"],
)
def test_what_the_schedules_can_show(counted: bool, what: Callable[[World], bool]) -> None:
    found = find(
        SCHEDULES,
        lambda schedule: what(played(World(False, False, counted), schedule)),
        settings=settings(max_examples=5000, deadline=None, phases=[Phase.generate]),
        random=Random(8),  # noqa: S311 - the same schedules each time
    )
    assert what(played(World(False, False, counted), found))
