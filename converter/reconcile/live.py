"""What is on the cluster, read once: one LIST per kind, whatever the number of campaigns.

The lists are not narrowed to our label: an object of somebody else's under one of our names must
be seen before anything is sent.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from converter.cluster.client import Client
from converter.cluster.objects import Object, is_ours, label, name, uid
from converter.cluster.resources import CONFIGMAPS, JOBS
from converter.manifest import Role
from converter.model import EMPTY, Backend
from converter.names import CAMPAIGN_LABEL, ROLE_LABEL
from converter.queues import QueueSystem, queue_for
from converter.reconcile.units import Units, read_units

CAMPAIGN_ROLES: Final = (Role.CAMPAIGN, Role.VOLUMES, Role.STATUS)


@dataclass(frozen=True, slots=True)
class Live:
    """The objects of one namespace. Jobs and ConfigMaps by name.

    `workloads` is what the queue made for Jobs, by their uid: Workloads, or QueueUnits.
    """

    jobs: Mapping[str, Object] = field(default_factory=lambda: EMPTY)
    configmaps: Mapping[str, Object] = field(default_factory=lambda: EMPTY)
    workloads: Units = field(default_factory=lambda: EMPTY)
    backend: Backend = Backend.KUEUE

    @property
    def queue(self) -> QueueSystem:
        """The queue system of these Jobs."""
        return queue_for(self.backend)

    def find(self, kind: str, object_name: str) -> Object | None:
        """The live object of a rendered kind and name."""
        return (self.jobs if kind == JOBS.kind else self.configmaps).get(object_name)


def read_live(client: Client, namespace: str, backend: Backend) -> Live:
    """Read the namespace. Raises `ApiError` when one of the kinds may not be listed."""
    return Live(
        jobs=_by_name(client.list(JOBS, namespace)),
        configmaps=_by_name(client.list(CONFIGMAPS, namespace)),
        workloads=read_units(client, namespace, backend),
        backend=backend,
    )


def read_for_status(client: Client, namespace: str, backend: Backend) -> Live:
    """What the status of campaigns is made of: their Jobs, the records, and what the queue made.

    Without the ConfigMaps of volumes, which may have 900 KiB each. Raises `ApiError` like
    `read_live`.
    """
    jobs, records = (f"{ROLE_LABEL}={role.value}" for role in (Role.CAMPAIGN, Role.STATUS))
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = pool.submit(read_units, client, namespace, backend)
        recorded = pool.submit(client.list, CONFIGMAPS, namespace, selector=records)
        return Live(
            jobs=_by_name(client.list(JOBS, namespace, selector=jobs)),
            configmaps=_by_name(recorded.result()),
            workloads=found.result(),
            backend=backend,
        )


def workloads_of(job: Object | None, workloads: Units) -> tuple[Object, ...]:
    """Those of one Job; none of a Job that is not there."""
    return () if job is None else workloads.get(uid(job), ())


def in_role(objects: Iterable[Object], role: Role, repository: str) -> Iterator[Object]:
    """Those of the objects that this repository made for a role."""
    for each in objects:
        if is_ours(each, repository) and label(each, ROLE_LABEL) == role:
            yield each


def by_campaign(live: Live, repository: str) -> dict[str, list[Object]]:
    """Our campaigns' Jobs, volumes and records, also those of parts no longer in git."""
    found: dict[str, list[Object]] = {}
    for each in (*live.jobs.values(), *live.configmaps.values()):
        if label(each, ROLE_LABEL) in CAMPAIGN_ROLES and is_ours(each, repository):
            found.setdefault(label(each, CAMPAIGN_LABEL), []).append(each)
    return found


def _by_name(items: Iterable[Object]) -> dict[str, Object]:
    return {name(item): item for item in items}
