"""Starts the components of an instance, finds them again, and ends them."""

from __future__ import annotations

import hashlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path

from localcluster import process
from localcluster.errors import ClusterError
from localcluster.process import ProcessId

READY_TIMEOUT = 120.0
"""Seconds: a slow disk with two instances starting at once; on a free machine it is under 5."""

LOG_LIMIT = 50_000_000
"""Bytes after which a log is put aside when its component is started."""

LOG_LINES = 8
"""How many of a component's last lines are shown when it does not start."""


@dataclass(frozen=True)
class Component:
    """A process: its command, the configuration files that it reads, and how to see it is ready.

    `environment` is added to what every component has. `ready` is asked again and again until it
    says yes; it never raises.
    """

    name: str
    argv: tuple[str, ...]
    ready: Callable[[ProcessId], bool]
    directory: Path
    files: Mapping[Path, str] = field(default_factory=dict)
    environment: Mapping[str, str] = field(default_factory=dict)

    def fingerprint(self) -> str:
        """Changes when the process has to be started anew to follow its command or its files."""
        parts = [*self.argv, *(f"{path}\0{text}" for path, text in sorted(self.files.items()))]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()


@dataclass(frozen=True)
class _Record:
    process: ProcessId
    fingerprint: str


class Supervisor:
    """The processes of one instance, by the records in its `run` directory."""

    def __init__(self, state_dir: Path, run: Path, logs: Path) -> None:
        self._state_dir = state_dir
        self._run = run
        self._logs = logs

    def running(self, name: str) -> ProcessId | None:
        """The component's process, if it runs."""
        record = self._record(name)
        return record.process if record and process.is_running(record.process) else None

    def is_current(self, component: Component) -> bool:
        """Whether it runs with this very command and these files."""
        record = self._record(component.name)
        return (
            record is not None
            and record.fingerprint == component.fingerprint()
            and process.is_running(record.process)
        )

    def start(self, component: Component) -> ProcessId:
        """Start it, after ending one that runs with another command. Does not wait."""
        self.stop(component.name)
        for path, text in component.files.items():
            path.write_text(text)
        log = self.log(component.name)
        if log.exists() and log.stat().st_size > LOG_LIMIT:
            log.rename(log.with_suffix(".log.1"))
        started = process.spawn(
            component.argv,
            log=log,
            environment={process.MARKER: str(self._state_dir), **component.environment},
            directory=component.directory,
        )
        record = {"process": asdict(started), "fingerprint": component.fingerprint()}
        self._record_file(component.name).write_text(json.dumps(record))
        return started

    def wait(self, component: Component, timeout: float = READY_TIMEOUT) -> None:
        """Wait until it is ready.

        Raises ClusterError with its last words if it ends, or is not ready in `timeout` seconds.
        """
        deadline = time.monotonic() + timeout
        while True:
            started = self.running(component.name)
            if started is None:
                raise ClusterError(f"{component.name} ended. {self._last_words(component.name)}")
            if component.ready(started):
                return
            if time.monotonic() > deadline:
                words = self._last_words(component.name)
                raise ClusterError(f"{component.name} is not ready after {timeout:.0f} s. {words}")
            time.sleep(0.1)

    def stop(self, name: str, grace: float = 5.0) -> None:
        """End it and wait until it is gone."""
        if found := self.running(name):
            process.stop(found, grace)
        self._record_file(name).unlink(missing_ok=True)

    def kill(self, name: str) -> None:
        """End it with SIGKILL, as a crash would, leaving its record behind as a crash would."""
        if found := self.running(name):
            process.kill([found])

    def log(self, name: str) -> Path:
        """The component's log file."""
        return self._logs / f"{name}.log"

    def _last_words(self, name: str) -> str:
        log = self.log(name)
        lines = log.read_text(errors="replace").splitlines()[-LOG_LINES:] if log.exists() else []
        return "\n".join([f"Its log is {log}; it ends with:", *(f"    {line}" for line in lines)])

    def _record_file(self, name: str) -> Path:
        return self._run / f"{name}.json"

    def _record(self, name: str) -> _Record | None:
        try:
            value = json.loads(self._record_file(name).read_text())
            return _Record(ProcessId(**value["process"]), value["fingerprint"])
        except (FileNotFoundError, json.JSONDecodeError):
            # A record cut short by a crash of the machine is of a process that is gone with it.
            return None
