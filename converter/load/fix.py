"""What can be mended in a repository without asking anybody: a file's bytes before and after.

That is text which YAML misreads, where nothing but text can be meant (F007), and files that end in
.yml (F008). A number that is misread stays: nobody knows which of its readings was meant. So does
what YAML reads as nothing: ``null`` may well mean that.
"""

import os
import re
import stat
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from converter.load import files
from converter.load.files import Found
from converter.load.lines import Lines
from converter.load.mistakes import Mistake
from converter.load.nodes import (
    Kind,
    Node,
    compose,
    is_merge,
    parts,
    plain_values,
    reachable,
)
from converter.load.positions import TextPositions
from converter.load.repository import examined, opaque_part
from converter.load.scalars import is_text_key
from converter.load.schema import FileKind, violations
from converter.load.syntax import Malformed

_MISREAD: Final = "F007"
_MISPLACED: Final = "F008"
_OTHER_SCALARS: Final = frozenset(("integer", "number", "boolean"))
_ANCHOR: Final = re.compile(r"&[\w-]+\s+")

_Path = tuple[str | int, ...]


@dataclass(frozen=True, slots=True)
class Fix:
    """What to do to one file: write `after` where `before` was, and rename it to `new_path`.

    Paths are relative to the repository. `quoted` counts the texts that are put in quotes.
    """

    path: str
    new_path: str
    before: str
    after: str
    quoted: int

    @property
    def is_renamed(self) -> bool:
        """Whether the file gets another name."""
        return self.path != self.new_path

    @property
    def problems(self) -> int:
        """How many problems it mends."""
        return self.quoted + self.is_renamed


def fixes(root: Path) -> Iterator[Fix]:
    """All that can be mended in the repository in `root`; nothing is written."""
    found = list(files.find(root))
    claims = Counter(each.stands_for for each in found)
    linked = {
        os.path.realpath(root / each.path) for each in found if (root / each.path).is_symlink()
    }
    done: set[str] = set()
    for each in found:
        if each.mistake is None:
            new_path = each.path
        elif claims[each.stands_for] == 1 and _can_be_renamed(root, each, linked):
            new_path = each.stands_for
        else:
            continue
        # What a symbolic link leads to may be a file of the repository by itself.
        place = os.path.realpath(root / each.path)
        text = files.read(root, each.path)
        if place in done or isinstance(text, Mistake):
            continue
        done.add(place)
        after, quoted = mended(each.kind, text)
        fix = Fix(each.path, new_path, text, after, quoted)
        if fix.problems:
            yield fix


def _can_be_renamed(root: Path, found: Found, linked: set[str]) -> bool:
    if found.mistake is None or found.mistake.code != _MISPLACED:
        return False
    if os.path.realpath(root / found.path) in linked:
        return False
    if found.path == found.stands_for or os.path.lexists(root / found.stands_for):
        return False
    return stat.S_ISREG(os.lstat(root / found.path).st_mode)


def mended(kind: FileKind, text: str) -> tuple[str, int]:
    """`text` with quotes around what is misread in it, and how many scalars have got them.

    A scalar gets them if the file is then read as before in all else, and as exactly that text
    there, and nothing is wrong with it any more.
    """
    try:
        _, mistakes = examined(kind, text)
        if not any(each.code == _MISREAD for each in mistakes):
            return text, 0
        positions = TextPositions(text)
        root = positions.root
        wanted = _wanted_as_text(kind, positions)
        chosen = _candidates(kind, root, text, mistakes, wanted)
        while chosen:
            after = _with_quotes(text, chosen)
            _, left = examined(kind, after)
            refused = _refused(chosen, root, compose(after), left, wanted)
            if not refused:
                is_worse = Counter(map(_words, left)) - Counter(map(_words, mistakes))
                return (text, 0) if is_worse else (after, len(chosen))
            chosen = {place: node for place, node in chosen.items() if id(node) not in refused}
    except Malformed:
        pass
    return text, 0


def _words(mistake: Mistake) -> tuple[int, str, str]:
    """What is the same of a mistake when there are quotes before it."""
    return mistake.line, mistake.code, mistake.message


