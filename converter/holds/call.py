"""A call by its number: what makes sense of one, whatever it is made on."""

from datetime import UTC, datetime

from converter.holds.errors import InvalidCall
from converter.holds.mark import LEAST, MOST, is_instance
from converter.holds.rules import Action, Call
from converter.holds.target import LONGEST_NAME, LONGEST_REASON, checked_text


def check_instance(instance: int) -> None:
    """Raises InvalidCall for what is no instance."""
    if not is_instance(instance):
        raise InvalidCall(f"{instance} is no instance: write a number from {LEAST} to {MOST}")


def hold_call(instance: int, by: str, reason: str) -> Call:
    """A hold that is placed now. Raises InvalidCall."""
    if not by:
        raise InvalidCall("a hold needs to say by whom it is placed")
    return numbered_call(Action.HOLD, instance, by, reason)


def numbered_call(action: Action, instance: int, by: str, reason: str = "") -> Call:
    """A call that is made now, by whom and why. Raises InvalidCall."""
    check_instance(instance)
    return Call(
        action,
        instance,
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        by=checked_text("the name of who calls", by, LONGEST_NAME),
        reason=checked_text("the reason", reason, LONGEST_REASON),
    )
