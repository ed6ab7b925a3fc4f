"""Ports of 127.0.0.1 that no other Slurm of this user has, also while its daemons are down."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path

from localcluster.lock import held
from localcluster.network import choose_ports, port_is_free
from localcluster.paths import state_root
from localcluster.progress import Progress

PORTS = range(30000, 32768)
"""Above those of the local clusters, and below those that Linux gives to outgoing connections."""


def reserve(names: Iterable[str], directory: Path) -> dict[str, int]:
    """A port for each name, given to the Slurm in `directory` for as long as that exists.

    Raises ClusterError where there are not enough.
    """
    book = slurm_root() / ".ports"
    seed = hashlib.sha256(str(directory).encode()).hexdigest()
    with held(slurm_root() / ".ports.lock", "new ports", Progress(quiet=True)):
        book.mkdir(exist_ok=True)
        ports = choose_ports(names, seed, _taken(book), port_is_free, PORTS)
        entry = {"directory": str(directory), "ports": [*ports.values()]}
        new = book / f"{seed}.new"
        new.write_text(json.dumps(entry))
        new.rename(book / f"{seed}.json")
    return ports


def slurm_root() -> Path:
    """The directory of the Slurm instances of this user, beside those of its local clusters."""
    return state_root() / "slurm"


def _taken(book: Path) -> set[int]:
    """The ports of every other Slurm; forgets those that are gone."""
    taken: set[int] = set()
    for path in book.glob("*.json"):
        entry = json.loads(path.read_text())
        if Path(entry["directory"]).exists():
            taken.update(entry["ports"])
        else:
            path.unlink()
    return taken
