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
from converter.holds.annotate import annotations
from converter.holds.mark import Mark, mark_of
from converter.holds.words import in_force, lifted_by, named
from converter.names import KUEUE_QUEUE_LABEL, SUSPEND_ANNOTATION
from converter.reconcile.held import hold_on
from converter.reconcile.outcome import Event, Fate
from converter.reconcile.plan import PauseWish

# Kueue's own reasons begin so (``ReasonWithCause`` of its package ``workload``).
KUEUE_DEACTIVATION = "DeactivatedDueTo"


class Move(StrEnum):
    """What a pause or a resume needs. To remember is to keep it, and to note on it why."""

    NOTHING = "nothing"
    PATCH = "patch"
    RENEW = "renew"
    WAIT = "wait"
    KEEP = "keep"
    NOTE_IN_HOLD = "note in hold"
    REMEMBER = "remember"


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do for one Job. `workloads` are the names to patch, or to delete for a new one.

    `reason` says why one does not run though git wants it to, why Kueue had deactivated one that
    is renewed, or in which hold git's pause is noted.
    """

    move: Move
    workloads: tuple[str, ...] = ()
    reason: str = ""


def decide(
    wish: PauseWish, job: Object | None, found: Sequence[Object], *, reactivate: bool
) -> Decision:
    """Compare what git wants with the Job's Workloads, those on their way out left aside. Pure.

    An ended Job has nothing to pause. A suspended Job without the queue label is not in the queue
    and cannot start, so it is paused as it stands; one that is being deleted starts nothing either,
    and gets no Workload any more. A held Workload is neither made active nor deleted: its hold
    would go with it. With `reactivate` false, what Kueue deactivated for reasons of its own is not
    made active either. Else that one is deleted, and Kueue makes a new one: before 0.19.3 it takes
    ``spec.active: true`` of the old one back, or does not queue it
    (https://github.com/kubernetes-sigs/kueue/issues/14870).

    A release makes active what git does not pause, by the Job's annotation. Where that could not be
    sent, as for a campaign that is held back, a pause is noted in the hold instead.
    """
    if job is None or job_end(job) is not None:
        return Decision(Move.NOTHING)
    workloads = [workload for workload in found if not is_being_deleted(workload)]
    differing = [w for w in workloads if is_active(w) is not wish.active and not _ended(w)]
    mark = hold_on(job, workloads)
    if wish.active:
        if mark is not None:
            return Decision(Move.KEEP, reason=kept(mark, job, workloads, wish.campaign))
        reasons = {name(w): why for w in workloads if (why := kueue_deactivation(w))}
        if reasons:
            why = ", ".join(sorted(set(reasons.values())))
            if reactivate:
                return Decision(Move.RENEW, tuple(reasons), why)
            return Decision(
                Move.KEEP,
                reason=f"stays inactive: Kueue deactivated it ({why}), and converter.yaml says "
                "reactivate: never; write always to have it queued again",
            )
    elif not workloads:
        stays = is_outside_queue(job) or is_being_deleted(job)
        return Decision(Move.NOTHING if stays else Move.WAIT)
    if differing:
        return Decision(Move.PATCH, tuple(map(name, differing)))
    unnoted = tuple(name(workload) for workload in workloads if _would_start(workload))
    if mark is not None and unnoted and not wish.active and not _paused_in_git(job):
        return Decision(Move.NOTE_IN_HOLD, unnoted, named(mark))
    return Decision(Move.NOTHING)


def kept(mark: Mark, job: Object, workloads: Sequence[Object], campaign: str) -> str:
    """Why nothing is done about one that is held, and what would change that."""
    going = [is_active(each) for each in workloads if not _ended(each)] or [not is_suspended(job)]
    what = "is left as it is" if any(going) else "stays inactive"
    return f"{what}: {in_force(mark)}; {lifted_by(mark, campaign)}"


def _paused_in_git(job: Object) -> bool:
    return annotation(job, SUSPEND_ANNOTATION) == "true"


def _would_start(workload: Object) -> bool:
    """Whether the release of its hold makes it active."""
    mark = mark_of(annotations(workload))
    return mark is not None and not mark.was_inactive and not _ended(workload)


def holds(job: Object | None, found: Sequence[Object]) -> bool:
    """Whether a Job is paused and stays so: suspended, and none of its Workloads may be admitted.

    Kueue makes a new Workload, which is active, for one that is on its way out. A Job that has
    ended, or is being deleted, starts nothing any more.
    """
    if job is None or job_end(job) is not None or is_being_deleted(job) or is_outside_queue(job):
        return True
    workloads = [each for each in found if not is_being_deleted(each) and not _ended(each)]
    return is_suspended(job) and bool(workloads) and not any(map(is_active, workloads))


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
            how = "created" if before.get(wish.job) is None else "is"
            detail = f"{how} suspended, outside the queue"
            events.append(Event(Fate.PAUSED, wish.job, detail, wish.campaign))
        elif was and not is_now:
            events.append(Event(Fate.RESUMED, wish.job, "queued", wish.campaign))
    return events


def kueue_deactivation(workload: Object) -> str:
    """Why Kueue itself stopped a Workload for good; empty when it did not.

    Kueue gives its own reasons as ``DeactivatedDueTo...`` on the Evicted condition, a plain
    ``Deactivated`` stands for a change of ``spec.active`` by others. One that somebody made active
    since has the reason on its Requeued condition, which is false: Kueue does not queue it.
    """
    if _ended(workload) or true_condition(workload, "QuotaReserved"):
        return ""
    for condition in (workload.get("status") or {}).get("conditions") or ():
        reason = str(condition.get("reason") or "")
        stopped = {"Evicted": "True", "Requeued": "False"}.get(str(condition.get("type")))
        if reason.startswith(KUEUE_DEACTIVATION) and condition.get("status") == stopped:
            return reason
    return ""


def _ended(workload: Object) -> bool:
    return true_condition(workload, "Finished") is not None
