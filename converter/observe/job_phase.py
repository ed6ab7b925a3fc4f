"""Where one Job is, and why: its own state beside what its Workloads say.

A pause is verified, not believed: with pods left, or its quota still taken, it is on its way only.
Kueue says Evicted while Admitted is still true, until the pods are gone
(https://kueue.sigs.k8s.io/docs/concepts/workload/#conditions): what is being stopped does not run.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from converter.cluster.objects import (
    Object,
    annotation,
    is_active,
    is_suspended,
    true_condition,
)
from converter.holds.words import named, told
from converter.names import SUSPEND_ANNOTATION
from converter.observe.phase import Phase
from converter.reconcile.held import hold_on
from converter.reconcile.pause import is_outside_queue, kueue_deactivation


@dataclass(frozen=True, slots=True)
class JobPhase:
    """A phase, why it is that, and since when (RFC 3339, empty where unknown)."""

    phase: Phase
    detail: str = ""
    since: str = ""


def job_phase(job: Object, workloads: Sequence[Object], pods: int) -> JobPhase:
    """The phase of a Job that has not ended. `pods` are its pods, those that end included."""
    inactive = [workload for workload in workloads if not is_active(workload)]
    if inactive or is_outside_queue(job):
        return _stopped(job, workloads, pods)
    if annotation(job, SUSPEND_ANNOTATION) == "true":
        detail = "its Workload is still active: apply again"
        if not workloads:
            detail = "Kueue has made no Workload to pause: apply again"
        return JobPhase(Phase.PAUSING, detail, _since(job, workloads))
    if evicted := _evicted(workloads):
        if reasons := ", ".join(filter(None, map(kueue_deactivation, workloads))):
            # One that somebody made active again rests all the same: Kueue does not queue it.
            phase = Phase.PAUSED if is_suspended(job) and not pods else Phase.PAUSING
            detail = f"Kueue deactivated it ({reasons}): apply again"
            return JobPhase(phase, detail, _time(evicted))
        if pods or not is_suspended(job):
            detail = f"evicted ({evicted.get('reason')}), {pods_of(pods)} ending"
            return JobPhase(Phase.WAITING, detail, _time(evicted))
    if is_suspended(job):
        return JobPhase(Phase.WAITING, _why_waiting(workloads), _since(job, workloads))
    mark = hold_on(job, workloads)
    detail = f"{named(mark)} does not stop it" if mark else ""
    return JobPhase(Phase.RUNNING, detail, _admitted_at(job, workloads))


def _stopped(job: Object, workloads: Sequence[Object], pods: int) -> JobPhase:
    """A Job that somebody wants stopped, by its Workload or by keeping it out of the queue."""
    inactive = [workload for workload in workloads if not is_active(workload)]
    since = _since(job, inactive)
    mark = hold_on(job, workloads)
    if left := _left(job, workloads, inactive, pods):
        return JobPhase(
            Phase.PAUSING, f"being held by {named(mark)}: {left}" if mark else left, since
        )
    if mark:
        return JobPhase(Phase.HELD, told(mark), since)
    reasons = ", ".join(filter(None, map(kueue_deactivation, inactive)))
    return JobPhase(Phase.PAUSED, f"Kueue deactivated it ({reasons})" if reasons else "", since)


def _left(job: Object, workloads: Sequence[Object], inactive: Sequence[Object], pods: int) -> str:
    """What goes on of a Job that is to be stopped; empty when it has been."""
    if not is_suspended(job):
        if _evicted(inactive):
            return f"evicted, {pods_of(pods)} still running"
        return f"its Workload is inactive, but Kueue has not stopped it: {pods_of(pods)} running"
    if pods:
        return f"{pods_of(pods)} ending"
    if any(true_condition(workload, "QuotaReserved") for workload in inactive):
        return "its quota is not free yet"
    return "another Workload of it is active" if may_start(job, workloads) else ""


def may_start(job: Object, workloads: Iterable[Object]) -> bool:
    """Whether Kueue may admit one of a Job's Workloads, whatever the others say."""
    return not is_outside_queue(job) and any(
        is_active(each) and not true_condition(each, "Finished") for each in workloads
    )


def _why_waiting(workloads: Sequence[Object]) -> str:
    if not workloads:
        return "Kueue has made no Workload for it"
    for workload in workloads:
        for condition in (workload.get("status") or {}).get("conditions") or ():
            if condition.get("type") == "QuotaReserved" and condition.get("status") == "False":
                return " ".join(str(condition.get("message") or "").split())
    if _evicted(workloads):
        return "evicted, waiting to be admitted again"
    return ""


def _evicted(workloads: Sequence[Object]) -> Object | None:
    found = (true_condition(workload, "Evicted") for workload in workloads)
    return next((condition for condition in found if condition), None)


def _since(job: Object, workloads: Sequence[Object]) -> str:
    """When it was stopped last; it may never have run."""
    condition = _evicted(workloads) or true_condition(job, "Suspended")
    return _time(condition) if condition else str(job["metadata"].get("creationTimestamp") or "")


def _admitted_at(job: Object, workloads: Sequence[Object]) -> str:
    found = (true_condition(workload, "Admitted") for workload in workloads)
    admitted = next((condition for condition in found if condition), None)
    return _time(admitted) if admitted else str((job.get("status") or {}).get("startTime") or "")


def _time(condition: Object) -> str:
    return str(condition.get("lastTransitionTime") or "")


def pods_of(number: int) -> str:
    """So many pods, in words."""
    return f"{number} pod" if number == 1 else f"{number} pods"


def time_of(job: Object, known: str) -> str:
    """A time, or that of the Job's creation where it is not known."""
    return known or str(job["metadata"].get("creationTimestamp") or "")
