"""Control groups of the real node's pods, in each hierarchy of cgroup v1 and in that of v2."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from localcluster import process
from localcluster.errors import ClusterError

CONTROLLERS = ("cpu", "cpuset", "memory", "pids", "hugetlb")
"""What the kubelet sets limits with."""


@dataclass(frozen=True)
class Hierarchy:
    """A mounted tree of control groups; `unified` is cgroup v2."""

    mount_point: Path
    unified: bool


def parse_mounts(mountinfo: str) -> list[Hierarchy]:
    """The hierarchies in a /proc/PID/mountinfo, see proc(5): the type follows the lone dash."""
    hierarchies = []
    for line in mountinfo.splitlines():
        before, _, after = line.partition(" - ")
        file_system = after.split(" ", 1)[0]
        if file_system in ("cgroup", "cgroup2"):
            hierarchies.append(Hierarchy(Path(before.split(" ")[4]), file_system == "cgroup2"))
    return hierarchies


def hierarchies() -> list[Hierarchy]:
    """The hierarchies that this process sees."""
    return parse_mounts(Path("/proc/self/mountinfo").read_text())


def create(name: str) -> None:
    """Make the group; the kubelet wants it to be there, with its controllers.

    Raises ClusterError where the kernel does not let us.
    """
    for hierarchy in hierarchies():
        group = hierarchy.mount_point / name
        try:
            if hierarchy.unified:
                _enable_controllers(hierarchy.mount_point)
            group.mkdir(exist_ok=True)
            if hierarchy.unified:
                _enable_controllers(group)
        except OSError as error:
            raise ClusterError(
                f"the control group {group} cannot be made ({error.strerror}): a real node needs "
                "to be root of the machine or of a privileged container; or use `--mode kwok`"
            ) from error


def remove(name: str, timeout: float = 10.0) -> None:
    """End every process in the group and remove it, with the groups below it."""
    groups = [hierarchy.mount_point / name for hierarchy in hierarchies()]
    deadline = time.monotonic() + timeout
    while any(group.exists() for group in groups) and time.monotonic() < deadline:
        process.kill(found for group in groups for found in _processes(group))
        for group in groups:
            _remove_tree(group)


def exists(name: str) -> bool:
    """Whether any hierarchy has the group."""
    return any((hierarchy.mount_point / name).exists() for hierarchy in hierarchies())


def _enable_controllers(group: Path) -> None:
    available = (group / "cgroup.controllers").read_text().split()
    enabled = (group / "cgroup.subtree_control").read_text().split()
    for controller in CONTROLLERS:
        if controller in available and controller not in enabled:
            (group / "cgroup.subtree_control").write_text(f"+{controller}")


def _processes(group: Path) -> Iterator[process.ProcessId]:
    for listing in group.rglob("cgroup.procs"):
        # A group can be gone by the time that it is read.
        with contextlib.suppress(OSError):
            for pid in listing.read_text().split():
                if found := process.identify(int(pid)):
                    yield found


def _remove_tree(group: Path) -> None:
    """Only directories can be removed, and only when no process is left in them."""
    if not group.exists():
        return
    below = [path for path in group.rglob("*") if path.is_dir()]
    for path in (*reversed(below), group):
        with contextlib.suppress(OSError):
            path.rmdir()
