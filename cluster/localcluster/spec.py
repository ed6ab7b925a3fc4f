"""What a cluster is asked to be, as frozen values that are kept as JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from localcluster.errors import ClusterError

GPU = "nvidia.com/gpu"

KWOK_TAINT = "kwok.x-k8s.io/node=fake:NoSchedule"
"""Keeps pods that were meant for the real node off the fake ones."""


class Mode(StrEnum):
    """`full` has a real node and needs root; `kwok` has fake nodes only and does not."""

    FULL = "full"
    KWOK = "kwok"


@dataclass(frozen=True)
class RealNode:
    """The node that runs pods: this machine, with GPUs that exist in its status only."""

    name: str = "real-1"
    labels: Mapping[str, str] = field(default_factory=dict)
    gpus: int = 2


@dataclass(frozen=True)
class KwokNode:
    """A fake node. `taints` are written key=value:Effect, `memory` is a Kubernetes quantity."""

    name: str
    labels: Mapping[str, str] = field(default_factory=dict)
    taints: tuple[str, ...] = (KWOK_TAINT,)
    cpu: int = 32
    memory: str = "256Gi"
    gpus: int = 0
    pods: int = 110


@dataclass(frozen=True)
class Spec:
    """A cluster. `kueue_config` is merged into Kueue's Configuration (RFC 7386)."""

    mode: Mode = Mode.FULL
    real_node: RealNode = field(default_factory=RealNode)
    kwok_nodes: tuple[KwokNode, ...] = ()
    kueue_config: Mapping[str, Any] = field(default_factory=dict)


def spec_to_json(spec: Spec) -> dict[str, Any]:
    """The spec as plain values."""
    return {
        "mode": spec.mode.value,
        "real_node": _node_to_json(spec.real_node),
        "kwok_nodes": [_node_to_json(node) for node in spec.kwok_nodes],
        "kueue_config": dict(spec.kueue_config),
    }


def spec_from_json(value: Mapping[str, Any]) -> Spec:
    """The opposite of `spec_to_json`."""
    return Spec(
        mode=Mode(value["mode"]),
        real_node=RealNode(**value["real_node"]),
        kwok_nodes=tuple(kwok_node(node) for node in value["kwok_nodes"]),
        kueue_config=value["kueue_config"],
    )


def _node_to_json(node: RealNode | KwokNode) -> dict[str, Any]:
    return {**vars(node), "labels": dict(node.labels)}


def kwok_node(value: Mapping[str, Any]) -> KwokNode:
    """A fake node from plain values, as in a file of them.

    Raises ClusterError, naming the key, where one is unknown or has the wrong type.
    """
    types = {
        "name": str,
        "labels": dict,
        "taints": (list, tuple),
        "cpu": int,
        "memory": str,
        "gpus": int,
        "pods": int,
    }
    for key, item in value.items():
        if key not in types:
            raise ClusterError(f"a kwok node has no {key!r}: its keys are {', '.join(types)}")
        if not isinstance(item, types[key]):  # type: ignore[arg-type]
            raise ClusterError(f"{key} of a kwok node cannot be {item!r}")
    if not value.get("name"):
        raise ClusterError(f"a kwok node needs a name: {dict(value)}")
    return KwokNode(**{**value, "taints": tuple(value.get("taints", (KWOK_TAINT,)))})


def kwok_nodes_from_option(text: str) -> tuple[KwokNode, ...]:
    """The nodes that `--kwok-nodes` names: a number of default ones, or a YAML file with a list."""
    if text.isdigit():
        return tuple(KwokNode(f"kwok-{number}") for number in range(1, int(text) + 1))
    nodes = read_yaml(Path(text))
    if not isinstance(nodes, list) or not all(isinstance(node, dict) for node in nodes):
        raise ClusterError(f"{text} must hold a YAML list of nodes, each a mapping with a name")
    return tuple(kwok_node(node) for node in nodes)


def read_yaml(path: Path) -> Any:
    """The one document of a YAML file; raises ClusterError where it cannot be read."""
    try:
        return YAML(typ="safe").load(path)
    except (OSError, YAMLError) as error:
        raise ClusterError(f"{path} cannot be read: {error}") from error


def parse_pairs(pairs: Iterable[str]) -> dict[str, str]:
    """Labels given as key=value."""
    parsed = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not key or not equals:
            raise ClusterError(f"{pair!r} is not a label: write key=value")
        parsed[key] = value
    return parsed


def parse_taint(text: str) -> dict[str, str]:
    """A taint given as key[=value]:Effect, as the API has it."""
    pair, colon, effect = text.rpartition(":")
    key, _, value = pair.partition("=")
    if not key or not colon or effect not in ("NoSchedule", "PreferNoSchedule", "NoExecute"):
        raise ClusterError(
            f"{text!r} is not a taint: write key=value:Effect, with the effect NoSchedule, "
            "PreferNoSchedule or NoExecute"
        )
    return {"key": key, "effect": effect} | ({"value": value} if value else {})
