"""Times as the page spells them: all in UTC, beside how long ago that was."""

from datetime import UTC, datetime

from converter.explain.text import minutes
from converter.report.model import Moment


def moment(rfc3339: str, now: datetime) -> Moment | None:
    """None for what is empty or no time."""
    found = instant(rfc3339)
    return None if found is None else moment_at(found, now)


def moment_at(at: datetime, now: datetime) -> Moment:
    """`at` for machines and people."""
    seconds = (now - at).total_seconds()
    ago = f"{minutes(seconds)} ago" if seconds >= 0 else f"in {minutes(-seconds)}"
    return Moment(at.strftime("%Y-%m-%dT%H:%M:%SZ"), at.strftime("%Y-%m-%d %H:%M UTC"), ago)


def instant(rfc3339: str) -> datetime | None:
    """The time in UTC; None for what is empty or no time."""
    try:
        found = datetime.fromisoformat(rfc3339)
    except ValueError:
        return None
    return found.replace(tzinfo=found.tzinfo or UTC).astimezone(UTC)
