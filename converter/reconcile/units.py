"""What a queue system made for each Job: Kueue's Workloads, or Koord-Queue's QueueUnits."""

from collections.abc import Mapping
from typing import Final

from converter.cluster.client import Client
from converter.cluster.objects import Object, controller_uid, label, name, uid
from converter.cluster.resources import JOBS, QUEUE_UNITS, WORKLOADS, Resource
from converter.errors import NotFound
from converter.koord_queue.unit import owner_uid
from converter.model import Backend
from converter.names import KUEUE_JOB_UID_LABEL, MANAGED_BY_LABEL, MANAGED_BY_VALUE

# By the uid of their Job.
Units = Mapping[str, tuple[Object, ...]]

_LISTED: Final[Mapping[Backend, tuple[Resource, str]]] = {
    Backend.KUEUE: (WORKLOADS, KUEUE_JOB_UID_LABEL),
    # A QueueUnit has the labels of its Job, copied when it was made.
    Backend.KOORD_QUEUE: (QUEUE_UNITS, f"{MANAGED_BY_LABEL}={MANAGED_BY_VALUE}"),
}


def read_units(client: Client, namespace: str, backend: Backend) -> dict[str, tuple[Object, ...]]:
    """Every such object, by the uid of its Job. Raises `ApiError` where it may not be listed."""
    found: dict[str, tuple[Object, ...]] = {}
    listed = listed_units(backend)
    if listed is None:
        return found
    try:
        units = client.list(listed[0], namespace, selector=listed[1])
    except NotFound:
        if backend is Backend.KUEUE:
            raise
        # Koord-Queue is not installed: nothing is queued, and nothing can be paused.
        return found
    for unit in units:
        if job := job_uid(unit, backend):
            found[job] = (*found.get(job, ()), unit)
    return found


def listed_units(backend: Backend) -> tuple[Resource, str] | None:
    """The kind and the label selector by which they are listed; None where there are none."""
    return _LISTED.get(backend)


def job_uid(unit: Object, backend: Backend) -> str:
    """The uid of the Job that one of these objects was made for; empty where it is none's."""
    if backend is Backend.KOORD_QUEUE:
        return owner_uid(unit)
    claimed = label(unit, KUEUE_JOB_UID_LABEL)
    # Anybody can write the label; it is by the controller that Kueue finds a Job's Workloads.
    return claimed if claimed == controller_uid(unit) else ""


def the_same(job: Object, now: Object) -> Object:
    """A Job as it is now. Raises NotFound where another has its name, which may be anybody's."""
    if uid(now) != uid(job):
        another = "there is another Job of its name"
        raise NotFound("read", f"{JOBS.kind}/{name(job)}", 404, "NotFound", another)
    return now
