"""Statuses kept up to date by changes, one at a time: pure, but for what it remembers.

Only the campaign that a change is about is looked at anew, so that each of thousands of changes in
a namespace of a thousand campaigns costs the same.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from converter.cluster.objects import Object, label, name, uid
from converter.cluster.resources import CONFIGMAPS, JOBS, Resource
from converter.model import Backend
from converter.names import CAMPAIGN_LABEL
from converter.observe.places import Place
from converter.observe.status import Status, statuses
from converter.observe.wanted import Wanted
from converter.reconcile.live import Live
from converter.reconcile.units import job_uid


@dataclass(slots=True)
class Mirror:
    """The objects of one namespace that statuses are made of, as they were last heard of."""

    wanted: Mapping[str, Wanted]
    repository: str
    backend: Backend = Backend.KUEUE
    # The API server's time.
    now: Callable[[], datetime | None] = lambda: None
    places: Mapping[str, Place] = field(default_factory=dict)
    _jobs: dict[str, Object] = field(default_factory=dict)
    _records: dict[str, Object] = field(default_factory=dict)
    _workloads: dict[str, Object] = field(default_factory=dict)
    _statuses: dict[str, Status] = field(default_factory=dict)

    def listed(self, resource: Resource, objects: Iterable[Object]) -> None:
        """All objects of one kind; others of it are gone."""
        kept = self._of(resource)
        kept.clear()
        kept.update((name(each), each) for each in objects)
        self._statuses.clear()

    def changed(self, resource: Resource, found: Object, *, gone: bool) -> None:
        """One object has another state now, or is gone."""
        kept = self._of(resource)
        before = kept.get(name(found))
        if gone:
            kept.pop(name(found), None)
        else:
            kept[name(found)] = found
        for each in filter(None, (before, found)):
            self._statuses.pop(self._campaign(resource, each), None)

    def statuses(self) -> list[Status]:
        """One status a campaign, by name."""
        missing = self._names() - self._statuses.keys()
        if missing:
            live = self._slice(missing)
            wanted = {each: self.wanted[each] for each in missing if each in self.wanted}
            found = statuses(wanted, live, self.repository, self.places, self.now())
            self._statuses.update((status.name, status) for status in found)
        for gone in self._statuses.keys() - self._names():
            del self._statuses[gone]
        return [self._statuses[each] for each in sorted(self._statuses)]

    def place(self, places: Mapping[str, Place]) -> None:
        """Where in the queue Workloads stand now."""
        if places != self.places:
            self.places = places
            self._statuses.clear()

    def _of(self, resource: Resource) -> dict[str, Object]:
        kept = {JOBS.plural: self._jobs, CONFIGMAPS.plural: self._records}
        return kept.get(resource.plural, self._workloads)

    def _campaign(self, resource: Resource, found: Object) -> str:
        if resource.plural in (JOBS.plural, CONFIGMAPS.plural):
            return label(found, CAMPAIGN_LABEL)
        owner = job_uid(found, self.backend)
        jobs = (job for job in self._jobs.values() if uid(job) == owner)
        return next((label(job, CAMPAIGN_LABEL) for job in jobs), "")

    def _names(self) -> set[str]:
        kept = (*self._jobs.values(), *self._records.values())
        return {label(each, CAMPAIGN_LABEL) for each in kept} | self.wanted.keys()

    def _slice(self, campaigns: set[str]) -> Live:
        jobs, records = (
            {key: each for key, each in kept.items() if label(each, CAMPAIGN_LABEL) in campaigns}
            for kept in (self._jobs, self._records)
        )
        uids = {uid(job) for job in jobs.values()}
        workloads: dict[str, tuple[Object, ...]] = {}
        for each in self._workloads.values():
            owner = job_uid(each, self.backend)
            if owner in uids:
                workloads[owner] = (*workloads.get(owner, ()), each)
        return Live(jobs, records, workloads, self.backend)
