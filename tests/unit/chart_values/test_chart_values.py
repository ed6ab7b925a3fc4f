"""What converter.yaml and the chart's values both say: merged as helm does, written, compared."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from converter.chart_values.compare import differences
from converter.chart_values.merge import DEFAULTS, merged, spelt, with_defaults
from converter.chart_values.write import unvalued, written
from converter.errors import Refused
from converter.model import Flavor, Settings

CHART = Path(__file__).parents[3] / "charts" / "campaign-queue"
TAINT = {"key": "gpu", "value": "a100", "effect": "NoSchedule"}
QUOTA = {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "2"}
A100 = Flavor("a100", {"gpu": "a100"}, (TAINT,), QUOTA)
PLAIN = Flavor("plain", {"gpu": "none"}, quota={"cpu": "16", "memory": "64Gi"})
THEIR_A100 = {
    "name": "a100",
    "nodeLabels": {"gpu": "a100"},
    "nodeTaints": [TAINT],
    "quota": {"cpu": 8, "memory": "64Gi", "nvidia.com/gpu": 2},
}
THEIR_PLAIN = {
    "name": "plain",
    "nodeLabels": {"gpu": "none"},
    "quota": {"cpu": 16, "memory": "64Gi", "nvidia.com/gpu": 0},
}


def settings(**more: Any) -> Settings:
    return Settings(**{"namespace": "team", "queue": "gpu"} | more)


def values(*, name: str = "gpu", **queue: Any) -> dict[str, Any]:
    return {"queue": {"name": name, **queue}}


def found(ours: Settings, *documents: Mapping[str, Any]) -> list[str]:
    """Each difference as the command puts it, without the file."""
    compared = differences(ours, with_defaults(merged(documents)))
    return [f"{each.message} -> {each.remedy}" for each in compared]


def test_the_defaults_are_those_of_the_chart() -> None:
    chart = yaml.safe_load((CHART / "values.yaml").read_text())

    def compare(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> None:
        for key, value in ours.items():
            if isinstance(value, dict) and key != "quota":
                compare(value, theirs[key])
            else:
                assert value == theirs[key], key

    compare(DEFAULTS, chart)


@pytest.mark.parametrize(
    ("documents", "expected"),
    [
        ([], {"a": 1, "b": {"c": 2, "d": 3}, "e": [1]}),
        ([{"a": 5}, {"a": 6}], {"a": 6, "b": {"c": 2, "d": 3}, "e": [1]}),
        ([{"b": {"c": 5}}, {"b": {"x": 6}}], {"a": 1, "b": {"c": 5, "d": 3, "x": 6}, "e": [1]}),
        ([{"b": {"c": None}, "a": None}], {"b": {"d": 3}, "e": [1]}),
        ([{"b": {"c": None}}, {"b": {"c": 7}}], {"a": 1, "b": {"c": 7, "d": 3}, "e": [1]}),
        ([{"e": [2, 3]}, {"e": []}], {"a": 1, "b": {"c": 2, "d": 3}, "e": []}),
        ([{"b": 4}, {"b": {"c": 5}}], {"a": 1, "b": {"c": 5, "d": 3}, "e": [1]}),
        ([{"b": None}], {"a": 1, "e": [1]}),
    ],
)
def test_values_are_merged_as_helm_merges_them(
    documents: list[dict[str, Any]], expected: dict[str, Any]
) -> None:
    defaults = {"a": 1, "b": {"c": 2, "d": 3}, "e": [1]}
    assert with_defaults(merged(documents), defaults) == expected


def test_a_place_is_spelt_as_for_set() -> None:
    assert spelt(("queue", "flavors", 0, "quota", "cpu")) == "queue.flavors[0].quota.cpu"


SAME = [
    (settings(), values()),
    (
        settings(quota={"cpu": "1"}),
        values(quota={"cpu": "1000m", "memory": 0, "nvidia.com/gpu": 0}),
    ),
    (
        settings(quota={"cpu": "0.5", "memory": "1Gi"}),
        values(quota={"cpu": "500m", "memory": "1024Mi", "nvidia.com/gpu": None}),
    ),
    # The only flavor of a list is the single one.
    (settings(quota=QUOTA), values(flavors=[THEIR_A100])),
    (settings(flavors=(A100, PLAIN)), values(flavors=[THEIR_A100, THEIR_PLAIN])),
    # What converter.yaml does not say is the chart's own.
    (settings(), values(flavors=[THEIR_A100, THEIR_PLAIN])),
    (settings(flavors=(Flavor("a100", {"gpu": "a100"}, (TAINT,)),)), values(flavors=[THEIR_A100])),
    (
        settings(quota=QUOTA),
        values(
            quota=QUOTA, flavor="any", stopPolicy="Hold", clusterQueueName="x", queueingStrategy="y"
        ),
    ),
    (
        settings(priority_classes=("a", "b")),
        values(priorityClasses=[{"name": "b", "value": 1}, {"name": "a", "create": False}]),
    ),
    (settings(data_pvc="models"), values()),
    (settings(data_pvc="models"), {**values(), "modelCache": {"create": True, "name": "models"}}),
    (settings(), {**values(), "modelCache": {"create": True, "name": "models"}}),
    (
        settings(runtime_class="nvidia"),
        {**values(), "runtimeClass": {"create": True, "handler": "nvidia"}},
    ),
    (settings(), {**values(), "security": {"allowImageTags": True}}),
    # The queue of one of several teams.
    (
        settings(namespace="maps", queue="maps"),
        {**values(), "teams": [{"namespace": "x"}, {"namespace": "maps", "queue": "maps"}]},
    ),
    (settings(namespace="maps"), {**values(), "teams": [{"namespace": "maps", "queue": ""}]}),
]


@pytest.mark.parametrize(("ours", "theirs"), SAME)
def test_the_same(ours: Settings, theirs: dict[str, Any]) -> None:
    assert found(ours, theirs) == []


TWO = settings(flavors=(A100, PLAIN))
HERE = "here, or correct converter.yaml"
DIFFERENT: list[tuple[Settings, dict[str, Any], list[str]]] = [
    (
        settings(),
        {},
        [
            "queue.name is empty, which stands for the release's name, and queue is gpu in "
            "converter.yaml -> write gpu here"
        ],
    ),
    (
        settings(),
        values(name="cpu"),
        [f"queue.name is cpu, and queue is gpu in converter.yaml -> write gpu {HERE}"],
    ),
    (
        settings(namespace="maps"),
        {**values(), "teams": [{"namespace": "maps", "queue": "other"}]},
        [f"teams[0].queue is other, and queue is gpu in converter.yaml -> write gpu {HERE}"],
    ),
    (
        settings(namespace="maps"),
        {**values(name="other"), "teams": [{"namespace": "x"}, {"namespace": "maps"}]},
        [
            "teams[1].queue is empty, which stands for queue.name (other), and queue is gpu in "
            "converter.yaml -> write gpu here"
        ],
    ),
    # The chart's default of a resource that nobody speaks of.
    (
        settings(quota={"cpu": "8", "memory": "8Gi"}),
        values(quota={"cpu": 4}),
        [
            f"queue.quota.cpu is 4, and quota.cpu is 8 in converter.yaml -> write 8 {HERE}",
            "queue.quota.nvidia.com/gpu is 1, and quota.nvidia.com/gpu is 0 in converter.yaml -> "
            f"write 0 {HERE}",
        ],
    ),
    (
        settings(quota=QUOTA),
        values(flavors=[THEIR_A100, THEIR_PLAIN]),
        [
            "queue.flavors has a100, plain, and converter.yaml has the quota of a single flavor -> "
            "write these flavors in converter.yaml in place of its quota"
        ],
    ),
    (
        TWO,
        values(),
        [
            f"queue.flavors has no flavor {name}, and flavors in converter.yaml has -> add it "
            "here, or take it out of converter.yaml"
            for name in ("a100", "plain")
        ],
    ),
    (
        settings(flavors=(A100,)),
        values(flavors=[THEIR_A100, THEIR_PLAIN]),
        [
            "queue.flavors has flavor plain, and flavors in converter.yaml has not -> add it to "
            "converter.yaml, or take it out here"
        ],
    ),
    (
        TWO,
        values(flavors=[THEIR_PLAIN, THEIR_A100]),
        [
            "queue.flavors has the order plain, a100, and flavors in converter.yaml has a100, "
            "plain -> write them in the same order, in which Kueue tries them"
        ],
    ),
    (
        TWO,
        values(
            flavors=[
                {**THEIR_A100, "nodeLabels": {"gpu": "h100", "x": "1"}, "nodeTaints": []},
                {**THEIR_PLAIN, "quota": {"cpu": "15", "memory": "64Gi", "nvidia.com/gpu": 1}},
            ]
        ),
        [
            "queue.flavors[0].nodeLabels is {gpu: h100, x: 1}, and flavors[0].nodeLabels is "
            f"{{gpu: a100}} in converter.yaml -> write {{gpu: a100}} {HERE}",
            "queue.flavors[0].nodeTaints is none, and flavors[0].nodeTaints is "
            f"gpu=a100:NoSchedule in converter.yaml -> write gpu=a100:NoSchedule {HERE}",
            "queue.flavors[1].quota.cpu is 15, and flavors[1].quota.cpu is 16 in converter.yaml -> "
            f"write 16 {HERE}",
            "queue.flavors[1].quota.nvidia.com/gpu is 1, and flavors[1].quota.nvidia.com/gpu is 0 "
            f"in converter.yaml -> write 0 {HERE}",
        ],
    ),
    (
        settings(priority_classes=("urgent", "bulk")),
        values(priorityClasses=[{"name": "bulk", "value": 0}, {"name": "idle", "value": -1}]),
        [
            "queue.priorityClasses has no urgent, and priority_classes in converter.yaml has -> "
            "add it here with its value, or with create: false if it exists, or take it out of "
            "converter.yaml",
            "queue.priorityClasses has idle, and priority_classes in converter.yaml has not -> "
            "add it to converter.yaml, or take it out here",
        ],
    ),
    (
        settings(data_pvc="models", runtime_class="nvidia", allow_image_tags=True),
        {
            **values(),
            "modelCache": {"create": True},
            "runtimeClass": {"create": True, "handler": "runc"},
        },
        [
            f"modelCache.name is empty, and data_pvc is models in converter.yaml -> write models "
            f"{HERE}",
            "runtimeClass.name is runc, and runtime_class is nvidia in converter.yaml -> write "
            f"nvidia {HERE}",
            "security.allowImageTags is false, and allow_image_tags is true in converter.yaml -> "
            f"write true {HERE}",
        ],
    ),
]


@pytest.mark.parametrize(("ours", "theirs", "expected"), DIFFERENT)
def test_different(ours: Settings, theirs: dict[str, Any], expected: list[str]) -> None:
    assert found(ours, theirs) == expected


EVERYTHING = settings(
    flavors=(A100, PLAIN),
    priority_classes=("urgent", "bulk"),
    data_pvc="models",
    runtime_class="nvidia",
    allow_image_tags=True,
)


def test_all_that_is_determined_is_written() -> None:
    assert written(EVERYTHING, {}) == {
        "queue": {
            "name": "gpu",
            "flavors": [THEIR_A100, THEIR_PLAIN],
            "priorityClasses": [
                {"name": "urgent", "create": False},
                {"name": "bulk", "create": False},
            ],
        },
        "modelCache": {"name": "models"},
        "runtimeClass": {"name": "nvidia"},
        "security": {"allowImageTags": True},
    }
    assert unvalued(EVERYTHING, {}) == ("urgent", "bulk")


def test_what_converter_yaml_does_not_know_is_kept() -> None:
    urgent = {"name": "urgent", "value": 1000, "description": "Now"}
    limit = {"borrowingLimit": {"cpu": 4}}
    kept = values(
        flavors=[
            {**THEIR_PLAIN, **limit, "nodeTaints": [TAINT]},
            {**THEIR_A100, "quota": {"cpu": 1}},
        ],
        priorityClasses=[{"name": "idle", "value": -1}, urgent],
        stopPolicy="Hold",
    )
    queue = written(EVERYTHING, kept)["queue"]
    assert queue["flavors"] == [THEIR_A100, {**THEIR_PLAIN, **limit}]
    assert queue["priorityClasses"] == [urgent, {"name": "bulk", "create": False}]
    assert "stopPolicy" not in queue
    assert unvalued(EVERYTHING, kept) == ("bulk",)


def test_a_quota_that_only_the_values_have_is_kept() -> None:
    ours = settings(flavors=(Flavor("a100", {"gpu": "a100"}),))
    with pytest.raises(Refused, match=r"flavor a100 has no quota in converter\.yaml"):
        written(ours, {})
    (flavor,) = written(ours, values(flavors=[THEIR_A100]))["queue"]["flavors"]
    assert flavor["quota"] == THEIR_A100["quota"]


def test_each_flavor_has_a_quota_of_all_that_another_has() -> None:
    """Kept or from converter.yaml: the chart refuses flavors that do not cover the same."""
    ours = settings(flavors=(A100, Flavor("fast", {"gpu": "h100"})))
    kept = values(flavors=[{"name": "fast", "quota": {"cpu": 2, "example.com/fpga": 1}}])
    a100, fast = written(ours, kept)["queue"]["flavors"]
    assert a100["quota"].items() >= {"cpu": 8, "example.com/fpga": 0}.items()
    assert fast["quota"].keys() == a100["quota"].keys()
    assert (fast["quota"]["cpu"], fast["quota"]["example.com/fpga"]) == (2, 1)


@pytest.mark.parametrize(
    ("quota", "kept", "expected"),
    [
        (
            {"cpu": "8000m", "memory": "8Gi"},
            {},
            {"quota": {"cpu": 8, "memory": "8Gi", "nvidia.com/gpu": None}},
        ),
        (QUOTA, values(flavors=[{**THEIR_A100, "quota": {}}]), {"flavors": [THEIR_A100]}),
        # A resource that only the values have.
        (
            {"cpu": "8", "memory": "8Gi"},
            values(quota={"example.com/fpga": 2}),
            {
                "quota": {
                    "cpu": 8,
                    "memory": "8Gi",
                    "nvidia.com/gpu": None,
                    "example.com/fpga": None,
                }
            },
        ),
        # What a chart has flavors for goes by them alone.
        (
            {"cpu": "8"},
            values(flavors=[THEIR_A100, THEIR_PLAIN]),
            {"flavors": [], "quota": {"cpu": 8, "memory": None, "nvidia.com/gpu": None}},
        ),
        ({}, {}, {}),
    ],
)
def test_the_quota_of_a_single_flavor(
    quota: dict[str, str], kept: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert written(settings(quota=quota), kept) == {"queue": {"name": "gpu", **expected}}


def test_limits_of_a_single_flavor_end_with_it() -> None:
    kept = values(quota=QUOTA, borrowingLimit={"cpu": 4}, lendingLimit={})
    queue = written(TWO, kept)["queue"]
    assert queue["borrowingLimit"] == {"cpu": None}
    assert "lendingLimit" not in queue


def test_a_team_without_a_queue_of_its_own_gets_one() -> None:
    """The name of the release's queue is another team's too."""
    kept = {**values(name="other"), "teams": [{"namespace": "maps"}]}
    assert written(settings(namespace="maps"), kept) == {
        "queue": {},
        "teams": [{"namespace": "maps", "queue": "gpu"}],
    }


def test_the_queue_of_a_team_is_written_where_it_stands() -> None:
    teams = [{"namespace": "a", "queue": "a"}, {"namespace": "maps", "queue": "b"}]
    kept = {**values(), "teams": teams}
    ours = settings(namespace="maps", queue="maps")
    assert written(ours, kept) == {
        "queue": {},
        "teams": [teams[0], {"namespace": "maps", "queue": "maps"}],
    }


@pytest.mark.parametrize("ours", [each for each, *_ in (*SAME, *DIFFERENT)])
def test_what_was_written_is_the_same(ours: Settings) -> None:
    if all(flavor.quota for flavor in ours.flavors):
        assert found(ours, written(ours, {})) == []
