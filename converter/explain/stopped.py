"""Campaigns that somebody stopped: git, a hold, a person on the cluster, or Kueue."""

from collections.abc import Iterator

from converter.cluster.objects import Object, annotation, is_active, is_suspended, true_condition
from converter.explain.cause import Cause
from converter.explain.facts import Part
from converter.explain.text import counted
from converter.holds.mark import Mark
from converter.holds.words import named
from converter.names import SUSPEND_ANNOTATION
from converter.observe.job_phase import may_start
from converter.observe.phase import Phase
from converter.observe.wanted import NOT_RESUMED
from converter.reconcile.pause import is_outside_queue, kueue_deactivation
from converter.times import instant
from converter.wording import said

# Kueue suspends a Job in the second in which it evicts its Workload.
ANSWER_SECONDS = 5.0
# A pod has 120 s to end, and its node and Kueue some more to say that it has.
ENDING_SECONDS = 180.0
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
    """A pause or hold that is wanted and not carried out: pods go on running, or may start."""
    if cause := _not_applied(part):
        yield cause
    elif part.status.phase is Phase.PAUSING:
        yield _ending(part) if is_suspended(part.job) else _going_on(part)


def _not_applied(part: Part) -> Cause | None:
    """Kueue is not told to stop it, or not of each of its Workloads."""
    pods = f"{counted(part.status.active, 'pod')} there"
    starts = "Kueue may start it at any moment" if is_suspended(part.job) else pods
    active = may_start(part.job, part.workloads)
    mark = part.status.hold
    by_itself = not part.workloads and not is_suspended(part.job)
    if mark and (active or by_itself):
        what = "its Job is not suspended" if by_itself else "a Workload of it is active"
        return Cause(
            "hold-not-enforced",
            f"{named(mark)} does not stop it: {what}, and {pods if by_itself else starts}",
            _ask(mark, "place it again, or release it"),
        )
    if part.status.phase is not Phase.PAUSING:
        return None
    paused = annotation(part.job, SUSPEND_ANNOTATION) == "true"
    if paused and not part.workloads:
        return Cause(
            "pause-not-applied",
            f"git pauses it, and there is no Workload that could be paused: {pods}",
            "run `campaigns apply` again, which pauses it as soon as Kueue has made its Workload",
        )
    if active and (paused or not all(map(is_active, part.workloads))):
        who = "git pauses it" if paused else "one of its Workloads is inactive"
        what = "nothing on the cluster does" if paused else "another one is active"
        return Cause(
            "pause-not-applied",
            f"{who}, and {what}: {starts}",
            "run `campaigns apply` again; where that does not help, somebody else sets spec.active",
        )
    return None


def _going_on(part: Part) -> Cause:
    """Its Job is not suspended."""
    pods = counted(part.status.active, "pod")
    found = (true_condition(each, "Evicted") for each in part.workloads)
    evicted = next(filter(None, found), None)
    if evicted and not is_past(part, str(evicted.get("lastTransitionTime")), ANSWER_SECONDS):
        return Cause("pausing", f"{_being_stopped(part)}: {pods} still ending", _PATIENCE)
    inactive = not all(map(is_active, part.workloads))
    return Cause(
        "pause-not-enforced",
        f"{_what_fails(part)}: its Workload is {'inactive' if inactive else 'evicted'}, and "
        f"Kueue has not stopped it ({pods} on the cluster)",
        "the platform team has to look after Kueue: its controller or its webhooks do not work",
    )


def _ending(part: Part) -> Cause:
    """Its Job is suspended, and has pods or a quota left."""
    since = _stopped_at(part)
    late = is_past(part, since, ENDING_SECONDS)
    pods = counted(part.status.active, "pod")
    if not part.status.active:
        free = "its quota is not free yet"
        return Cause(
            "pause-not-enforced" if late else "pausing",
            f"it was stopped at {since}, and {free}" if late else f"{_being_stopped(part)}: {free}",
            "the platform team has to look after Kueue: its controller does not work"
            if late
            else "wait; Kueue frees it in a moment",
        )
    if late:
        return Cause(
            "pause-not-enforced",
            f"it was stopped at {since}, and it still has {pods}",
            "the platform team has to look after the nodes of these pods: one that is lost, or "
            "hangs, does not say that a pod has ended",
        )
    return Cause("pausing", f"{_being_stopped(part)}: {pods} still ending", _PATIENCE)


