"""How messages list things."""

from collections.abc import Iterable, Mapping
from typing import Final

_LISTED: Final = 8


def first_few(words: Iterable[str]) -> str:
    """The first of `words`, and how many more there are."""
    known = list(words)
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return ", ".join(known[:_LISTED]) + more


def spelt_labels(labels: Mapping[str, str]) -> str:
    """Labels as they stand in converter.yaml, in one order."""
    return "{" + ", ".join(f"{key}: {value}" for key, value in sorted(labels.items())) + "}"
