"""`campaigns apply` killed by SIGKILL before or after a request, then run again.

Each round has six campaigns, one of each sort. A kill loses nothing that was there, and the end
state is the same whatever was killed: what must run does, what is paused has had no pod, what has
finished has not run again, what left git is gone. With `--exhaustive` every request of the run is
a round, else some, spread over the run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from threading import Lock

import pytest
from cluster.proxy import Call, Fault, Proxy, Rule, proxied
from cluster.rounds import (
    Round,
    apply_here,
    apply_through,
    failures,
    free_the_lease,
    write_pipelines,
)
from cluster.team import Team

ATTEMPTS = 3
LISTS = 2
ROUND = re.compile(r"-\d+(-[0-9a-f]{5}$)?")


@pytest.fixture
def proxy(team: Team) -> Iterator[Proxy]:
    write_pipelines(team)
    with proxied(team.kubeconfig, team.repo.parent) as running:
        yield running


@dataclass(frozen=True)
class Moment:
    """A side of the n-th request of a verb for one object, or for a list of its kind.

    Not the n-th request of all: a run writes in parallel, and it asks again and again whether the
    cluster has done what it must, so no two runs send the same ones in the same order. `after`
    says that the API server has had the request. The object is named without its round.
    """

    verb: str
    kind: str
    name: str
    nth: int
    after: bool

    def __str__(self) -> str:
        side = "after" if self.after else "before"
        return f"{side} {self.verb} {self.kind}/{self.name} ({self.nth})"


class Counter:
    """Tells for each request of a run, in the order in which they come, which moments it is."""

    def __init__(self) -> None:
        self._seen: dict[tuple[str, str, str], int] = {}
        self._lock = Lock()

    def moments(self, call: Call) -> tuple[Moment, Moment]:
        """Before and after it."""
        key = (call.verb, call.kind, ROUND.sub("", call.name))
        with self._lock:
            nth = self._seen[key] = self._seen.get(key, 0) + 1
        return Moment(*key, nth, after=False), Moment(*key, nth, after=True)


def moments(calls: Iterable[Call]) -> list[Moment]:
    """Those of a run; of the lists, which it repeats while it waits, the first of each kind."""
    counter = Counter()
    every = [moment for call in calls for moment in counter.moments(call)]
    return [moment for moment in every if moment.verb != "list" or moment.nth <= LISTS]


def kill_at(moment: Moment, killed: list[Call]) -> Rule:
    """Kill at the moment, and note the request in `killed`."""
    counter = Counter()

    def rule(call: Call) -> Fault | None:
        if moment not in counter.moments(call):
            return None
        killed.append(call)
        return Fault(kill=True, after=moment.after)

    return rule


def kill_and_run_again(team: Team, number: int, proxy: Proxy, moment: Moment) -> None:
    """One round; another where the run, as it went this time, did not come by the moment."""
    for attempt in range(ATTEMPTS):
        each = Round(team, number + 1000 * attempt)
        each.before()
        each.change()
        killed: list[Call] = []
        proxy.reset(kill_at(moment, killed))
        done = apply_through(team, proxy)
        proxy.reset()
        if killed:
            break
        assert done.code == 0, done.text
        each.check(f"ran past {moment}")
    else:
        raise AssertionError(f"{ATTEMPTS} runs, and none came by it")
    assert done.code == -9, done.text
    free_the_lease(team)
    each.check_nothing_lost(str(moment))
    again = apply_here(team, prune=True)
    assert again.exit_code == 0, f"{moment}: {list(map(str, again.events))}"
    each.check(str(moment))


def test_killed_at_a_request_and_run_again_it_ends_in_the_same_state(
    team: Team, proxy: Proxy, request: pytest.FixtureRequest
) -> None:
    whole = Round(team, 0)
    whole.before()
    whole.change()
    proxy.reset()
    done = apply_through(team, proxy)
    assert done.code == 0, done.text
    whole.check("not killed")
    every = moments(proxy.calls)
    exhaustive = request.config.getoption("--exhaustive")
    chosen = every if exhaustive else every[1 :: len(every) // 6]
    cases = {
        str(moment): partial(kill_and_run_again, team, number, proxy, moment)
        for number, moment in enumerate(chosen, start=1)
    }
    assert failures(cases) == []
