"""One mistake in a file does not hide another of a different sort."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from unit.load.repositories import load

from converter.checks import check
from converter.load.repair import repaired
from converter.load.schema import FileKind, Violation, violations

GOOD: dict[str, Any] = {"pipeline": "p", "volumes": ["a", "b"]}
SETTINGS: dict[str, Any] = {"namespace": "a", "queue": "b"}
IMAGE = "example.org/a@sha256:" + "0" * 64


@pytest.mark.parametrize(
    ("kind", "values", "rest"),
    [
        ("campaign", {**GOOD, "windw": 3}, GOOD),
        ("campaign", {**GOOD, "priority": 3, "suspend": "no"}, GOOD),
        ("campaign", {**GOOD, "volumes": ["a", 12, "b"]}, ["a", "unreadable-1", "b"]),
        ("campaign", {**GOOD, "volumes": ["a", {"id": "x", "imgs": []}]}, ["a", "unreadable-1"]),
        ("campaign", {**GOOD, "window": 0}, None),
        ("campaign", {"volumes": ["a"]}, None),
        ("campaign", {**GOOD, "volumes": []}, None),
        ("campaign", ["a"], None),
        ("pipeline", {"image": IMAGE, "imagee": 1}, {"image": IMAGE}),
        ("pipeline", {"image": IMAGE, "env": {"A": 1}}, {"image": IMAGE}),
        ("pipeline", {"image": IMAGE, "size": 3}, None),
        ("converter", {**SETTINGS, "a": 1}, SETTINGS),
        ("converter", {**SETTINGS, "prune_limit": -1, "secrets": {"a": "b"}}, SETTINGS),
        ("converter", {**SETTINGS, "results_url": "x", "public_results_base": "y"}, SETTINGS),
        ("converter", {**SETTINGS, "window": "1"}, None),
        ("converter", {**SETTINGS, "sizes": {"s": {"cpu": 1, "memory": "8GB"}}}, None),
        ("converter", {"namespace": "a"}, None),
    ],
)
def test_what_is_left_for_the_rules(kind: str, values: Any, rest: Any) -> None:
    found = repaired(FileKind(kind), values, violations(FileKind(kind), values))
    if isinstance(rest, list):
        rest = {**GOOD, "volumes": rest}
    assert found == rest


@pytest.mark.timeout(20)
def test_many_mistakes_take_no_longer_each() -> None:
    count = 100_000
    found = [Violation("type", {}, ("volumes", index)) for index in range(count)]
    rest = repaired(FileKind.CAMPAIGN, {**GOOD, "volumes": [1] * count}, found)
    assert rest["volumes"] == [f"unreadable-{index}" for index in range(count)]


def test_a_wrong_form_in_the_settings_does_not_hide_what_rules_find(tmp_path: Path) -> None:
    settings = "namespace: team\nqueue: q\nprune_limit: many\ndefault_size: large\n"
    loaded = load(tmp_path, settings=settings)
    assert loaded.repo is None
    assert [problem.code for problem in check(loaded)] == ["F005", "S002"]
