"""kubectl, for what is applied and for what has no simpler way."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcluster.errors import ClusterError


@dataclass(frozen=True)
class Kubectl:
    """A kubectl command and the cluster that it talks to."""

    command: Path
    kubeconfig: Path

    def run(self, *arguments: str, stdin: str | None = None) -> str:
        """Its output; raises ClusterError with what it said where it fails."""
        done = subprocess.run(
            [self.command, f"--kubeconfig={self.kubeconfig}", *arguments],
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode:
            raise ClusterError(f"kubectl {' '.join(arguments)}: {done.stderr.strip()[-1500:]}")
        return done.stdout

    def apply(self, objects: Iterable[Mapping[str, Any]] | str) -> None:
        """Server-side apply of objects or YAML documents, as the field manager `localcluster`."""
        documents = objects if isinstance(objects, str) else _as_list(objects)
        self.run(
            "apply",
            "--server-side",
            "--force-conflicts",
            "--field-manager=localcluster",
            "--filename=-",
            stdin=documents,
        )

    def kustomize(self, directory: Path) -> str:
        """The YAML documents that a kustomization makes."""
        return self.run("kustomize", str(directory))


def _as_list(objects: Iterable[Mapping[str, Any]]) -> str:
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": list(objects)})
