"""The cluster of the current kubeconfig context: looked at, never changed."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path

from localcluster.errors import ClusterError

KUEUE_GROUP = "kueue.x-k8s.io"


def kubeconfig() -> str:
    """The kubeconfig files that kubectl uses, as in $KUBECONFIG."""
    return os.environ.get("KUBECONFIG") or str(Path.home() / ".kube" / "config")


def check() -> str:
    """Says which context it is and what Kueue serves there.

    Raises ClusterError where there is no kubectl or no context, or the cluster or Kueue does not
    answer.
    """
    if shutil.which("kubectl") is None:
        raise ClusterError("CLUSTER=current needs kubectl on the PATH")
    context = _kubectl("config", "current-context").strip()
    groups = _kubectl("get", "--raw=/apis", "--request-timeout=10s")
    versions = served_versions(groups)
    if not versions:
        raise ClusterError(f"the cluster of context {context!r} does not serve {KUEUE_GROUP}")
    return f"context {context}: Kueue serves {KUEUE_GROUP}/{', '.join(versions)}"


def served_versions(api_group_list: str) -> list[str]:
    """The versions of Kueue's API in an APIGroupList, the preferred one first."""
    for group in json.loads(api_group_list)["groups"]:
        if group["name"] == KUEUE_GROUP:
            return [version["version"] for version in group["versions"]]
    return []


def _kubectl(*arguments: str) -> str:
    done = subprocess.run(["kubectl", *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ClusterError(f"kubectl {arguments[0]} failed: {done.stderr.strip()[-800:]}")
    return done.stdout
