"""The schemas of the three kinds of file, compiled when they are first needed."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Any, Final

import jsonschema_rs

from converter.resources import schema_text

_NUMBER: Final = re.compile(r"\+?[0-9]+\Z")


class FileKind(StrEnum):
    """A kind of file; its value is the name of its schema."""

    CONVERTER = "converter"
    PIPELINE = "pipeline"
    CAMPAIGN = "campaign"


@dataclass(frozen=True, slots=True)
class Violation:
    """One thing that a schema does not accept.

    `keyword` is the keyword of the schema that failed and `schema` the subschema that it stands
    in. `path` leads to the value. `names` are the keys that the keyword is about: those that are
    unknown or not acceptable, or the one that is missing.
    """

    keyword: str
    schema: dict[str, Any]
    path: tuple[str | int, ...]
    names: tuple[str, ...] = ()


def accepts(kind: FileKind, values: Any) -> bool:
    """Whether the schema accepts the values; much faster than asking for violations."""
    return bool(_validator(kind).is_valid(values))


def violations(kind: FileKind, values: Any) -> list[Violation]:
    """Everything that the schema does not accept, in no particular order."""
    strict = _without_whole_floats(values)
    return [_violation(kind, error, strict) for error in _validator(kind).iter_errors(strict)]


def _without_whole_floats(values: Any) -> Any:
    """The values, with numbers such as 20.0 replaced by one that is no integer.

    For JSON Schema 20.0 is an integer. In a file it is a mistake, and whoever reads ``window:
    20.0`` with another library gets a float.
    """
    if isinstance(values, list):
        return [_without_whole_floats(value) for value in values]
    if isinstance(values, dict):
        return {name: _without_whole_floats(value) for name, value in values.items()}
    if isinstance(values, float) and values.is_integer():
        return 0.5 if values >= 0 else -0.5
    return values


@cache
def document(kind: FileKind) -> dict[str, Any]:
    """The schema itself."""
    loaded: dict[str, Any] = json.loads(schema_text(kind))
    return loaded


@cache
def _validator(kind: FileKind) -> Any:
    return jsonschema_rs.Draft202012Validator(document(kind))


def _violation(kind: FileKind, error: Any, values: Any) -> Violation:
    keyword = error.kind.name
    *place, _ = error.schema_path
    names: Iterable[str] = ()
    if keyword == "additionalProperties":
        names = error.kind.unexpected
    elif keyword == "required":
        names = (error.kind.property,)
    elif keyword == "propertyNames":
        names = (error.kind.error.instance,)
    return Violation(keyword, _at(kind, place), _path(error, values), tuple(names))


def _path(error: Any, values: Any) -> tuple[str | int, ...]:
    """Where an error is. The library gives the keys "0", "00" and "+0" as if they were index 0, and
    leaves the key "" out."""
    first, *others = _places(values, list(error.instance_path))
    if others:
        return next((path for path, value in (first, *others) if value == error.instance), first[0])
    return first[0]


def _places(values: Any, steps: list[str | int]) -> Iterator[tuple[tuple[str | int, ...], Any]]:
    if not steps:
        yield (), values
    for key in _keys(values, steps[0]) if steps else ():
        for path, value in _places(values[key], steps[1:]):
            yield (key, *path), value
    if isinstance(values, dict) and "" in values:
        for path, value in _places(values[""], steps):
            yield ("", *path), value


def _keys(values: Any, step: str | int) -> list[str] | list[int]:
    if isinstance(values, list):
        return [step] if isinstance(step, int) and step < len(values) else []
    if not isinstance(values, dict):
        return []
    if isinstance(step, str):
        return [step] if step in values else []
    return [key for key in values if _NUMBER.match(key) and int(key) == step]


def _at(kind: FileKind, place: Sequence[str | int]) -> dict[str, Any]:
    schema: Any = document(kind)
    for step in place:
        schema = schema[step]
    found: dict[str, Any] = schema
    return found
