"""Processes that outlive the command that started them, told from any that reuse their pid."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

MARKER = "GITOPS_CAMPAIGNS_CLUSTER"
"""An environment variable that every process started here has, holding a directory of its instance.

containerd hands its environment on to the shims that it starts, and they outlive it.
"""

_children: dict[int, subprocess.Popen[bytes]] = {}
"""Children of this very process, which have to be waited for once they have ended."""


@dataclass(frozen=True)
class ProcessId:
    """A process: its start time (clock ticks since boot) and boot tell it from a later one."""

    pid: int
    start_time: int
    boot_id: str


def boot_id() -> str:
    """The random id that the kernel draws at each boot."""
    return Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def parse_stat(stat: str) -> tuple[str, int]:
    """The state letter and the start time of a /proc/PID/stat, see proc(5) fields 3 and 22.

    The command in parentheses can hold spaces and parentheses itself.
    """
    fields = stat[stat.rindex(")") + 2 :].split()
    return fields[0], int(fields[19])


def identify(pid: int) -> ProcessId | None:
    """The running process with this pid, or None; a zombie does not run."""
    if (child := _children.get(pid)) and child.poll() is not None:
        del _children[pid]
    try:
        state, start_time = parse_stat(Path(f"/proc/{pid}/stat").read_text())
    except (FileNotFoundError, ProcessLookupError):
        return None
    return None if state in "ZX" else ProcessId(pid, start_time, boot_id())


def is_running(process: ProcessId) -> bool:
    """Whether that very process runs, not another one that was given its pid."""
    return identify(process.pid) == process


def spawn(
    argv: Iterable[str], *, log: Path, environment: Mapping[str, str], directory: Path
) -> ProcessId:
    """Start a process in a session of its own, with both outputs appended to `log`.

    Of the caller's environment it gets PATH alone: a proxy or a KUBECONFIG set there is not for it.
    """
    with log.open("ab") as output:
        child = subprocess.Popen(
            [*argv],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            cwd=directory,
            env={"PATH": os.environ["PATH"], **environment},
            start_new_session=True,
        )
    _children[child.pid] = child
    # Its parent has not waited for it, so the pid is still its own even if it has ended.
    _, start_time = parse_stat(Path(f"/proc/{child.pid}/stat").read_text())
    return ProcessId(child.pid, start_time, boot_id())


def stop(process: ProcessId, grace: float) -> None:
    """End a process: SIGTERM, and SIGKILL when `grace` seconds have not been enough."""
    if not is_running(process):
        return
    _signal(process.pid, signal.SIGTERM)
    if not wait_until_gone([process], grace):
        kill([process])


def kill(processes: Iterable[ProcessId]) -> None:
    """End processes with SIGKILL and wait until they are gone."""
    targets = [process for process in processes if is_running(process)]
    for process in targets:
        _signal(process.pid, signal.SIGKILL)
    wait_until_gone(targets, 10)


def wait_until_gone(processes: Iterable[ProcessId], timeout: float) -> bool:
    """Whether all of them have ended within `timeout` seconds."""
    deadline = time.monotonic() + timeout
    remaining = list(processes)
    while remaining := [process for process in remaining if is_running(process)]:
        if time.monotonic() > deadline:
            return False
        time.sleep(0.02)
    return True


def marked_with(directory: Path) -> Iterator[ProcessId]:
    """The processes that have this directory in their marker."""
    return with_variable(MARKER, str(directory))


def with_variable(name: str, value: str) -> Iterator[ProcessId]:
    """The processes that have this variable of the environment, as it was when they started."""
    wanted = f"{name}={value}".encode()
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            environment = (entry / "environ").read_bytes().split(b"\0")
        except (FileNotFoundError, PermissionError, ProcessLookupError):
            continue
        if wanted in environment and (process := identify(int(entry.name))):
            yield process


def _signal(pid: int, number: signal.Signals) -> None:
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        return
