"""A smaller document with the same failure: parts are taken out while it stays."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence


def shrunk(document: bytes, fails: Callable[[bytes], bool]) -> bytes:
    """The document without what the failure does not need: first lines, then tokens, then bytes."""
    for split in (rb"[^\n]*\n|[^\n]+", rb"\s+|\w+|[^\w\s]", rb"(?s)."):
        parts = re.findall(split, document)
        document = b"".join(_without(parts, lambda kept: fails(b"".join(kept))))
    return document


def _without(parts: Sequence[bytes], fails: Callable[[Sequence[bytes]], bool]) -> Sequence[bytes]:
    size = len(parts) // 2
    while size:
        at = 0
        while at < len(parts):
            fewer = [*parts[:at], *parts[at + size :]]
            if fails(fewer):
                parts = fewer
            else:
                at += size
        size //= 2
    return parts