def _being_stopped(part: Part) -> str:
    mark = part.status.hold
    return f"it is being held ({named(mark)})" if mark else "it is being stopped"


def _what_fails(part: Part) -> str:
    mark = part.status.hold
    return f"{named(mark)} is not carried out" if mark else "its pause does not hold"


def _ask(mark: Mark, what: str) -> str:
    """To whom to go about a hold."""
    if mark.instance is None:
        return "ask an administrator to take the annotations of the hold away; no call can name it"
    return f"ask {said(mark.by) or 'who placed it'} to {what}"


def _stopped_at(part: Part) -> str:
    """When Kueue evicted it; of one that never ran, when it was told to stop."""
    for workload in part.workloads:
        if evicted := true_condition(workload, "Evicted"):
            return str(evicted.get("lastTransitionTime") or "")
    if part.status.active and (suspended := true_condition(part.job, "Suspended")):
        return str(suspended.get("lastTransitionTime") or "")
    found = (_set_active(workload) for workload in part.workloads if not is_active(workload))
    return max((str(entry.get("time") or "") for entry in found if entry), default="")


def held(part: Part) -> Iterator[Cause]:
    """A numbered hold, which wins over git."""
    mark = part.status.hold
    stopped = is_outside_queue(part.job) or not all(map(is_active, part.workloads))
    if mark is None or not stopped or part.status.phase not in _STOPPED:
        return
    by, at, reason = said(mark.by), said(mark.at), said(mark.reason)
    who = f" of {by}" if by else ""
    since = f" since {at}" if at else ""
    yield Cause(
        "held",
        f"{named(mark)}{who} stops it{since}: {reason or 'no reason was given'}",
        f"{_ask(mark, f'release {named(mark)}')}; git cannot start it before",
    )


def paused_in_git(part: Part) -> Iterator[Cause]:
    """What git says is what an apply noted on the Job."""
    if part.status.phase not in _STOPPED or annotation(part.job, SUSPEND_ANNOTATION) != "true":
        return
    if part.facts.status.drift == NOT_RESUMED:
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
        if is_active(workload) or part.status.hold or kueue_deactivation(workload):
            continue
        yield Cause(
            "paused-by-hand",
            f"somebody paused it on the cluster{_by(workload)}{_since(part)}: spec.active of its "
            "Workload is false, and git lets it run",
            "run `campaigns apply`, which lets it go on; to keep it paused, write suspend: true "
            f"in {part.facts.file}",
        )
        return
    if not part.workloads and not part.status.hold:
        yield Cause(
            "paused-by-hand",
            "its Job is suspended and has no queue label, so Kueue does not know it, and git lets "
            "it run",
            "run `campaigns apply`, which puts it into the queue",
        )


def _by(workload: Object) -> str:
    entry = _set_active(workload)
    return f" with {said(entry.get('manager'))}" if entry else ""


def _set_active(workload: Object) -> Object | None:
    """The entry of the field manager that wrote ``spec.active`` last."""
    for entry in reversed(workload["metadata"].get("managedFields") or ()):
        if "f:active" in ((entry.get("fieldsV1") or {}).get("f:spec") or {}):
            return dict(entry)
    return None


def _since(part: Part) -> str:
    return f", since {part.status.since}" if part.status.since else ""


def is_past(part: Part, since: str, seconds: float) -> bool:
    """Whether so many seconds have passed since a time; False where it is not known."""
    time = instant(since)
    return time is not None and (part.facts.snapshot.now - time).total_seconds() > seconds


def _message(workload: Object, kind: str) -> str:
    for condition in (workload.get("status") or {}).get("conditions") or ():
        if condition.get("type") == kind:
            return said(condition.get("message"))
    return ""
