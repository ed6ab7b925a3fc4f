"""Pods that the API server does not let a Job create: only an event says so."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from converter.cluster.objects import Object, is_suspended
from converter.explain.cause import Cause
from converter.explain.facts import Part
from converter.explain.refused import code_of
from converter.observe.phase import Phase
from converter.times import instant
from converter.wording import said

_REMEDIES: Final = {
    "namespace-quota": "wait until other pods of the namespace end, ask for less in {size}, or "
    "have the ResourceQuota raised",
    "pod-security": "have the namespace's Pod Security level corrected",
    "webhook-down": "the platform team has to see to it that this webhook answers",
    "refused-by-policy": "write in the files what the policy or webhook asks for, in a new "
    "campaign, or have campaigns excepted from it",
    "limit-range": "ask for what the namespace's LimitRange allows in {size}",
}


# A Job that is refused tries again each minute, and it may take five to be told of it.
FRESH_SECONDS: Final = 900.0


def not_created(part: Part) -> Iterator[Cause]:
    """A running Job with fewer pods than it asks for, and the API server's last refusal."""
    if part.status.phase is not Phase.RUNNING or not lacks_pods(part.job):
        return
    refusals = [
        event
        for event in part.facts.snapshot.events.get(part.name, ())
        if event.get("reason") == "FailedCreate"
        and _is_of(event, part.job)
        and _is_fresh(event, part.facts.snapshot.now)
    ]
    if not refusals:
        return
    message = said(refusals[-1].get("message"))
    code = code_of(message)
    remedy = _REMEDIES.get(code, "the platform team has to see why")
    yield Cause(
        code or "pod-refused",
        f"the API server lets it have {part.status.active} of {wanted_pods(part.job)} pods: "
        f"{_reason(message)}",
        remedy.format(size=part.facts.size),
    )


def wanted_pods(job: Object) -> int:
    """How many pods a Job that is not suspended has at once."""
    spec, status = job["spec"], job.get("status") or {}
    left = int(spec.get("completions") or 0) - int(status.get("succeeded") or 0)
    return max(0, min(int(spec.get("parallelism") or 0), left))


def lacks_pods(job: Object) -> bool:
    """Whether a Job that runs has fewer pods than it asks for."""
    status = job.get("status") or {}
    there = int(status.get("active") or 0) + int(status.get("terminating") or 0)
    return not is_suspended(job) and there < wanted_pods(job)


def _is_of(event: Object, job: Object) -> bool:
    about = event.get("involvedObject") or {}
    return bool(about.get("uid", job["metadata"]["uid"]) == job["metadata"]["uid"])


def event_time(event: Object) -> str:
    """When it was said last (RFC 3339)."""
    series = event.get("series") or {}
    times = (series.get("lastObservedTime"), event.get("lastTimestamp"), event.get("eventTime"))
    return next((str(time) for time in times if time), "")


def _is_fresh(event: Object, now: datetime) -> bool:
    said_at = instant(event_time(event))
    return said_at is None or (now - said_at).total_seconds() < FRESH_SECONDS


def _reason(message: str) -> str:
    """Without the name of the pod, which is another one each time."""
    _, _, reason = message.partition(" is forbidden: ")
    return reason or message.removeprefix("Error creating: ")
