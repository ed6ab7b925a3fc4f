"""Campaigns that somebody stopped: git, a hold, a person on the cluster, or Kueue."""

from collections.abc import Iterator
from datetime import datetime

from converter.cluster.objects import Object, annotation, is_active, is_suspended, true_condition
from converter.explain.cause import Cause
from converter.explain.facts import Part
from converter.explain.text import counted, said
from converter.names import (
    HELD_AT_ANNOTATION,
    HELD_BY_ANNOTATION,
    HOLD_REASON_ANNOTATION,
    SUSPEND_ANNOTATION,
)
from converter.observe.phase import Phase
from converter.reconcile.pause import hold_of, kueue_deactivation

# Kueue suspends a Job in the second in which it evicts its Workload.
ANSWER_SECONDS = 5.0
_PATIENCE = "wait; a pod has 120 s to end"
_STOPPED = (Phase.PAUSED, Phase.HELD, Phase.PAUSING)

# Kueue's reasons after "DeactivatedDueTo" (its package ``workload``), and what each means.
_DEACTIVATIONS = {
    "RequeuingLimitExceeded": "its pods were not ready in time, more often than Kueue tries again "
    "(waitForPodsReady)",
    "MaximumExecutionTimeExceeded": "it ran longer than the maximum execution time that its Job "
    "has in a label (kueue.x-k8s.io/max-exec-time-seconds)",
    "AdmissionCheck": "an admission check of the ClusterQueue rejected it",
}
_AGAINST = {
    "RequeuingLimitExceeded": "find out why its pods do not become ready (image, nodes, volumes)",
    "MaximumExecutionTimeExceeded": "have that label removed or its number raised",
    "AdmissionCheck": "ask the platform team what the admission check wants",
}


def unenforced(part: Part) -> Iterator[Cause]:
    """A pause or hold that is wanted and not carried out: pods go on running."""
    if part.status.phase is not Phase.PAUSING:
        return
    inactive = [each for each in part.workloads if not is_active(each)]
    pods = counted(part.status.active, "pod")
    ending = Cause("pausing", f"it is being stopped: {pods} still ending", _PATIENCE)
    if is_suspended(part.job):
        yield ending
        return
    if not inactive:
        yield Cause(
            "pause-not-applied",
            f"git pauses it, and nothing on the cluster does: {pods} there",
            "run `campaigns apply` again; where that does not help, somebody else sets spec.active",
        )
        return
    evicted = true_condition(inactive[0], "Evicted")
    if evicted is None or _waits_long(part, evicted):
        yield Cause(
            "pause-not-enforced",
            f"its pause does not hold: its Workload is inactive, and Kueue has not stopped it "
            f"({pods} on the cluster)",
            "the platform team has to look after Kueue: its controller or its webhooks do not work",
        )
        return
    yield ending


def held(part: Part) -> Iterator[Cause]:
    """A numbered hold on a Workload, which wins over git."""
    if part.status.phase not in _STOPPED:
        return
    for workload in part.workloads:
        instance = hold_of(workload)
        if not instance or is_active(workload):
            continue
        by, at, reason = (
            said(annotation(workload, key))
            for key in (HELD_BY_ANNOTATION, HELD_AT_ANNOTATION, HOLD_REASON_ANNOTATION)
        )
        who = f" of {by}" if by else ""
        since = f" since {at}" if at else ""
        yield Cause(
            "held",
            f"hold {instance}{who} stops it{since}: {reason or 'no reason was given'}",
            f"ask {by or 'who placed it'} to release hold {instance}; git cannot start it before",
        )
        return


def paused_in_git(part: Part) -> Iterator[Cause]:
    """What git says is what an apply noted on the Job."""
    if part.status.phase not in _STOPPED or annotation(part.job, SUSPEND_ANNOTATION) != "true":
        return
    file = part.facts.file
    yield Cause(
        "paused-in-git",
        f"git pauses it: {file} says suspend: true{_since(part)}",
        f"take suspend: true out of {file} to let it go on",
    )


def deactivated(part: Part) -> Iterator[Cause]:
    """Kueue's own deactivation."""
    if part.status.phase not in _STOPPED:
        return
    for workload in part.workloads:
        reason = kueue_deactivation(workload)
        if not reason:
            continue
        kind = next((each for each in _DEACTIVATIONS if reason.endswith(each)), "")
        meaning = f", since {_DEACTIVATIONS[kind]}" if kind else ""
        against = f"{_AGAINST[kind]}; then " if kind else ""
        again = "the next `campaigns apply` queues it again"
        if not part.facts.settings.reactivate:
            again = "write reactivate: always in converter.yaml, and apply queues it again"
        message = _message(workload, "Evicted")
        yield Cause(
            "deactivated",
            f"Kueue deactivated it ({reason}){meaning}",
            f"{against}{again}",
            (f"Kueue says: {message}",) if message else (),
        )
        return


def paused_by_hand(part: Part) -> Iterator[Cause]:
    """Neither git, nor a hold, nor Kueue."""
    if part.status.phase not in _STOPPED or annotation(part.job, SUSPEND_ANNOTATION) == "true":
        return
    for workload in part.workloads:
        if is_active(workload) or hold_of(workload) or kueue_deactivation(workload):
            continue
        yield Cause(
            "paused-by-hand",
            f"somebody paused it on the cluster{_by(workload)}{_since(part)}: spec.active of its "
            "Workload is false, and git lets it run",
            "run `campaigns apply`, which lets it go on; to keep it paused, write suspend: true "
            f"in {part.facts.file}",
        )
        return
    if not part.workloads:
        yield Cause(
            "paused-by-hand",
            "its Job is suspended and has no queue label, so Kueue does not know it, and git lets "
            "it run",
            "run `campaigns apply`, which puts it into the queue",
        )


def _by(workload: Object) -> str:
    """The field manager that wrote ``spec.active`` last."""
    for entry in reversed(workload["metadata"].get("managedFields") or ()):
        if "f:active" in ((entry.get("fieldsV1") or {}).get("f:spec") or {}):
            return f" with {said(entry.get('manager'))}"
    return ""


def _since(part: Part) -> str:
    return f", since {part.status.since}" if part.status.since else ""


def _waits_long(part: Part, condition: Object) -> bool:
    since = str(condition.get("lastTransitionTime") or "")
    if not since:
        return False
    passed = part.facts.snapshot.now - datetime.fromisoformat(since)
    return passed.total_seconds() > ANSWER_SECONDS


def _message(workload: Object, kind: str) -> str:
    for condition in (workload.get("status") or {}).get("conditions") or ():
        if condition.get("type") == kind:
            return said(condition.get("message"))
    return ""
