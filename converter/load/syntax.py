"""What is wrong with a text that is no YAML, in words that one can act on.

libyaml says what it expected, where it gave up. That is the end of the file for a quote that is
never closed, so that a mistake about something that was begun is shown where it begins.
"""

import json
import re
from typing import Final, NamedTuple

from yaml import MarkedYAMLError

from converter.load.wording import INVISIBLE, named_character

_LINE_BREAK: Final = re.compile("\r\n|[\r\n\x85\u2028\u2029]")
# The complement of c-printable in the specification.
_NOT_PRINTABLE: Final = re.compile(
    "[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]"
)
# Spaces that are none of YAML's, and what has no width at all: nobody sees them in an editor.
_ODD_INDENTATION: Final = re.compile(rf" *(?P<odd>[{INVISIBLE}])")
_CONFLICT: Final = re.compile("<{7} |={7}$|>{7} |[|]{7} ")
_ESCAPED_CODE: Final = re.compile(r"\\(?:u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})")
_SURROGATES: Final = re.compile(r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}")
# libyaml has read the backslash and the letter after it when it looks at the code.
_READ_OF_ESCAPE: Final = 2


class Malformed(Exception):
    """The text is no YAML document that this package reads; `remedy` says what to do."""

    def __init__(self, line: int, column: int, message: str, remedy: str) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.message = message
        self.remedy = remedy


class _Known(NamedTuple):
    """What libyaml says, and what to say instead. `at_start`: where it began, not where it ends."""

    context: str
    problem: str
    message: str
    remedy: str
    at_start: bool = False


_KNOWN: Final = (
    _Known(
        "while scanning a quoted scalar",
        "found unexpected",
        "a quote that is not closed",
        "write the closing quote",
        at_start=True,
    ),
    _Known(
        "while parsing a flow sequence",
        "did not find expected ',' or ']'",
        "a list in [ ] that is not closed, or lacks a comma",
        "write ] at its end and a comma between its entries",
        at_start=True,
    ),
    _Known(
        "while parsing a flow mapping",
        "did not find expected ',' or '}'",
        "a mapping in { } that is not closed, or lacks a comma",
        "write } at its end and a comma between its keys",
        at_start=True,
    ),
    _Known(
        "while scanning a simple key",
        "could not find expected ':'",
        "a line that is neither a key with a value nor an entry of a list",
        "write a colon and a space after the key, or - and a space before the entry",
        at_start=True,
    ),
    _Known(
        "while scanning for the next token",
        "found character that cannot start any token",
        "text cannot begin with {character}",
        "put the text in quotes",
    ),
    _Known(
        "while scanning an alias",
        "did not find expected alphabetic",
        "text cannot begin with *",
        "put the text in quotes",
        at_start=True,
    ),
    _Known(
        "while scanning an anchor",
        "did not find expected alphabetic",
        "text cannot begin with &",
        "put the text in quotes",
        at_start=True,
    ),
    _Known(
        "while scanning a block scalar",
        "did not find expected comment or line break",
        "text in the line of its | or >",
        "begin it in the next line; put text that begins with | or > in quotes",
        at_start=True,
    ),
    _Known(
        "",
        "did not find expected <document start>",
        "something after the end of the document",
        "keep one document in a file: remove ...",
    ),
    _Known(
        "",
        "found incompatible YAML document",
        "a version of YAML that is not known",
        "remove the line that begins with %YAML",
    ),
    _Known(
        "",
        "mapping values are not allowed in this context",
        "a colon and a space in a place where no key can be",
        "put text that has them in quotes; after the colon of each key before it, write a space",
    ),
    _Known(
        "",
        "block sequence entries are not allowed in this context",
        "a list that begins in the line of its key",
        "begin it in a line of its own",
    ),
    _Known(
        "while parsing a block mapping",
        "did not find expected key",
        "something that is no key of the mapping around it",
        "indent a key as far as the others; put the whole of a value that has quotes or brackets "
        "in it in quotes",
    ),
    _Known(
        "while parsing a block collection",
        "did not find expected '-' indicator",
        "something that is no entry of the list around it",
        "begin each entry with - and a space, and indent all of them as far as the first; put the "
        "whole of a value that has quotes or brackets in it in quotes",
    ),
    _Known(
        "while parsing a quoted scalar",
        "",
        "a backslash that begins no escape",
        "write \\\\ for a backslash, or use single quotes",
    ),
)


def syntax_error(error: MarkedYAMLError, text: str) -> Malformed:
    """Where and why the parser gave up on `text`."""
    mark = error.problem_mark or error.context_mark
    lines = _LINE_BREAK.split(text)
    line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
    if line > len(lines):
        # The end of a file whose last line has no end.
        line, column = len(lines), len(lines[-1]) + 1
    at = lines[line - 1]
    character = at[column - 1 : column]
    if character == "\t" or "\t" in at[: len(at) - len(at.lstrip())]:
        return Malformed(line, column, "a tab in the indentation", "indent with spaces")
    if "invalid Unicode character escape" in (error.problem or ""):
        return _no_character(line, column - _READ_OF_ESCAPE, at)
    known = next((entry for entry in _KNOWN if _says(error, entry)), None)
    if known is None:
        what = " ".join(part for part in (error.context, error.problem) if part)
        return Malformed(line, column, f"not YAML: {what}", "correct the syntax")
    start = error.context_mark
    if known.at_start and start:
        line, column = start.line + 1, start.column + 1
    if cause := _cause(lines[line - 1], line):
        return cause
    message = known.message.replace("{character}", character)
    return Malformed(line, column, f"not YAML: {message}", known.remedy)


def _cause(at: str, line: int) -> Malformed | None:
    """What somebody who looks at the line may not see, or not take for a part of it."""
    if odd := _ODD_INDENTATION.match(at):
        what = f"the invisible character {named_character(odd['odd'])} in the indentation"
        return Malformed(line, odd.start("odd") + 1, what, "indent with spaces")
    if _CONFLICT.match(at):
        what = "a conflict that git left in the file"
        return Malformed(line, 1, what, "keep one of the two sides, and remove the marks of git")
    return None


def _no_character(line: int, column: int, at: str) -> Malformed:
    """An escape of no character, such as each half of what JSON escapes as two surrogates."""
    if pair := _SURROGATES.match(at, column - 1):
        character = json.loads(f'"{pair.group()}"')
        remedy = f"write {character} itself, or \\U{ord(character):08x}"
        message = f"not YAML: {pair.group()} is an escape of JSON alone"
        return Malformed(line, column, message, remedy)
    code = _ESCAPED_CODE.match(at, column - 1)
    what = code.group() if code else "an escape"
    return Malformed(line, column, f"not YAML: {what} stands for no character", "remove it")


def _says(error: MarkedYAMLError, known: _Known) -> bool:
    return known.context in (error.context or "") and known.problem in (error.problem or "")


def control_character(text: str) -> Malformed:
    """The first character in `text` that YAML does not allow in a file."""
    found = _NOT_PRINTABLE.search(text)
    lines = _LINE_BREAK.split(text[: found.start() if found else 0])
    return Malformed(
        len(lines),
        len(lines[-1]) + 1,
        f"the control character {ord(found.group()) if found else 0:#04x}",
        "remove it, or write it as an escape in double quotes",
    )
