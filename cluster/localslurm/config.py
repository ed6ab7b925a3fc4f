"""What a Slurm is asked to be, and the files that its daemons and clients read: plain values."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from localcluster.errors import ClusterError

from localslurm.packages import SlurmTools

CONTROLLER = "slurmctld"
PARTITION = "main"
COMMANDS = (
    *("sacct", "salloc", "sbatch", "scancel", "scontrol", "sdiag", "sinfo", "sprio", "squeue"),
    *("srun", "sshare"),
)


@dataclass(frozen=True)
class Options:
    """What can be chosen. Jobs run as root, on nodes n1, n2, ... in the partition `main`.

    `cpus`, `memory` (MiB) and `gpus` are of each node, and need not exist: Slurm believes them.
    `min_job_age` is how many seconds an ended job is known; `epilog_seconds` is how long a job is
    COMPLETING. `node` is added to the lines of the nodes (`Feature=a100`), `extra` to slurm.conf,
    where a later line replaces an earlier one. `scheduler` (SchedulerParameters) has it look for
    jobs to start every second, where Slurm by itself takes up to 30.
    """

    nodes: int = 4
    cpus: int = 1
    memory: int = 1000
    gpus: int = 0
    min_job_age: int = 300
    epilog_seconds: float = 0
    max_array_size: int = 1001
    scheduler: str = "batch_sched_delay=0,sched_interval=1,bf_interval=1"
    node: str = ""
    extra: str = ""

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the nodes."""
        return tuple(f"n{number}" for number in range(1, self.nodes + 1))


@dataclass(frozen=True)
class Files:
    """Where things are below the directory of a Slurm."""

    directory: Path

    @property
    def state(self) -> Path:
        """What was chosen and given at the start."""
        return self.directory / "slurm.json"

    @property
    def bin(self) -> Path:
        """The clients' commands; on PATH they need nothing else."""
        return self.directory / "bin"

    @property
    def client_conf(self) -> Path:
        """slurm.conf by the name that clients have it."""
        return self.directory / "slurm.conf"

    @property
    def daemon_conf(self) -> Path:
        """The same file by the name that daemons have it, and no client.

        slurmd hands this name on to all that runs on a node: jobs are found by it when the end
        comes, and no shell of a person who has set SLURM_CONF.
        """
        return self.directory / "etc/slurm.conf"

    @property
    def gres_conf(self) -> Path:
        """The devices of the nodes."""
        return self.directory / "etc/gres.conf"

    @property
    def epilog(self) -> Path:
        """What each node runs at the end of a job."""
        return self.directory / "etc/epilog"

    @property
    def epilog_seconds(self) -> Path:
        """How long that takes, read each time."""
        return self.directory / "etc/epilog.seconds"

    @property
    def munge_key(self) -> Path:
        """The secret by which Slurm's parts trust each other."""
        return self.directory / "secret/munge.key"

    @property
    def munge_socket(self) -> Path:
        """Where clients and daemons ask MUNGE."""
        return self.directory / "munge/socket"

    @property
    def run(self) -> Path:
        """One record a process."""
        return self.directory / "run"

    @property
    def logs(self) -> Path:
        """One log a process."""
        return self.directory / "logs"

    @property
    def home(self) -> Path:
        """Where sessions by ssh begin."""
        return self.directory / "home"

    @property
    def ssh(self) -> Path:
        """The keys and settings of sshd and of its client."""
        return self.directory / "ssh"

    def create(self) -> None:
        """Make the directories; raises ClusterError where there is something."""
        self.directory.mkdir(mode=0o755, parents=True, exist_ok=True)
        if any(self.directory.iterdir()):
            raise ClusterError(f"{self.directory} is not empty: delete it, or name another one")
        for name in ("bin", "etc", "home", "logs", "munge", "run", "spool", "state"):
            (self.directory / name).mkdir(mode=0o755)
        (self.directory / "secret").mkdir(mode=0o700)


def slurm_conf(files: Files, tools: SlurmTools, options: Options, ports: Mapping[str, int]) -> str:
    """slurm.conf. No accounting, no control groups, no database."""
    settings: dict[str, object] = {
        "ClusterName": "local",
        "SlurmctldHost": "localhost(127.0.0.1)",
        "SlurmctldPort": ports[CONTROLLER],
        "SlurmUser": "root",
        "SlurmdUser": "root",
        "AuthType": "auth/munge",
        "AuthInfo": f"socket={files.munge_socket}",
        "CredType": "cred/munge",
        "PluginDir": tools.plugins,
        "StateSaveLocation": files.directory / "state",
        "SlurmdSpoolDir": files.directory / "spool/%n",
        "SlurmctldPidFile": files.directory / "run/slurmctld.pid",
        "SlurmdPidFile": files.directory / "run/%n.pid",
        "Epilog": files.epilog,
        "MailProg": "/bin/true",
        "MpiDefault": "none",
        "ProctrackType": "proctrack/linuxproc",
        "TaskPlugin": "task/none",
        "SwitchType": "switch/none",
        "AccountingStorageType": "accounting_storage/none",
        "JobAcctGatherType": "jobacct_gather/none",
        "JobCompType": "jobcomp/none",
        "SelectType": "select/cons_tres",
        "SelectTypeParameters": "CR_Core_Memory",
        # A job that asks for no memory would have all that its node has.
        "DefMemPerCPU": max(options.memory // options.cpus, 1),
        "SchedulerParameters": options.scheduler,
        "MinJobAge": options.min_job_age,
        "MaxArraySize": options.max_array_size,
        # What a node has is what is written here, whatever this machine has.
        "SlurmdParameters": "config_overrides",
        # A node that was away is used again as soon as it is back, one that was put down is not.
        "ReturnToService": 1,
    }
    if options.gpus:
        settings["GresTypes"] = "gpu"
    lines = [f"{key}={value}" for key, value in settings.items()]
    lines += (_node(name, options, ports[name]) for name in options.names)
    lines.append(f"PartitionName={PARTITION} Nodes=ALL Default=YES MaxTime=INFINITE State=UP")
    return "\n".join((*lines, options.extra)) + "\n"


def _node(name: str, options: Options, port: int) -> str:
    settings: dict[str, object] = {
        "NodeName": name,
        "NodeHostname": "localhost",
        "NodeAddr": "127.0.0.1",
        "Port": port,
        "CPUs": options.cpus,
        "RealMemory": options.memory,
    }
    if options.gpus:
        settings["Gres"] = f"gpu:{options.gpus}"
    return " ".join((*(f"{key}={value}" for key, value in settings.items()), options.node))


def gres_conf(files: Files, options: Options) -> str:
    """gres.conf: the GPUs of every node, which Slurm looks for and does not open."""
    return "".join(f"Name=gpu File={path}\n" for path in gpus(files, options))


def gpus(files: Files, options: Options) -> tuple[Path, ...]:
    """The devices that stand for the GPUs of a node."""
    return tuple(files.daemon_conf.with_name(f"gpu{number}") for number in range(options.gpus))


def epilog(files: Files) -> str:
    """A script that lasts as long as a file says."""
    path = shlex.quote(str(files.epilog_seconds))
    return f'#!/bin/sh\nread -r seconds < {path}\nexec sleep "$seconds"\n'


def wrapper(files: Files, command: Path) -> str:
    """A client's command that knows which Slurm is meant."""
    conf, path = (shlex.quote(str(path)) for path in (files.client_conf, command))
    return f'#!/bin/sh\nSLURM_CONF={conf} exec {path} "$@"\n'
