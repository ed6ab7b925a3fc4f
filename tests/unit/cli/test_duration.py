"""Durations as kubectl writes them."""

import pytest

from converter.cli.duration import seconds_of, text_of


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("30s", 30), ("10m", 600), ("2h", 7_200), ("1h30m", 5_400), ("1h1m1s", 3_661), ("90m", 5_400)],
)
def test_a_duration(text: str, seconds: int) -> None:
    assert seconds_of(text) == seconds


@pytest.mark.parametrize("text", ["", "10", "s", "1d", "-1s", "1s1m", "1.5h", "1 m", "1m ", "१s"])
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError, match="write for example 30s, 10m, 2h or 1h30m"):
        seconds_of(text)


@pytest.mark.parametrize("text", ["0s", "0h0m"])
def test_no_time_at_all(text: str) -> None:
    with pytest.raises(ValueError, match="write 1s or more"):
        seconds_of(text)


@pytest.mark.parametrize("text", ["30s", "10m", "2h", "1h30m", "1h1m1s"])
def test_it_is_said_as_it_was_written(text: str) -> None:
    assert text_of(seconds_of(text)) == text
