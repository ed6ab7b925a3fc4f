"""Instances as start times, and back."""

from __future__ import annotations

import time
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.slurm.records import SUBMIT

from converter.holds import mark
from converter.slurm import times
from converter.slurm.errors import InvalidTime
from converter.slurm.times import (
    BASE_SECONDS,
    LAST_EPOCH,
    LEAST,
    MOST,
    REQUEUE_SECONDS,
    decode,
    encode,
    epoch_of,
    is_far_start,
    is_years_away,
    start_of_lifted,
    text_of,
)

INSTANCES = (1, 2, 65_535, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1)
HALF = BASE_SECONDS // 2
submits = st.integers(min_value=1, max_value=2**33)
instances = st.integers(min_value=LEAST, max_value=MOST)


@pytest.fixture(params=["UTC", "America/New_York", "Europe/Berlin", "Asia/Kolkata", "No/Where"])
def zone(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    monkeypatch.setenv("TZ", request.param)
    time.tzset()
    yield request.param
    monkeypatch.undo()
    time.tzset()


def test_the_bounds_are_those_of_every_hold() -> None:
    assert (times.LEAST, times.MOST) == (mark.LEAST, mark.MOST)
    assert BASE_SECONDS == 10 * 36_525 * 864


@pytest.mark.parametrize(
    ("submit", "instance", "text"),
    [
        (1_796_134_596, 7, "2036-12-01T02:16:43"),
        (SUBMIT, 2**32 - 1, "2173-01-07T08:44:51"),
        # The last second of 32 bits with a sign and of those without, and what comes after.
        (2**31 - 1 - BASE_SECONDS - 1, 1, "2038-01-19T03:14:07"),
        (2**31 - 1 - BASE_SECONDS - 1, 2, "2038-01-19T03:14:08"),
        (SUBMIT, 2**32 - 1 - BASE_SECONDS - SUBMIT, "2106-02-07T06:28:15"),
        (SUBMIT, 2**32 - BASE_SECONDS - SUBMIT, "2106-02-07T06:28:16"),
        # Leap days; 2100 has none.
        (epoch_of("2026-02-28T12:00:00"), 1, "2036-02-29T00:00:01"),
        (epoch_of("2028-02-29T23:59:59"), 1, "2038-03-01T12:00:00"),
        (SUBMIT, epoch_of("2100-03-01T00:00:00") - BASE_SECONDS - SUBMIT, "2100-03-01T00:00:00"),
        (SUBMIT, epoch_of("2100-02-28T23:59:59") - BASE_SECONDS - SUBMIT, "2100-02-28T23:59:59"),
        # In the hours that the clocks of New York and Berlin skip, or have twice.
        (SUBMIT, epoch_of("2037-03-08T02:30:00") - BASE_SECONDS - SUBMIT, "2037-03-08T02:30:00"),
        (SUBMIT, epoch_of("2037-03-29T02:30:00") - BASE_SECONDS - SUBMIT, "2037-03-29T02:30:00"),
        (SUBMIT, epoch_of("2037-11-01T01:30:00") - BASE_SECONDS - SUBMIT, "2037-11-01T01:30:00"),
        (SUBMIT, epoch_of("2037-10-25T02:30:00") - BASE_SECONDS - SUBMIT, "2037-10-25T02:30:00"),
    ],
)
def test_the_text_is_in_utc_wherever_it_is_written(
    zone: str, submit: int, instance: int, text: str
) -> None:
    assert encode(submit, instance) == text
    assert decode(epoch_of(text), submit) == instance


@pytest.mark.parametrize("instance", INSTANCES)
def test_an_instance_comes_back(zone: str, instance: int) -> None:
    assert decode(epoch_of(encode(SUBMIT, instance)), SUBMIT) == instance


@pytest.mark.parametrize("epoch", [2**32 - 2, 2**32 - 1, 2**32])
def test_the_starts_that_text_listings_show_as_no_value_come_back(epoch: int) -> None:
    instance = epoch - BASE_SECONDS - SUBMIT
    assert epoch_of(encode(SUBMIT, instance)) == epoch
    assert decode(epoch, SUBMIT) == instance


@given(submits, instances)
def test_every_instance_comes_back(submit: int, instance: int) -> None:
    assert decode(epoch_of(encode(submit, instance)), submit) == instance


@given(st.integers(min_value=0, max_value=LAST_EPOCH))
def test_every_epoch_comes_back(epoch: int) -> None:
    assert epoch_of(text_of(epoch)) == epoch
    assert datetime.fromisoformat(f"{text_of(epoch)}+00:00") == datetime.fromtimestamp(epoch, UTC)


@pytest.mark.parametrize("instance", [0, -1, 2**32, True, 1.5, "1", None])
def test_what_is_no_instance_is_refused(instance: int) -> None:
    with pytest.raises(InvalidTime, match=r"is no instance: write a number from 1 to 4294967295$"):
        encode(SUBMIT, instance)


@pytest.mark.parametrize("submit", [0, -1])
def test_what_is_no_submit_time_is_refused(submit: int) -> None:
    with pytest.raises(InvalidTime, match="is no time at which a job was submitted"):
        encode(submit, 1)


def test_a_start_after_the_year_9999_is_refused() -> None:
    assert encode(LAST_EPOCH - BASE_SECONDS - 1, 1) == "9999-12-31T23:59:59"
    with pytest.raises(InvalidTime, match="it ends with the year 9999"):
        encode(LAST_EPOCH - BASE_SECONDS, 1)


@pytest.mark.parametrize(
    "text",
    [
        "2036-12-01T02:16:43Z",
        "2036-12-01T02:16:43+00:00",
        "2036-12-01 02:16:43",
        "2036-12-01T02:16",
        "2036-02-30T00:00:00",
        "2037-02-29T00:00:00",
        "2036-12-01T24:00:00",
        "10000-01-01T00:00:00",
        "٢٠٣٦-12-01T02:16:43",
        "2036-12-01T02:16:43\n",
        "uts2111710603",
        "None",
        "Unknown",
        "",
    ],
)
def test_another_text_is_no_time(text: str) -> None:
    with pytest.raises(InvalidTime, match="is no time of the form YYYY-MM-DDTHH:MM:SS"):
        epoch_of(text)


@pytest.mark.parametrize(
    ("away", "instance", "years_away"),
    [
        (None, None, False),
        (-SUBMIT, None, False),
        (0, None, False),
        (121, None, False),  # Slurm's own delay after a requeue
        (HALF, None, False),
        (HALF + 1, None, True),
        (BASE_SECONDS - 5, None, True),
        (BASE_SECONDS - 1, None, True),
        (BASE_SECONDS, None, True),
        (BASE_SECONDS + 1, 1, True),
        (BASE_SECONDS + 2, 2, True),
        (BASE_SECONDS + 2**32 - 1, 2**32 - 1, True),
        (BASE_SECONDS + 2**32, None, True),
    ],
)
def test_what_a_start_says(away: int | None, instance: int | None, years_away: bool) -> None:
    eligible = None if away is None else SUBMIT + away
    assert decode(eligible, SUBMIT) == instance
    assert is_years_away(eligible, SUBMIT) is years_away
    assert is_far_start(eligible, SUBMIT) is (years_away and instance is None)


def test_without_a_submit_time_nothing_is_said() -> None:
    far = SUBMIT + BASE_SECONDS + 7
    assert decode(far, None) is None
    assert not is_far_start(far, None)


@pytest.mark.parametrize(
    ("submit", "restarts", "now", "start"),
    [
        (SUBMIT, 0, SUBMIT, "now"),
        (None, 0, SUBMIT, "now"),
        (None, 1, SUBMIT, "now"),
        # Its submit time is that of the requeue, by the controller's clock.
        (SUBMIT, 1, SUBMIT, text_of(SUBMIT + REQUEUE_SECONDS)),
        (SUBMIT, 3, SUBMIT - 30, text_of(SUBMIT + REQUEUE_SECONDS)),
        (SUBMIT, 1, SUBMIT + REQUEUE_SECONDS - 1, text_of(SUBMIT + REQUEUE_SECONDS)),
        (SUBMIT, 1, SUBMIT + REQUEUE_SECONDS, "now"),
    ],
)
def test_what_was_requeued_starts_when_slurm_would_have_it(
    submit: int | None, restarts: int, now: int, start: str
) -> None:
    assert start_of_lifted(submit, restarts, now) == start
