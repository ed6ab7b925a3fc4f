"""Times as an API server writes them, and how long ago something was."""

from datetime import UTC, datetime

import pytest

from converter.times import instant, minutes, rough

NINE = datetime(2026, 3, 12, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("text", "time"),
    [
        ("2026-03-12T09:00:00Z", NINE),
        ("2026-03-12T11:00:00+02:00", NINE),
        ("2026-03-12T09:00:00.5Z", NINE.replace(microsecond=500_000)),
        ("2026-03-12T09:00:00", None),
        ("2026-03-12", None),
        ("yesterday", None),
        ("", None),
        # In UTC it is before the first year that there is.
        ("0001-01-01T00:00:00+01:00", None),
    ],
)
def test_an_instant_is_in_utc_and_what_is_none_is_no_error(
    text: str, time: datetime | None
) -> None:
    assert instant(text) == time


@pytest.mark.parametrize(
    ("seconds", "short", "words"),
    [
        (-1, "0s", "0 seconds"),
        (1, "1s", "1 second"),
        (119, "119s", "119 seconds"),
        (120, "2m", "2 minutes"),
        (7_199, "119m", "119 minutes"),
        (7_200.9, "2h", "2 hours"),
        (172_800, "2d", "2 days"),
    ],
)
def test_a_duration_has_one_unit(seconds: float, short: str, words: str) -> None:
    assert (rough(seconds), minutes(seconds)) == (short, words)
