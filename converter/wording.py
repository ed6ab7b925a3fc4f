"""How messages list things."""

from collections.abc import Iterable
from typing import Final

_LISTED: Final = 8


def first_few(words: Iterable[str]) -> str:
    """The first of `words`, and how many more there are."""
    known = list(words)
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return ", ".join(known[:_LISTED]) + more
