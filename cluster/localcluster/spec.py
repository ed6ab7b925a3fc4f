"""What a cluster is asked to be, as frozen values that are kept as JSON."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML
from ruamel.yaml.error import YAMLError

from localcluster.errors import ClusterError

GPU = "nvidia.com/gpu"

# The API server's own rules, checked before anything is kept or started.
NODE_NAME = r"[a-z0-9]([-a-z0-9.]{0,251}[a-z0-9])?"
LABEL_KEY = r"([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
LABEL_VALUE = r"([A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?)?"
QUANTITY = r"[0-9]+(\.[0-9]+)?([kMGTPE]|[KMGTPE]i)?"

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
    """A cluster. `kueue_config` is merged into Kueue's Configuration (RFC 7386).

    `trainer`: also Kubeflow Trainer, and JobSet, which it makes its pods with.
    """

    mode: Mode = Mode.FULL
    real_node: RealNode = field(default_factory=RealNode)
    kwok_nodes: tuple[KwokNode, ...] = ()
    kueue_config: Mapping[str, Any] = field(default_factory=dict)
    trainer: bool = False


def spec_to_json(spec: Spec) -> dict[str, Any]:
    """The spec as plain values."""
    return {
        "mode": spec.mode.value,
        "real_node": _node_to_json(spec.real_node),
        "kwok_nodes": [_node_to_json(node) for node in spec.kwok_nodes],
        "kueue_config": dict(spec.kueue_config),
        "trainer": spec.trainer,
    }


def spec_from_json(value: Mapping[str, Any]) -> Spec:
    """The opposite of `spec_to_json`."""
    return Spec(
        mode=Mode(value["mode"]),
        real_node=RealNode(**value["real_node"]),
        kwok_nodes=tuple(kwok_node(node) for node in value["kwok_nodes"]),
        kueue_config=value["kueue_config"],
        trainer=value.get("trainer", False),
    )


def _node_to_json(node: RealNode | KwokNode) -> dict[str, Any]:
    return {**vars(node), "labels": dict(node.labels)}


def kwok_node(value: Mapping[str, Any]) -> KwokNode:
    """A fake node from plain values, as in a file of them; what is left out has its default.

    Raises ClusterError, naming the key, where one is unknown or its value is not fit for it.
    """
    for key, item in value.items():
        if key not in NODE_KEYS:
            raise ClusterError(f"a kwok node has no {key!r}: its keys are {', '.join(NODE_KEYS)}")
        if not NODE_KEYS[key].fits(item):
            raise ClusterError(
                f"{key} of a kwok node cannot be {item!r}: write {NODE_KEYS[key].wanted}"
            )
    if not value.get("name"):
        raise ClusterError(f"a kwok node needs a name: {dict(value)}")
    node = KwokNode(**{**value, "taints": tuple(value.get("taints", (KWOK_TAINT,)))})
    for taint in node.taints:
        parse_taint(taint)
    return node


@dataclass(frozen=True)
class _Key:
    """What a key of a node in a file can be, and how to write it."""

    wanted: str
    fits: Callable[[Any], bool]


def _is_text(value: Any, pattern: str = ".+") -> bool:
    return isinstance(value, str) and re.fullmatch(pattern, value) is not None


def _is_labels(value: Any) -> bool:
    return isinstance(value, Mapping) and all(
        _is_text(key, LABEL_KEY) and _is_text(item, LABEL_VALUE) for key, item in value.items()
    )


def _is_taints(value: Any) -> bool:
    return isinstance(value, list | tuple) and all(map(_is_text, value))


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


NODE_KEYS = {
    "name": _Key("small letters, digits, '-' and '.'", partial(_is_text, pattern=NODE_NAME)),
    "labels": _Key("a mapping of label keys to label values", _is_labels),
    "taints": _Key("a list of key=value:Effect", _is_taints),
    "cpu": _Key("a whole number of cores", _is_count),
    "memory": _Key("a quantity such as 256Gi", partial(_is_text, pattern=QUANTITY)),
    "gpus": _Key("a whole number", _is_count),
    "pods": _Key("a whole number", _is_count),
}


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


def read_mapping(path: Path) -> dict[str, Any]:
    """The one mapping of a YAML file, empty for an empty file; raises ClusterError."""
    found = read_yaml(path)
    if found is not None and not isinstance(found, dict):
        raise ClusterError(f"{path} must hold a YAML mapping")
    return found or {}


def parse_pairs(pairs: Iterable[str]) -> dict[str, str]:
    """Labels given as key=value."""
    parsed = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not equals or not _is_labels({key: value}):
            raise ClusterError(
                f"{pair!r} is not a label: write key=value, each of letters, digits, '-', '_' "
                "and '.'"
            )
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