def _wanted_as_text(kind: FileKind, positions: TextPositions) -> list[tuple[_Path, Node]]:
    """The plain scalars that are something else where a schema takes text and no other scalar."""
    found: list[tuple[_Path, Node]] = []
    for violation in violations(kind, plain_values(positions.root)):
        if violation.keyword != "type":
            continue
        types = violation.schema["type"]
        accepted = {types} if isinstance(types, str) else set(types)
        node = positions.node(*violation.path)
        is_plain = node.kind is Kind.SCALAR and node.plain
        if is_plain and "string" in accepted and not accepted & _OTHER_SCALARS:
            found.append((violation.path, node))
    return found


def _candidates(
    kind: FileKind,
    root: Node,
    text: str,
    mistakes: Iterable[Mistake],
    wanted: Iterable[tuple[_Path, Node]],
) -> dict[int, Node]:
    """The scalars to put in quotes, by the offsets where they begin."""
    reported = {(each.line, each.column) for each in mistakes if each.code == _MISREAD}
    opaque = opaque_part(kind, root)
    unread = {id(node) for node in _nodes(opaque)} if opaque is not None else set()
    lines = Lines(text)
    chosen: dict[int, Node] = {}
    for node in (*(node for _, node in wanted), *_misread_keys(root)):
        is_reported = (node.line, node.column) in reported and id(node) not in unread
        if not is_reported or node.value is None:
            continue
        start = lines.offset(node.line, node.column)
        if anchor := _ANCHOR.match(text, start):
            start = anchor.end()
        # It does not stand there as it is read if it is folded from two lines.
        if text.startswith(node.text, start):
            chosen[start] = node
    return chosen


def _misread_keys(root: Node) -> Iterator[Node]:
    for node in _nodes(root):
        for key, _ in node.pairs:
            is_plain = key.kind is Kind.SCALAR and key.plain
            if is_plain and not is_merge(key) and not is_text_key(key.text):
                yield key


def _nodes(root: Node) -> Iterator[Node]:
    return reachable([root], set())


def _aliased(root: Node) -> set[int]:
    """The ids of the nodes that stand in several places."""
    counts = Counter(id(part) for node in _nodes(root) for part in parts(node))
    return {node for node, count in counts.items() if count > 1}


def _with_quotes(text: str, chosen: dict[int, Node]) -> str:
    parts: list[str] = []
    read = 0
    for start, node in sorted(chosen.items()):
        parts += (text[read:start], _in_quotes(node.text))
        read = start + len(node.text)
    return "".join((*parts, text[read:]))


def _in_quotes(text: str) -> str:
    if '"' in text or "\\" in text:
        return "'{}'".format(text.replace("'", "''"))
    return f'"{text}"'


def _refused(
    chosen: dict[int, Node],
    before: Node,
    after: Node,
    left: Iterable[Mistake],
    wanted: Iterable[tuple[_Path, Node]],
) -> set[int]:
    """The ids of the chosen nodes that are still wrong in quotes; all if anything else changed."""
    quoted = {id(node) for node in chosen.values()}
    expected = plain_values(before)
    for path, node in wanted:
        if id(node) in quoted:
            _put(expected, path, node.text)
    if expected != plain_values(after):
        # An alias leads to one of them from where a number is wanted.
        return quoted & _aliased(before) or quoted
    pairs = list(zip(_nodes(before), _nodes(after), strict=False))
    if before.count != after.count or not all(
        _reads_as(old, new, in_quotes=id(old) in quoted) for old, new in pairs
    ):
        return quoted
    places = {(each.line, each.column) for each in left}
    return {id(old) for old, new in pairs if id(old) in quoted and (new.line, new.column) in places}


def _put(values: Any, path: _Path, text: str) -> None:
    *steps, last = path
    for step in steps:
        values = values[step]
    values[last] = text


def _reads_as(old: Node, new: Node, *, in_quotes: bool) -> bool:
    return (new.kind, new.text, new.plain) == (old.kind, old.text, old.plain and not in_quotes)
