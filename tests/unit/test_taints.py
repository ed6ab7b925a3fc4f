"""Taints keep pods away as Kubernetes says it (``Toleration.ToleratesTaint``)."""

import pytest

from converter.taints import repels, spelt_taint

TAINT = {"key": "gpu", "value": "a100", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("toleration", "tolerated"),
    [
        ({"key": "gpu", "operator": "Exists"}, True),
        ({"key": "gpu", "value": "a100"}, True),
        ({"key": "gpu", "operator": "Equal", "value": "a100", "effect": "NoSchedule"}, True),
        ({"operator": "Exists"}, True),
        ({"key": "", "operator": "Exists", "effect": ""}, True),
        ({"key": "gpu", "value": "h100"}, False),
        ({"key": "gpu"}, False),
        ({"key": "gpus", "operator": "Exists"}, False),
        ({"key": "gpu", "operator": "Exists", "effect": "NoExecute"}, False),
    ],
)
def test_a_taint_keeps_away_what_does_not_tolerate_it(
    toleration: dict[str, str], tolerated: bool
) -> None:
    assert repels(TAINT, []) is True
    assert repels(TAINT, [toleration]) is not tolerated


def test_a_preference_keeps_nothing_away() -> None:
    assert repels({**TAINT, "effect": "PreferNoSchedule"}, []) is False


def test_a_taint_is_spelt_as_kubectl_does() -> None:
    assert spelt_taint(TAINT) == "gpu=a100:NoSchedule"
    assert spelt_taint({"key": "gpu", "effect": "NoExecute"}) == "gpu:NoExecute"
