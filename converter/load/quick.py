"""The values of a document, as fast as possible, where nothing about it is out of the ordinary.

A repository may have a million volumes, and almost all files are well-formed and plain. Measured
on a thousand volumes with a manifest each, this takes a third of the time of composing nodes.
"""

from collections.abc import Callable
from typing import Any

from yaml import CSafeLoader, YAMLError
from yaml.events import (
    DocumentStartEvent,
    MappingEndEvent,
    MappingStartEvent,
    ScalarEvent,
    SequenceEndEvent,
    SequenceStartEvent,
    StreamEndEvent,
)

from converter.load.nodes import MAX_DEPTH, MAX_VALUES
from converter.load.scalars import Misread, is_text_key, plain_scalar

_Next = Callable[[], Any]


class _OutOfTheOrdinary(Exception):
    """Anchors, tags, merge keys, problems: what needs nodes with positions."""


def read(text: str) -> dict[str, Any] | None:
    """The mapping in `text`, or None where it has to be looked at more closely.

    The values are exactly those that `nodes.plain_values` makes of the document's node.
    """
    # A value takes a character, so that a short text cannot have too many.
    if len(text) > MAX_VALUES and _many(text):
        return None
    following: _Next = CSafeLoader(text).get_event
    try:
        following()
        if not isinstance(following(), DocumentStartEvent):
            return None
        event = following()
        if not isinstance(event, MappingStartEvent):
            return None
        result = _mapping(event, following, 1)
        following()
        return result if isinstance(following(), StreamEndEvent) else None
    except (YAMLError, _OutOfTheOrdinary):
        return None


def _many(text: str) -> bool:
    # Each value but the first has one of these before it.
    return sum(map(text.count, "\n,:-[{?")) >= MAX_VALUES


def _value(event: Any, following: _Next, depth: int) -> Any:
    kind = event.__class__
    if kind is ScalarEvent:
        return _scalar(event)
    if kind is MappingStartEvent:
        return _mapping(event, following, depth + 1)
    if kind is SequenceStartEvent:
        return _list(event, following, depth + 1)
    raise _OutOfTheOrdinary


def _scalar(event: Any) -> Any:
    if event.anchor is not None or event.tag is not None:
        raise _OutOfTheOrdinary
    if not event.implicit[0]:
        return event.value
    value = plain_scalar(event.value)
    if value.__class__ is Misread or (value.__class__ is float and value.is_integer()):
        raise _OutOfTheOrdinary
    return value


def _list(start: Any, following: _Next, depth: int) -> list[Any]:
    _check(start, depth)
    items = []
    while (event := following()).__class__ is not SequenceEndEvent:
        items.append(_value(event, following, depth))
    return items


def _mapping(start: Any, following: _Next, depth: int) -> dict[str, Any]:
    _check(start, depth)
    entries: dict[str, Any] = {}
    while (event := following()).__class__ is not MappingEndEvent:
        if event.__class__ is not ScalarEvent or event.anchor is not None or event.tag is not None:
            raise _OutOfTheOrdinary
        key = event.value
        if key in entries or (event.implicit[0] and not is_text_key(key)):
            raise _OutOfTheOrdinary
        entries[key] = _value(following(), following, depth)
    return entries


def _check(start: Any, depth: int) -> None:
    # A scalar inside is a level too.
    if start.anchor is not None or start.tag is not None or depth >= MAX_DEPTH:
        raise _OutOfTheOrdinary
