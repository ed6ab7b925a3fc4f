"""Values that go through YAML and through Kubernetes, and must come out as they went in."""

from __future__ import annotations

from types import MappingProxyType
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from jinja2 import UndefinedError
from ruamel.yaml import YAML

from converter.render.environment import literal
from converter.render.templates import render_template
from converter.render.text import yaml_text

TEXT = st.text(st.characters(exclude_categories=["Cs"]))
# The loader takes no others.
FLOATS = st.floats(allow_nan=False, allow_infinity=False)
SCALARS = st.none() | st.booleans() | st.integers() | FLOATS | TEXT
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=12,
)
# What a YAML 1.1 parser reads as something else than text when it is not quoted.
TREACHEROUS = [
    "yes", "No", "on", "OFF", "true", "null", "~", "", "y", "N", "1:20", "0012", "1e3", "1.10",
    "2024-01-31", "0x1f", ".inf", "<<", "=", "- a", "a: b", "#", "a #b", "&a", "*a", "!a", "%a",
    "@a", "`a", "{a}", "[a]", "a\n", "\na", " a", "a ", "a\tb\n", "a\n b\n\n", "\x85\u2028\ufeff",
]  # fmt: skip


@given(VALUES)
def test_yaml_text_reads_back(value: Any) -> None:
    text = yaml_text({"value": value})
    assert yaml.safe_load(text) == {"value": value}
    assert YAML(typ="safe", pure=True).load(text) == {"value": value}


@pytest.mark.parametrize("word", TREACHEROUS, ids=repr)
def test_yaml_text_keeps_text(word: str) -> None:
    text = yaml_text({word: [word]})
    assert yaml.safe_load(text) == {word: [word]}
    assert YAML(typ="safe").load(text) == {word: [word]}


@pytest.mark.parametrize("number", [1e-05, 1e300, -1e-9, 0.1])
def test_yaml_text_keeps_floats(number: float) -> None:
    assert yaml.safe_load(yaml_text({"x": number})) == {"x": number}


@given(VALUES)
def test_a_value_cannot_leave_its_place_in_a_template(value: Any) -> None:
    body = render_template("campaign-configmap.yaml.j2", metadata=value, data=[value])
    assert body == {"apiVersion": "v1", "kind": "ConfigMap", "metadata": value, "data": [value]}


def test_what_a_template_makes_is_its_own() -> None:
    made: dict[str, Any] = {"labels": MappingProxyType({"a": ("b", "<0>")})}
    first, second = (
        render_template("campaign-configmap.yaml.j2", metadata=made, data={}) for _ in range(2)
    )
    assert first["metadata"] == {"labels": {"a": ["b", "<0>"]}}
    first["metadata"]["labels"]["a"] = []
    assert first != second
    assert type(second["metadata"]["labels"]) is dict


def test_a_value_that_is_not_given_is_a_mistake() -> None:
    with pytest.raises(UndefinedError, match="'data' is undefined"):
        render_template("campaign-configmap.yaml.j2", metadata={})


@given(st.text(st.sampled_from("$()AB ")))
def test_kubernetes_hands_a_literal_on_unchanged(text: str) -> None:
    assert _expand(literal(text), {"A": "expanded", "B": "$(A)", "": "empty"}) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [("$(A)", "1"), ("$$(A)", "$(A)"), ("$(X)", "$(X)"), ("$A", "$A"), ("$", "$"), ("$(A", "$(A")],
)
def test_the_expansion_here_is_that_of_kubernetes(text: str, expected: str) -> None:
    assert _expand(text, {"A": "1"}) == expected


def _expand(text: str, variables: dict[str, str]) -> str:
    """What k8s.io/kubernetes third_party/forked/golang/expansion makes of a text."""
    out, cursor = [], 0
    while cursor < len(text):
        following = text[cursor + 1 : cursor + 2]
        if text[cursor] != "$" or not following:
            out.append(text[cursor])
            cursor += 1
        elif following == "$":
            out.append("$")
            cursor += 2
        elif following == "(" and (end := text.find(")", cursor)) >= 0:
            name = text[cursor + 2 : end]
            out.append(variables.get(name, f"$({name})"))
            cursor = end + 1
        else:
            out.append(f"${following}")
            cursor += 2
    return "".join(out)
