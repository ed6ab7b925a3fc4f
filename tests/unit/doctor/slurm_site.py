"""A Slurm that is fit for campaigns, as facts, of which a test changes a part."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from unit.slurm.records import SUBMIT, job

from converter.doctor.slurm.asks import Ask
from converter.doctor.slurm.facts import Ended, FileFacts, HostFacts, Node, Partition, SlurmFacts
from converter.reconcile.record import FINISHED, Record
from converter.slurm.job import Job
from converter.slurm.state import State, Step
from converter.slurm.survey import Result, Survey

DIRECTORY: Final = "/shared/campaigns"
NOW: Final = SUBMIT + 3600
CONFIG: Final = {
    "AccountingStorageType": "accounting_storage/slurmdbd",
    "ClusterName": "local",
    "JobRequeue": "1",
    "JobSubmitPlugins": "(null)",
    "MaxArraySize": "1001",
    "MaxJobCount": "10000",
    "MaxMemPerNode": "UNLIMITED",
    "MinJobAge": "300 sec",
    "PrivateData": "none",
    "RequeueExit": "(null)",
    "RequeueExitHold": "(null)",
    "SLURM_VERSION": "22.05.8",
    "SchedulerParameters": "(null)",
    "SchedulerType": "sched/backfill",
    "SlurmUser": "slurm(64030)",
}
MAIN: Final = Partition("main", default=True)
HOST: Final = HostFacts("the Slurm host a", True, name="login1", user="anna", uid=1234)
FILES: Final = FileFacts(
    "there", DIRECTORY, mount="nfs4   rw,vers=4.2", free_kib=2**30, free_inodes=10**6
)


def node(name: str = "n1", **others: Any) -> Node:
    fit = Node(name, 8, 64_000, 2, frozenset(("a100",)), frozenset(("main",)))
    return replace(fit, **others)


def ask(**others: Any) -> Ask:
    fit = Ask("pipeline work", "page", ("--mem=64M",), 1, 64, 0, 60)
    return replace(fit, **others)


def slurm(**others: Any) -> SlurmFacts:
    fit = SlurmFacts(
        ping="Slurmctld(primary) at vm is UP",
        config=CONFIG,
        partitions=(MAIN,),
        nodes=(node(),),
        tasks=10,
        asked_at=NOW,
        host_epoch=NOW,
        trials=(Ended(0),),
    )
    return replace(fit, **others)


def state(name: str = "letters", **others: Any) -> State:
    opened = State(
        name=name,
        campaign=name,
        part=0,
        repository="team",
        pipeline="work",
        priority="",
        commit="c" * 40,
        volumes_sha256="v",
        inputs_sha256="i",
        total=4,
        window=2,
        step=Step.OPENED,
        at=SUBMIT,
        job=31,
    )
    return replace(opened, **others)


def ended(name: str = "letters", done: int = 4) -> State:
    record = Record(
        FINISHED, 4, done, 4 - done, (), "", "2026-12-01T15:00:00Z", "slurm-31", "v", "c"
    )
    return state(name, step=Step.ENDED, record=record)


def survey(
    *jobs: Job,
    states: tuple[State, ...] = (),
    results: dict[int, Result] | None = None,
    unreadable: Sequence[str] = (),
) -> Survey:
    """What there is; all results are those of letters."""
    found: dict[str, list[Job]] = {}
    for each in jobs:
        found.setdefault(each.name, []).append(each)
    return Survey(
        NOW,
        {each.name: each for each in states},
        found,
        {"letters": results} if results else {},
        unreadable,
    )


def task(number: int, **others: Any) -> Job:
    """A task of the array 31."""
    return job(**{"job_id": 32 + number, "array_job_id": 31, "array_task_id": number, **others})
