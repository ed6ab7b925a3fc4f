"""The queue in order, as far as Kueue tells it. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final

from converter.cluster.objects import Object, is_ours, label, name, uid
from converter.model import Settings
from converter.names import CAMPAIGN_LABEL, KUEUE_PRIORITY_LABEL
from converter.observe.places import Place
from converter.observe.snapshot import Snapshot
from converter.report.model import Queue, QueueRow

KIND: Final = "LocalQueue"
SHOWN: Final = 50


def queue_of(snapshot: Snapshot, settings: Settings) -> Queue:
    """Whose places are known: those of the LocalQueue; of others in between, how many they are."""
    if snapshot.places.unread:
        return Queue(KIND, settings.queue, unread=snapshot.places.unread)
    rows = tuple(_rows(snapshot.places.found, _jobs_by_workload(snapshot), settings))
    return Queue(KIND, settings.queue, rows[:SHOWN], max(len(rows) - SHOWN, 0))


def places_spelt(first: int, number: int) -> str:
    """``4``, or ``4-6`` for three places from 4 on."""
    return str(first) if number == 1 else f"{first}\N{EN DASH}{first + number - 1}"


def _rows(
    places: Mapping[str, Place], jobs: Mapping[str, Object], settings: Settings
) -> Iterator[QueueRow]:
    before = 0
    for workload, place in sorted(places.items(), key=lambda each: each[1].in_cluster_queue):
        if (between := place.in_cluster_queue - before - 1) > 0:
            yield _others(before + 1, between)
        before = place.in_cluster_queue
        yield _row(place, jobs.get(workload), settings)


def _others(first: int, number: int) -> QueueRow:
    return QueueRow(places_spelt(first, number), "", f"{number} of other queues")


def _row(place: Place, job: Object | None, settings: Settings) -> QueueRow:
    number = str(place.in_cluster_queue)
    if job is None:
        return QueueRow(number, "", f"another in LocalQueue {settings.queue}", str(place.priority))
    priority = label(job, KUEUE_PRIORITY_LABEL)
    spelt = f"{priority} ({place.priority})" if priority else str(place.priority)
    campaign = label(job, CAMPAIGN_LABEL)
    if not is_ours(job, settings.repository):
        return QueueRow(number, "", f"{campaign or name(job)}, of another repository", spelt)
    part = "" if name(job) == campaign else f"Job {name(job)}"
    return QueueRow(number, campaign, part, spelt)


def _jobs_by_workload(snapshot: Snapshot) -> Mapping[str, Object]:
    by_uid = {uid(job): job for job in snapshot.live.jobs.values()}
    return {
        name(workload): by_uid[job_uid]
        for job_uid, found in snapshot.live.workloads.items()
        for workload in found
        if job_uid in by_uid
    }
