"""One Slurm: start it, ask it, take its controller away, end it."""

from __future__ import annotations

import json
import os
import secrets
import shutil
import stat
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from localcluster.bringup import wait_until
from localcluster.errors import ClusterError
from localcluster.network import answers
from localcluster.paths import CLUSTER_DIR
from localcluster.progress import Progress
from localcluster.sshd import NAME as SSHD
from localcluster.supervisor import Component, Supervisor

from localslurm import config, ports
from localslurm.config import CONTROLLER, Files, Options
from localslurm.ending import end, supervisor_of
from localslurm.packages import SlurmTools, ensure_slurm

MUNGED = "munged"
THERE = frozenset({"idle", "mix", "alloc", "comp", "drain", "drng"})
"""The states, as sinfo has them, of a node whose slurmd has told the controller what it has."""

SECONDS = 30
"""For its nodes to be idle after a start, which takes less than one on a free machine."""


@dataclass(frozen=True)
class Slurm:
    """A Slurm in a directory of its own. `ports` are those of its daemons, on this machine."""

    directory: Path
    options: Options
    ports: Mapping[str, int]
    tools: SlurmTools

    @cached_property
    def files(self) -> Files:
        """Where its files are."""
        return Files(self.directory)

    @cached_property
    def supervisor(self) -> Supervisor:
        """Its processes: munged, slurmctld, a slurmd by the name of each node, and sshd."""
        return supervisor_of(self.files)

    @property
    def bin(self) -> Path:
        """A directory for PATH, which is all that its clients need."""
        return self.files.bin

    def env(self) -> dict[str, str]:
        """The variables that a client's environment needs beside what it has."""
        return {"PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}

    def run(self, argv: Sequence[str], **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a client's command, as `["sbatch", "job.sh"]`; `options` are subprocess.run's."""
        return subprocess.run(
            argv,
            **{
                "env": {**os.environ, **self.env()},
                "cwd": self.files.home,
                "capture_output": True,
                "text": True,
                "check": False,
                **options,
            },
        )

    def ask(self, *argv: str) -> str:
        """What a client's command prints; raises ClusterError with what it says if it fails."""
        done = self.run(argv)
        if done.returncode:
            raise ClusterError(f"{' '.join(argv)} failed: {done.stderr.strip()}")
        return done.stdout

    def submit(self, command: str, *arguments: str) -> int:
        """The id of a new job that runs a line of shell; `arguments` are sbatch's."""
        batch = ("sbatch", "--parsable", "--output=/dev/null", *arguments, f"--wrap={command}")
        return int(self.ask(*batch))

    def jobs(self) -> list[dict[str, Any]]:
        """The jobs that the controller knows, as `squeue --json` has them.

        Raises ClusterError where it does not answer, which squeue itself reports as no jobs.
        """
        answer = json.loads(self.ask("squeue", "--json"))
        if answer["errors"]:
            raise ClusterError(f"squeue --json failed: {answer['errors']}")
        found: list[dict[str, Any]] = answer["jobs"]
        return found

    def nodes(self) -> dict[str, str]:
        """The state of each node, such as idle, down or drain, as sinfo has it."""
        lines = self.ask("sinfo", "--noheader", "--Node", "--format=%N %t").splitlines()
        return dict(line.split(maxsplit=1) for line in lines)

    def set_node(self, name: str, state: str) -> None:
        """Change a node: DOWN, which ends its jobs, DRAIN, or RESUME."""
        self.ask("scontrol", "update", f"NodeName={name}", f"State={state}", "Reason=asked")

    def set_epilog_seconds(self, seconds: float) -> None:
        """Have jobs that end from now on be COMPLETING for so long."""
        new = self.files.epilog_seconds.with_suffix(".new")
        new.write_text(f"{seconds}\n")
        new.rename(self.files.epilog_seconds)

    def start(self) -> None:
        """Start the daemons that do not run, and wait until every node is there."""
        if not self.supervisor.running(MUNGED):
            # After a crash there is a socket that nobody listens to.
            self.files.munge_socket.unlink(missing_ok=True)
        self._start(self._munged())
        self.start_controller()
        for name in self.options.names:
            if not self.supervisor.running(name):
                self.supervisor.start(self._slurmd(name))
        wait_until(
            f"the nodes of Slurm, whose logs are in {self.files.logs}",
            lambda: THERE.issuperset(self.nodes().values()),
            SECONDS,
        )

    def stop_controller(self) -> None:
        """End the controller in an orderly way; running jobs go on."""
        self.supervisor.stop(CONTROLLER, SECONDS)

    def kill_controller(self) -> None:
        """End the controller with SIGKILL: what it has not written down yet is lost."""
        self.supervisor.kill(CONTROLLER)

    def start_controller(self) -> None:
        """Start the controller with what it knew, and wait until it answers."""
        self._start(self._slurmctld())

    def running(self) -> dict[str, int | None]:
        """The pid of each daemon, or None where it does not run."""
        sshd = (SSHD,) if SSHD in self.ports and self.files.ssh.exists() else ()
        names = (MUNGED, CONTROLLER, *self.options.names, *sshd)
        found = ((name, self.supervisor.running(name)) for name in names)
        return {name: record.pid if record else None for name, record in found}

    def stop(self) -> None:
        """End every daemon, every job and every session by ssh."""
        end(self.files)

    def remove(self) -> None:
        """Delete everything that it has on disk."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def _start(self, component: Component) -> None:
        if not self.supervisor.running(component.name):
            self.supervisor.start(component)
        self.supervisor.wait(component, SECONDS)

    def _munged(self) -> Component:
        files = self.files
        settings = {
            "key-file": files.munge_key,
            "socket": files.munge_socket,
            "pid-file": files.munge_socket.with_name("pid"),
            "seed-file": files.munge_key.with_name("seed"),
            "log-file": files.logs / "munge.log",
        }
        flags = (f"--{key}={value}" for key, value in settings.items())
        # --force: it would rather have no socket where others can delete it, as below /tmp.
        argv = (str(self.tools.munged), "--foreground", "--force", "--num-threads=2", *flags)
        return self._component(MUNGED, argv, lambda: files.munge_socket.exists())

    def _slurmctld(self) -> Component:
        argv = (str(self.tools.slurmctld), "-D", "-f", str(self.files.daemon_conf))
        port = self.ports[CONTROLLER]
        return self._component(CONTROLLER, argv, lambda: answers("127.0.0.1", port))

    def _slurmd(self, name: str) -> Component:
        argv = (
            *(str(self.tools.slurmd), "-D", "-N", name, "-f", str(self.files.daemon_conf)),
            *("-d", str(self.tools.slurmstepd)),
        )
        return self._component(name, argv, lambda: True)

    def _component(self, name: str, argv: tuple[str, ...], ready: Callable[[], bool]) -> Component:
        return Component(name, argv, lambda _: ready(), self.directory)


def load(directory: Path) -> Slurm | None:
    """The Slurm in a directory, or None where there is none."""
    try:
        state = json.loads(Files(directory).state.read_text())
    except FileNotFoundError:
        return None
    tools = SlurmTools(Path(state["tools"]))
    return Slurm(directory, Options(**state["options"]), state["ports"], tools)


def create(directory: Path, options: Options, progress: Progress) -> Slurm:
    """Write the files of a new Slurm into an empty directory; nothing runs yet."""
    tools = ensure_slurm(progress)
    directory = directory.resolve()
    files = Files(directory)
    files.create()
    given = ports.reserve((CONTROLLER, *options.names, SSHD), directory)
    slurm = Slurm(directory, options, given, tools)
    files.munge_key.touch(mode=0o600)
    files.munge_key.write_bytes(secrets.token_bytes(128))
    files.daemon_conf.write_text(config.slurm_conf(files, tools, options, given))
    files.client_conf.symlink_to(files.daemon_conf)
    files.gres_conf.write_text(config.gres_conf(files, options))
    for path in config.gpus(files, options):
        # A device, as Slurm expects it, which is /dev/null by another name.
        os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 3))
    slurm.set_epilog_seconds(options.epilog_seconds)
    scripts = {files.epilog: config.epilog(files)}
    scripts |= {
        files.bin / name: config.wrapper(files, tools.bin / name) for name in config.COMMANDS
    }
    for path, text in scripts.items():
        path.write_text(text)
        path.chmod(0o755)
    new = files.state.with_suffix(".new")
    new.write_text(
        json.dumps({"options": asdict(options), "ports": given, "tools": str(tools.root)})
    )
    new.rename(files.state)
    return slurm


def start(
    directory: Path, options: Options | None = None, progress: Progress | None = None
) -> Slurm:
    """A new Slurm in an empty directory, with every node there. It runs until it is stopped.

    Raises ClusterError where this machine cannot have one, or with the last words of what ended.
    """
    if os.geteuid() != 0:
        raise ClusterError("Slurm runs jobs as whoever submits them: run this as root")
    slurm = create(directory, options or Options(), progress or Progress(quiet=True))
    try:
        slurm.start()
    except BaseException:
        slurm.stop()
        raise
    return slurm


@contextmanager
def temporary(options: Options | None = None, progress: Progress | None = None) -> Iterator[Slurm]:
    """A new Slurm in a new directory; both are gone afterwards, also if this process is killed.

    The directory is one that every user may enter, as Slurm's clients have to.
    """
    directory = Path(tempfile.mkdtemp(prefix="campaigns-slurm-"))
    directory.chmod(0o755)
    with _guarded(directory):
        slurm = start(directory, options, progress)
        try:
            yield slurm
        finally:
            slurm.stop()


@contextmanager
def _guarded(directory: Path) -> Iterator[None]:
    """Have another process end what runs in a directory, when this block or this process ends.

    It learns of that as the pipe closes, which the kernel does for a process that is killed.
    """
    end, mine = os.pipe()
    guard = subprocess.Popen(
        (sys.executable, "-m", "localslurm.guard", str(directory)),
        stdin=end,
        env={**os.environ, "PYTHONPATH": str(CLUSTER_DIR)},
        start_new_session=True,
    )
    os.close(end)
    try:
        yield
    finally:
        os.close(mine)
        guard.wait()
