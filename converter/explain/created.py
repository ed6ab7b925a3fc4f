"""Pods that the API server does not let a Job create: only an event says so."""

from collections.abc import Iterator
from typing import Final

from converter.cluster.objects import Object, is_suspended
from converter.explain.cause import Cause
from converter.explain.facts import Part
from converter.explain.text import said
from converter.observe.phase import Phase

# What the message has in it, the code, and what to change; the first that is found counts.
_REFUSALS: Final = (
    (
        "exceeded quota",
        "namespace-quota",
        "wait until other pods of the namespace end, ask for less in {size}, or have the "
        "ResourceQuota raised",
    ),
    ("violates PodSecurity", "pod-security", "have the namespace's Pod Security level corrected"),
    (
        "failed calling webhook",
        "webhook-down",
        "the platform team has to see to it that this webhook answers",
    ),
    (
        "ValidatingAdmissionPolicy",
        "refused-by-policy",
        "write in the files what the policy asks for, in a new campaign, or have campaigns "
        "excepted from it",
    ),
    (
        "denied the request",
        "refused-by-policy",
        "write in the files what the webhook asks for, in a new campaign, or have campaigns "
        "excepted from it",
    ),
    ("LimitRange", "limit-range", "ask for what the namespace's LimitRange allows in {size}"),
)


def not_created(part: Part) -> Iterator[Cause]:
    """A running Job with fewer pods than it asks for, and the API server's last refusal."""
    if part.status.phase is not Phase.RUNNING or not lacks_pods(part.job):
        return
    refusals = [
        event
        for event in part.facts.snapshot.events.get(part.name, ())
        if event.get("reason") == "FailedCreate" and _is_of(event, part.job)
    ]
    if not refusals:
        return
    message = said(refusals[-1].get("message"))
    found = (each for each in _REFUSALS if each[0] in message)
    _, code, remedy = next(found, ("", "pod-refused", "the platform team has to see why"))
    yield Cause(
        code,
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


def _reason(message: str) -> str:
    """Without the name of the pod, which is another one each time."""
    _, _, reason = message.partition(" is forbidden: ")
    return reason or message.removeprefix("Error creating: ")
