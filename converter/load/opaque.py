"""A document that nothing here reads, such as a pipeline's steps, as PyYAML reads it.

It is written for a program, and most programs read it with YAML 1.1: they find in the pod what
they would have found in the file, also where YAML 1.2 has another reading. A date stays the text
that it is written as, since JSON, the form of digests, has none.
"""

import math
from collections.abc import Callable, Iterator
from typing import Any, Final

from yaml import ScalarNode
from yaml.constructor import SafeConstructor
from yaml.resolver import Resolver

from converter.load.mistakes import Mistake
from converter.load.nodes import Kind, Node
from converter.load.wording import quoted, shown

_CONSTRUCTOR: Final = SafeConstructor()
_RESOLVER: Final[Any] = Resolver()
_INTEGER: Final = "tag:yaml.org,2002:int"
# Python neither reads nor writes a decimal number of more digits
# (https://docs.python.org/3/library/stdtypes.html#int-max-str-digits).
_MAX_DIGITS: Final = 4300
_TOO_LARGE: Final = 10**_MAX_DIGITS
_READERS: Final[dict[str, Callable[[ScalarNode], Any]]] = {
    "tag:yaml.org,2002:null": _CONSTRUCTOR.construct_yaml_null,
    "tag:yaml.org,2002:bool": _CONSTRUCTOR.construct_yaml_bool,
    _INTEGER: _CONSTRUCTOR.construct_yaml_int,
    "tag:yaml.org,2002:float": _CONSTRUCTOR.construct_yaml_float,
}


def opaque_values(node: Node) -> Any:
    """Dicts, lists and scalars. Keys may be numbers, booleans and None too."""
    if node.kind is Kind.LIST:
        return [opaque_values(item) for item in node.items]
    if node.kind is Kind.MAPPING:
        return {_scalar(key): opaque_values(value) for key, value in node.entries.values()}
    return _scalar(node)


def opaque_mistakes(node: Node) -> Iterator[Mistake]:
    """Numbers that JSON cannot hold, or that nothing can write."""
    if node.kind is Kind.SCALAR and (what := _unusable(node)):
        message = f"YAML reads {shown(node.text)} as {what}"
        remedy = f"put it in quotes: {quoted(node.text)}"
        yield Mistake(node.line, node.column, "F007", message, remedy)
    for part in (*node.items, *(part for pair in node.pairs for part in pair)):
        yield from opaque_mistakes(part)


def _unusable(node: Node) -> str:
    value = _scalar(node)
    if isinstance(value, float) and not math.isfinite(value):
        return "no finite number"
    unread = _tag(node) == _INTEGER and isinstance(value, str) and len(value) > _MAX_DIGITS
    if unread or (isinstance(value, int) and abs(value) >= _TOO_LARGE):
        return f"a number of more than {_MAX_DIGITS} digits"
    return ""


def _tag(node: Node) -> str:
    tag: str = _RESOLVER.resolve(ScalarNode, node.text, (node.plain, not node.plain))
    return tag


def _scalar(node: Node) -> Any:
    tag = _tag(node)
    if tag not in _READERS:
        return node.text
    try:
        return _READERS[tag](ScalarNode(tag, node.text))
    except ValueError:
        # PyYAML fails itself: 0b_ looks like a number to it, and Python limits a number's digits.
        return node.text
