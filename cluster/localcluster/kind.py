"""The same cluster by `kind`, for machines with a Docker engine.

Kueue comes from its release's manifests, as a Deployment; the audit log is on this machine, as that
of the local cluster is. There are no kwok nodes, and no components to stop by hand.
"""

from __future__ import annotations

import io
import json
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from localcluster.build import PRODUCTS, pinned_version
from localcluster.controlplane import audit_policy
from localcluster.errors import ClusterError
from localcluster.kueue import merge
from localcluster.paths import MODULES_DIR, instance_id, state_root
from localcluster.progress import Progress
from localcluster.spec import GPU, Spec

NODE_IMAGE = (
    "kindest/node:v1.35.0@sha256:452d707d4862f52530247495d180205e029056831160e22870e37e3f6c1ac31f"
)
"""The image that kind v0.31.0 was released with, and this digest is in that release's notes."""

MANIFESTS = "https://github.com/kubernetes-sigs/kueue/releases/download/{version}/manifests.yaml"

KUEUE_NAMESPACE = "--namespace=kueue-system"
KUEUE_CONFIG_MAP = "kueue-manager-config"
KUEUE_CONFIG_KEY = "controller_manager_config.yaml"
KUEUE_DEPLOYMENT = "deployment/kueue-controller-manager"

POLICY_FILE = "/etc/kubernetes/audit/policy.yaml"
AUDIT_DIRECTORY = "/var/log/kubernetes"
AUDIT_LOG = f"{AUDIT_DIRECTORY}/audit.log"


@dataclass(frozen=True)
class KindCluster:
    """A kind cluster of one instance of this checkout."""

    name: str
    progress: Progress

    @property
    def cluster_name(self) -> str:
        """What kind and Docker call it."""
        return f"gitops-campaigns-{instance_id(self.name)}"

    @property
    def directory(self) -> Path:
        """The kubeconfig, the configuration and the audit log."""
        return state_root() / f"{instance_id(self.name)}-kind"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.directory / "kubeconfig"

    def up(self, spec: Spec) -> None:
        """Create the cluster if it is not there, and install Kueue.

        Raises ClusterError where a command is missing or fails, or the spec has kwok nodes.
        """
        if spec.kwok_nodes:
            raise ClusterError("kwok nodes need the local cluster: leave CLUSTER=kind out")
        _require("docker", "kind", "kubectl")
        (self.directory / "audit").mkdir(parents=True, exist_ok=True)
        (self.directory / "policy.yaml").write_text(json.dumps(audit_policy()))
        config = self.directory / "kind.yaml"
        config.write_text(json.dumps(kind_config(self.directory, spec), indent=2))
        if self.cluster_name not in _run(("kind", "get", "clusters")).split():
            with self.progress.step(f"kind cluster {self.cluster_name}", slow=True):
                _run(self.create_command(config))
        with self.progress.step("Kueue", slow=True):
            _run(self.kubectl("apply", "--server-side", f"--filename={kueue_manifests()}"))
            if spec.kueue_config:
                self._configure_kueue(spec.kueue_config)
            _run(self.kubectl("rollout", "status", KUEUE_NAMESPACE, KUEUE_DEPLOYMENT))
        _run(self.gpu_command(spec))

    def down(self) -> None:
        """Delete the cluster and its files."""
        _require("docker", "kind")
        _run(("kind", "delete", "cluster", f"--name={self.cluster_name}"))
        shutil.rmtree(self.directory, ignore_errors=True)

    def status(self) -> str:
        """The nodes, and Kueue's Deployment."""
        _require("docker", "kind", "kubectl")
        nodes = _run(self.kubectl("get", "nodes", "--output=wide"))
        return nodes + _run(self.kubectl("get", KUEUE_NAMESPACE, KUEUE_DEPLOYMENT))

    def kubectl(self, *arguments: str) -> tuple[str, ...]:
        """A kubectl command for this cluster."""
        return ("kubectl", f"--kubeconfig={self.kubeconfig}", *arguments)

    def create_command(self, config: Path) -> tuple[str, ...]:
        """The command that creates the cluster."""
        name, kubeconfig = f"--name={self.cluster_name}", f"--kubeconfig={self.kubeconfig}"
        return ("kind", "create", "cluster", name, f"--config={config}", kubeconfig, "--wait=180s")

    def gpu_command(self, spec: Spec) -> tuple[str, ...]:
        """The command that gives the node GPUs which exist in its status only."""
        count = {GPU: str(spec.real_node.gpus)}
        patch = json.dumps({"status": {"capacity": count, "allocatable": count}})
        node = f"{self.cluster_name}-control-plane"
        return self.kubectl("patch", "node", node, "--subresource=status", f"--patch={patch}")

    def _configure_kueue(self, changes: Mapping[str, Any]) -> None:
        found = _run(
            self.kubectl("get", "configmap", KUEUE_NAMESPACE, KUEUE_CONFIG_MAP, "--output=json")
        )
        changed = with_kueue_config(json.loads(found), changes)
        patch = json.dumps({"data": changed["data"]})
        patched = (KUEUE_NAMESPACE, KUEUE_CONFIG_MAP, f"--patch={patch}")
        _run(self.kubectl("patch", "configmap", *patched))
        _run(self.kubectl("rollout", "restart", KUEUE_NAMESPACE, KUEUE_DEPLOYMENT))


