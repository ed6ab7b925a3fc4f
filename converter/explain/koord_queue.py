"""Campaigns of Koord-Queue that wait, were stopped, or should be: what their QueueUnit says."""

from collections.abc import Iterator

from converter.cluster.objects import Object, annotation, is_active, is_suspended, label
from converter.explain.cause import Cause
from converter.explain.facts import Part
from converter.explain.stopped import ENDING_SECONDS, is_past
from converter.explain.text import counted
from converter.koord_queue.unit import (
    ENQUEUED,
    backoff,
    execution_time,
    has_ended,
    is_admitted,
    is_being_preempted,
    is_spent,
    is_stuck,
    phase_of,
    requeue_of,
)
from converter.names import KOORD_QUOTA_LABEL, PAUSED_ANNOTATION
from converter.observe.phase import Phase
from converter.reconcile.levers.koord_queue import unenforced as why_unenforced
from converter.times import minutes
from converter.wording import said

_PLATFORM = "the platform team has to look after Koord-Queue's controllers"


def unenforced(part: Part) -> Iterator[Cause]:
    """A pause or hold that is wanted and not carried out."""
    if part.status.phase is not Phase.PAUSING:
        return
    pods = counted(part.status.active, "pod")
    if not part.workloads:
        yield Cause(
            "pause-not-applied",
            f"git pauses it, and there is no QueueUnit that could be paused: {pods} there",
            f"run `campaigns apply` again; where none comes, {_PLATFORM}",
        )
    elif any(map(is_active, part.workloads)):
        yield Cause(
            "pause-not-applied",
            f"git pauses it, and its QueueUnit is active: {pods} there",
            "run `campaigns apply` again; where that does not help, somebody else sets spec.active",
        )
    elif _is_ending(part) and not is_past(part, part.status.since, ENDING_SECONDS):
        yield Cause("pausing", f"it is being stopped: {pods} still ending", "wait")
    else:
        yield Cause(
            "pause-not-enforced",
            f"its pause does not hold ({pods} there): {why_unenforced(part.job, part.workloads)}",
            _PLATFORM,
        )


def _is_ending(part: Part) -> bool:
    return is_suspended(part.job) and not any(map(is_admitted, part.workloads))


def time_over(part: Part) -> Iterator[Cause]:
    """Stopped by its execution time, which is no pause of git's."""
    if not _is_stopped(part) or part.status.hold or not is_spent(part.job, part.workloads):
        return
    limit = execution_time(part.job, part.workloads).limit
    seconds = f"the {limit} s" if limit is not None else "all the time"
    yield Cause(
        "execution-time-over",
        f"it has run for {seconds} that {part.facts.pipeline_file} gives it "
        "(max_execution_seconds), and Koord-Queue has stopped it",
        _again(part, "gives it the whole time once more"),
    )


def stopped_by_somebody(part: Part) -> Iterator[Cause]:
    """Inactive by nothing that is known."""
    if not _is_stopped(part) or part.status.hold or is_spent(part.job, part.workloads):
        return
    yield Cause(
        "paused-by-hand",
        "spec.active of its QueueUnit is false, and git lets it run: somebody stopped it, or its "
        "execution time is over",
        _again(part, "lets it run"),
    )


def time_left(part: Part) -> Iterator[Cause]:
    """How much of its execution time one that runs has had."""
    time = part.status.execution_time
    if part.status.phase is Phase.RUNNING and time.limit is not None:
        yield Cause(
            "execution-time",
            f"it has run for {minutes(time.used)} of the {minutes(time.limit)} that it may "
            "(max_execution_seconds); then Koord-Queue stops it",
        )


def without_unit(part: Part) -> Iterator[Cause]:
    """A Job that Koord-Queue has not taken up."""
    if part.workloads or part.status.phase is not Phase.WAITING:
        return
    yield Cause(
        "no-queue-unit",
        f"Koord-Queue has made no QueueUnit for its Job, which is of {part.status.created}",
        f"{_PLATFORM}: they have to run with the extension for batch/job",
    )


def waiting(part: Part) -> Iterator[Cause]:
    """One that is in the queue, or on its way back into it."""
    if part.status.phase is not Phase.WAITING:
        return
    for unit in part.workloads:
        if cause := _why_waiting(part, unit):
            yield cause


def _why_waiting(part: Part, unit: Object) -> Cause | None:
    if not is_active(unit) or has_ended(unit):
        return None
    if is_being_preempted(unit):
        return Cause(
            "preempted",
            "Koord-Queue is taking its resources for a campaign of a higher priority",
            f"wait; where that takes more than some minutes, {_PLATFORM}",
        )
    if requeue := requeue_of(unit):
        shortest, longest = backoff(requeue.number)
        return Cause(
            "backing-off",
            f"{part.status.detail}",
            "find out why its pods did not run; Koord-Queue tries again by itself",
            (
                f"before try {requeue.number} it waits {shortest.total_seconds():g} to "
                f"{longest.total_seconds():g} s",
            ),
        )
    if phase_of(unit) == "Reserved":
        return Cause(
            "admission-check",
            f"it has its quota, and {part.status.detail}",
            "ask the platform team what these admission checks want",
        )
    if is_stuck(unit, part.job):
        return Cause(
            "stuck",
            "Koord-Queue counts it as admitted since before it was stopped, and so never starts it",
            f"have its QueueUnit deleted, which Koord-Queue makes anew: kubectl --namespace="
            f"{part.facts.settings.namespace} delete queueunit {part.name} (its place in the queue "
            "and its counted time are gone with it)",
        )
    if phase_of(unit) in ("Dequeued", "SchedReady", "SchedSucceed"):
        return Cause(
            "starting",
            "Koord-Queue has admitted it, and its Job is not started yet",
            f"wait a moment; where nothing happens, {_PLATFORM}",
        )
    if part.status.active or phase_of(unit) not in (ENQUEUED, "SchedFailed"):
        return Cause(
            "starting",
            part.status.detail or f"Koord-Queue says {said(phase_of(unit))}, and it does not run",
            f"wait a moment; where nothing happens, {_PLATFORM}",
        )
    quota = _quota_of(unit)
    if not quota:
        return Cause(
            "no-quota",
            "its QueueUnit names no quota, so Koord-Queue never starts it and says nothing of that",
            f"have the label {KOORD_QUOTA_LABEL} put on it: it is copied from the Job only once",
        )
    message = said((unit.get("status") or {}).get("message"))
    return Cause(
        "queued",
        f"it waits in the quota {quota}" + (f": {message}" if message else ""),
        "wait until others have ended, write a smaller window, or have the quota's max raised",
    )


def _quota_of(unit: Object) -> str:
    return label(unit, KOORD_QUOTA_LABEL)


def _is_stopped(part: Part) -> bool:
    """At rest, and by neither git nor what is going on."""
    stopped = part.status.phase in (Phase.PAUSED, Phase.HELD)
    return stopped and bool(part.workloads) and not annotation(part.job, PAUSED_ANNOTATION)


def _again(part: Part, what: str) -> str:
    file = part.facts.file
    return f"write suspend: true in {file} and apply, then take it out and apply, which {what}"
