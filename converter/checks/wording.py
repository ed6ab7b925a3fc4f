"""Words that several rules use."""

from collections.abc import Collection, Iterable
from typing import Final

from converter.load.wording import alike

_LISTED: Final = 8

# Stands in the examples of rules for an image with a digest.
EXAMPLE_IMAGE: Final = "registry.example/ocr@sha256:" + "1f" * 32


def first_few(words: Iterable[str]) -> str:
    """The first of `words`, and how many more there are."""
    known = list(words)
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return ", ".join(known[:_LISTED]) + more


def instead(word: str, known: Collection[str], otherwise: str) -> str:
    """What to write for `word`: the one that is meant, one of all, or else `otherwise`."""
    close = alike(word, known)
    if close is not None:
        return f"did you mean {close}?"
    return f"write one of: {first_few(sorted(known))}" if known else otherwise