def kueue_manifests() -> str:
    """Where the manifests of the pinned Kueue release are."""
    product = PRODUCTS["kueue"]
    go_mod = (MODULES_DIR / product.name / "go.mod").read_text()
    return MANIFESTS.format(version=pinned_version(product, go_mod))


def kind_config(directory: Path, spec: Spec) -> dict[str, Any]:
    """kind's configuration: one node with the spec's labels, and the audit log in `directory`.

    kubeadm's v1beta3 form of extraArgs, a mapping, is what kind patches for every node image.
    """
    policy_volume = {
        "name": "audit-policy",
        "hostPath": POLICY_FILE,
        "mountPath": POLICY_FILE,
        "readOnly": True,
        "pathType": "File",
    }
    log_volume = {
        "name": "audit-log",
        "hostPath": AUDIT_DIRECTORY,
        "mountPath": AUDIT_DIRECTORY,
        "readOnly": False,
        "pathType": "DirectoryOrCreate",
    }
    cluster_configuration = {
        "kind": "ClusterConfiguration",
        "apiServer": {
            "extraArgs": {"audit-policy-file": POLICY_FILE, "audit-log-path": AUDIT_LOG},
            "extraVolumes": [policy_volume, log_volume],
        },
    }
    return {
        "apiVersion": "kind.x-k8s.io/v1alpha4",
        "kind": "Cluster",
        "nodes": [
            {
                "role": "control-plane",
                "image": NODE_IMAGE,
                "labels": dict(spec.real_node.labels),
                "extraMounts": [
                    {
                        "hostPath": str(directory / "policy.yaml"),
                        "containerPath": POLICY_FILE,
                        "readOnly": True,
                    },
                    {"hostPath": str(directory / "audit"), "containerPath": AUDIT_DIRECTORY},
                ],
                "kubeadmConfigPatches": [json.dumps(cluster_configuration)],
            }
        ],
    }


def with_kueue_config(config_map: Mapping[str, Any], changes: Mapping[str, Any]) -> dict[str, Any]:
    """Kueue's ConfigMap with the changes merged into the Configuration that it holds."""
    data = config_map["data"]
    configuration = merge(YAML(typ="safe").load(io.StringIO(data[KUEUE_CONFIG_KEY])), changes)
    return {**config_map, "data": {**data, KUEUE_CONFIG_KEY: json.dumps(configuration)}}


def _require(*commands: str) -> None:
    missing = [command for command in commands if shutil.which(command) is None]
    if missing:
        raise ClusterError(
            f"CLUSTER=kind needs {' and '.join(missing)} on the PATH; without a Docker engine, "
            "leave CLUSTER out and use the local cluster"
        )


def _run(command: tuple[str, ...]) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise ClusterError(f"{' '.join(command[:3])} failed: {done.stderr.strip()[-1500:]}")
    return done.stdout
