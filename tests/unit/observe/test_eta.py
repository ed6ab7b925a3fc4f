"""How long a campaign still takes, by the rate so far."""

import random
from statistics import fmean

import pytest

from converter.observe.eta import Eta, eta_of


@pytest.mark.parametrize(
    ("ended", "left", "seconds", "expected"),
    [
        (2, 10, 100.0, None),
        (10, 0, 100.0, None),
        (10, 10, 0.0, None),
        (100, 100, 1000.0, Eta(1000, low=868, high=1152)),
        (4, 4, 60.0, Eta(60, low=30, high=122)),
    ],
)
def test_the_time_that_is_left(ended: int, left: int, seconds: float, expected: Eta | None) -> None:
    assert eta_of(ended, left, seconds) == expected


@pytest.mark.parametrize(("ended", "left"), [(5, 20), (50, 50), (400, 30)])
def test_the_bounds_hold_in_about_two_cases_of_three(ended: int, left: int) -> None:
    """Volumes that end at random moments: how often the real time lies between the bounds."""
    chance = random.Random(7)  # noqa: S311
    cases = []
    for _ in range(1500):
        past, rest = (sum(chance.expovariate(1.0) for _ in range(n)) for n in (ended, left))
        eta = eta_of(ended, left, past * 3600)
        assert eta is not None
        cases.append(eta.low <= rest * 3600 <= eta.high)
    assert 0.6 < fmean(cases) < 0.8
