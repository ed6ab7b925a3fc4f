"""Comments of a file that speak to this program: ``# campaigns: ignore=C010 the scan was bad``.

What is a comment is libyaml's to say: a # in quotes, in a block scalar or inside a word is none.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

from yaml import CSafeLoader
from yaml.tokens import DirectiveToken, DocumentStartToken, ScalarToken, StreamStartToken

from converter.load.lines import BYTE_ORDER_MARK, Lines

_MARK: Final = "campaigns:"
_COMMENT: Final = re.compile("#[^\r\n\x85\u2028\u2029]*")
_TO_US: Final = re.compile(rf"#+[ \t]*{_MARK}[ \t]*")
# What may stand before the first comment of a file that is about the file as a whole.
_PREAMBLE: Final = (StreamStartToken, DirectiveToken, DocumentStartToken)


@dataclass(frozen=True, slots=True)
class Comment:
    """A comment that begins with ``campaigns:``, and `words`, which follow that.

    `line` and `column` are those of its #, `words_column` that of the words; all count from 1.
    `covers` has the lines that it is about: its own, or for one that stands alone the next line
    that is no comment. 0 is the file as a whole, for one before all that the file says.
    """

    line: int
    column: int
    words: str
    words_column: int
    covers: frozenset[int]


def comments(text: str) -> tuple[Comment, ...]:
    """The comments in `text`, which is YAML, that speak to this program, in their order."""
    if _MARK not in text:
        return ()
    lines = Lines(text)
    places, head = _places(text)
    below = _lines_below(text, places, lines)
    return tuple(_to_us(text, places, head, below, lines))


def _to_us(
    text: str, places: list[int], head: int, below: dict[int, int], lines: Lines
) -> Iterator[Comment]:
    for start in places:
        found = _COMMENT.match(text, start)
        begun = _TO_US.match(text, start)
        if found is None or begun is None:
            continue
        line, column = lines.place(start)
        yield Comment(
            line=line,
            column=column,
            words=text[begun.end() : found.end()].rstrip(),
            words_column=column + begun.end() - start,
            covers=_covered(line, below, is_head=start < head),
        )


def _covered(line: int, below: dict[int, int], *, is_head: bool) -> frozenset[int]:
    if line not in below:
        return frozenset((line,))
    return frozenset((0, below[line]) if is_head else (below[line],))


def _lines_below(text: str, places: list[int], lines: Lines) -> dict[int, int]:
    """For each line that is a comment and no more: the next one that is not."""
    below: dict[int, int] = {}
    for start in reversed(places):
        line, _ = lines.place(start)
        if not text[lines.start(line) : start].strip(" \t"):
            below[line] = below.get(line + 1, line + 1)
    return below


def _places(text: str) -> tuple[list[int], int]:
    """The offsets of all comments, and that of the first thing that the file says."""
    shift = len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0
    places: list[int] = []
    head, read = len(text), 0
    for token in _tokens(text):
        start, end = token.start_mark.index + shift, token.end_mark.index + shift
        places += (found.start() for found in _COMMENT.finditer(text, read, max(read, start)))
        if isinstance(token, ScalarToken) and token.style in ("|", ">"):
            # The line with the | may end in a comment; what follows it is text.
            line = text[start:end].splitlines()[0]
            places += (start + found.start() for found in _COMMENT.finditer(line))
        if not isinstance(token, _PREAMBLE):
            head = min(head, start)
        read = max(read, end)
    return places, head


def _tokens(text: str) -> Iterator[Any]:
    scanner = CSafeLoader(text)
    while (token := scanner.get_token()) is not None:
        yield token
