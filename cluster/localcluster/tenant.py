"""A team on a cluster: a namespace, the chart's release in it, and its apply identity."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcluster.errors import ClusterError
from localcluster.kubectl import Kubectl

CHART = Path(__file__).parents[2] / "charts" / "campaign-queue"


@dataclass(frozen=True)
class Tenant:
    """A namespace whose release and queue have the same name."""

    kubectl: Kubectl
    helm: Path
    namespace: str
    queue: str

    @property
    def exists(self) -> bool:
        """Whether the namespace is there."""
        name = self.kubectl.run(
            "get", "namespace", self.namespace, "--ignore-not-found", "--output=name"
        )
        return bool(name)

    def install(self, values: Mapping[str, Any]) -> None:
        """Create the namespace, Pod Security "restricted", and install or upgrade the release.

        Raises ClusterError with what helm said.
        """
        labels = {"pod-security.kubernetes.io/enforce": "restricted"}
        metadata = {"name": self.namespace, "labels": labels}
        self.kubectl.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])
        # No registry could give the local image a digest.
        settings = {
            **values,
            "queue": {"name": self.queue, **values.get("queue", {})},
            "security": {"allowImageTags": True, **values.get("security", {})},
        }
        self.run_helm(
            "upgrade",
            "--install",
            self.queue,
            str(CHART),
            f"--namespace={self.namespace}",
            "--wait",
            *(f"--set-json={key}={json.dumps(value)}" for key, value in settings.items()),
        )
        self.kubectl.run(
            "wait", "--for=condition=Active", "--timeout=60s", f"clusterqueue/{self.queue}-cq"
        )

    def remove(self) -> None:
        """Delete the Jobs, the release and the namespace; Kueue lets go of the queue by itself."""
        namespace = f"--namespace={self.namespace}"
        self.kubectl.run("delete", "jobs", "--all", namespace, "--wait=false")
        self.run_helm("uninstall", self.queue, namespace, "--ignore-not-found")
        self.kubectl.run("delete", "namespace", self.namespace, "--wait=false")

    def run_helm(self, *arguments: str) -> str:
        """helm as the administrator; raises ClusterError with what it said where it fails."""
        environment = {
            "HOME": str(Path.home()),
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(self.kubectl.kubeconfig),
        }
        done = subprocess.run(
            [self.helm, *arguments], env=environment, capture_output=True, text=True, check=False
        )
        if done.returncode:
            raise ClusterError(f"helm {arguments[0]}: {done.stderr.strip()[-1500:]}")
        return done.stdout

    def write_kubeconfig(self, path: Path, *, account: str = "", duration: str = "24h") -> None:
        """A kubeconfig of the release's apply identity, or of another ServiceAccount, in `path`.

        Its token ends by itself after `duration`, and nobody else may read the file.
        """
        user = account or f"{self.queue}-apply"
        token = self.kubectl.run(
            "create", "token", user, f"--namespace={self.namespace}", f"--duration={duration}"
        ).strip()
        view = self.kubectl.run("config", "view", "--minify", "--raw", "--flatten", "--output=json")
        cluster = json.loads(view)["clusters"][0]["cluster"]
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "cluster", "cluster": cluster}],
            "users": [{"name": user, "user": {"token": token}}],
            "contexts": [
                {
                    "name": user,
                    "context": {"cluster": "cluster", "user": user, "namespace": self.namespace},
                }
            ],
            "current-context": user,
        }
        path.unlink(missing_ok=True)
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(descriptor, "w") as file:
            json.dump(config, file)

    def logs(self, pod: str) -> str:
        """What a pod wrote."""
        return self.kubectl.run("logs", pod, f"--namespace={self.namespace}")
