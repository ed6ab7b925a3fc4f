"""What is on the cluster, read once: one LIST per kind, whatever the number of campaigns.

The lists are not narrowed to our label: an object of somebody else's under one of our names must
be seen before anything is sent.
"""

from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Final

from converter.cluster.client import Client
from converter.cluster.objects import Object, controller_uid, is_ours, label, name, uid
from converter.cluster.resources import CONFIGMAPS, JOBS, WORKLOADS
from converter.manifest import Role
from converter.model import EMPTY
from converter.names import CAMPAIGN_LABEL, KUEUE_JOB_UID_LABEL, ROLE_LABEL

CAMPAIGN_ROLES: Final = (Role.CAMPAIGN, Role.VOLUMES, Role.STATUS)

# By the uid of their Job.
Workloads = Mapping[str, tuple[Object, ...]]


@dataclass(frozen=True, slots=True)
class Live:
    """The objects of one namespace. Jobs and ConfigMaps by name, Workloads by their Job's uid."""

    jobs: Mapping[str, Object] = field(default_factory=lambda: EMPTY)
    configmaps: Mapping[str, Object] = field(default_factory=lambda: EMPTY)
    workloads: Workloads = field(default_factory=lambda: EMPTY)

    def find(self, kind: str, object_name: str) -> Object | None:
        """The live object of a rendered kind and name."""
        return (self.jobs if kind == JOBS.kind else self.configmaps).get(object_name)


def read_live(client: Client, namespace: str) -> Live:
    """Read the namespace. Raises `ApiError` when one of the kinds may not be listed."""
    return Live(
        jobs=_by_name(client.list(JOBS, namespace)),
        configmaps=_by_name(client.list(CONFIGMAPS, namespace)),
        workloads=read_workloads(client, namespace),
    )


def read_for_status(client: Client, namespace: str) -> Live:
    """What the status of campaigns is made of: their Jobs, the records and the Workloads.

    Without the ConfigMaps of volumes, which may have 900 KiB each. Raises `ApiError` like
    `read_live`.
    """
    jobs, records = (f"{ROLE_LABEL}={role.value}" for role in (Role.CAMPAIGN, Role.STATUS))
    with ThreadPoolExecutor(max_workers=2) as pool:
        found = pool.submit(read_workloads, client, namespace)
        recorded = pool.submit(client.list, CONFIGMAPS, namespace, selector=records)
        return Live(
            jobs=_by_name(client.list(JOBS, namespace, selector=jobs)),
            configmaps=_by_name(recorded.result()),
            workloads=found.result(),
        )


def read_workloads(client: Client, namespace: str) -> dict[str, tuple[Object, ...]]:
    """Every Workload that Kueue made for a Job, by the Job's uid."""
    found: dict[str, tuple[Object, ...]] = {}
    for workload in client.list(WORKLOADS, namespace, selector=KUEUE_JOB_UID_LABEL):
        job_uid = label(workload, KUEUE_JOB_UID_LABEL)
        # Anybody can write the label; it is by the controller that Kueue finds a Job's Workloads.
        if job_uid == controller_uid(workload):
            found[job_uid] = (*found.get(job_uid, ()), workload)
    return found


def workloads_of(job: Object | None, workloads: Workloads) -> tuple[Object, ...]:
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
