"""How the sentences are put together: what comes from a cluster, on one line and cut."""

from collections.abc import Iterable
from typing import Final

from converter.wording import said, without_escapes

LAST_LINES: Final = 3


def last_words(text: object) -> str:
    """The last lines of a container's message, on one line."""
    lines = [said(line) for line in without_escapes(text).splitlines()]
    return said(" / ".join([line for line in lines if line][-LAST_LINES:]))


def counted(number: int, word: str) -> str:
    """``1 pod``, ``2 pods``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def listed(words: Iterable[str]) -> str:
    """``a``, ``a and b``, ``a, b and c``."""
    known = list(words)
    if len(known) < 2:
        return "".join(known)
    return f"{', '.join(known[:-1])} and {known[-1]}"
