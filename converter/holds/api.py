"""Numbered holds for programs: one object a namespace, one call a target.

Each call is carried out against every part of its target and tells of each. Who makes the calls
numbers the holds, and gives each call a deadline; see docs/holds.md.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

from converter.capabilities import CAPABILITIES
from converter.cluster.client import Client
from converter.cluster.objects import Object, annotation, is_ours, job_end, label, name
from converter.cluster.resources import EVENTS, JOBS, QUEUE_UNITS, TRAINJOBS, WORKLOADS
from converter.errors import ApiError, CampaignsError, ClusterUnavailable, Forbidden, NotFound
from converter.holds.call import hold_call, numbered_call
from converter.holds.carry_out import Done, Store, carry_out, entry_of
from converter.holds.deadline import Deadline, call_bound, deadline_in
from converter.holds.errors import HoldError, InvalidCall, Rejected, Unsupported
from converter.holds.event import event_of
from converter.holds.kinds import OWNERS, Subject
from converter.holds.listing import Held, held_plain, held_queue_units, held_workloads
from converter.holds.plain import PlainStore
from converter.holds.queue_unit import QueueUnitStore
from converter.holds.rules import Action, Call
from converter.holds.target import (
    Target,
    in_order,
    target_of,
)
from converter.holds.workload import WorkloadStore
from converter.manifest import Role
from converter.model import Backend
from converter.names import (
    CAMPAIGN_LABEL,
    MANAGED_BY_LABEL,
    MANAGED_BY_VALUE,
    REPOSITORY_ANNOTATION,
    ROLE_LABEL,
)

__all__ = ["Holds", "Part", "call_bound"]


class SubjectStore(Store, Protocol):
    """A store that knows what it has read."""

    @property
    def subject(self) -> Subject | None:
        """The object that the call is about, once it was read."""
        ...


@dataclass(frozen=True, slots=True)
class Part:
    """What came of a call against one object, which `target` names as it is typed.

    `outcome` is how it is in force, or why it is not: a HoldError, or ClusterUnavailable where the
    object could not be read. `ended` is a part of a campaign that has ended while others go on: no
    call has to come into force there. `note` says what went wrong beside the call. `runs` is a task
    on Slurm that has started, so that it can be neither held nor released; where others wait, a
    release passes it over as what has ended.
    """

    target: str
    outcome: Done | HoldError | ClusterUnavailable
    ended: bool = False
    note: str = ""
    runs: bool = False

    @property
    def failed(self) -> bool:
        """Whether the call is not in force where it should be."""
        return not isinstance(self.outcome, Done) and not self.ended


@dataclass(frozen=True, slots=True)
class _Found:
    """An object of a target."""

    target: Target
    ended: bool = False


class Holds:
    """The holds of one namespace.

    `repository` chooses among campaigns of one name; empty, the name has to be of one repository.
    `apiserver_request_timeout` is in seconds, as converter.yaml has it. A target is the name of a
    campaign, ``job/NAME``, ``trainjob/NAME`` or ``workload/NAME``.

    Calls raise a HoldError where nothing of the target can be tried: InvalidCall for a call that
    makes no sense, DeadlinePassed, Rejected where there is no such campaign, Unsupported; and
    ClusterUnavailable where the API server does not answer. What becomes of each part is in the
    result. `deadline` is in seconds from now; nothing is sent after it.
    """

    def __init__(
        self,
        client: Client,
        namespace: str,
        *,
        repository: str = "",
        backend: Backend = Backend.KUEUE,
        apiserver_request_timeout: float = 60.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._repository = repository
        self._backend = backend
        self._clock = clock
        self.call_bound: Final = call_bound(apiserver_request_timeout)

    def hold(
        self, target: str, instance: int, *, deadline: float | None, by: str, reason: str = ""
    ) -> tuple[Part, ...]:
        """Stop it until this instance is released; in force already is success.

        `by` is who holds, `reason` why; anybody who may look at the object can read both.
        """
        return self._call(target, hold_call(instance, by, reason), deadline)

    def release(
        self, target: str, instance: int, *, deadline: float | None, by: str
    ) -> tuple[Part, ...]:
        """Lift the hold of just this instance; where git or Kueue stops it too, it stays so."""
        return self._call(target, numbered_call(Action.RELEASE, instance, by), deadline)

    def open(self, target: str, *, deadline: float | None) -> tuple[Part, ...]:
        """Let it through its start gate, once; without a queue alone. Under a hold it waits on."""
        return self._call(target, Call(Action.OPEN), deadline)

    def list(self) -> tuple[Held, ...]:
        """Every hold of the namespace. Raises ApiError, ClusterUnavailable and Unsupported."""
        if self._backend is Backend.KUEUE:
            workloads = self._client.list(WORKLOADS, self._namespace)
            jobs = self._client.list(JOBS, self._namespace) if workloads else ()
            return held_workloads(workloads, jobs)
        if self._backend is Backend.KOORD_QUEUE:
            units = self._client.list(QUEUE_UNITS, self._namespace)
            return held_queue_units(units, self._client.list(JOBS, self._namespace))
        self._supported()
        held_jobs = held_plain("Job", self._client.list(JOBS, self._namespace))
        return (*held_jobs, *held_plain("TrainJob", self._trainjobs()))

    def _trainjobs(self) -> tuple[Object, ...]:
        try:
            return self._client.list(TRAINJOBS, self._namespace)
        except NotFound:
            return ()

    def _call(self, text: str, call: Call, seconds: float | None) -> tuple[Part, ...]:
        target = target_of(text)
        deadline = deadline_in(seconds, self._clock)
        self._supported()
        found = self._parts(target, deadline)
        return tuple(self._tried(each, call, deadline) for each in found)

    def _supported(self) -> None:
        if not CAPABILITIES[self._backend].kubernetes:
            raise Unsupported(f"with the backend {self._backend} this release holds nothing")

    def _parts(self, target: Target, deadline: Deadline) -> Sequence[_Found]:
        """The objects of a target; all of a campaign's Jobs, in the order of their parts."""
        if target.kind:
            return [_Found(target)]
        jobs = self._jobs(target.name, deadline)
        ended = [job_end(job) is not None for job in jobs]
        some_go_on = not all(ended)
        return [
            _Found(Target("Job", name(job)), ended=has_ended and some_go_on)
            for job, has_ended in zip(jobs, ended, strict=True)
        ]

    def _jobs(self, campaign: str, deadline: Deadline) -> Sequence[Object]:
        selector = f"{CAMPAIGN_LABEL}={campaign},{ROLE_LABEL}={Role.CAMPAIGN.value}"
        try:
            listed = self._client.within(deadline).list(JOBS, self._namespace, selector=selector)
        except Forbidden as error:
            raise Unsupported(
                f"the Jobs of {campaign} may not be listed: {error.message}"
            ) from error
        except ApiError as error:
            raise Rejected(f"the Jobs of {campaign} could not be listed: {error}") from error
        jobs = [job for job in listed if label(job, MANAGED_BY_LABEL) == MANAGED_BY_VALUE]
        if self._repository:
            jobs = [job for job in jobs if is_ours(job, self._repository)]
        repositories = sorted({annotation(job, REPOSITORY_ANNOTATION) for job in jobs})
        if len(repositories) > 1:
            raise InvalidCall(
                f"several repositories have a campaign {campaign} in the namespace "
                f"{self._namespace} ({', '.join(repositories)}): name the repository, or the Jobs"
            )
        if not jobs:
            of = f" of {self._repository}" if self._repository else ""
            raise Rejected(
                f"there is no Job of a campaign {campaign}{of} in the namespace {self._namespace}"
            )
        return in_order(jobs)

    def _store(self, target: Target) -> SubjectStore:
        kind = OWNERS.get(target.kind)
        if self._backend is Backend.KUEUE:
            return WorkloadStore(self._client, self._namespace, kind, target.name)
        if self._backend is Backend.KOORD_QUEUE:
            if target.kind != JOBS.kind:
                raise Unsupported(f"{target}: with Koord-Queue name the campaign or the Job")
            return QueueUnitStore(self._client, self._namespace, target.name)
        if kind is None:
            raise Unsupported(
                f"{target}: without a queue there are no Workloads: name the Job or TrainJob"
            )
        return PlainStore(self._client, self._namespace, kind, target.name)

    def _tried(self, found: _Found, call: Call, deadline: Deadline) -> Part:
        try:
            store = self._store(found.target)
            done = carry_out(store, call, deadline)
        except (HoldError, ClusterUnavailable) as error:
            return Part(str(found.target), error, found.ended)
        note = self._tell(store.subject, call, deadline) if done.wrote else ""
        return Part(str(found.target), done, found.ended, note)

    def _tell(self, subject: Subject | None, call: Call, deadline: Deadline) -> str:
        """Write an Event; that it cannot be written is nothing but a note."""
        entry = entry_of(call)
        if subject is None or entry is None:
            return ""
        event = event_of(subject, self._namespace, entry)
        try:
            self._client.within(deadline).create(EVENTS, self._namespace, event)
        except CampaignsError as error:
            return f"no Event tells of it: {error}"
        return ""
