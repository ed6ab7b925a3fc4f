"""Values as YAML text: the same bytes for the same value, read alike by YAML 1.1 and 1.2."""

import re
from collections.abc import Iterator
from typing import Any, Final

import yaml
from yaml import CSafeDumper
from yaml.events import (
    DocumentEndEvent,
    DocumentStartEvent,
    Event,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
    StreamStartEvent,
)

# Words that no parser takes for a number, a date or anything else than text. What else starts
# with a letter is quoted too when a YAML 1.1 parser (kubectl's) would read it as true or null.
_PLAIN: Final = re.compile(r"[A-Za-z/][A-Za-z0-9/._-]*(?: [A-Za-z0-9/._-]+)*\Z")
_NOT_TEXT: Final = frozenset(("y", "n", "yes", "no", "on", "off", "true", "false", "null"))
# What a literal block keeps as it is; the first line must not start with a blank.
_BLOCK: Final = re.compile(r"[^\s][^\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\ufeff]*\n\Z")
_WHOLE_MANTISSA: Final = re.compile(r"^(-?[0-9]+)e")
_ANY_WIDTH: Final = 2**30
# Untagged, whether a reader goes by what is written or by the quotes around it.
_UNTAGGED: Final = (True, True)


def yaml_text(value: Any) -> str:
    """`value` (dicts, lists and scalars) as one YAML document, keys in the order that they have."""
    text: str = yaml.emit(
        _document(value), Dumper=CSafeDumper, allow_unicode=True, width=_ANY_WIDTH
    )
    # libyaml marks the end of a document in which a block kept blank lines; no reader needs it.
    return text.removesuffix("...\n") if text.endswith("\n...\n") else text


def _document(value: Any) -> Iterator[Event]:
    yield StreamStartEvent()
    yield DocumentStartEvent(explicit=False)
    yield from _events(value)
    yield DocumentEndEvent(explicit=False)
    yield StreamEndEvent()


def _events(value: Any) -> Iterator[Event]:
    """Straight from values: representing them as nodes first takes twice as long."""
    if isinstance(value, dict):
        yield MappingStartEvent(None, None, implicit=True, flow_style=False)
        for key, member in value.items():
            yield _scalar(key)
            yield from _events(member)
        yield MappingEndEvent()
    elif isinstance(value, list):
        yield SequenceStartEvent(None, None, implicit=True, flow_style=False)
        for item in value:
            yield from _events(item)
        yield SequenceEndEvent()
    else:
        yield _scalar(value)


def _scalar(value: str | float | bool | None) -> ScalarEvent:
    text, style = (value, _style(value)) if isinstance(value, str) else (_word(value), None)
    return ScalarEvent(None, None, _UNTAGGED, text, style=style)


def _style(text: str) -> str | None:
    """Text is quoted unless it is plainly text; several lines are a literal block."""
    if _BLOCK.match(text):
        return "|"
    return None if _PLAIN.match(text) and text.lower() not in _NOT_TEXT else '"'


def _word(value: float | bool | None) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    # A YAML 1.1 parser takes 1e-05 for text: it wants a point before the exponent.
    return _WHOLE_MANTISSA.sub(r"\1.0e", repr(value))
