"""One mistake in a file does not hide another of a different sort."""

from __future__ import annotations

from typing import Any

import pytest

from converter.load.repair import repaired
from converter.load.schema import FileKind, violations

GOOD: dict[str, Any] = {"pipeline": "p", "volumes": ["a", "b"]}
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
        ("pipeline", {"image": IMAGE, "size": 3}, None),
        ("converter", {"namespace": "a", "queue": "b", "a": 1}, {"namespace": "a", "queue": "b"}),
        ("converter", {"namespace": "a", "queue": "b", "window": "1"}, None),
    ],
)
def test_what_is_left_for_the_rules(kind: str, values: Any, rest: Any) -> None:
    found = repaired(FileKind(kind), values, violations(FileKind(kind), values))
    if isinstance(rest, list):
        rest = {**GOOD, "volumes": rest}
    assert found == rest
