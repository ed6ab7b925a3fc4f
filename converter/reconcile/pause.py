"""What it takes to make a campaign's pause on the cluster what git says it is. Pure.

A Job that Kueue manages is paused by ``spec.active: false`` of its Workload: Kueue evicts the pods,
keeps the finished indexes and suspends the Job itself.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from converter.cluster.objects import (
    Object,
    annotation,
    is_active,
    is_being_deleted,
    is_suspended,
    job_end,
    label,
    name,
    true_condition,
)
from converter.names import HOLD_ANNOTATION, KUEUE_QUEUE_LABEL
from converter.reconcile.outcome import Event, Fate
from converter.reconcile.plan import PauseWish

# Kueue's own reasons begin so (``ReasonWithCause`` of its package ``workload``).
KUEUE_DEACTIVATION = "DeactivatedDueTo"


class Move(StrEnum):
    """What a pause or a resume needs."""

    NOTHING = "nothing"
    PATCH = "patch"
    WAIT = "wait"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do for one Job. `workloads` are the names to patch.

    `reason` says why one does not run though git wants it to, or why Kueue had deactivated one that
    is made active again.
    """

    move: Move
    workloads: tuple[str, ...] = ()
    reason: str = ""


def decide(
    wish: PauseWish, job: Object | None, workloads: Sequence[Object], *, reactivate: bool
) -> Decision:
    """Compare what git wants with the Job's Workloads. Pure.

    An ended Job has nothing to pause. A suspended Job without the queue label is not in the queue
    and cannot start, so it is paused as it stands; one that is being deleted starts nothing either,
    and gets no Workload any more. A held Workload is never made active. With
    `reactivate` false, neither is one that Kueue deactivated for reasons of its own.
    """
    if job is None or job_end(job) is not None:
        return Decision(Move.NOTHING)
    differing = [w for w in workloads if is_active(w) is not wish.active and not _ended(w)]
    if wish.active:
        for workload in differing:
            if instance := annotation(workload, HOLD_ANNOTATION):
                return Decision(Move.KEEP, reason=f"stays inactive: hold {instance} is in force")
            if not reactivate and (reason := kueue_deactivation(workload)):
                return Decision(
                    Move.KEEP,
                    reason=f"stays inactive: Kueue deactivated it ({reason}), and converter.yaml "
                    "says reactivate: never; write always to have it made active",
                )
        if not differing and (reason := why_stranded(workloads)):
            return Decision(Move.KEEP, reason=reason)
    elif not workloads:
        stays = is_outside_queue(job) or is_being_deleted(job)
        return Decision(Move.NOTHING if stays else Move.WAIT)
    if not differing:
        return Decision(Move.NOTHING)
    reasons = filter(None, map(kueue_deactivation, differing)) if wish.active else ()
    return Decision(Move.PATCH, tuple(map(name, differing)), ", ".join(reasons))


def is_outside_queue(job: Object | None) -> bool:
    """Whether a Job is paused the way a new one is: suspended, and unknown to Kueue."""
    return job is not None and is_suspended(job) and not label(job, KUEUE_QUEUE_LABEL)


def queue_events(
    wishes: Sequence[PauseWish], before: Mapping[str, Object], after: Mapping[str, Object]
) -> list[Event]:
    """The pauses and resumes that the applied Jobs themselves were, with no Workload to patch."""
    events = []
    for wish in wishes:
        was, is_now = (is_outside_queue(jobs.get(wish.job)) for jobs in (before, after))
        if is_now and not was:
            detail = "created suspended, outside the queue"
            events.append(Event(Fate.PAUSED, wish.job, detail, wish.campaign))
        elif was and not is_now:
            events.append(Event(Fate.RESUMED, wish.job, "queued", wish.campaign))
    return events


def kueue_deactivation(workload: Object) -> str:
    """Why Kueue itself made a Workload inactive; empty when somebody else did.

    Kueue gives its own reasons as ``DeactivatedDueTo...`` on the Evicted condition, a plain
    ``Deactivated`` stands for a change of ``spec.active`` by others.
    """
    evicted = true_condition(workload, "Evicted") or {}
    reason = str(evicted.get("reason") or "")
    return reason if reason.startswith(KUEUE_DEACTIVATION) else ""


def why_stranded(workloads: Sequence[Object]) -> str:
    """Why an active Workload is not even queued, and what to do; empty where that is not so.

    Kueue before 0.19.3 does not queue a Workload again that it deactivated for reasons of its own
    and that somebody made active (https://github.com/kubernetes-sigs/kueue/issues/14870).
    """
    for workload in workloads:
        if not is_active(workload) or _ended(workload):
            continue
        for condition in (workload.get("status") or {}).get("conditions") or ():
            reason = str(condition.get("reason") or "")
            requeued = condition.get("type") == "Requeued" and condition.get("status") == "False"
            if requeued and reason.startswith(KUEUE_DEACTIVATION):
                return (
                    f"is active, but Kueue does not queue it again after {reason}: have "
                    f"Workload/{name(workload)} deleted, and Kueue makes a new one"
                )
    return ""


def _ended(workload: Object) -> bool:
    return true_condition(workload, "Finished") is not None
