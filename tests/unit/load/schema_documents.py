"""Documents made from a JSON schema, right and wrong ones, as YAML, and what they mean.

The documents come from the keywords of the schema, so that a key which is added to it is tried as
well. A keyword that is not known here fails the tests. What a document means is read from its text
again, by PyYAML (YAML 1.1) and by ruamel.yaml (YAML 1.2).
"""

import json
import math
import re
import string
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import yaml
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from jsonschema.validators import extend
from ruamel.yaml import YAML

Schema = Mapping[str, Any]

# Keywords that `_Builder` goes by, and those that say nothing about a value by themselves or are
# left to chance: whoever draws a document asks the schema about it.
_KNOWN = {
    "$ref", "type", "enum", "const", "properties", "required", "additionalProperties",
    "propertyNames", "patternProperties", "minProperties", "maxProperties", "items", "minItems",
    "maxItems", "uniqueItems", "minimum", "maximum", "minLength", "maxLength", "pattern", "oneOf",
    "if", "then", "else", "allOf", "not",
    "$schema", "$defs", "$comment", "title", "description", "errorMessage", "patternErrorMessage",
}  # fmt: skip

# Plain scalars that readers of YAML take for different things, or for something else than text.
TRICKY = (
    "0012", "00", "0", "-0", "+5", "0x1F", "0o14", "0b11", "1_000", "1:20", "1e5", "1.0e+3",
    "1.5e3", "1.10", "20.0", "-0.0", "5.", ".5", "-.5", ".inf", "-.INF", ".NaN",
    "9223372036854775807", "9223372036854775808", "yes", "No", "on", "OFF", "y", "N", "true",
    "True", "TRUE", "tRUE", "null", "NULL", "~", "", "=", "2024-01-31", "1.2.3",
    "4Gi", "500m",
)  # fmt: skip
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/-]*\Z")
_NOT_PLAIN = re.compile("[^\x20-\x7e\xa0-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")
# https://tc39.es/ecma262/#prod-WhiteSpace and LineTerminator.
_WHITE_SPACE = r"\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff"
_JUNK: st.SearchStrategy[Any] = st.one_of(
    st.sampled_from(TRICKY),
    st.sampled_from([None, True, False, 0, -1, 1.5, 2.0, [], {}, [[]], ["a", "a"], {"a": "b"}]),
    st.sampled_from(
        [" ", "a b", "A_", "é", "\n", "a\n", "\0", "\x7f", "images:a", "a" * 64, "a" * 400]
    ),
    st.sampled_from(
        ["http://a b", "https://example.org:65536/", "//a", "/a/../b", "-a", "a..b", "{ref}"]
    ),
)
_NAMES = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=5)


class Unclear(Exception):
    """Readers of YAML do not agree on a document, or JSON has nothing like it."""


