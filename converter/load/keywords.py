"""What each keyword of a schema that fails means, in words, with positions and remedies.

A schema's own words are `patternErrorMessage` and
`errorMessage`, which editors show too.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from converter.load.mistakes import Mistake
from converter.load.mistyped import mistyped, short_of, unclear
from converter.load.nodes import Kind, Node
from converter.load.positions import TextPositions
from converter.load.scalars import Misread
from converter.load.schema import FileKind, Violation, document
from converter.load.wording import alike, listed, named_character, quoted, shown, subject
from converter.quantity import meant_quantities

# Keys that other programs have, or that this one had under another roof.
_NAMED_BY_FILE: Final = dict.fromkeys(("name", "id"), "remove it: the name of the file is the name")
_HINTS: Final = {
    FileKind.CAMPAIGN: _NAMED_BY_FILE,
    FileKind.PIPELINE: _NAMED_BY_FILE,
    FileKind.CONVERTER: dict.fromkeys(
        ("allowed_image_repos", "require_model_revision"),
        "remove it: admission policies of the cluster decide that",
    ),
}
_NOT_ASCII: Final = re.compile(r"[^\x00-\x7f]")
# More keys than this do not fit into a message.
_LISTED: Final = 12


@dataclass(frozen=True, slots=True)
class Case:
    """A violation and the things that stand around it."""

    violation: Violation
    positions: TextPositions
    kind: FileKind

    @property
    def schema(self) -> dict[str, Any]:
        """The subschema that the keyword stands in."""
        return self.violation.schema

    @property
    def path(self) -> tuple[str | int, ...]:
        """Leads to the value."""
        return self.violation.path

    @property
    def node(self) -> Node:
        """The value."""
        return self.positions.node(*self.path)

    @property
    def subject(self) -> str:
        """The place of the value, as a message names it."""
        return subject(self.path)

    @property
    def prefix(self) -> str:
        """What a message about a key begins with: the mapping that the key is in."""
        return f"{self.subject}: " if self.path else ""

    def at_value(self, code: str, message: str, remedy: str) -> Mistake:
        """A mistake about the value."""
        return Mistake(self.node.line, self.node.column, code, message, remedy)

    def at_key(self, name: str, code: str, message: str, remedy: str) -> Mistake:
        """A mistake about a key of the value."""
        return Mistake(*self.positions.key(*self.path, name), code, message, remedy)


def missing_keys(case: Case) -> list[str]:
    """The keys that a violation is about because they are not there."""
    if case.violation.keyword == "required":
        return list(case.violation.names)
    if case.violation.keyword == "oneOf" and not _present(case):
        return _alternatives(case)
    return []


def _known(schema: dict[str, Any]) -> list[str]:
    return list(schema.get("properties", ()))


def _hint(case: Case, name: str) -> str | None:
    return None if case.path else _HINTS[case.kind].get(name)


def meant_key(case: Case, name: str) -> str | None:
    """The key that an unknown one was probably meant to be; none that is there already."""
    if _hint(case, name):
        return None
    return alike(name, [key for key in _known(case.schema) if key not in case.node.entries])


def _unknown_key(case: Case) -> Iterator[Mistake]:
    known = _known(case.schema)
    for name in case.violation.names:
        if hint := _hint(case, name):
            remedy = hint
        elif meant := meant_key(case, name):
            remedy = f"did you mean {meant}?"
        elif len(known) > _LISTED:
            remedy = f"remove it; `campaigns schema {case.kind}` prints the keys that there are"
        else:
            remedy = f"remove it; the keys here are {listed(known)}"
        message = f"{case.prefix}unknown key {shown(name)}"
        yield case.at_key(name, "F004", message, remedy)


def _missing_key(case: Case) -> Iterator[Mistake]:
    for name in case.violation.names:
        message = f"{case.prefix}the key {name} is missing"
        properties = case.schema.get("properties") or document(case.kind)["properties"]
        about = str(properties[name].get("description", "")).split(". ")[0].rstrip(".")
        purpose = f": {_inside_a_sentence(about)}" if about else ""
        yield case.at_value("F006", message, f"add {name}{purpose}")


def _inside_a_sentence(text: str) -> str:
    """Without the capital of its first word, unless that is an abbreviation."""
    return text if text[:2].isupper() else f"{text[:1].lower()}{text[1:]}"


def _name(case: Case) -> Iterator[Mistake]:
    for name in case.violation.names:
        message = f"{case.subject}: the key {quoted(name)} is not a valid name"
        yield case.at_key(name, "F005", message, f"write {_form(case.schema)}")


def _type(case: Case) -> Iterator[Mistake]:
    types = case.schema["type"]
    wanted = [types] if isinstance(types, str) else list(types)
    if "maximum" in case.schema and _beyond(case.node, case.schema):
        yield from _range(case)
    else:
        yield mistyped(case.node, case.path, wanted)


def _beyond(node: Node, limits: dict[str, Any]) -> bool:
    """Whether a scalar is a number that is no integer because no integer is as large."""
    number = node.value.number if isinstance(node.value, Misread) else None
    return number is not None and not limits["minimum"] <= number <= limits["maximum"]


def _enum(case: Case) -> Iterator[Mistake]:
    node, options = case.node, case.schema["enum"]
    if node.kind is not Kind.SCALAR:
        yield mistyped(node, case.path, ["string"])
        return
    meant = alike(node.text, options) if isinstance(node.value, str) else None
    remedy = f"did you mean {meant}?" if meant else f"write {listed(options, 'or')}"
    found = quoted(node.text) if node.text else "empty"
    yield case.at_value("F005", f"{case.subject} is {found}", remedy)


def _pattern(case: Case) -> Iterator[Mistake]:
    if not case.node.text:
        yield from _too_small(case)
        return
    message = f"{case.subject}: {quoted(case.node.text)} is not valid{_fault(case)}"
    is_quantity = case.schema == document(case.kind)["$defs"].get("quantity")
    meant = meant_quantities(case.node.text) if is_quantity else ()
    remedy = f"did you mean {listed(meant, 'or')}?" if meant else f"write {_form(case.schema)}"
    yield case.at_value("F005", message, remedy)


def _fault(case: Case) -> str:
    """The one thing that is wrong with a text, where nobody may see it; else empty."""
    text, pattern = case.node.text, re.compile(case.schema["pattern"])
    if text.endswith("\n") and pattern.fullmatch(text.rstrip("\n")):
        return ": it ends in a line break"
    foreign = _NOT_ASCII.search(text)
    if foreign is None or not pattern.fullmatch(_NOT_ASCII.sub("a", text)):
        return ""
    name = named_character(foreign[0])
    return f": {foreign[0]} is {name}" if foreign[0].isprintable() else f": it has {name} in it"


def _form(schema: dict[str, Any]) -> str:
    limit = f", at most {schema['maxLength']} characters" if "maxLength" in schema else ""
    return f"{schema.get('patternErrorMessage', 'text')}{limit}"


def _too_long(case: Case) -> Iterator[Mistake]:
    length = len(case.node.text)
    message = f"{case.subject}: {quoted(case.node.text)} has {length} characters"
    yield case.at_value("F005", message, f"write at most {case.schema['maxLength']}")


def _too_small(case: Case) -> Iterator[Mistake]:
    yield case.at_value("F005", f"{case.subject} is empty", short_of(case.node, case.path))


def _too_many(case: Case) -> Iterator[Mistake]:
    limit = case.schema[case.violation.keyword]
    count = len(case.node.items) or len(case.node.entries)
    yield case.at_value("F005", f"{case.subject} has {count} entries", f"write at most {limit}")


def _range(case: Case) -> Iterator[Mistake]:
    if isinstance(case.node.value, Misread) and "string" in case.schema["type"]:
        yield unclear(case.node, case.node.value)
        return
    low, high = case.schema["minimum"], case.schema.get("maximum")
    remedy = f"write a number from {low} to {high}" if high else f"write at least {low}"
    yield case.at_value("F005", f"{case.subject} is {shown(case.node.text)}", remedy)


def _twice(case: Case) -> Iterator[Mistake]:
    seen: dict[str, int] = {}
    for index, item in enumerate(case.node.items):
        first = seen.setdefault(item.text, index)
        if first != index and isinstance(item.value, str):
            message = f"{case.subject}, entry {index + 1}: {quoted(item.text)} is entry {first + 1}"
            yield Mistake(item.line, item.column, "F005", message, "remove one of them")


def _alternatives(case: Case) -> list[str]:
    return [str(option["required"][0]) for option in case.schema["oneOf"]]


def _present(case: Case) -> list[str]:
    return [name for name in _alternatives(case) if name in case.node.entries]


def _one_of(case: Case) -> Iterator[Mistake]:
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


def _not(case: Case) -> Iterator[Mistake]:
    message, _, remedy = case.schema["errorMessage"].partition("; ")
    required = case.schema["not"].get("required")
    text = f"{case.prefix}{message}"
    if required:
        yield case.at_key(required[-1], "F005", text, remedy)
    else:
        yield case.at_value("F005", text, remedy)


EXPLANATIONS: Final[dict[str, Callable[[Case], Iterator[Mistake]]]] = {
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
