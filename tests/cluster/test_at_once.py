"""Two applies at once: one works, the other names it, sends nothing and exits 1.

They really are at once: whichever gets the Lease is kept waiting at its next request until the
other has ended. With `--exhaustive` 50 times, else some.
"""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from functools import partial

import pytest
from cluster.proxy import Call, Fault, Proxy, Rule, proxied
from cluster.rounds import failures
from cluster.team import SLOW, Done, Team

TIMES, ALL_TIMES = 6, 50


@pytest.fixture
def proxy(team: Team) -> Iterator[Proxy]:
    team.write_pipeline(script=SLOW)
    with proxied(team.kubeconfig, team.repo.parent) as running:
        yield running


def only_the_lease_until(other_has_ended: threading.Event) -> Rule:
    def rule(call: Call) -> Fault | None:
        if call.kind != "leases" and not other_has_ended.wait(20):
            # Both got the Lease, and each would wait for the other.
            other_has_ended.set()
        return None

    return rule


def ended(process: subprocess.Popen[str]) -> Done:
    stdout, stderr = process.communicate()
    return Done(process.returncode, stdout, stderr)


def two_at_once(team: Team, proxy: Proxy, number: int) -> None:
    """Every other time there is no Lease yet, so that both create it; else both replace it."""
    team.write_campaign("one", suspend=number % 2 == 0)
    team.write_campaign(f"new-{number}", suspend=True)
    if number % 4 < 2:
        team.kubectl("delete", "lease", "campaigns-apply", "--ignore-not-found")
    other_has_ended = threading.Event()
    proxy.reset(only_the_lease_until(other_has_ended))
    mark = team.cluster.audit_mark()
    running = [team.start("apply", ".", kubeconfig=proxy.kubeconfig) for _ in range(2)]
    with ThreadPoolExecutor() as pool:
        waits: dict[Future[Done], int] = {pool.submit(ended, each): each.pid for each in running}
        first, _ = wait(waits, return_when=FIRST_COMPLETED)
        other_has_ended.set()
        (loser,) = first
        (winner,) = waits.keys() - first
        refused, worked = loser.result(), winner.result()
    assert (refused.code, worked.code) == (1, 0), refused.text + worked.text
    assert "another apply is running" in refused.stderr, refused.text
    assert f"/{waits[winner]}-" in refused.stderr, refused.text
    assert "unchanged" in worked.stdout, worked.text
    team.cluster.audit_mark()
    sent = [
        (event.resource, event.name)
        for event in team.requests(mark)
        if event.is_write and not event.dry_run and event.resource != "leases"
    ]
    assert ("jobs", f"new-{number}") in sent, worked.text
    assert len(sent) == len(set(sent)), sent


def test_of_two_applies_at_once_one_works_and_the_other_names_it(
    team: Team, proxy: Proxy, request: pytest.FixtureRequest
) -> None:
    times = ALL_TIMES if request.config.getoption("--exhaustive") else TIMES
    cases = {f"time {n}": partial(two_at_once, team, proxy, n) for n in range(1, times + 1)}
    assert failures(cases) == []
