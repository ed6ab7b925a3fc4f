"""Where things are: the checkout's modules, the machine-wide cache, one instance's state."""

from __future__ import annotations

import hashlib
import os
import re
from pathlib import Path

from localcluster.errors import ClusterError

CLUSTER_DIR = Path(__file__).resolve().parent.parent
MODULES_DIR = CLUSTER_DIR / "modules"


def _xdg(variable: str, default: str) -> Path:
    value = os.environ.get(variable, "")
    # The XDG base directory specification: a relative path is to be ignored.
    return Path(value) if value.startswith("/") else Path.home() / default


def cache_dir() -> Path:
    """The binaries and images, shared by every checkout of this user."""
    return _xdg("XDG_CACHE_HOME", ".cache") / "gitops-campaigns"


def state_root() -> Path:
    """The directory that holds every instance of this user."""
    return _xdg("XDG_STATE_HOME", ".local/state") / "gitops-campaigns"


def instance_id(instance: str, checkout: Path = CLUSTER_DIR) -> str:
    """The name of an instance, unique on the machine: two checkouts can both have a `dev`.

    Raises ClusterError where it cannot be part of the name of a directory, a control group and a
    kind cluster, of which 50 characters are the most.
    """
    if not re.fullmatch(r"[a-z0-9]([a-z0-9-]{0,22}[a-z0-9])?", instance):
        raise ClusterError(
            f"{instance!r} is not a name for an instance: write up to 24 small letters, digits "
            "and dashes, such as dev"
        )
    return f"{instance}-{hashlib.sha256(str(checkout).encode()).hexdigest()[:8]}"


def state_dir(instance: str, checkout: Path = CLUSTER_DIR) -> Path:
    """The directory of one instance of one checkout."""
    return state_root() / instance_id(instance, checkout)
