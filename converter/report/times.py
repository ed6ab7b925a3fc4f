"""Times as the page spells them: all in UTC, beside how long ago that was."""

from datetime import datetime

from converter.report.model import Moment
from converter.times import instant, minutes


def moment(rfc3339: str, now: datetime) -> Moment | None:
    """None for what is empty or no time."""
    found = instant(rfc3339)
    return None if found is None else moment_at(found, now)


def moment_at(at: datetime, now: datetime) -> Moment:
    """`at` for machines and people."""
    seconds = (now - at).total_seconds()
    ago = f"{minutes(seconds)} ago" if seconds >= 0 else f"in {minutes(-seconds)}"
    return Moment(at.strftime("%Y-%m-%dT%H:%M:%SZ"), at.strftime("%Y-%m-%d %H:%M UTC"), ago)
