"""What is wrong with the values of a file, in words, with positions and remedies.

A schema's violations are taken apart here; its own words are `patternErrorMessage` and
`errorMessage`, which editors show too.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from converter.load.mistakes import Mistake, mistyped, short_of
from converter.load.nodes import Kind, Node
from converter.load.positions import TextPositions
from converter.load.scalars import Misread
from converter.load.schema import FileKind, Violation, document
from converter.load.wording import alike, listed, quoted, shown, subject

# Keys that other programs have, or that this one had under another roof.
_HINTS: Final = {
    "name": "remove it: the name of the file is the name",
    "id": "remove it: the name of the file is the name",
    "allowed_image_repos": "remove it: admission policies of the cluster decide that",
    "require_model_revision": "remove it: admission policies of the cluster decide that",
}
# More keys than this do not fit into a message.
_LISTED: Final = 12


@dataclass(frozen=True, slots=True)
class _Case:
    """A violation and the things that stand around it."""

    violation: Violation
    positions: TextPositions
    kind: FileKind

    @property
    def schema(self) -> dict[str, Any]:
        return self.violation.schema

    @property
    def path(self) -> tuple[str | int, ...]:
        return self.violation.path

    @property
    def node(self) -> Node:
        return self.positions.node(*self.path)

    @property
    def subject(self) -> str:
        return subject(self.path)

    @property
    def prefix(self) -> str:
        """What a message about a key begins with: the mapping that the key is in."""
        return f"{self.subject}: " if self.path else ""

    def at_value(self, code: str, message: str, remedy: str) -> Mistake:
        return Mistake(*self.positions.value(*self.path), code, message, remedy)

    def at_key(self, name: str, code: str, message: str, remedy: str) -> Mistake:
        return Mistake(*self.positions.key(*self.path, name), code, message, remedy)


def explain(found: list[Violation], positions: TextPositions, kind: FileKind) -> Iterator[Mistake]:
    """A mistake for each violation that is one by itself, and for each unclear value."""
    cases = [_Case(violation, positions, kind) for violation in found]
    # A misspelt key is one mistake, not an unknown key and a missing one.
    meant = {
        (case.path, alike(name, _known(case.schema)))
        for case in cases
        if case.violation.keyword == "additionalProperties"
        for name in case.violation.names
    }
    for case in cases:
        if not any((case.path, name) in meant for name in _missing(case)):
            yield from _EXPLANATIONS[case.violation.keyword](case)
    yield from _unclear(positions.root, ignored={id(node) for node in _unknown_values(cases)})


def _unknown_values(cases: list[_Case]) -> Iterator[Node]:
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
            f"write {quoted(node.text)} with quotes if text is meant, else in the usual form",
        )
    for part in (*node.items, *(value for _, value in node.entries.values())):
        yield from _unclear(part, ignored)


def _missing(case: _Case) -> list[str]:
    if case.violation.keyword == "required":
        return list(case.violation.names)
    if case.violation.keyword == "oneOf" and not _present(case):
        return _alternatives(case)
    return []


def _known(schema: dict[str, Any]) -> list[str]:
    return list(schema.get("properties", ()))


def _unknown_key(case: _Case) -> Iterator[Mistake]:
    known = _known(case.schema)
    for name in case.violation.names:
        meant = alike(name, known)
        if meant:
            remedy = f"did you mean {meant}?"
        elif not case.path and name in _HINTS:
            remedy = _HINTS[name]
        elif len(known) > _LISTED:
            remedy = f"remove it; `campaigns schema {case.kind}` prints the keys that there are"
        else:
            remedy = f"remove it; the keys here are {listed(known)}"
        message = f"{case.prefix}unknown key {shown(name)}"
        yield case.at_key(name, "F004", message, remedy)


def _missing_key(case: _Case) -> Iterator[Mistake]:
    for name in case.violation.names:
        message = f"{case.prefix}the key {name} is missing"
        properties = case.schema.get("properties") or document(case.kind)["properties"]
        about = str(properties[name].get("description", "")).split(". ")[0].rstrip(".")
        purpose = f": {about[:1].lower()}{about[1:]}" if about else ""
        yield case.at_value("F006", message, f"add {name}{purpose}")


def _name(case: _Case) -> Iterator[Mistake]:
    for name in case.violation.names:
        message = f"{case.subject}: the key {quoted(name)} is not a valid name"
        yield case.at_key(name, "F005", message, f"write {_form(case.schema)}")


def _type(case: _Case) -> Iterator[Mistake]:
    types = case.schema["type"]
    wanted = [types] if isinstance(types, str) else list(types)
    yield mistyped(case.node, case.path, wanted)


def _enum(case: _Case) -> Iterator[Mistake]:
    node, options = case.node, case.schema["enum"]
    if node.kind is not Kind.SCALAR:
        yield mistyped(node, case.path, ["string"])
        return
    meant = alike(node.text, options) if isinstance(node.value, str) else None
    remedy = f"did you mean {meant}?" if meant else f"write {listed(options, 'or')}"
    found = quoted(node.text) if node.text else "empty"
    yield case.at_value("F005", f"{case.subject} is {found}", remedy)


def _pattern(case: _Case) -> Iterator[Mistake]:
    if not case.node.text:
        yield from _too_small(case)
        return
    message = f"{case.subject}: {quoted(case.node.text)} is not valid"
    yield case.at_value("F005", message, f"write {_form(case.schema)}")


def _form(schema: dict[str, Any]) -> str:
    limit = f", at most {schema['maxLength']} characters" if "maxLength" in schema else ""
    return f"{schema.get('patternErrorMessage', 'text')}{limit}"


def _too_long(case: _Case) -> Iterator[Mistake]:
    length = len(case.node.text)
    message = f"{case.subject}: {quoted(case.node.text)} has {length} characters"
    yield case.at_value("F005", message, f"write at most {case.schema['maxLength']}")


def _too_small(case: _Case) -> Iterator[Mistake]:
    yield case.at_value("F005", f"{case.subject} is empty", short_of(case.node, case.path))


def _too_many(case: _Case) -> Iterator[Mistake]:
    limit = case.schema[case.violation.keyword]
    count = len(case.node.items) or len(case.node.entries)
    yield case.at_value("F005", f"{case.subject} has {count} entries", f"write at most {limit}")


def _range(case: _Case) -> Iterator[Mistake]:
    low, high = case.schema["minimum"], case.schema.get("maximum")
    remedy = f"write a number from {low} to {high}" if high else f"write at least {low}"
    yield case.at_value("F005", f"{case.subject} is {shown(case.node.text)}", remedy)


def _twice(case: _Case) -> Iterator[Mistake]:
    seen: dict[str, int] = {}
    for index, item in enumerate(case.node.items):
        first = seen.setdefault(item.text, index)
        if first != index and isinstance(item.value, str):
            message = f"{case.subject}, entry {index + 1}: {quoted(item.text)} is entry {first + 1}"
            yield Mistake(item.line, item.column, "F005", message, "remove one of them")


def _alternatives(case: _Case) -> list[str]:
    return [str(option["required"][0]) for option in case.schema["oneOf"]]


def _present(case: _Case) -> list[str]:
    return [name for name in _alternatives(case) if name in case.node.entries]


def _one_of(case: _Case) -> Iterator[Mistake]:
    """Exactly one of several keys; no schema here uses oneOf for anything else."""
    names, present = _alternatives(case), _present(case)
    if case.node.kind is not Kind.MAPPING:
        return
    if not present:
        message = f"{case.subject} has none of {listed(names)}"
        yield case.at_value("F006", message, "add one of them")
    else:
        message = f"{case.subject} has {listed(present)}"
        yield case.at_key(present[-1], "F005", message, f"keep one of {listed(names)}")


def _not(case: _Case) -> Iterator[Mistake]:
    message, _, remedy = case.schema["errorMessage"].partition("; ")
    required = case.schema["not"].get("required")
    text = f"{case.prefix}{message}"
    if required:
        yield case.at_key(required[-1], "F005", text, remedy)
    else:
        yield case.at_value("F005", text, remedy)


_EXPLANATIONS: Final[dict[str, Callable[[_Case], Iterator[Mistake]]]] = {
    "additionalProperties": _unknown_key,
    "required": _missing_key,
    "propertyNames": _name,
    "type": _type,
    "enum": _enum,
    "pattern": _pattern,
    "maxLength": _too_long,
    "minLength": _too_small,
    "minItems": _too_small,
    "minProperties": _too_small,
    "maxItems": _too_many,
    "maxProperties": _too_many,
    "minimum": _range,
    "maximum": _range,
    "uniqueItems": _twice,
    "oneOf": _one_of,
    "not": _not,
}
