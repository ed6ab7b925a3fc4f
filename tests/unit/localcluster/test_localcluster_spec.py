"""What a cluster is asked to be: from options and files, and kept as JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from localcluster.errors import ClusterError
from localcluster.spec import (
    KWOK_TAINT,
    KwokNode,
    Mode,
    RealNode,
    Spec,
    kwok_node,
    kwok_nodes_from_option,
    parse_pairs,
    parse_taint,
    read_mapping,
    spec_from_json,
    spec_to_json,
)


def test_a_spec_survives_being_kept() -> None:
    spec = Spec(
        mode=Mode.KWOK,
        real_node=RealNode("other", {"zone": "a"}, gpus=0),
        kwok_nodes=(KwokNode("gpu-1", {"gpu": "a100"}, ("dedicated=ml:NoExecute",), gpus=8),),
        kueue_config={"featureGates": {"TopologyAwareScheduling": False}},
        trainer=True,
    )
    assert spec_from_json(json.loads(json.dumps(spec_to_json(spec)))) == spec


@pytest.mark.parametrize(
    ("text", "taint"),
    [
        ("a=b:NoSchedule", {"key": "a", "value": "b", "effect": "NoSchedule"}),
        ("a:NoExecute", {"key": "a", "effect": "NoExecute"}),
        ("x.io/a=:PreferNoSchedule", {"key": "x.io/a", "effect": "PreferNoSchedule"}),
        (KWOK_TAINT, {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}),
    ],
)
def test_a_taint(text: str, taint: dict[str, str]) -> None:
    assert parse_taint(text) == taint


@pytest.mark.parametrize("text", ["", "a=b", "a=b:Never", ":NoSchedule", "=b:NoSchedule"])
def test_not_a_taint(text: str) -> None:
    with pytest.raises(ClusterError, match="write key=value:Effect"):
        parse_taint(text)


def test_labels() -> None:
    given = ["a=b", "d=", "example.com/A_b.c=1.2_3-x"]
    assert parse_pairs(given) == {"a": "b", "d": "", "example.com/A_b.c": "1.2_3-x"}


@pytest.mark.parametrize("text", ["a", "=b", "", "a=b=c", "a b=c", "a=b c", "a/b/c=d", "a=-b"])
def test_not_a_label(text: str) -> None:
    with pytest.raises(ClusterError, match="write key=value"):
        parse_pairs([text])


def test_a_node_with_every_key() -> None:
    value = {
        "name": "gpu-1",
        "labels": {"gpu": "a100"},
        "taints": ["dedicated=ml:NoSchedule"],
        "cpu": 96,
        "memory": "1Ti",
        "gpus": 8,
        "pods": 50,
    }
    taints = ("dedicated=ml:NoSchedule",)
    assert kwok_node(value) == KwokNode("gpu-1", {"gpu": "a100"}, taints, 96, "1Ti", 8, 50)


def test_a_node_is_tainted_unless_it_says_otherwise() -> None:
    assert kwok_node({"name": "n"}).taints == (KWOK_TAINT,)
    assert kwok_node({"name": "n", "taints": []}).taints == ()


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ({}, "needs a name"),
        ({"name": ""}, "name of a kwok node cannot be '': write small letters"),
        ({"name": "G_1"}, "name of a kwok node cannot be 'G_1': write small letters"),
        ({"name": "n", "gpu": 1}, "has no 'gpu': its keys are name, labels"),
        ({"name": "n", "gpus": -1}, "gpus of a kwok node cannot be -1: write a whole number"),
        ({"name": "n", "cpu": True}, "cpu of a kwok node cannot be True"),
        ({"name": "n", "cpu": "4"}, "cpu of a kwok node cannot be '4'"),
        ({"name": "n", "memory": 4}, "write a quantity such as 256Gi"),
        ({"name": "n", "memory": "5XX"}, "write a quantity such as 256Gi"),
        ({"name": "n", "labels": ["a"]}, "write a mapping of label keys to label values"),
        ({"name": "n", "labels": {"a": 1}}, "write a mapping of label keys to label values"),
        ({"name": "n", "labels": {"a b": "c"}}, "write a mapping of label keys to label values"),
        ({"name": "n", "taints": "a=b:NoSchedule"}, "write a list of key=value:Effect"),
        ({"name": "n", "taints": ["a=b"]}, "'a=b' is not a taint"),
    ],
)
def test_what_is_wrong_with_a_node_is_said(value: dict[str, Any], message: str) -> None:
    with pytest.raises(ClusterError, match=message):
        kwok_node(value)


def test_nodes_by_their_number() -> None:
    assert [node.name for node in kwok_nodes_from_option("2")] == ["kwok-1", "kwok-2"]


def test_nodes_of_a_file(tmp_path: Path) -> None:
    file = tmp_path / "nodes.yaml"
    file.write_text("- {name: a, gpus: 8}\n- {name: b}\n")
    assert kwok_nodes_from_option(str(file)) == (KwokNode("a", gpus=8), KwokNode("b"))


@pytest.mark.parametrize(
    ("text", "message"),
    [("name: a", "YAML list"), ("- a", "YAML list"), ("- {name: [", "cannot be read")],
)
def test_a_file_that_holds_no_nodes(tmp_path: Path, text: str, message: str) -> None:
    file = tmp_path / "nodes.yaml"
    file.write_text(text)
    with pytest.raises(ClusterError, match=message):
        kwok_nodes_from_option(str(file))


@pytest.mark.parametrize(("text", "found"), [("", {}), ("a: {b: 1}", {"a": {"b": 1}})])
def test_a_mapping(tmp_path: Path, text: str, found: dict[str, Any]) -> None:
    (tmp_path / "a.yaml").write_text(text)
    assert read_mapping(tmp_path / "a.yaml") == found


def test_not_a_mapping(tmp_path: Path) -> None:
    (tmp_path / "a.yaml").write_text("- a")
    with pytest.raises(ClusterError, match="must hold a YAML mapping"):
        read_mapping(tmp_path / "a.yaml")


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(ClusterError, match=r"absent\.yaml cannot be read"):
        kwok_nodes_from_option(str(tmp_path / "absent.yaml"))
