"""What is wrong with the values of a file, in words, each mistake once."""

from collections.abc import Iterator
from typing import Final

from converter.load.keywords import EXPLANATIONS, Case, meant_key, missing_keys
from converter.load.mistakes import Mistake
from converter.load.positions import TextPositions
from converter.load.schema import FileKind, Violation

# What a schema says besides when one of its keywords says all that there is to say about a value.
_OVERRULED: Final = {
    "pattern": {"maxLength"},
    "not": {"type", "enum", "pattern", "maxLength", "minimum", "maximum"},
}


def explain(
    found: list[Violation],
    positions: TextPositions,
    kind: FileKind,
) -> Iterator[Mistake]:
    """A mistake for each violation that is one by itself."""
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


def _distinct(cases: list[Case]) -> list[Case]:
    """One case of those that say the same about a value, however many aliases lead to it."""
    first: dict[tuple[int, str, tuple[str, ...]], Case] = {}
    overruled: set[tuple[int, str]] = set()
    for case in cases:
        node, keyword = id(case.node), case.violation.keyword
        first.setdefault((node, keyword, case.violation.names), case)
        overruled |= {(node, other) for other in _OVERRULED.get(keyword, ())}
    return [case for (node, keyword, _), case in first.items() if (node, keyword) not in overruled]
