"""What was found of a Slurm, its host and its shared directory: plain values to be judged."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from converter.model import EMPTY
from converter.reconcile.queue_chain import Unknown
from converter.slurm.survey import Survey


@dataclass(frozen=True, slots=True)
class HostFacts:
    """The machine that Slurm's tools run on.

    `noise` is what a login there prints before anything else. `skew` is by how many seconds its
    clock is ahead of ours, at least. `missing` are programs that are not on its PATH.
    """

    label: str
    by_ssh: bool
    noise: str = ""
    skew: float = 0.0
    name: str = ""
    user: str = ""
    uid: int | None = None
    missing: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ended:
    """How a program ended there, and what it said."""

    code: int
    said: str = ""


@dataclass(frozen=True, slots=True)
class FileFacts:
    """The shared directory. `kind` is ``there``, ``absent``, or ``other`` for what is no directory.

    `nearest` is the directory itself, or the nearest above it that there is. `unwritable` and
    `unreadable` are what apply writes and what everybody reads, and may not; `unheld` is the lock
    of a hold, or where it would be made, if that may not be written. `mount` is the type
    and the options of its file system. Numbers are None where they could not be read. `lock` is how
    taking the lock of a call ended, `applying` how taking that of an apply did. `tries_again` is
    how often a volume of each array is tried again, by the array's name.
    """

    kind: str
    nearest: str
    unwritable: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()
    unheld: str = ""
    mount: str = ""
    free_kib: int | None = None
    free_inodes: int | None = None
    lock: Ended = Ended(0)
    applying: Ended = Ended(0)
    holder: str = ""
    applied: str = ""
    tries_again: Mapping[str, int] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class Partition:
    """A partition; limits are None where there is none, times in minutes, memory in MiB."""

    name: str
    state: str = "UP"
    default: bool = False
    max_minutes: int | None = None
    max_cpus: int | None = None
    max_memory: int | None = None


@dataclass(frozen=True, slots=True)
class Node:
    """A node: what a job can have of it, and whether it takes jobs. Memory is in MiB."""

    name: str
    cpus: int
    memory: int
    gpus: int = 0
    features: frozenset[str] = frozenset()
    partitions: frozenset[str] = frozenset()
    up: bool = True


@dataclass(frozen=True, slots=True)
class SlurmFacts:
    """What the controller says.

    `config` are the values of slurm.conf by name, `asked_at` is its clock as an epoch and
    `host_epoch` the host's at about that moment. `tasks` are the jobs that it knows, each task of
    an array counted. `admin_level` is the user's in the accounting, empty where that is not known.
    `trials` are what it said to submissions that were only tried, in order.
    """

    ping: str
    config: Mapping[str, str] | Unknown = field(default_factory=lambda: EMPTY)
    partitions: tuple[Partition, ...] | Unknown = ()
    nodes: tuple[Node, ...] | Unknown = ()
    tasks: int | Unknown = 0
    admin_level: str = ""
    asked_at: int | None = None
    host_epoch: int | None = None
    trials: tuple[Ended, ...] = ()


@dataclass(frozen=True, slots=True)
class SiteFacts:
    """All of it; an Unknown says why something could not be looked at."""

    host: HostFacts | Unknown
    files: FileFacts | Unknown
    slurm: SlurmFacts | Unknown
    survey: Survey | Unknown
