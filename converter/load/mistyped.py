"""The words for a value of the wrong type, or of none."""

from collections.abc import Sequence
from typing import Final

from converter.load.mistakes import Mistake
from converter.load.nodes import Kind, Node
from converter.load.scalars import Misread, plain_scalar, reading
from converter.load.wording import listed, quoted, shown, subject

_WANTED: Final = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a mapping",
}
_NO_VALUE: Final = "write a value, or remove it"


def mistyped(node: Node, path: Sequence[str | int], types: Sequence[str]) -> Mistake:
    """A value that is of none of the JSON `types`."""
    code, message, remedy = _mistyped(node, subject(path), types)
    return Mistake(node.line, node.column, code, message, remedy)


def unclear(node: Node, value: Misread) -> Mistake:
    """A value without an agreed reading, where both a number and text may stand."""
    return Mistake(
        node.line,
        node.column,
        "F007",
        f"some YAML readers take {shown(node.text)} for {value.reading}",
        f"write {' or '.join(filter(None, (value.usual, quoted(node.text))))}",
    )


def short_of(node: Node, path: Sequence[str | int]) -> str:
    """What to write where something is empty."""
    if node.kind is Kind.SCALAR:
        return _NO_VALUE if path else "write at least one key"
    return "add at least one entry"


def _mistyped(node: Node, name: str, types: Sequence[str]) -> tuple[str, str, str]:
    wanted = listed([_WANTED[kind] for kind in types if kind in _WANTED], "or")
    if node.kind is Kind.SCALAR:
        if node.plain and not node.text:
            return "F005", f"{name} is empty", f"write {wanted}"
        if node.plain and "string" in types and not isinstance(node.value, str):
            return _not_text(node, name)
        if "integer" in types or "boolean" in types:
            return _not_plain(node, name, wanted)
    remedy = f"write {wanted}"
    if types == ["array"] and node.kind is Kind.SCALAR:
        remedy += ": each entry in a line of its own after - and a space, or [a, b]"
    if node.braces and "string" in types:
        remedy += "; put text that begins with { in quotes"
    return "F005", f"{name} is {_found(node)}", remedy


def _not_text(node: Node, name: str) -> tuple[str, str, str]:
    message = f"{name}: YAML reads {shown(node.text)} as {reading(node.value)}"
    remedy = f"put it in quotes: {quoted(node.text)}"
    return "F007", message, f"remove it, or {remedy}" if node.value is None else remedy


def _not_plain(node: Node, name: str, wanted: str) -> tuple[str, str, str]:
    """A number, true or false is wanted."""
    bare = plain_scalar(node.text)
    if not node.plain and isinstance(bare, bool | int):
        message = f"{name} is {quoted(node.text)}: quotes make it text"
        return "F005", message, f"write {shown(node.text)} without quotes"
    if isinstance(bare, Misread | float):
        return "F005", f"{name} is {shown(node.text)}", f"write {_meant(bare, wanted) or wanted}"
    return "F005", f"{name} is {_found(node)}", f"write {wanted}"


def _meant(value: Misread | float, wanted: str) -> str:
    """What was probably meant, as everybody reads it; empty if that is not what is wanted."""
    if wanted == _WANTED["boolean"]:
        usual = value.usual if isinstance(value, Misread) else ""
        return usual if usual in ("true", "false") else ""
    number = value.number if isinstance(value, Misread) else value
    if isinstance(value, Misread) and isinstance(number, int):
        return value.usual
    return str(int(number)) if isinstance(number, float) and number.is_integer() else ""


def _found(node: Node) -> str:
    if node.kind is Kind.LIST:
        return "a list"
    if node.kind is Kind.MAPPING:
        return "a mapping"
    if isinstance(node.value, str):
        return f"the text {quoted(node.text)}" if node.text else "an empty text"
    return shown(node.text) if node.text else "empty"
