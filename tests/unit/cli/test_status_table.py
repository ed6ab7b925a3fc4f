"""The cells of the table."""

from datetime import UTC, datetime

import pytest

from converter.cli.status_table import age_of, plain
from converter.observe.phase import Phase
from converter.observe.status import Status

NOW = datetime(2026, 3, 12, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    ("created", "age"),
    [
        ("2026-03-12T08:00:00Z", "60m"),
        ("2026-03-10T08:00:00+00:00", "2d"),
        ("", "-"),
        ("yesterday", "-"),
        ("2026-03-12T08:00:00", "-"),
    ],
)
def test_what_is_no_time_has_no_age_and_spoils_no_table(created: str, age: str) -> None:
    assert age_of(created, NOW) == age
    row = plain([Status("letters", Phase.FINISHED, 1, created=created)], NOW).splitlines()[1]
    assert row.split()[-1] == age
