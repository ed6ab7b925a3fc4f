"""How the sentences are put together: what comes from a cluster, on one line and cut."""

import re
from collections.abc import Iterable
from typing import Final

from converter.load.wording import INVISIBLE

LONGEST: Final = 300
LAST_LINES: Final = 3
# Control characters, those that turn the direction of writing, and those without a width.
_UNSEEN: Final = re.compile(
    rf"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069{INVISIBLE}]+"
)
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")


def said(text: object, longest: int = LONGEST) -> str:
    """What somebody else wrote, on one line of at most so many characters."""
    plain = " ".join(_UNSEEN.sub(" ", _ESCAPES.sub("", str(text or ""))).split())
    return plain if len(plain) <= longest else f"{plain[: longest - 1].rstrip()}…"


def last_words(text: object) -> str:
    """The last lines of a container's message, on one line."""
    lines = [said(line) for line in _ESCAPES.sub("", str(text or "")).splitlines()]
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
