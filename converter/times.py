"""Times as an API server writes them, and how long ago something was as people say it."""

from datetime import UTC, datetime
from typing import Final

_UNITS: Final = ((86_400, "day"), (3_600, "hour"), (60, "minute"))


def instant(rfc3339: str) -> datetime | None:
    """The time in UTC; None for what is empty, no time, has no zone or is before the year 1."""
    try:
        found = datetime.fromisoformat(rfc3339)
        return None if found.tzinfo is None else found.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def rfc3339(epoch: int) -> str:
    """Seconds since 1970 as the API server would write them."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def rough(seconds: float) -> str:
    """Seconds for a column of a table, in one unit: ``2h``, of which nobody wants the minutes."""
    number, unit = _in_one_unit(seconds)
    return f"{number}{unit[0]}"


def minutes(seconds: float) -> str:
    """The same in a sentence: ``2 hours``."""
    number, unit = _in_one_unit(seconds)
    return f"{number} {unit}" if number == 1 else f"{number} {unit}s"


def _in_one_unit(seconds: float) -> tuple[int, str]:
    whole = max(0, int(seconds))
    for size, unit in _UNITS:
        if whole >= 2 * size:
            return whole // size, unit
    return whole, "second"
