"""Manifest templates: Jinja2 text with typed values in, a plain object out.

A template is YAML, but its values are never part of the text: each is a slot there, and is put in
its place in the object that the text is parsed to. So no value can break out of its place, and a
text is parsed once, however many objects differ in nothing but their values.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import yaml
from jinja2 import Environment, FunctionLoader, StrictUndefined, pass_context
from jinja2.runtime import Context

from converter.resources import manifest_template

# No template can have a variable of this name.
_SLOTS: Final = "slots of this object"
# Most values, told from others without the slow question what they are an instance of.
_SCALARS: Final = frozenset({str, int, bool, float, type(None)})


def render_template(name: str, **values: Any) -> dict[str, Any]:
    """The object that the template `name` describes, of dicts, lists and scalars only.

    Raises `jinja2.UndefinedError` where the template asks for a value that is not given.
    """
    slots: dict[str, Any] = {}
    text = _environment().get_template(name).render({**values, _SLOTS: slots})
    body: dict[str, Any] = _filled(_parsed(text), slots)
    return body


@pass_context
def _slot(context: Context, value: Any) -> str:
    """What stands for `value` in the text; templates have no text of this form."""
    slots: dict[str, Any] = context[_SLOTS]
    mark = f"<{len(slots)}>"
    slots[mark] = _plain(value)
    return mark


def _plain(value: Any) -> Any:
    """A copy of dicts, lists and scalars alone. Raises UndefinedError for what is not given."""
    if value.__class__ in _SCALARS:
        return value
    if isinstance(value, StrictUndefined):
        return str(value)
    if isinstance(value, str) or not isinstance(value, Mapping | Sequence):
        return value
    if isinstance(value, Mapping):
        return {name: _plain(member) for name, member in value.items()}
    return [_plain(member) for member in value]


def _filled(node: Any, slots: Mapping[str, Any]) -> Any:
    """A copy of a parsed text, its keys included, with the values in place of their slots."""
    if isinstance(node, str):
        return slots.get(node, node)
    if isinstance(node, dict):
        return {slots.get(name, name): _filled(value, slots) for name, value in node.items()}
    if isinstance(node, list):
        return [_filled(item, slots) for item in node]
    return node


@cache
def _parsed(text: str) -> Any:
    """As many are kept as the templates have ways through them."""
    return yaml.load(text, Loader=yaml.CSafeLoader)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(manifest_template),
        undefined=StrictUndefined,
        finalize=_slot,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - escapes HTML; no value becomes part of the text
    )
