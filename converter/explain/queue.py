"""Campaigns that wait because the queue itself does not work, or does not know them."""

from collections.abc import Iterator

from converter.cluster.objects import Object, true_condition
from converter.explain.cause import Cause
from converter.explain.facts import Part
from converter.names import KUEUE_QUEUE_LABEL
from converter.observe.phase import Phase
from converter.reconcile.admission import class_objection
from converter.reconcile.live import workloads_of
from converter.reconcile.objection import INACTIVE, STOPPED, queue_objection
from converter.reconcile.queue_chain import Unknown
from converter.times import instant, minutes
from converter.wording import said

# A Workload comes within a second of its Job.
WORKLOAD_SECONDS = 15.0
# What is queued already goes on by itself when the queue does.
_REMEDIES = {
    STOPPED: "wait until the platform team starts it again (stopPolicy: None)",
    INACTIVE: "the platform team has to repair the queue",
}


def queue_trouble(part: Part) -> Iterator[Cause]:
    """A LocalQueue or ClusterQueue that is missing, stopped or inactive."""
    chain = part.chain
    if part.status.phase is not Phase.WAITING or chain is None:
        return
    if found := queue_objection(chain, part.facts.settings.namespace):
        yield Cause(found.code, said(found.what), _REMEDIES.get(found.code, found.remedy))


def unqueued(part: Part) -> Iterator[Cause]:
    """A Job that Kueue has made no Workload for."""
    if part.status.phase is not Phase.WAITING or part.workloads:
        return
    chain, wanted = part.facts.snapshot.chain, part.status.priority
    if chain and (found := class_objection(wanted, chain)):
        yield Cause(found.code, found.what, f"{found.remedy} in {part.facts.file}")
        return
    read = chain.classes.get(wanted) if chain and wanted else None
    since = _unqueued_since(part)
    waited = _seconds_since(part, since)
    if waited < WORKLOAD_SECONDS:
        was = "created" if since == part.status.created else "put back into the queue"
        yield Cause("new", f"its Job was {was} {minutes(waited)} ago and is about to be queued")
        return
    if isinstance(read, Unknown):
        yield Cause(
            "no-workload",
            f"Kueue has made no Workload for its Job since {since}; most likely there is no "
            f"WorkloadPriorityClass {wanted}, which could not be read",
            f"ask the platform team for WorkloadPriorityClass {wanted}, or write another priority "
            f"in {part.facts.file}",
        )
        return
    yield Cause(
        "no-workload",
        f"Kueue has made no Workload for its Job since {since}",
        "the platform team has to look after Kueue: its controller does not work, or refuses the "
        "Job (its log says why)",
    )


def _unqueued_since(part: Part) -> str:
    """Since when Kueue has had to make a Workload: for a new Job, for one that was stopped or came
    into the queue later, or in the place of another Workload.
    """
    suspended = true_condition(part.job, "Suspended") or {}
    mine = workloads_of(part.job, part.facts.snapshot.live.workloads)
    times = [
        part.status.created,
        str(suspended.get("lastTransitionTime") or ""),
        *(str(each["metadata"].get("deletionTimestamp") or "") for each in mine),
        *_queue_named_at(part.job),
    ]
    known = [(at, time) for time in times if (at := instant(time))]
    return max(known)[1] if known else ""


def _queue_named_at(job: Object) -> Iterator[str]:
    """When somebody who names its queue changed it last."""
    for entry in job["metadata"].get("managedFields") or ():
        fields = ((entry.get("fieldsV1") or {}).get("f:metadata") or {}).get("f:labels") or {}
        if f"f:{KUEUE_QUEUE_LABEL}" in fields:
            yield str(entry.get("time") or "")


def _seconds_since(part: Part, time: str) -> float:
    found = instant(time)
    return (part.facts.snapshot.now - found).total_seconds() if found else 0
