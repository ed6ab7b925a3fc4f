"""Manifest templates: Jinja2 text with typed values in, a plain object out.

Whatever a template puts into its text goes through `yaml_value`, without the template asking for
it, so that no value can break out of its place.
"""

import json
import re
from functools import cache
from typing import Any, Final

from jinja2 import Environment, FunctionLoader, StrictUndefined
from ruamel.yaml import YAML

from converter.resources import manifest_template

# Allowed in JSON, but not in YAML, or read there as the end of a line.
_NOT_IN_YAML: Final = re.compile("[\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]")


def render_template(name: str, **values: Any) -> dict[str, Any]:
    """The object that the template `name` describes, of dicts, lists and scalars only.

    Raises `jinja2.UndefinedError` where the template asks for a value that is not given.
    """
    text = _environment().get_template(name).render(values)
    body: dict[str, Any] = _parser().load(text)
    return body


def yaml_value(value: Any) -> str:
    """`value` on one line, as JSON that every YAML parser reads as the same value."""
    text = json.dumps(value, ensure_ascii=False, default=dict)
    return _NOT_IN_YAML.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


@cache
def _environment() -> Environment:
    return Environment(
        loader=FunctionLoader(manifest_template),
        undefined=StrictUndefined,
        finalize=yaml_value,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=False,  # noqa: S701 - escapes HTML; `finalize` does what YAML needs
    )


@cache
def _parser() -> YAML:
    return YAML(typ="safe")
