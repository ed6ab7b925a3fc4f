"""How far each campaign is: a pure reading of its Jobs, Workloads and records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from converter.cluster.objects import Object, index_ranges, is_being_deleted, label, name
from converter.holds.mark import Mark
from converter.koord_queue.unit import UNLIMITED, ExecutionTime, execution_time
from converter.manifest import Role
from converter.model import EMPTY, Backend
from converter.names import (
    CAMPAIGN_LABEL,
    PIPELINE_LABEL,
    status_configmap,
)
from converter.observe.admission import NO_ADMISSION, Admission, admission_of, lacks_time
from converter.observe.phase import DRIFTED, Phase
from converter.observe.phases import PHASES
from converter.observe.places import Place
from converter.observe.wanted import Wanted, drift
from converter.queues import QueueSystem, queue_for
from converter.reconcile.held import hold_on, strongest
from converter.reconcile.live import Live, in_role, workloads_of
from converter.reconcile.record import Record, record_of

NOT_IN_GIT = "it is not in git: apply with --prune cancels it"


@dataclass(frozen=True, slots=True)
class Status:
    """One campaign, or one part of it. Counts are volumes, `active` is pods, ending ones included.

    `ready` are the pods whose containers run. Times are RFC 3339 in UTC, empty where unknown:
    `created` of the Job, `since` of the phase, `finished` of the end. `detail` says why a campaign
    is in its phase, `drift` in which way it is not as git has it. `size` is known of what is in
    git, `place` of what waits in the queue. `hold` is there until it is released, whether or not it
    stops the campaign.
    """

    name: str
    phase: Phase
    total: int
    done: int = 0
    failed: int = 0
    active: int = 0
    ready: int = 0
    pipeline: str = ""
    priority: str = ""
    queue: str = ""
    size: str = ""
    created: str = ""
    since: str = ""
    finished: str = ""
    detail: str = ""
    drift: str = ""
    parts: int = 1
    place: Place | None = None
    admission: Admission = NO_ADMISSION
    hold: Mark | None = None
    execution_time: ExecutionTime = UNLIMITED

    @property
    def shown_phase(self) -> str:
        """The phase, or Drifted for what goes on though git has it otherwise.

        A pause that is not carried out yet stays one: it is what burns money.
        """
        unfinished = not self.phase.is_end and self.phase is not Phase.PAUSING
        return DRIFTED if self.drift and unfinished else str(self.phase)


def statuses(
    wanted: Mapping[str, Wanted],
    live: Live,
    repository: str,
    places: Mapping[str, Place] = EMPTY,
    now: datetime | None = None,
) -> list[Status]:
    """One status a campaign, by name.

    One that is in git, without a Job and without a record, is Missing, and so is such a part of
    one that was split. A campaign that is on the cluster only is listed as well.
    """
    parts: dict[str, list[Status]] = {}
    for job in in_role(live.jobs.values(), Role.CAMPAIGN, repository):
        campaign = label(job, CAMPAIGN_LABEL)
        status = of_job(job, workloads_of(job, live.workloads), places, live.backend, now)
        parts.setdefault(campaign, []).append(_compared(status, name(job), job, wanted, live.queue))
    for record, campaign, pipeline in _records_without_job(live, repository):
        parts.setdefault(campaign, []).append(_of_record(campaign, record, pipeline))
    names = live.jobs.keys() | live.configmaps.keys()
    for campaign, one in wanted.items():
        there = sum(part.total for part in parts.get(campaign, ()))
        # A whole campaign with fewer volumes is one whose list has changed in git: it is held back.
        is_split = names.isdisjoint((campaign, status_configmap(campaign)))
        if campaign not in parts or (is_split and there < one.total):
            absent = Status(
                campaign,
                Phase.MISSING,
                one.total - there,
                pipeline=one.pipeline,
                priority=one.priority,
            )
            parts.setdefault(campaign, []).append(absent)
    sizes = {campaign: one.size for campaign, one in wanted.items()}
    return [
        replace(together(campaign, parts[campaign]), size=sizes.get(campaign, ""))
        for campaign in sorted(parts)
    ]


def of_job(
    job: Object,
    found: Sequence[Object],
    places: Mapping[str, Place] = EMPTY,
    backend: Backend = Backend.KUEUE,
    now: datetime | None = None,
) -> Status:
    """The status of one Job and what the queue made for it, at the API server's time.

    One that is on its way out says nothing any more: Kueue makes another.
    """
    workloads = [workload for workload in found if not is_being_deleted(workload)]
    state = job.get("status") or {}
    # Kubernetes does not count a pod as active while it ends, but it still has its GPU.
    active = int(state.get("active") or 0) + int(state.get("terminating") or 0)
    record = record_of(job, None)
    queue = queue_for(backend)
    phase = PHASES[backend](job, workloads, active, now)
    waits = (places[name(each)] for each in workloads if name(each) in places)
    done = record.done if record else len(index_ranges(state.get("completedIndexes") or ""))
    failed = record.failed if record else len(index_ranges(state.get("failedIndexes") or ""))
    is_partial = done + failed > 0 and lacks_time(job, workloads)
    return Status(
        name=label(job, CAMPAIGN_LABEL),
        phase=Phase(record.phase) if record else phase.phase,
        total=int(job["spec"].get("completions") or 0),
        done=done,
        failed=failed,
        active=active,
        ready=int(state.get("ready") or 0),
        pipeline=label(job, PIPELINE_LABEL),
        priority=queue.priority_of(job),
        queue=queue.queue_of(job),
        created=str(job["metadata"].get("creationTimestamp") or ""),
        since=record.finished_at if record else phase.since,
        finished=record.finished_at if record else "",
        detail="" if record else phase.detail,
        place=next(waits, None) if phase.phase is Phase.WAITING and not record else None,
        admission=replace(admission_of(workloads), is_partial=is_partial),
        hold=hold_on(job, workloads),
        execution_time=(
            execution_time(job, workloads, now) if backend is Backend.KOORD_QUEUE else UNLIMITED
        ),
    )


def _compared(
    status: Status, job_name: str, job: Object, wanted: Mapping[str, Wanted], queue: QueueSystem
) -> Status:
    if status.phase.is_end:
        return status
    one = wanted.get(status.name)
    return replace(status, drift=NOT_IN_GIT if one is None else drift(one, job_name, job, queue))


def _records_without_job(live: Live, repository: str) -> Iterable[tuple[Record, str, str]]:
    jobs = {status_configmap(name(job)) for job in live.jobs.values()}
    for configmap in in_role(live.configmaps.values(), Role.STATUS, repository):
        if name(configmap) in jobs:
            continue
        try:
            record = Record.from_data(configmap.get("data") or {})
        except ValueError:
            # apply names an unreadable record; a table of the others is still of use.
            continue
        yield record, label(configmap, CAMPAIGN_LABEL), label(configmap, PIPELINE_LABEL)


def _of_record(campaign: str, record: Record, pipeline: str) -> Status:
    return Status(
        name=campaign,
        phase=Phase(record.phase),
        total=record.total,
        done=record.done,
        failed=record.failed,
        pipeline=pipeline,
        created=record.started_at,
        since=record.finished_at,
        finished=record.finished_at,
        admission=Admission(is_partial=record.done + record.failed > 0),
    )


def together(campaign: str, parts: Sequence[Status]) -> Status:
    """One status of all parts of a campaign."""
    if len(parts) == 1:
        return parts[0]
    order = list(Phase)
    # It rests when all of its parts do.
    going_on = [part.phase for part in parts if not part.phase.rests]
    phase = min(going_on or [part.phase for part in parts], key=order.index)
    if all(part.phase.is_end for part in parts) and len({part.phase for part in parts}) > 1:
        phase = Phase.PARTLY_FAILED
    places = [part.place for part in parts if part.place]
    return Status(
        name=campaign,
        phase=phase,
        total=sum(part.total for part in parts),
        done=sum(part.done for part in parts),
        failed=sum(part.failed for part in parts),
        active=sum(part.active for part in parts),
        ready=sum(part.ready for part in parts),
        pipeline=parts[0].pipeline,
        priority=parts[0].priority,
        queue=parts[0].queue,
        created=min((part.created for part in parts if part.created), default=""),
        since=max(part.since for part in parts if part.phase is phase or phase.is_end),
        finished=max(part.finished for part in parts) if phase.is_end else "",
        detail=next((part.detail for part in parts if part.phase is phase), ""),
        drift=next((part.drift for part in parts if part.drift), ""),
        parts=len(parts),
        place=min(places, key=lambda place: place.in_cluster_queue, default=None),
        admission=Admission.together([part.admission for part in parts]),
        hold=strongest(part.hold for part in parts),
    )
