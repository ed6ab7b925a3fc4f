"""A hold as it stands in the annotations of an object."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from converter.names import (
    HELD_AT_ANNOTATION,
    HELD_BY_ANNOTATION,
    HOLD_ANNOTATION,
    HOLD_REASON_ANNOTATION,
    WAS_INACTIVE_ANNOTATION,
)

LEAST: Final = 1
MOST: Final = 2**32 - 1

ANNOTATIONS: Final = (
    HOLD_ANNOTATION,
    HELD_AT_ANNOTATION,
    HELD_BY_ANNOTATION,
    HOLD_REASON_ANNOTATION,
    WAS_INACTIVE_ANNOTATION,
)


@dataclass(frozen=True, slots=True)
class Mark:
    """A hold. `at` is RFC 3339 in UTC.

    `instance` is None where somebody wrote something else than a number: such a hold stops, and
    neither goes by itself nor gives way. `was_inactive`: the Workload was inactive for another
    reason than git or a hold when the first of these holds was placed, so no release makes it
    active.
    """

    instance: int | None
    at: str = ""
    by: str = ""
    reason: str = ""
    was_inactive: bool = False


def is_instance(number: object) -> bool:
    """Whether a value is an instance; a bool is none."""
    return type(number) is int and LEAST <= number <= MOST


def mark_of(annotations: Mapping[str, str]) -> Mark | None:
    """The hold that an object's annotations name; None without one."""
    written = annotations.get(HOLD_ANNOTATION)
    if written is None:
        return None
    # int() alone would take "+1", "1_0", " 1" and digits of other scripts.
    plain = written.isascii() and written.isdigit() and len(written) <= len(str(MOST))
    number = int(written) if plain else 0
    return Mark(
        instance=number if is_instance(number) else None,
        at=annotations.get(HELD_AT_ANNOTATION, ""),
        by=annotations.get(HELD_BY_ANNOTATION, ""),
        reason=annotations.get(HOLD_REASON_ANNOTATION, ""),
        was_inactive=annotations.get(WAS_INACTIVE_ANNOTATION) == "true",
    )


def annotations_of(mark: Mark) -> dict[str, str]:
    """The annotations that say a hold."""
    said = {
        HOLD_ANNOTATION: str(mark.instance),
        HELD_AT_ANNOTATION: mark.at,
        HELD_BY_ANNOTATION: mark.by,
        HOLD_REASON_ANNOTATION: mark.reason,
        WAS_INACTIVE_ANNOTATION: "true" if mark.was_inactive else "",
    }
    return {name: value for name, value in said.items() if value}
