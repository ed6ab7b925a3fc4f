"""The chart's schema of values, with what its parts refer to."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from chart.helm import CHART

SCHEMA: dict[str, Any] = json.loads((CHART / "values.schema.json").read_text())


def resolve(node: dict[str, Any]) -> dict[str, Any]:
    """A schema with what its $ref and allOf refer to."""
    merged = {key: value for key, value in node.items() if key not in ("$ref", "allOf")}
    bases = [part["$ref"] for part in (node, *node.get("allOf", [])) if "$ref" in part]
    for base in bases:
        merged = {**resolve(SCHEMA["definitions"][base.rpartition("/")[2]]), **merged}
    return merged


def objects_of(node: dict[str, Any], path: str = "") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every object of the schema that is reached from its root, with its path."""
    node = resolve(node)
    if node.get("type") == "object":
        yield path, node
    for name, child in node.get("properties", {}).items():
        yield from objects_of(child, f"{path}/{name}")
    if "items" in node:
        yield from objects_of(node["items"], f"{path}/*")


def leaves(node: dict[str, Any], values: Any, path: str = "") -> Iterator[tuple[str, Any, str]]:
    """Path, default and description of every value that has a default, as values.yaml orders them.

    An object whose keys are the user's is one value.
    """
    node = resolve(node)
    if node.get("properties") and not node.get("patternProperties"):
        children = {name: c for name, c in node["properties"].items() if name != "global"}
        assert children.keys() == values.keys(), f"schema and values.yaml differ at {path!r}"
        for name, default in values.items():
            yield from leaves(children[name], default, f"{path}.{name}".removeprefix("."))
    else:
        yield path, values, node["description"]
