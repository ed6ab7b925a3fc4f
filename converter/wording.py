"""How messages list things, and how they say what stands on a cluster."""

import re
from collections.abc import Iterable, Mapping
from typing import Final

from converter.load.wording import INVISIBLE

LONGEST: Final = 300
_LISTED: Final = 8
# Control characters, those that turn the direction of writing, and those without a width.
_UNSEEN: Final = re.compile(
    rf"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069{INVISIBLE}]+"
)
_ESCAPES: Final = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?")


def first_few(words: Iterable[str]) -> str:
    """The first of `words`, and how many more there are."""
    known = list(words)
    more = f" and {len(known) - _LISTED} more" if len(known) > _LISTED else ""
    return ", ".join(known[:_LISTED]) + more


def spelt_labels(labels: Mapping[str, str]) -> str:
    """Labels as they stand in converter.yaml, in one order."""
    return "{" + ", ".join(f"{key}: {value}" for key, value in sorted(labels.items())) + "}"


def said(text: object, longest: int = LONGEST) -> str:
    """What somebody else wrote, on one line of at most so many characters."""
    plain = " ".join(_UNSEEN.sub(" ", without_escapes(text)).split())
    return plain if len(plain) <= longest else f"{plain[: longest - 1].rstrip()}…"


def without_escapes(text: object) -> str:
    """What somebody else wrote, without the sequences that a terminal would act on."""
    return _ESCAPES.sub("", str(text or ""))