@dataclass
class _Builder:
    """Draws a value that a schema is likely to accept; with `spoilt`, now and then another."""

    root: Schema
    draw: st.DrawFn
    spoilt: bool

    def value(self, schema: Schema) -> Any:
        schema = self._resolved(schema)
        if self._chance(12):
            return self.draw(_JUNK)
        if "enum" in schema or "const" in schema:
            return self.draw(st.sampled_from([*schema.get("enum", ()), *self._const(schema)]))
        types = schema.get("type", "any")
        kind = self.draw(st.sampled_from(types)) if isinstance(types, list) else types
        if "if" in schema and kind in ("object", "string") and "properties" not in schema:
            return self.value(schema["then" if kind == "object" else "else"])
        makers: dict[str, Callable[[Schema], Any]] = {
            "object": self._object,
            "array": self._array,
            "string": self._string,
            "integer": self._integer,
            "number": lambda schema: self.draw(
                st.sampled_from([0, 1, 2.0, 0.5, 8, -1][: 5 + self.spoilt])
            ),
            "boolean": lambda schema: self.draw(st.booleans()),
            "null": lambda schema: None,
            "any": lambda schema: self.draw(st.sampled_from(["a", 1, None, [{"step": "a"}]])),
        }
        return makers[kind](schema)

    def _resolved(self, schema: Schema) -> Schema:
        """With what it refers to, and its alternatives of required keys put into it."""
        unknown = schema.keys() - _KNOWN
        assert not unknown, f"the tests do not know the keywords {unknown}"
        if "$ref" in schema:
            target: Any = self.root
            for step in schema["$ref"].removeprefix("#/").split("/"):
                target = target[step]
            schema = {**self._resolved(target), **schema}
        if "oneOf" in schema and not self._chance(6):
            chosen = self.draw(st.sampled_from(schema["oneOf"]))
            others = {name for each in schema["oneOf"] for name in each["required"]}
            wanted = [*schema.get("required", ()), *chosen["required"]]
            kept = {
                name: each
                for name, each in schema["properties"].items()
                if name in wanted or name not in others
            }
            return {**schema, "required": wanted, "properties": kept}
        return schema

    def _const(self, schema: Schema) -> list[Any]:
        return [schema["const"]] if "const" in schema else []

    def _object(self, schema: Schema) -> dict[str, Any]:
        found: dict[str, Any] = {}
        required = {*schema.get("required", ()), *schema.get("then", {}).get("required", ())}
        for name, of_it in schema.get("properties", {}).items():
            if (name in required and not self._chance(12)) or self.draw(st.integers(0, 3)) == 0:
                found[name] = self.value(of_it)
        excluded = schema.get("not", {}).get("required", ())
        if excluded and found.keys() >= {*excluded} and not self._chance(4):
            del found[excluded[0]]
        if schema.get("minProperties") and not found and schema.get("properties"):
            name = self.draw(st.sampled_from(sorted(schema["properties"])))
            found[name] = self.value(schema["properties"][name])
        others = schema.get("additionalProperties", True)
        if isinstance(others, dict):
            low, high = schema.get("minProperties", 0), schema.get("maxProperties", 3)
            for _ in range(self._count(low, min(low + 2, high), high)):
                found[self._key(schema)] = self.value(others)
        for of_it in schema.get("patternProperties", {}).values():
            if self.draw(st.booleans()):
                found[self.draw(st.sampled_from(["pods", "example.org/fpga", "hugepages-2Mi"]))] = (
                    self.value(of_it)
                )
        if self._chance(8):
            found[self.draw(st.sampled_from(["windw", "yes", "1", "é", "pods\n", "Y"]))] = (
                self.draw(_JUNK)
            )
        for each in schema.get("allOf", ()):
            self._keep(each, found, schema)
        return found

    def _keep(self, condition: Schema, found: dict[str, Any], schema: Schema) -> None:
        """Add and take away what a condition asks for, most of the time."""
        holds = Draft202012Validator(condition["if"]).is_valid(found)
        wanted = condition.get("then" if holds else "else", {})
        for name in wanted.get("required", ()):
            if name not in found and not self._chance(12):
                found[name] = self.value(schema["properties"][name])
        for name, of_it in wanted.get("properties", {}).items():
            if "not" in of_it and not self._chance(6):
                found.pop(name, None)

    def _key(self, schema: Schema) -> str:
        names = schema.get("propertyNames")
        key = self.draw(_NAMES) if names is None else self._string(self._resolved(names))
        return self.draw(_NAMES.map("/".join)) if self._chance(10) else key

    def _array(self, schema: Schema) -> list[Any]:
        low, high = schema.get("minItems", 0), schema.get("maxItems", 3)
        count = self._count(low, min(low + 2, high), high)
        found = [self.value(schema["items"]) for _ in range(count)]
        if schema.get("uniqueItems") and not self._chance(2):
            return [each for at, each in enumerate(found) if each not in found[:at]]
        return found

    def _string(self, schema: Schema) -> str:
        low, high = schema.get("minLength", 0), schema.get("maxLength", 80)
        if self._chance(6):
            length: int = self.draw(st.sampled_from([max(low - 1, 0), low, high, high + 1]))
            return "a" * length
        if "pattern" in schema:
            end = "\n" if self._chance(8) else ""
            text: str = self.draw(_matching(schema["pattern"], low, high))
            return text + end
        return self.draw(st.text(string.ascii_lowercase, min_size=low, max_size=min(high, 6)))

    def _integer(self, schema: Schema) -> int:
        low, high = schema["minimum"], schema["maximum"]
        number: int = self.draw(
            st.sampled_from([low - 1, low, high, high + 1])
            if self._chance(4)
            else st.integers(low, high)
        )
        return number

    def _count(self, low: int, usual: int, high: int) -> int:
        if self._chance(6):
            return self.draw(st.sampled_from([max(low - 1, 0), high, high + 1]))
        return self.draw(st.integers(max(low, 1), max(usual, 1)))

    def _chance(self, of: int) -> bool:
        return self.spoilt and self.draw(st.integers(1, of)) == 1


@cache
def _matching(pattern: str, low: int, high: int) -> st.SearchStrategy[str]:
    return st.from_regex(_as_python(pattern)).filter(lambda text: low <= len(text) <= high)


