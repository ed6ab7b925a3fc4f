"""Places in a text: lines and columns, as YAML counts them, and offsets."""

import re
from bisect import bisect_right
from typing import Final

BYTE_ORDER_MARK: Final = "\ufeff"

# What ends a line for libyaml (YAML 1.1).
_LINE_BREAK: Final = re.compile("\r\n|[\r\n\x85\u2028\u2029]")


class Lines:
    """The lines of `text`. Lines and columns count from 1, offsets from 0.

    libyaml does not count a byte order mark; an offset is that of Python.
    """

    def __init__(self, text: str) -> None:
        first = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
        self._starts = [first, *(found.end() for found in _LINE_BREAK.finditer(text))]

    def place(self, offset: int) -> tuple[int, int]:
        """Line and column of a character."""
        line = bisect_right(self._starts, offset)
        return line, offset - self._starts[line - 1] + 1

    def start(self, line: int) -> int:
        """The offset of a line's first character."""
        return self._starts[line - 1]

    def offset(self, line: int, column: int) -> int:
        """The offset of a character."""
        return self._starts[line - 1] + column - 1
