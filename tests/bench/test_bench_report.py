"""How long the page of a thousand campaigns takes, from what was read to its text.

``make bench`` runs it. The absolute time is what people wait for; the ratio says that ten times the
campaigns take about ten times as long.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from unit.reconcile.queue_objects import chain, flavor
from unit.report.archive import Site, at, campaign, placed, queue, repository

from converter.report.page import page

CAMPAIGNS = 1_000
SECONDS = 3.0
ROUNDS = 3


def running(site: Site, name: str, number: int) -> None:
    site.add_running(
        *(name, at(1 + number % 9), at(10), "l40s"),
        active=5,
        ready=5,
        completedIndexes="0-3",
        failedIndexes="5,7",
    )


def waiting(site: Site, name: str, number: int) -> None:
    site.add_waiting(name, at(1 + number % 9), 0)


def site_of(number: int, state: Callable[[Site, str, int], None]) -> Site:
    names = [f"campaign-{each:04}" for each in range(number)]
    site = Site(repository(*(campaign(name, 10) for name in names)))
    for each, name in enumerate(names):
        state(site, name, each)
    if state is waiting:
        placed(site, names)
    site.chain = chain(queue(), [flavor(each, {"gpu": each}) for each in ("l40s", "a100")])
    return site


def seconds(site: Site) -> float:
    """Of the fastest round: what else the machine does only adds to it."""
    taken = []
    for _ in range(ROUNDS):
        began = time.perf_counter()
        page(site.model())
        taken.append(time.perf_counter() - began)
    return min(taken)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("state", [running, waiting], ids=lambda state: state.__name__)
def test_a_thousand_campaigns(
    state: Callable[[Site, str, int], None], capsys: pytest.CaptureFixture[str]
) -> None:
    many, some = site_of(CAMPAIGNS, state), site_of(CAMPAIGNS // 10, state)
    taken, less = seconds(many), seconds(some)
    size = len(page(many.model()).encode())
    with capsys.disabled():
        print(
            f"\n{CAMPAIGNS} campaigns, {state.__name__}: {taken:.2f} s, {size / 1e6:.2f} MB; "
            f"{taken / less:.1f} times as long as {CAMPAIGNS // 10}"
        )
    assert taken < SECONDS
    assert taken / less < 25
