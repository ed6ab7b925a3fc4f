"""What is wrong with the values of a file, in words, each mistake once."""

from collections.abc import Iterator
from typing import Final

from converter.load.keywords import EXPLANATIONS, Case, meant_key, missing_keys
from converter.load.mistakes import Mistake
from converter.load.nodes import Kind, Node
from converter.load.positions import TextPositions
from converter.load.scalars import Misread
from converter.load.schema import FileKind, Violation
from converter.load.wording import quoted, shown

# What a schema says besides when one of its keywords says all that there is to say about a value.
_OVERRULED: Final = {
    "pattern": {"maxLength"},
    "not": {"type", "enum", "pattern", "maxLength", "minimum", "maximum"},
}


def explain(
    found: list[Violation],
    positions: TextPositions,
    kind: FileKind,
    opaque: Node | None = None,
) -> Iterator[Mistake]:
    """A mistake for each violation that is one by itself, and for each unclear value.

    Values below `opaque` are not looked at.
    """
    cases = _distinct([Case(violation, positions, kind) for violation in found])
    # A misspelt key is one mistake, not an unknown key and a missing one.
    meant = {
        (case.path, meant_key(case, name))
        for case in cases
        if case.violation.keyword == "additionalProperties"
        for name in case.violation.names
    }
    for case in cases:
        if not any((case.path, name) in meant for name in missing_keys(case)):
            yield from EXPLANATIONS[case.violation.keyword](case)
    ignored = {id(node) for node in (opaque, *_unknown_values(cases))}
    wrong = {id(case.node) for case in cases if case.node.kind is Kind.SCALAR}
    yield from _unclear(positions.root, ignored | wrong)


def _distinct(cases: list[Case]) -> list[Case]:
    """One case of those that say the same about a value, however many aliases lead to it."""
    first: dict[tuple[int, str, tuple[str, ...]], Case] = {}
    overruled: set[tuple[int, str]] = set()
    for case in cases:
        node, keyword = id(case.node), case.violation.keyword
        first.setdefault((node, keyword, case.violation.names), case)
        overruled |= {(node, other) for other in _OVERRULED.get(keyword, ())}
    return [case for (node, keyword, _), case in first.items() if (node, keyword) not in overruled]


def _unknown_values(cases: list[Case]) -> Iterator[Node]:
    for case in cases:
        if case.violation.keyword == "additionalProperties":
            yield from (case.node.entries[name][1] for name in case.violation.names)


def _unclear(node: Node, ignored: set[int]) -> Iterator[Mistake]:
    """Values without an agreed reading, wherever a schema takes more than one type."""
    if id(node) in ignored:
        return
    if node.kind is Kind.SCALAR and isinstance(node.value, Misread):
        yield Mistake(
            node.line,
            node.column,
            "F007",
            f"some YAML readers take {shown(node.text)} for {node.value.reading}",
            f"write {' or '.join(filter(None, (node.value.usual, quoted(node.text))))}",
        )
    for part in (*node.items, *(value for _, value in node.entries.values())):
        yield from _unclear(part, ignored)
