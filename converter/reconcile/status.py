"""How far each campaign is: a pure reading of its Jobs, Workloads and records."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from converter.cluster.objects import (
    Object,
    annotation,
    index_ranges,
    is_active,
    is_being_deleted,
    is_suspended,
    label,
    name,
    true_condition,
)
from converter.manifest import Role
from converter.names import (
    CAMPAIGN_LABEL,
    KUEUE_PRIORITY_LABEL,
    KUEUE_QUEUE_LABEL,
    PIPELINE_LABEL,
    SUSPEND_ANNOTATION,
    status_configmap,
)
from converter.reconcile.live import Live, in_role, workloads_of
from converter.reconcile.pause import hold_of, kueue_deactivation
from converter.reconcile.record import Record, record_of


class Phase(StrEnum):
    """Where a campaign is. The order is that of attention: the first of its parts' counts."""

    PAUSING = "Pausing"
    RUNNING = "Running"
    HELD = "Held"
    PAUSED = "Paused"
    WAITING = "Waiting"
    MISSING = "Missing"
    FAILED = "Failed"
    PARTLY_FAILED = "PartlyFailed"
    FINISHED = "Finished"

    @property
    def is_end(self) -> bool:
        """Whether nothing more will happen."""
        return self in (Phase.FAILED, Phase.PARTLY_FAILED, Phase.FINISHED)

    @property
    def rests(self) -> bool:
        """Whether nothing more happens by itself: it has ended, or somebody stopped it."""
        return self.is_end or self in (Phase.PAUSED, Phase.HELD, Phase.MISSING)


@dataclass(frozen=True, slots=True)
class Status:
    """One campaign, or one part of it. Counts are volumes, `active` is pods, ending ones included.

    `created` and `finished` are RFC 3339 in UTC, empty where unknown. `detail` says in the
    cluster's own words why a campaign waits.
    """

    name: str
    phase: Phase
    total: int
    done: int = 0
    failed: int = 0
    active: int = 0
    pipeline: str = ""
    priority: str = ""
    created: str = ""
    finished: str = ""
    detail: str = ""


def statuses(wanted: Mapping[str, int], live: Live, repository: str) -> list[Status]:
    """One status a campaign, by name.

    `wanted` gives the number of volumes of each campaign in git: one without a Job and without a
    record is Missing, and so is such a part of one that was split. A campaign that is on the
    cluster only is listed as well.
    """
    parts: dict[str, list[Status]] = {}
    for job in in_role(live.jobs.values(), Role.CAMPAIGN, repository):
        workloads = workloads_of(job, live.workloads)
        parts.setdefault(label(job, CAMPAIGN_LABEL), []).append(of_job(job, workloads))
    for record, campaign, pipeline in _records_without_job(live, repository):
        parts.setdefault(campaign, []).append(_of_record(campaign, record, pipeline))
    names = live.jobs.keys() | live.configmaps.keys()
    for campaign, total in wanted.items():
        there = sum(part.total for part in parts.get(campaign, ()))
        # A whole campaign with fewer volumes is one whose list has changed in git: it is held back.
        is_split = names.isdisjoint((campaign, status_configmap(campaign)))
        if campaign not in parts or (is_split and there < total):
            absent = Status(campaign, Phase.MISSING, total - there)
            parts.setdefault(campaign, []).append(absent)
    return [_together(campaign, parts[campaign]) for campaign in sorted(parts)]


def of_job(job: Object, found: Sequence[Object]) -> Status:
    """The status of one Job and the Workloads that Kueue made for it.

    One that is on its way out says nothing any more: Kueue makes another.
    """
    workloads = [workload for workload in found if not is_being_deleted(workload)]
    state = job.get("status") or {}
    # Kubernetes does not count a pod as active while it ends, but it still has its GPU.
    active = int(state.get("active") or 0) + int(state.get("terminating") or 0)
    record = record_of(job, None)
    phase, detail = _phase(job, workloads, active)
    return Status(
        name=label(job, CAMPAIGN_LABEL),
        phase=Phase(record.phase) if record else phase,
        total=int(job["spec"].get("completions") or 0),
        done=record.done if record else len(index_ranges(state.get("completedIndexes") or "")),
        failed=record.failed if record else len(index_ranges(state.get("failedIndexes") or "")),
        active=active,
        pipeline=label(job, PIPELINE_LABEL),
        priority=label(job, KUEUE_PRIORITY_LABEL),
        created=str(job["metadata"].get("creationTimestamp") or ""),
        finished=record.finished_at if record else "",
        detail="" if record else detail,
    )


def _phase(job: Object, workloads: Sequence[Object], active: int) -> tuple[Phase, str]:
    """A pause is verified, not believed: with pods left it is only on its way."""
    inactive = [workload for workload in workloads if not is_active(workload)]
    outside = is_suspended(job) and not label(job, KUEUE_QUEUE_LABEL)
    if inactive or outside:
        if active or not is_suspended(job):
            return Phase.PAUSING, f"{active} pods still running"
        for workload in inactive:
            if instance := hold_of(workload):
                return Phase.HELD, f"hold {instance}"
        reasons = ", ".join(filter(None, map(kueue_deactivation, inactive)))
        return Phase.PAUSED, f"Kueue deactivated it ({reasons})" if reasons else ""
    if annotation(job, SUSPEND_ANNOTATION) == "true":
        return Phase.PAUSING, "not yet inactive"
    if is_suspended(job):
        if reasons := ", ".join(filter(None, map(kueue_deactivation, workloads))):
            # One that somebody made active again rests all the same: Kueue does not queue it.
            return Phase.PAUSED, f"Kueue deactivated it ({reasons}): apply again"
        return Phase.WAITING, _why_waiting(workloads)
    return Phase.RUNNING, ""


def _why_waiting(workloads: Sequence[Object]) -> str:
    if not workloads:
        return "Kueue has made no Workload for it"
    for workload in workloads:
        for condition in (workload.get("status") or {}).get("conditions") or ():
            if condition.get("type") == "QuotaReserved" and condition.get("status") == "False":
                return " ".join(str(condition.get("message") or "").split())
        if true_condition(workload, "Evicted"):
            return "evicted, waiting to be admitted again"
    return ""


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
        finished=record.finished_at,
    )


def _together(campaign: str, parts: Sequence[Status]) -> Status:
    if len(parts) == 1:
        return parts[0]
    order = list(Phase)
    # It rests when all of its parts do.
    going_on = [part.phase for part in parts if not part.phase.rests]
    phase = min(going_on or [part.phase for part in parts], key=order.index)
    if all(part.phase.is_end for part in parts) and len({part.phase for part in parts}) > 1:
        phase = Phase.PARTLY_FAILED
    return Status(
        name=campaign,
        phase=phase,
        total=sum(part.total for part in parts),
        done=sum(part.done for part in parts),
        failed=sum(part.failed for part in parts),
        active=sum(part.active for part in parts),
        pipeline=parts[0].pipeline,
        priority=parts[0].priority,
        created=min((part.created for part in parts if part.created), default=""),
        finished=max(part.finished for part in parts) if phase.is_end else "",
        detail=next((part.detail for part in parts if part.phase is phase), ""),
    )
