"""What a QueueUnit says of itself. Pure.

The phase is what counts: conditions mirror it, and some stay true when it has moved on. Read in
pkg/jobext/framework/activation.go and pkg/utils of Koord-Queue's source.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

from converter.cluster.objects import Object, annotation, is_active, name, true_condition
from converter.names import BUDGET_SPENT_ANNOTATION, KOORD_MAX_EXECUTION_ANNOTATION
from converter.times import instant

ENQUEUED: Final = "Enqueued"
ENDED: Final = ("Succeed", "Failed")
ADMITTED: Final = ("Reserved", "Dequeued", "SchedReady", "SchedSucceed", "Running")
SPENT: Final = "MaximumExecutionTimeExceeded"

# How long Koord-Queue waits before the n-th try, in seconds, and by how much that varies; the
# variation comes after the limit.
FIRST_BACKOFF: Final = 10
LONGEST_BACKOFF: Final = 900
JITTER: Final = 0.1

# What to do where the QueueUnits of a cluster have no ``spec.active``.
NO_ACTIVE: Final = (
    "the CustomResourceDefinition queueunits.scheduling.x-k8s.io of this cluster has no "
    "spec.active (Koord-Queue v1.8.0 has none), so nothing can be paused: have that of a later "
    "Koord-Queue applied, with the feature gate QueueUnitActive on in koord-queue and in its "
    "controllers"
)


@dataclass(frozen=True, slots=True)
class ExecutionTime:
    """Seconds that a campaign may run in all, and has; `limit` is None where there is none."""

    limit: int | None = None
    used: int = 0

    @property
    def left(self) -> int | None:
        """Seconds that are left; not negative."""
        return None if self.limit is None else max(0, self.limit - self.used)


UNLIMITED: Final = ExecutionTime()


@dataclass(frozen=True, slots=True)
class Requeue:
    """The next try of what backs off: which one it is, and when, if that is said."""

    number: int
    at: datetime | None


def owner_uid(unit: Object) -> str:
    """The uid of the Job that a QueueUnit was made for; empty where it is none's.

    By name and owner, as Koord-Queue looks it up (GetRelatedQueueUnit of its job extension). The
    uid tells it from the QueueUnit of an earlier Job of the name, which stays until the garbage
    collector comes by.
    """
    for owner in unit["metadata"].get("ownerReferences") or ():
        if owner.get("kind") == "Job" and owner.get("name") == name(unit):
            return str(owner.get("uid") or "")
    return ""


def phase_of(unit: Object) -> str:
    """``status.phase``; an absent one is that of a QueueUnit that was just made."""
    return str((unit.get("status") or {}).get("phase") or ENQUEUED)


def has_ended(unit: Object) -> bool:
    """Whether the Job has ended, for Koord-Queue."""
    return phase_of(unit) in ENDED


def is_admitted(unit: Object) -> bool:
    """Whether it has its quota, and starts, runs or waits for admission checks."""
    return phase_of(unit) in ADMITTED


def is_being_preempted(unit: Object) -> bool:
    """Whether resources are being taken from it for another one; then it is left alone."""
    admissions = (unit.get("status") or {}).get("admissions") or ()
    reclaimed = any((each.get("reclaimState") or {}).get("replicas") or 0 for each in admissions)
    return reclaimed or phase_of(unit) == "Preempted"


def holds_quota(unit: Object) -> bool:
    """Whether it is still counted against a quota for some pods."""
    admissions = (unit.get("status") or {}).get("admissions") or ()
    return any(int(each.get("replicas") or 0) > 0 for each in admissions)


def is_stuck(unit: Object, job: Object) -> bool:
    """Whether it counts as admitted in full and waits all the same, so that nothing starts it.

    Seen in the source, not on a cluster: what stops a QueueUnit returns it to the queue, and what
    shrinks its admissions runs only for one that is admitted.
    """
    if not is_active(unit) or phase_of(unit) != ENQUEUED or job["spec"].get("suspend") is not True:
        return False
    wanted = {each.get("name"): int(each.get("count") or 0) for each in _pod_sets(unit)}
    admitted = {
        each.get("name"): int(each.get("replicas") or 0)
        for each in (unit.get("status") or {}).get("admissions") or ()
    }
    return any(wanted.values()) and all(
        admitted.get(pod_set, 0) >= count for pod_set, count in wanted.items()
    )


def execution_time(
    job: Object, units: Sequence[Object], now: datetime | None = None
) -> ExecutionTime:
    """What is used is what was counted before, and with `now` that since the pods were ready.

    Koord-Queue counts only while pods are ready; Kueue counts from the admission on.
    """
    for unit in units:
        limit = (unit.get("spec") or {}).get("maximumExecutionTimeSeconds")
        status = unit.get("status") or {}
        used = int(status.get("accumulatedPastExecutionTimeSeconds") or 0)
        ready = true_condition(unit, "PodsReady")
        since = instant(str(ready.get("lastTransitionTime") or "")) if ready else None
        if since is not None and now is not None and not has_ended(unit):
            used += max(0, int((now - since).total_seconds()))
        if limit is not None:
            return ExecutionTime(int(limit), used)
    asked = annotation(job, KOORD_MAX_EXECUTION_ANNOTATION)
    return ExecutionTime(int(asked) if asked.isascii() and asked.isdigit() else None)


def is_spent(job: Object, units: Sequence[Object]) -> bool:
    """Whether its execution time has stopped it: by the reason while that is there, or our note."""
    if annotation(job, BUDGET_SPENT_ANNOTATION):
        return True
    return any(evicted_for(unit) == SPENT for unit in units if not is_active(unit))


def evicted_for(unit: Object) -> str:
    """The reason for which it was evicted, where it waits since; the condition outlives that."""
    if phase_of(unit) not in (ENQUEUED, "TimeoutBackoff", "Preempted"):
        return ""
    evicted = true_condition(unit, "Evicted")
    return str(evicted.get("reason") or "") if evicted else ""


def requeue_of(unit: Object) -> Requeue | None:
    """The next try of one that backs off; None of one that does not."""
    if phase_of(unit) != "TimeoutBackoff":
        return None
    state = (unit.get("status") or {}).get("requeueState") or {}
    number = int(state.get("count") or 0)
    return Requeue(max(number, 1), instant(str(state.get("requeueAt") or "")))


def backoff(number: int) -> tuple[timedelta, timedelta]:
    """The shortest and the longest wait before the n-th try, from 1."""
    # Bounded, since the number is what somebody wrote.
    nominal = min(FIRST_BACKOFF * 2 ** min(max(number, 1) - 1, 10), LONGEST_BACKOFF)
    return (
        timedelta(seconds=nominal * (1 - JITTER)),
        timedelta(seconds=nominal * (1 + JITTER)),
    )


def _pod_sets(unit: Object) -> Sequence[Object]:
    return (unit.get("spec") or {}).get("podSet") or ()
