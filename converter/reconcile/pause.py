"""Makes every campaign's pause on the cluster what git says it is.

A Job that Kueue manages is paused by ``spec.active: false`` of its Workload: Kueue evicts the pods,
keeps the finished indexes and suspends the Job itself.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from converter.cluster.client import Client
from converter.cluster.objects import (
    annotation,
    is_active,
    is_suspended,
    job_end,
    label,
    name,
    true_condition,
    uid,
)
from converter.cluster.resources import WORKLOADS
from converter.errors import ApiError, ClusterUnavailable, NotFound
from converter.names import FIELD_MANAGER, HOLD_ANNOTATION, KUEUE_QUEUE_LABEL
from converter.queues.base import Object
from converter.reconcile.execute import side_by_side
from converter.reconcile.live import read_workloads
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.plan import PauseWish

POLL_SECONDS = 0.5

Workloads = Mapping[str, tuple[Object, ...]]


class Move(StrEnum):
    """What a pause or a resume needs."""

    NOTHING = "nothing"
    PATCH = "patch"
    WAIT = "wait"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Decision:
    """What to do for one Job. `workloads` are the names to patch.

    `reason` says why one is kept, or why Kueue had deactivated one that is made active again.
    """

    move: Move
    workloads: tuple[str, ...] = ()
    reason: str = ""


def decide(
    wish: PauseWish, job: Object | None, workloads: Sequence[Object], *, reactivate: bool
) -> Decision:
    """Compare what git wants with the Job's Workloads. Pure.

    An ended Job has nothing to pause. A suspended Job without the queue label is not in the queue
    and cannot start, so it is paused as it stands. A held Workload is never made active. With
    `reactivate` false, neither is one that Kueue deactivated for reasons of its own.
    """
    if job is None or job_end(job) is not None:
        return Decision(Move.NOTHING)
    differing = [w for w in workloads if is_active(w) is not wish.active and not _ended(w)]
    if wish.active:
        for workload in differing:
            if instance := annotation(workload, HOLD_ANNOTATION):
                return Decision(Move.KEEP, reason=f"hold {instance} is in force")
            if not reactivate and (reason := kueue_deactivation(workload)):
                return Decision(Move.KEEP, reason=f"Kueue deactivated it ({reason})")
    elif not workloads:
        return Decision(Move.NOTHING if is_outside_queue(job) else Move.WAIT)
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
            events.append(Event(Fate.PAUSED, wish.job, "created suspended, outside the queue"))
        elif was and not is_now:
            events.append(Event(Fate.RESUMED, wish.job, "queued"))
    return events


def kueue_deactivation(workload: Object) -> str:
    """Why Kueue itself made a Workload inactive; empty when somebody else did.

    Kueue gives its own reasons as ``DeactivatedDueTo...`` on the Evicted condition, a plain
    ``Deactivated`` stands for a change of ``spec.active`` by others.
    """
    evicted = true_condition(workload, "Evicted") or {}
    reason = str(evicted.get("reason") or "")
    return reason if reason.startswith("DeactivatedDueTo") else ""


def sync_pause(
    client: Client,
    namespace: str,
    wishes: Sequence[PauseWish],
    jobs: Mapping[str, Object],
    workloads: Workloads,
    outcome: Outcome,
    *,
    reactivate: bool,
    wait_seconds: float,
    concurrency: int,
) -> None:
    """Patch ``spec.active`` where it disagrees with git: pauses first, then resumes.

    A paused Job that should have a Workload and has none is looked for again until `wait_seconds`
    have passed, since an admission may be on its way; none by then is a pause that does not hold.
    `jobs` are the Jobs as they are after the apply, by name.
    """

    def decide_now(wish: PauseWish, present: Workloads) -> Decision:
        job = jobs.get(wish.job)
        owned = present.get(uid(job), ()) if job is not None else ()
        return decide(wish, job, owned, reactivate=reactivate)

    def patch(task: tuple[PauseWish, Decision]) -> list[Event]:
        return _patch(client, namespace, *task)

    def settle(present: Workloads, pending: Sequence[PauseWish]) -> list[PauseWish]:
        decisions = [(wish, decide_now(wish, present)) for wish in pending]
        for wish, decision in decisions:
            if decision.move is Move.KEEP:
                outcome.add(Event(Fate.NOTE, wish.job, f"stays inactive: {decision.reason}"))
        patches = [pair for pair in decisions if pair[1].move is Move.PATCH]
        for events in side_by_side(patch, patches, concurrency):
            outcome.extend(events)
        return [wish for wish, decision in decisions if decision.move is Move.WAIT]

    waiting = settle(workloads, [wish for wish in wishes if not wish.active])
    settle(workloads, [wish for wish in wishes if wish.active])
    waiting = _poll(
        waiting, lambda left: settle(read_workloads(client, namespace), left), wait_seconds
    )
    for wish in waiting:
        detail = (
            f"it has no Workload after {wait_seconds:g} s, so the pause is not enforced: see "
            "whether Kueue runs, then apply again"
        )
        outcome.add(Event(Fate.PAUSE_FAILED, wish.job, detail))


def _poll(
    waiting: list[PauseWish],
    settle: Callable[[list[PauseWish]], list[PauseWish]],
    wait_seconds: float,
) -> list[PauseWish]:
    until = time.monotonic() + wait_seconds
    while waiting and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
        waiting = settle(waiting)
    return waiting


def _patch(client: Client, namespace: str, wish: PauseWish, decision: Decision) -> list[Event]:
    done, failed = (
        (Fate.RESUMED, Fate.RESUME_FAILED) if wish.active else (Fate.PAUSED, Fate.PAUSE_FAILED)
    )
    events = []
    for workload in decision.workloads:
        detail = f"Workload/{workload} active={str(wish.active).lower()}"
        if decision.reason:
            detail += f", which Kueue had deactivated ({decision.reason})"
        try:
            patch = {"spec": {"active": wish.active}}
            client.merge_patch(WORKLOADS, namespace, workload, patch, FIELD_MANAGER)
            events.append(Event(done, wish.job, detail))
        except NotFound:
            detail = f"Workload/{workload} went away meanwhile: apply again"
            events.append(Event(failed, wish.job, detail))
        except ApiError as error:
            detail = f"Workload/{workload}: {error.reason}: {error.message}"
            events.append(Event(failed, wish.job, detail))
        except ClusterUnavailable as error:
            # The pauses of all others are still to be tried.
            events.append(Event(failed, wish.job, str(error)))
    return events


def _ended(workload: Object) -> bool:
    return true_condition(workload, "Finished") is not None
