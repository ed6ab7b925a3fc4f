"""Who waits for nodes of a Slurm, in the order in which it looks at them. Pure.

In a partition that is by priority and then by number (src/slurmctld/job_scheduler.c of Slurm). The
backfill scheduler starts a later one before where that delays none. What is held or gated, begins
later, depends on another job or waits for its own window does not stand in the order.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from converter.explain.slurm_look import SlurmLook
from converter.explain.text import counted
from converter.holds.slurm_rules import reading_of
from converter.observe.places import Place
from converter.report.model import Queue, QueueRow
from converter.report.queue import SHOWN, places_spelt
from converter.slurm.errors import InvalidTasks
from converter.slurm.job import Job

KIND: Final = "Partition"
_FOR_ANOTHER: Final = ("Dependency", "DependencyNeverSatisfied", "JobArrayTaskLimit", "BeginTime")


@dataclass(frozen=True, slots=True)
class _Waiting:
    """One record; `campaign` and `array` are empty where it is somebody else's."""

    job: Job
    campaign: str = ""
    array: str = ""

    @property
    def order(self) -> tuple[int, int]:
        return -(self.job.priority or 0), self.job.job_id

    @property
    def tasks(self) -> int:
        try:
            return len(self.job.tasks)
        except InvalidTasks:
            return 0


def slurm_queues(seen: SlurmLook) -> tuple[tuple[Queue, ...], dict[str, Place]]:
    """The partitions in which campaigns wait, and the first place of each campaign."""
    priorities = {status.name: status.priority for status in seen.statuses}
    places: dict[str, Place] = {}
    queues = []
    for partition, waiting in sorted(_by_partition(seen).items()):
        if not any(each.campaign for each in waiting):
            continue
        for number, each in enumerate(waiting, start=1):
            before = places.get(each.campaign)
            if each.campaign and (before is None or number < before.in_cluster_queue):
                places[each.campaign] = Place(number, number, each.job.priority or 0)
        rows = tuple(_rows(waiting, priorities, seen))
        queues.append(Queue(KIND, partition, rows[:SHOWN], max(len(rows) - SHOWN, 0)))
    return tuple(queues), places


def waits_for_nodes(job: Job, now: int) -> bool:
    """Whether a pending job has a place: nothing but the lack of nodes keeps it from running."""
    if job.gated or reading_of(job).mark is not None or job.reason in _FOR_ANOTHER:
        return False
    return job.eligible is None or job.eligible <= now


def _by_partition(seen: SlurmLook) -> dict[str, list[_Waiting]]:
    found: dict[str, list[_Waiting]] = {}
    for each in (*_ours(seen), *map(_Waiting, seen.found.others)):
        if waits_for_nodes(each.job, seen.found.host_epoch):
            # One that may run in several stands in each.
            for partition in each.job.partition.split(","):
                found.setdefault(partition, []).append(each)
    for waiting in found.values():
        waiting.sort(key=lambda each: each.order)
    return found


def _ours(seen: SlurmLook) -> Iterator[_Waiting]:
    for campaign, arrays in seen.arrays.items():
        for name, array in arrays.items():
            yield from (_Waiting(job, campaign, name) for job in array.pending)


def _rows(
    waiting: Iterable[_Waiting], priorities: Mapping[str, str], seen: SlurmLook
) -> Iterator[QueueRow]:
    """Records of the same array that follow each other are one row, and so are those of others."""
    first = 1
    for array, group in groupby(waiting, key=lambda each: each.array):
        same = list(group)
        places = places_spelt(first, len(same))
        first += len(same)
        if not array:
            yield QueueRow(places, "", f"{counted(len(same), 'job')} of others")
            continue
        campaign = same[0].campaign
        yield QueueRow(
            places,
            campaign,
            _who(same, array, alone=len(seen.arrays[campaign]) == 1),
            _priority(same[0].job, priorities.get(campaign, "")),
        )


def _who(same: Sequence[_Waiting], array: str, *, alone: bool) -> str:
    tasks = counted(sum(each.tasks for each in same), "task")
    return tasks if alone else f"array {array}, {tasks}"


def _priority(job: Job, named: str) -> str:
    return f"{named} ({job.priority})" if named else str(job.priority)
