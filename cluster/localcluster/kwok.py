"""kwok: fake nodes, and pods on them that run only in their status."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from localcluster.api import answers
from localcluster.build import Built
from localcluster.instance import Instance
from localcluster.kueue import merge
from localcluster.spec import GPU, KwokNode, parse_taint, read_yaml
from localcluster.supervisor import Component

ANNOTATION = "kwok.x-k8s.io/node"

DEFINITIONS = ("crd/bases/kwok.x-k8s.io_stages.yaml", "rbac/*.yaml")
"""The only CRD that is enabled, and the controller's rights."""

STAGES = (
    "stage/node/fast/*.yaml",
    "stage/node/heartbeat-with-lease/*.yaml",
    "stage/pod/general/*.yaml",
    # Failures, asked for by a pod's labels and annotations.
    "stage/pod/chaos/*.yaml",
)

QUICK_END = {
    "spec": {
        "delay": {
            "durationMilliseconds": 500,
            "jitterDurationMilliseconds": 2000,
            "jitterDurationFrom": None,
        }
    }
}
"""A change of the stage `pod-delete`, which by itself takes any part of a pod's grace period."""


def node_manifest(node: KwokNode) -> dict[str, Any]:
    """The Node object of a fake node; kwok keeps the capacity that it is created with."""
    capacity = {
        "cpu": str(node.cpu),
        "memory": node.memory,
        "pods": str(node.pods),
        GPU: str(node.gpus),
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": node.name,
            "labels": {
                "kubernetes.io/hostname": node.name,
                "kubernetes.io/os": "linux",
                "kubernetes.io/arch": "amd64",
                "type": "kwok",
                **node.labels,
            },
            "annotations": {ANNOTATION: "fake"},
        },
        "spec": {"taints": [parse_taint(taint) for taint in node.taints]},
        "status": {"capacity": capacity, "allocatable": capacity},
    }


def configuration(instance: Instance, released: Any) -> dict[str, Any]:
    """kwok's configuration: the release's, but only for the Stages that are applied here."""
    options = {"enableCRDs": ["Stage"], "cidr": "198.19.0.0/16", "nodePort": None}
    configured: dict[str, Any] = merge(released, {"options": options})
    return configured


def kwok(instance: Instance, built: Built) -> Component:
    """The kwok controller."""
    config = instance.etc / "kwok.yaml"
    released = read_yaml(built.path / "kustomize/kwok/kwok.yaml")
    health = instance.url("kwok", "http")
    return Component(
        name="kwok",
        argv=(
            str(built.binary("kwok")),
            f"--config={config}",
            f"--kubeconfig={instance.pki / 'kwok.kubeconfig'}",
            f"--server-address=127.0.0.1:{instance.ports['kwok']}",
            "--node-ip=127.0.0.1",
        ),
        ready=lambda _: answers(f"{health}/healthz"),
        directory=instance.directory,
        files={config: json.dumps(configuration(instance, released))},
    )


def manifests(built: Built, patterns: Iterable[str]) -> list[dict[str, Any]]:
    """The objects in these files of kwok's release; each file has one."""
    source = built.path / "kustomize"
    paths = (path for pattern in patterns for path in sorted(source.glob(pattern)))
    return [read_yaml(path) for path in paths if path.name != "kustomization.yaml"]


def stages(built: Built) -> list[dict[str, Any]]:
    """The Stages; a pod that is deleted goes as quickly as one that minds its SIGTERM."""
    return [
        merge(stage, QUICK_END) if stage["metadata"]["name"] == "pod-delete" else stage
        for stage in manifests(built, STAGES)
    ]
