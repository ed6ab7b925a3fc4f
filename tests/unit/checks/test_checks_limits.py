"""Rules S017 and S018: limits of Kubernetes that a schema does not say."""

from __future__ import annotations

from typing import Any

import pytest
from unit.checks.files import at, at_key, flavor, found

LONG = ".".join(["a" * 63] * 4)
AT_MOST = LONG[2:]


def test_a_window() -> None:
    assert found("S017", window=100_000) == []
    assert found("S017", window=100_001) == [
        (
            "converter.yaml",
            at("window"),
            "window 100001 is more than a Job may run at once",
            "write at most 100000",
        )
    ]


def test_prefixes_that_are_not_too_long() -> None:
    key = f"{AT_MOST}/{'b' * 63}"
    assert len(AT_MOST) == 253
    assert found("S018", node_selector={key: "c"}, tolerations=({"key": key},)) == []


@pytest.mark.parametrize(
    ("settings", "position"),
    [
        ({"node_selector": {f"{LONG}/b": "c"}}, at_key("node_selector", f"{LONG}/b")),
        ({"tolerations": ({"key": "a"}, {"key": f"{LONG}/b"})}, at("tolerations", 1, "key")),
        (
            {"flavors": (flavor("f", {f"{LONG}/b": "c"}),)},
            at_key("flavors", 0, "nodeLabels", f"{LONG}/b"),
        ),
        (
            {"flavors": (flavor("f", {"a": "c"}, node_taints=({"key": f"{LONG}/b"},)),)},
            at("flavors", 0, "nodeTaints", 0, "key"),
        ),
    ],
)
def test_a_prefix_that_is_too_long(settings: dict[str, Any], position: tuple[int, int]) -> None:
    (problem,) = found("S018", **settings)
    assert problem[:2] == ("converter.yaml", position)
    assert problem[2].endswith("before the / has 255 characters")
