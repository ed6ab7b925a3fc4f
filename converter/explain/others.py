"""Who else is in the queue: those that took a campaign's place, and those that are before it."""

import re
from collections.abc import Iterator
from typing import Final

from converter.cluster.objects import Object, label, true_condition
from converter.explain.cause import Cause
from converter.explain.facts import Facts, Part
from converter.explain.text import listed
from converter.names import CAMPAIGN_LABEL, KUEUE_PRIORITY_LABEL
from converter.observe.phase import Phase
from converter.observe.places import Place
from converter.wording import said

_PREEMPTOR: Final = re.compile(r"JobUID: (?P<uid>[-0-9a-f]+)\)")
_NAMED: Final = 5

_EVICTIONS = {
    "PodsReadyTimeout": "its pods were not ready in time (Kueue's waitForPodsReady)",
    "ClusterQueueStopped": "its ClusterQueue was stopped",
    "LocalQueueStopped": "its LocalQueue was stopped",
    "NodeFailures": "a node that its pods ran on failed",
    "AdmissionCheck": "an admission check asked for it",
}


def evicted(part: Part) -> Iterator[Cause]:
    """One that ran and was sent back into the queue."""
    if part.status.phase is not Phase.WAITING:
        return
    for workload in part.workloads:
        condition = true_condition(workload, "Evicted")
        if condition is None:
            continue
        reason, message = str(condition.get("reason") or ""), said(condition.get("message"))
        again = ((workload.get("status") or {}).get("requeueState") or {}).get("requeueAt")
        after = f"; Kueue queues it again at {again}" if again else ""
        details = (f"Kueue says: {message}",) if message else ()
        if reason == "Preempted":
            yield Cause(
                "preempted",
                f"{_preemptor(message, part.facts)} took its quota at "
                f"{condition.get('lastTransitionTime')}, and it waits for it again{after}",
                _about_priority(part.facts),
                () if _preemptor_job(message, part.facts) else details,
            )
        else:
            why = _EVICTIONS.get(reason, reason)
            yield Cause("evicted", f"it was evicted: {why}; it waits again{after}", "", details)
        return


def behind(part: Part) -> Iterator[Cause]:
    """Its place in the queue, and who is before it."""
    place = part.status.place
    if part.status.phase is not Phase.WAITING or place is None:
        return
    if place.in_cluster_queue == 1:
        yield Cause("next-in-queue", "it is the next in the queue")
        return
    yield Cause(
        "queue-position",
        f"it is number {place.in_cluster_queue} in the queue, behind {_ahead(place, part.facts)}",
        _about_priority(part.facts),
    )


def _about_priority(facts: Facts) -> str:
    if not facts.settings.priority_classes:
        return "wait until those before it have ended"
    return (
        f"wait until those before it have ended, or write a higher priority in {facts.file} "
        f"(converter.yaml has {listed(facts.settings.priority_classes)})"
    )


def _preemptor(message: str, facts: Facts) -> str:
    job = _preemptor_job(message, facts)
    if job is None:
        return "another Workload"
    priority = label(job, KUEUE_PRIORITY_LABEL)
    who = f"campaign {label(job, CAMPAIGN_LABEL)}"
    return f"{who} (priority {priority})" if priority else who


def _preemptor_job(message: str, facts: Facts) -> Object | None:
    found = _PREEMPTOR.search(message)
    return facts.owners.get(found["uid"]) if found else None


def _ahead(place: Place, facts: Facts) -> str:
    jobs = [facts.owners.get(each) for each in place.ahead]
    campaigns = dict.fromkeys(label(job, CAMPAIGN_LABEL) for job in jobs if job)
    own = facts.status.name
    ours = ["other parts of its own" if each == own else each for each in campaigns if each]
    rest = len([job for job in jobs if job is None or not label(job, CAMPAIGN_LABEL)])
    more = len(ours) - _NAMED
    words = ours[:_NAMED] + ([f"{more} more campaigns"] if more > 0 else [])
    if rest:
        words.append(f"{rest} more in its LocalQueue")
    if place.others:
        words.append(f"{place.others} in other queues")
    return listed(words)
