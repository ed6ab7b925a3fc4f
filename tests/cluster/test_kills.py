"""`campaigns apply` killed by SIGKILL before or after a request, then run again.

Each round has six campaigns, one of each sort. A kill loses nothing that was there, and the end
state is the same whatever was killed: what must run does, what is paused has had no pod, what has
finished has not run again, what left git is gone. With `--exhaustive` every request of the run is
a round, else some, spread over the run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

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


@pytest.fixture
def proxy(team: Team) -> Iterator[Proxy]:
    write_pipelines(team)
    with proxied(team.kubeconfig, team.repo.parent) as running:
        yield running


def kill_at(number: int, after: bool) -> Rule:
    def rule(call: Call) -> Fault | None:
        return Fault(kill=True, after=after) if call.number == number else None

    return rule


def points(requests: int, whole: bool) -> list[tuple[int, bool]]:
    """Which requests to kill at, and whether before or after the API server has had them."""
    every = [(number, after) for number in range(1, requests + 1) for after in (False, True)]
    return every if whole else every[1 :: len(every) // 6]


def kill_and_run_again(each: Round, proxy: Proxy, at: int, after: bool) -> None:
    each.before()
    each.change()
    proxy.reset(kill_at(at, after))
    killed = apply_through(each.team, proxy)
    assert killed.code == -9, killed.text
    case = f"killed at {proxy.calls[at - 1].verb} {proxy.calls[at - 1].kind}"
    proxy.reset()
    free_the_lease(each.team)
    each.check_nothing_lost(case)
    again = apply_here(each.team, prune=True)
    assert again.exit_code == 0, f"{case}: {list(map(str, again.events))}"
    each.check(case)


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
    requests = len(proxy.calls)
    chosen = points(requests, whole=request.config.getoption("--exhaustive"))
    cases = {
        f"{'after' if after else 'before'} request {at} of {requests}": partial(
            kill_and_run_again, Round(team, number), proxy, at, after
        )
        for number, (at, after) in enumerate(chosen, start=1)
    }
    assert failures(cases) == []