@st.composite
def documents(draw: st.DrawFn, schema: Schema) -> str:
    """The text of a YAML document."""
    spoilt = draw(st.booleans())
    value = _Builder(schema, draw, spoilt).value(schema)
    return _written(draw, value, spoilt) + "\n"


def _written(draw: st.DrawFn, value: Any, spoilt: bool) -> str:
    """In flow style, or a mapping with a line a key. With `spoilt` some text has no quotes."""
    if isinstance(value, dict):
        pairs = (
            f"{_entry(draw, name, spoilt)}: {_written(draw, each, spoilt)}"
            for name, each in value.items()
        )
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, list):
        return f"[{', '.join(_entry(draw, each, spoilt) for each in value)}]"
    if isinstance(value, str):
        bare = value in TRICKY or _PLAIN.match(value)
        return value if spoilt and bare and draw(st.booleans()) else _quoted(value)
    return json.dumps(value)


def _entry(draw: st.DrawFn, value: Any, spoilt: bool) -> str:
    """Nothing at all is a value of a mapping alone."""
    return _written(draw, value, spoilt) or "~"


def _quoted(text: str) -> str:
    """In double quotes, with an escape for each character that YAML does not take as it is."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + _NOT_PLAIN.sub(lambda found: f"\\U{ord(found[0]):08x}", escaped) + '"'


def meaning(text: str) -> Any:
    """The JSON values of a document. Raises Unclear."""
    root = yaml.compose(text, Loader=yaml.SafeLoader)
    return None if root is None else _meaning(root)


def _meaning(node: Any) -> Any:
    if isinstance(node, yaml.MappingNode):
        return {_key(key): _meaning(value) for key, value in node.value if not _is_opaque(key)}
    if isinstance(node, yaml.SequenceNode):
        return [_meaning(each) for each in node.value]
    return node.value if node.style else _plain(node.value)


def _is_opaque(key: Any) -> bool:
    """What is in a pipeline's steps is for another program."""
    return bool(key.value == "steps")


def _key(node: Any) -> str:
    # The one reader that takes these for booleans is not worth it to refuse a label `y`.
    if node.style or node.value in ("y", "Y", "n", "N"):
        return str(node.value)
    key = _plain(node.value)
    if not isinstance(key, str):
        raise Unclear(node.value)
    return key


@cache
def _plain(text: str) -> Any:
    """What a plain scalar is for YAML 1.1 and 1.2 alike."""
    old, new = _old(text), YAML(typ="safe", pure=True).load(text)
    # https://yaml.org/type/bool.html has these, and PyYAML has not.
    if type(old) is not type(new) or old != new or text in ("y", "Y", "n", "N"):
        raise Unclear(text)
    if isinstance(old, float) and math.isfinite(old):
        return old
    if isinstance(old, int) and not isinstance(old, bool):
        # Decimal, and no longer than what other languages read.
        if re.fullmatch(r"[-+]?(0|[1-9][0-9]*)", text) and abs(old) < 2**63:
            return old
    elif old is None or isinstance(old, bool | str):
        return old
    raise Unclear(text)


def _old(text: str) -> Any:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise Unclear(text) from error


def reference(schema: Schema) -> Any:
    """The reference implementation of JSON Schema, where it does as Python does made to do as told.

    Patterns are ECMA-262's, and 20.0 is no integer: whoever reads it with another library gets a
    float.
    """
    strict = Draft202012Validator.TYPE_CHECKER.redefine(
        "integer", lambda _, value: isinstance(value, int) and not isinstance(value, bool)
    )
    make: Any = extend
    return make(Draft202012Validator, type_checker=strict)(_with_python_patterns(schema))


def _with_python_patterns(schema: Any) -> Any:
    if isinstance(schema, list):
        return [_with_python_patterns(each) for each in schema]
    return dict(_members(schema)) if isinstance(schema, dict) else schema


def _members(schema: Schema) -> Iterator[tuple[str, Any]]:
    for name, value in schema.items():
        if name == "pattern" and isinstance(value, str):
            yield name, _as_python(value)
        elif name == "patternProperties":
            yield name, {_as_python(key): _with_python_patterns(of) for key, of in value.items()}
        else:
            yield name, _with_python_patterns(value)


def _as_python(pattern: str) -> str:
    """A pattern of ECMA-262 for `re`.

    There ``$`` also matches before a line break at the end, and ``\\s``, which the schemas use
    inside brackets alone, is another set of characters.
    """
    return pattern.replace("$", r"\Z").replace(r"\s", _WHITE_SPACE)
