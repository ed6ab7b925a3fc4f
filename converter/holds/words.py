"""A hold in words, for messages. Its annotations are what somebody wrote: on one line, and cut."""

from converter.holds.mark import Mark
from converter.wording import said


def named(mark: Mark) -> str:
    """``hold 7``."""
    if mark.instance is None:
        return "a hold whose instance cannot be read"
    return f"hold {mark.instance}"


def told(mark: Mark) -> str:
    """``hold 7 of ops since 2026-01-01T10:00:00Z: a node is lost``, what is known of it."""
    who, since, reason = said(mark.by), said(mark.at), said(mark.reason)
    return (
        named(mark)
        + (f" of {who}" if who else "")
        + (f" since {since}" if since else "")
        + (f": {reason}" if reason else "")
    )


def in_force(mark: Mark) -> str:
    """``hold 7 is in force (of ops since 2026-01-01T10:00:00Z: a node is lost)``."""
    known = told(mark).removeprefix(named(mark)).lstrip(" :")
    return f"{named(mark)} is in force ({known or 'nobody said why'})"


def lifted_by(mark: Mark, campaign: str) -> str:
    """What would release it."""
    if mark.instance is None:
        return "an administrator has to take the annotations of the hold away"
    return f"`campaigns release {campaign} --instance {mark.instance} --deadline 30s` lifts it"
