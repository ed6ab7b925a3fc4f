"""The last holds on an object, in an annotation of it.

They are written with the hold or the release itself, in the one update, so that neither is there
without the other, and whoever may place a hold needs no right to write anything else.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any, Final

LAST: Final = 10
# All annotations of an object together may have 256 KiB.
MOST_BYTES: Final = 16_384


class Happened(StrEnum):
    """What was done."""

    HELD = "held"
    RELEASED = "released"


@dataclass(frozen=True, slots=True)
class Entry:
    """A hold that was placed or released. `at` is RFC 3339 in UTC."""

    what: Happened
    instance: int
    at: str
    by: str
    reason: str


def history_of(written: str) -> tuple[Entry, ...]:
    """The entries of an annotation, the oldest first; what is no history has none."""
    try:
        found = json.loads(written or "[]")
        return tuple(_entry(each) for each in found)
    except (ValueError, TypeError, KeyError, RecursionError):
        return ()


def with_entry(written: str, entry: Entry) -> str:
    """The annotation with one more entry, without the oldest ones where it would be too long."""
    kept = [*history_of(written), entry][-LAST:]
    while len(_text(kept).encode("utf-8", "replace")) > MOST_BYTES and len(kept) > 1:
        kept = kept[1:]
    return _text(kept)


def _entry(found: Any) -> Entry:
    return Entry(
        what=Happened(found["what"]),
        instance=int(found["instance"]),
        at=str(found["at"]),
        by=str(found["by"]),
        reason=str(found["reason"]),
    )


def _text(entries: Sequence[Entry]) -> str:
    listed = [asdict(entry) for entry in entries]
    return json.dumps(listed, ensure_ascii=False, separators=(",", ":"))
