"""Documents made from nothing: YAML in every style, of our keys and of values near the right ones.

A mutated document mostly fails as YAML. These are YAML nearly always, and so reach the schemas and
the rules.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from random import Random
from typing import Any, Final

from fuzz.seeds import VALID, Seed

from converter.load.schema import FileKind, document

_PATHS: Final = {
    FileKind.CONVERTER: "converter.yaml",
    FileKind.PIPELINE: "pipelines/ocr.yaml",
    FileKind.CAMPAIGN: "campaigns/letters.yaml",
}
_WORDS: Final = (
    *("ocr", "A0001", "A0001", "A0002", "large", "a100", "urgent", "kueue", "none", "always"),
    *("https://example.com/{ref}", "https://u:p@h/m", "registry.example.com/x:1", "/secrets/x"),
    *("", " ", "a b", "ä", "\U0001f600", "x" * 70, "a\nb", "\t", "nvidia.com/gpu", "A_B", "-x"),
    *(f"registry.example.com/ocr@sha256:{'0' * 64}", "PIPELINE_ID", "{ref}", "1Gi", "500m", "0"),
)
# Text that is no text without quotes.
_PLAIN: Final = (
    *("1", "0", "-1", "20", "1.5", "20.0", "1e3", "1e400", "0012", "1:20", "1_000", "0x1f", "1.10"),
    *("true", "False", "yes", "off", "null", "~", "", ".inf", ".nan", "2024-01-01", "=", "<<"),
    *("9223372036854775807", "9223372036854775808", "9" * 400, "0b1", "0o7", "+1", ".5", "-.5e-3"),
)
_DEEPEST: Final = 5


def made(random: Random) -> Seed:
    """A repository in which one file was made from nothing."""
    kind = random.choice(list(FileKind))
    writer = _Writer(random)
    value = _value(random, document(kind), document(kind), 0)
    if not isinstance(value, dict) and random.random() < 0.9:
        value = {"pipeline": value}
    text = writer.start() + writer.block(value, 0)
    path = _PATHS[kind]
    return Seed({**VALID, path: text.encode("utf-8", "surrogatepass")}, path)


def _value(random: Random, schema: Any, root: Mapping[str, Any], depth: int) -> Any:
    """A value that the schema accepts, or one beside it."""
    if random.random() < 0.06 or depth > _DEEPEST or not isinstance(schema, dict):
        return _any(random, depth)
    if "$ref" in schema:
        found: Any = root
        for step in schema["$ref"].removeprefix("#/").split("/"):
            found = found[step]
        return _value(random, found, root, depth)
    for keyword in ("oneOf", "anyOf"):
        if keyword in schema and "properties" not in schema:
            return _value(random, random.choice(schema[keyword]), root, depth)
    if "enum" in schema and random.random() < 0.8:
        return random.choice(schema["enum"])
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = random.choice(kind) if isinstance(kind, list) else kind
    match kind:
        case "object":
            return _mapping(random, schema, root, depth)
        case "array":
            entries = random.choice((0, 1, 1, 2, 3, 8))
            return [_value(random, schema.get("items"), root, depth + 1) for _ in range(entries)]
        case "integer" | "number":
            return random.choice((0, 1, 2, 20, 3600, -1, 2**31, 2**63 - 1, 2**63, 1.5, 20.0))
        case "boolean":
            return random.random() < 0.5
        case "null":
            return None
    return random.choice(_WORDS)


def _mapping(random: Random, schema: Any, root: Mapping[str, Any], depth: int) -> dict[str, Any]:
    properties = schema.get("properties", {})
    required = [name for name in schema.get("required", ()) if random.random() < 0.93]
    names = [
        *required,
        *random.sample(list(properties), min(len(properties), random.randint(0, 4))),
    ]
    result = {name: _value(random, properties.get(name), root, depth + 1) for name in names}
    others = schema.get("additionalProperties", schema.get("patternProperties"))
    if others is not False and not properties:
        for _ in range(random.randint(0, 3)):
            result[random.choice(_WORDS)] = _value(random, others or {}, root, depth + 1)
    if random.random() < 0.08:
        result[_misspelt(random, random.choice([*properties, *_WORDS]))] = _any(random, depth + 1)
    return result


def _misspelt(random: Random, name: str) -> str:
    at = random.randint(0, len(name))
    return random.choice((name[:at] + name[at + 1 :], name.upper(), f"{name}s", name[::-1], name))


def _any(random: Random, depth: int) -> Any:
    choice = random.random()
    if depth < _DEEPEST and choice < 0.2:
        return [_any(random, depth + 1) for _ in range(random.randint(0, 3))]
    if depth < _DEEPEST and choice < 0.4:
        return {random.choice(_WORDS): _any(random, depth + 1) for _ in range(random.randint(0, 3))}
    return random.choice((*_WORDS, 0, 1.5, True, None))


class _Writer:
    """Writes values as YAML, each in a style that is drawn; at times it writes something else."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._anchors = 0

    def start(self) -> str:
        """What comes before the first key."""
        return self._random.choice(
            ("", "", "", "---\n", "# a comment\n", "\ufeff", "%YAML 1.1\n---\n")
        )

    def block(self, value: Any, indent: int) -> str:
        """The value in lines of its own, or in the flow style."""
        blank = " " * indent
        if isinstance(value, dict) and value and self._random.random() < 0.8:
            return "".join(f"{blank}{self._entry(k, v, indent)}" for k, v in self._pairs(value))
        if isinstance(value, list) and value and self._random.random() < 0.8:
            return "".join(f"{blank}-{self._after(entry, indent)}" for entry in value)
        return f"{blank}{self.flow(value)}{self._end()}"

    def _pairs(self, value: dict[str, Any]) -> list[tuple[str, Any]]:
        pairs = list(value.items())
        if self._random.random() < 0.03:
            pairs.append(self._random.choice(pairs))
        if self._anchors and self._random.random() < 0.05:
            pairs.append(("<<", None))
        return pairs

    def _entry(self, key: str, value: Any, indent: int) -> str:
        if key == "<<":
            return f"<<: *a{self._random.randint(1, self._anchors)}{self._end()}"
        return f"{self._key(key)}:{self._after(value, indent)}"

    def _after(self, value: Any, indent: int) -> str:
        anchor = self._anchor()
        if isinstance(value, (dict, list)) and value and self._random.random() < 0.7:
            return (
                f"{anchor}{self._end()}{self.block(value, indent + self._random.choice((1, 2, 4)))}"
            )
        if isinstance(value, str) and self._random.random() < 0.05:
            style = self._random.choice(("|", ">", "|-", ">+", "|2"))
            body = "".join(f"{' ' * (indent + 2)}{line}\n" for line in value.split("\n"))
            return f"{anchor} {style}\n{body}"
        return f"{anchor} {self.flow(value)}{self._end()}"

    def _anchor(self) -> str:
        draw = self._random.random()
        if draw < 0.03:
            self._anchors += 1
            return f" &a{self._anchors}"
        return self._random.choice((" !!str", " !!map", " !x", " !")) if draw < 0.04 else ""

    def _end(self) -> str:
        return self._random.choice(("\n",) * 12 + (" # comment\n", "\r\n", "\n\n"))

    def _key(self, key: str) -> str:
        if self._random.random() < 0.02:
            return self._random.choice(_PLAIN)
        simple = key.isidentifier() and self._random.random() < 0.9
        return key if simple else self._quoted(key)

    def flow(self, value: Any) -> str:
        """The value in one line."""
        if self._random.random() < 0.02:
            return self._random.choice(_PLAIN)
        if self._anchors and self._random.random() < 0.03:
            return f"*a{self._random.randint(1, self._anchors)}"
        if isinstance(value, dict):
            pairs = (f"{self._key(key)}: {self.flow(each)}" for key, each in value.items())
            return "{" + ", ".join(pairs) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.flow, value)) + "]"
        if isinstance(value, str):
            plain = value.isalnum() and self._random.random() < 0.8
            return value if plain else self._quoted(value)
        return json.dumps(value)

    def _quoted(self, text: str) -> str:
        if self._random.random() < 0.3 and text.isprintable():
            return "'" + text.replace("'", "''") + "'"
        return json.dumps(text, ensure_ascii=self._random.random() < 0.2)
