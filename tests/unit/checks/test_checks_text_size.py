"""Rule P010: how much text the pods of a pipeline are given."""

from __future__ import annotations

from typing import Any

import pytest
from unit.checks.files import WHOLE_FILE, at, found, some_campaign, some_pipeline, some_settings

from converter.checks.rendered import sample_problems
from converter.checks.text_size import MAX_TOGETHER
from converter.checks.volumes import MAX_LINE
from converter.model import Repo, Warmup
from converter.render.text import yaml_text
from converter.split import MAX_BYTES

WORD = "x" * MAX_LINE
LONG = WORD + "x"
# Of words as long as may be, as many as are too many together.
MANY = (WORD,) * (MAX_TOGETHER // MAX_LINE + 1)


@pytest.mark.parametrize(
    ("pipeline", "where"),
    [
        ({"command": ("ocr", LONG)}, ("command", 1)),
        ({"args": (LONG,)}, ("args", 0)),
        ({"env": {"A": WORD}}, ("env", "A")),
        ({"warmup": Warmup((LONG,))}, ("warmup", "command", 0)),
        ({"warmup": Warmup(("fetch",), (LONG,))}, ("warmup", "args", 0)),
    ],
)
def test_a_word_that_is_too_long(pipeline: dict[str, Any], where: tuple[str | int, ...]) -> None:
    (problem,) = found("P010", some_pipeline(**pipeline), data_pvc="models")
    assert problem[:2] == ("pipelines/ocr.yaml", at(*where))
    assert problem[2].startswith("this takes 101 KiB, more than the 100 KiB")


@pytest.mark.parametrize(
    ("settings", "where"),
    [
        ({"command": (LONG,)}, ("command", 0)),
        ({"env": {"A": WORD}}, ("env", "A")),
        ({"warmup": Warmup((LONG,)), "data_pvc": "models"}, ("warmup", "command", 0)),
    ],
)
def test_a_word_of_converter_yaml(settings: dict[str, Any], where: tuple[str | int, ...]) -> None:
    (problem,) = found("P010", **settings)
    assert problem[:2] == ("converter.yaml", at(*where))


@pytest.mark.parametrize(
    ("pipeline", "settings", "what"),
    [
        ({"args": MANY}, {}, "command, args and env take"),
        ({"args": ("",) * 10_000}, {}, "command, args and env take"),
        ({"args": MANY[:3]}, {"command": MANY[3:]}, "command, args and env take"),
        ({"env": {f"A{n}": "x" * 60_000 for n in range(9)}}, {}, "command, args and env take"),
        ({"warmup": Warmup(("fetch",), MANY)}, {"data_pvc": "models"}, "the warm-up's command"),
        ({}, {"data_pvc": "models", "warmup": Warmup(MANY)}, "the warm-up's command"),
        (
            {"warmup": Warmup((), MANY[:3])},
            {"data_pvc": "models", "warmup": Warmup(MANY[3:])},
            "the warm-up's command",
        ),
    ],
)
def test_words_that_are_too_much_together(
    pipeline: dict[str, Any], settings: dict[str, Any], what: str
) -> None:
    (problem,) = found("P010", some_pipeline(**pipeline), **settings)
    assert problem[:2] == ("pipelines/ocr.yaml", WHOLE_FILE)
    assert problem[2].startswith(what)


def test_what_a_pipeline_replaces_does_not_count() -> None:
    own: dict[str, Any] = {"command": ("ocr",), "env": {f"A{n}": "" for n in range(9)}}
    default = {f"A{n}": "x" * 60_000 for n in range(9)}
    assert found("P010", some_pipeline(**own), command=MANY[:5], env=default) == []


def steps_of(size: int) -> list[str]:
    """Steps that take so many bytes in YAML."""
    return ["x" * (size - len(yaml_text({"steps": ["x"]})) + 1)]


def test_steps() -> None:
    assert found("P010", some_pipeline(steps=steps_of(MAX_BYTES))) == []
    (problem,) = found("P010", some_pipeline(steps=steps_of(MAX_BYTES + 1)))
    assert problem[:2] == ("pipelines/ocr.yaml", at("steps"))
    assert problem[2].startswith("steps take 901 KiB, more than the 900 KiB")


def test_steps_that_grow_by_their_indentation() -> None:
    deep: Any = ["x"] * 10_000
    for _ in range(60):
        deep = {"a": deep}
    assert len(repr(deep)) < MAX_BYTES // 10
    assert len(found("P010", some_pipeline(steps=deep))) == 1


@pytest.mark.parametrize(
    "pipeline",
    [
        some_pipeline(args=MANY[:3], steps=steps_of(MAX_BYTES)),
        some_pipeline(args=("$(A)",) * 5_000, env={f"A{n}": "\x01" * 30 for n in range(500)}),
        some_pipeline(args=("\x01" * 80_000,) * 5),
    ],
)
def test_what_the_rule_lets_through_is_small_enough(pipeline: Any) -> None:
    assert found("P010", pipeline) == []
    campaign = some_campaign()
    repo = Repo(some_settings(), {pipeline.id: pipeline}, {campaign.name: campaign})
    assert sample_problems(repo) == ()
