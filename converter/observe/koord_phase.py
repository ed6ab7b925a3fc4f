"""Where a Job of Koord-Queue is: its own state beside what its QueueUnit says.

The phase of the QueueUnit decides. Its conditions mirror the phase, and Evicted stays true when it
has been admitted again.
"""

from collections.abc import Sequence
from datetime import datetime

from converter.cluster.objects import (
    Object,
    annotation,
    is_active,
    is_suspended,
    true_condition,
)
from converter.holds.words import named, told
from converter.koord_queue.unit import (
    execution_time,
    has_ended,
    is_admitted,
    is_being_preempted,
    is_spent,
    is_stuck,
    phase_of,
    requeue_of,
)
from converter.names import PAUSED_ANNOTATION, SUSPEND_ANNOTATION
from converter.observe.job_phase import JobPhase, pods_of, time_of
from converter.observe.phase import Phase
from converter.reconcile.held import hold_on
from converter.wording import said

_ADMITTED = ("Dequeued", "SchedReady", "SchedSucceed")
_QUEUED = ("Enqueued", "SchedFailed", "Preempted")


def koord_phase(
    job: Object, units: Sequence[Object], pods: int, now: datetime | None = None
) -> JobPhase:
    """The phase of a Job that has not ended. `pods` are its pods, those that end included."""
    paused = annotation(job, SUSPEND_ANNOTATION) == "true"
    if not units:
        since = _since(job, None)
        if not is_suspended(job):
            detail = "Koord-Queue has no QueueUnit for it"
            return JobPhase(Phase.PAUSING if paused else Phase.RUNNING, detail, since)
        if paused or annotation(job, PAUSED_ANNOTATION):
            return JobPhase(
                Phase.PAUSING, "Koord-Queue has made no QueueUnit to pause: apply again", since
            )
        return JobPhase(Phase.WAITING, "Koord-Queue has made no QueueUnit for it", since)
    unit = units[0]
    since = _since(job, unit)
    if not is_active(unit) and not has_ended(unit):
        return _stopped(job, unit, pods, since)
    if paused:
        return JobPhase(Phase.PAUSING, "its QueueUnit is still active: apply again", since)
    return _going_on(job, unit, pods, since, now)


def _stopped(job: Object, unit: Object, pods: int, since: str) -> JobPhase:
    mark = hold_on(job, (unit,))
    left = ""
    if is_being_preempted(unit):
        left = "it is being preempted, and is stopped after that"
    elif not is_suspended(job):
        left = (
            "its QueueUnit is inactive, but Koord-Queue has not stopped it: "
            f"{pods_of(pods)} running"
        )
    elif pods:
        left = f"{pods_of(pods)} ending"
    elif is_admitted(unit):
        left = "its QueueUnit is inactive, but Koord-Queue has admitted it and may start it"
    if left:
        who = f"being held by {named(mark)}: " if mark else ""
        return JobPhase(Phase.PAUSING, f"{who}{left}", since)
    if mark:
        return JobPhase(Phase.HELD, told(mark), since)
    if annotation(job, PAUSED_ANNOTATION):
        return JobPhase(Phase.PAUSED, "", since)
    if is_spent(job, (unit,)):
        limit = execution_time(job, (unit,)).limit
        of = f" of {limit} s" if limit is not None else ""
        return JobPhase(Phase.PAUSED, f"its execution time{of} is over", since)
    return JobPhase(
        Phase.PAUSED, "not by git: its execution time is over, or somebody stopped it", since
    )


def _going_on(job: Object, unit: Object, pods: int, since: str, now: datetime | None) -> JobPhase:
    phase = phase_of(unit)
    if is_being_preempted(unit):
        return JobPhase(Phase.WAITING, f"being preempted, {pods_of(pods)} left", since)
    if requeue := requeue_of(unit):
        return JobPhase(Phase.WAITING, _next_try(requeue.number, requeue.at, now), since)
    if phase == "Reserved":
        return JobPhase(Phase.WAITING, _unready_checks(unit), since)
    if phase in _QUEUED:
        if is_stuck(unit, job):
            return JobPhase(
                Phase.WAITING,
                "Koord-Queue counts it as admitted and does not start it: see `campaigns explain`",
                since,
            )
        if pods:
            return JobPhase(Phase.WAITING, f"evicted, {pods_of(pods)} ending", since)
        return JobPhase(Phase.WAITING, said((unit.get("status") or {}).get("message")), since)
    if phase in _ADMITTED and is_suspended(job):
        return JobPhase(Phase.WAITING, "admitted, about to start", since)
    if phase == "Running" and is_suspended(job):
        detail = "Koord-Queue says Running, but somebody suspended its Job"
        return JobPhase(Phase.WAITING, detail, since)
    mark = hold_on(job, (unit,))
    detail = f"{named(mark)} does not stop it" if mark else ""
    if phase not in (*_ADMITTED, "Running") and not has_ended(unit):
        # A phase of a later Koord-Queue, as it says it.
        detail = f"Koord-Queue says {said(phase)}"
        if is_suspended(job):
            return JobPhase(Phase.WAITING, detail, since)
    return JobPhase(Phase.RUNNING, detail, since)


def _next_try(number: int, at: datetime | None, now: datetime | None) -> str:
    if at is None:
        return f"backing off before try {number}"
    if now is None:
        return f"backing off: try {number} at {at:%Y-%m-%dT%H:%M:%SZ}"
    left = int((at - now).total_seconds())
    if left <= 0:
        return f"backing off: try {number} is due"
    return f"backing off: try {number} in {_spelt(left)}"


def _spelt(seconds: int) -> str:
    minutes, rest = divmod(seconds, 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def _unready_checks(unit: Object) -> str:
    checks = (unit.get("status") or {}).get("admissionChecks") or ()
    waiting = [str(each.get("name")) for each in checks if each.get("state") != "Ready"]
    return f"waits for the admission checks {', '.join(waiting)}" if waiting else "has its quota"


def _since(job: Object, unit: Object | None) -> str:
    """Since when it waits or runs.

    The QueueUnit's own times move on all the while: ``lastUpdateTime`` with each try to admit it,
    the Evicted condition with each look at one that is inactive.
    """
    if is_suspended(job):
        suspended = true_condition(job, "Suspended")
        return time_of(job, str((suspended or {}).get("lastTransitionTime") or ""))
    ready = true_condition(unit, "PodsReady") if unit is not None else None
    known = (ready or {}).get("lastTransitionTime") or (job.get("status") or {}).get("startTime")
    return time_of(job, str(known or ""))
