"""`campaigns apply` when the API server, or the way to it, fails at one kind of request.

What is known to be worth another try is tried again, and the apply ends as if nothing had been.
Otherwise its exit code says what is so: 0, git and the cluster agree; 3, every pause holds. With
`--exhaustive` every fault is tried on every kind of request, else some of them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest
from cluster.proxy import Call, Fault, Proxy, Rule, proxied
from cluster.rounds import Round, apply_through, free_the_lease, write_pipelines
from cluster.team import Team

PASSING = {
    "429": Fault(status=429, headers={"Retry-After": "1"}),
    "500": Fault(status=500),
    "503": Fault(status=503),
    "cut before": Fault(cut=True),
    "cut after": Fault(cut=True, after=True),
    "stall": Fault(stall=4.0),
}
LASTING = {"409": Fault(status=409), "403": Fault(status=403)}
FAULTS = {**PASSING, **LASTING}


@pytest.fixture
def proxy(team: Team) -> Iterator[Proxy]:
    # Shorter than the stall, so that it is a timeout.
    team.write_settings(apiserver_request_timeout=2)
    write_pipelines(team)
    with proxied(team.kubeconfig, team.repo.parent) as running:
        yield running


def first_of(kind: tuple[str, str], fault: Fault) -> Rule:
    """The fault at the first request of a kind, or at each where it is a lasting one."""
    done: list[int] = []

    def rule(call: Call) -> Fault | None:
        if (call.verb, call.kind) != kind or (done and fault not in LASTING.values()):
            return None
        done.append(call.number)
        return fault

    return rule


def test_a_fault_at_a_kind_of_request_costs_no_pause_and_the_next_apply_finishes(
    team: Team, proxy: Proxy, request: pytest.FixtureRequest
) -> None:
    whole = Round(team, 0)
    whole.before()
    whole.change()
    assert apply_through(team, proxy).code == 0
    kinds = sorted({(call.verb, call.kind) for call in proxy.calls})
    cases = list(itertools.product(kinds, FAULTS))
    if not request.config.getoption("--exhaustive"):
        cases = cases[:: len(cases) // 6]
    for number, (kind, name) in enumerate(cases, start=1):
        case = f"{name} at {' '.join(kind)}"
        each = Round(team, number)
        each.before()
        each.change()
        proxy.reset(first_of(kind, FAULTS[name]))
        done = apply_through(team, proxy)
        assert "Traceback" not in done.stderr, f"{case}: {done.stderr}"
        if name in PASSING:
            assert done.code == 0, f"{case}: {done.text}"
        assert done.code in (0, 1, 3), case
        if done.code == 3:
            each.check_pause(case)
        if done.code == 1:
            assert done.stderr.strip(), case
        proxy.reset()
        free_the_lease(team)
        if done.code:
            again = apply_through(team, proxy)
            assert again.code == 0, f"the apply after {case}: {again.text}"
        each.check()
