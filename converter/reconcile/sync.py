"""Pauses and resumes campaigns on the cluster, as `pause` decides."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from converter.cluster.client import Client
from converter.cluster.objects import Object, label, name, uid
from converter.cluster.resources import JOBS, WORKLOADS
from converter.errors import ApiError, ClusterUnavailable, Conflict, NotFound
from converter.names import FIELD_MANAGER, KUEUE_QUEUE_LABEL, WAS_INACTIVE_ANNOTATION
from converter.reconcile.live import Workloads, read_workloads, workloads_of
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.pause import Decision, Move, decide
from converter.reconcile.plan import PauseWish
from converter.reconcile.side_by_side import side_by_side

POLL_SECONDS = 0.5
TRIES = 3
WRITES = (Move.PATCH, Move.RENEW, Move.NOTE_IN_HOLD)


@dataclass(frozen=True, slots=True)
class Sync:
    """Where and how to sync. `jobs` are the Jobs as they are after the apply, by name."""

    client: Client
    namespace: str
    jobs: Mapping[str, Object]
    outcome: Outcome
    reactivate: bool
    concurrency: int


def sync_pause(
    sync: Sync, wishes: Sequence[PauseWish], workloads: Workloads, wait_seconds: float
) -> None:
    """Patch ``spec.active`` where it disagrees with git: pauses first, then resumes.

    A paused Job that should have a Workload and has none is looked for again until none has come
    for `wait_seconds`, since an admission may be on its way; that is a pause that does not hold.
    """
    waiting = settle(sync, [wish for wish in wishes if not wish.active], workloads)
    settle(sync, [wish for wish in wishes if wish.active], workloads)
    waiting, trouble = _poll(sync, waiting, wait_seconds)
    detail = (
        f"it has no Workload after {wait_seconds:g} s, so the pause is not enforced: see "
        "whether Kueue runs, then apply again"
    )
    if trouble:
        detail = f"whether it has a Workload could not be read ({trouble}): apply again"

    def last_look(wish: PauseWish) -> list[Event]:
        if _needs_no_pause(sync, wish):
            return []
        return [Event(Fate.PAUSE_FAILED, wish.job, detail, wish.campaign)]

    side_by_side(last_look, waiting, sync.concurrency, sync.outcome.extend)


@dataclass(frozen=True, slots=True)
class _Task:
    wish: PauseWish
    job: Object | None
    workloads: tuple[Object, ...]

    def decide(self, sync: Sync) -> Decision:
        return decide(self.wish, self.job, self.workloads, reactivate=sync.reactivate)


def settle(sync: Sync, wishes: Sequence[PauseWish], workloads: Workloads) -> list[PauseWish]:
    """Patch what can be; the pauses that have to wait for a Workload are returned."""
    tasks = [_task(sync, wish, workloads) for wish in wishes]
    moves = [(task, task.decide(sync).move) for task in tasks]
    writes = [task for task, move in moves if move in (*WRITES, Move.KEEP)]
    results: list[list[Event]] = []
    side_by_side(lambda task: _carry_out(sync, task), writes, sync.concurrency, results.append)
    # Reported when all are sent: a report that fails must not keep a pause from being enforced.
    for events in results:
        sync.outcome.extend(events)
    return [task.wish for task, move in moves if move is Move.WAIT]


def _task(sync: Sync, wish: PauseWish, workloads: Workloads) -> _Task:
    job = sync.jobs.get(wish.job)
    return _Task(wish, job, workloads_of(job, workloads))


def _carry_out(sync: Sync, task: _Task) -> list[Event]:
    """Patch or renew the Workloads of one Job; for one that has changed, decide anew."""
    events: list[Event] = []
    for _ in range(TRIES):
        decision = task.decide(sync)
        if decision.move is Move.KEEP:
            events.append(_event(Fate.NOTE, task, decision.reason))
        if decision.move not in WRITES:
            return events
        chosen = [each for each in task.workloads if name(each) in decision.workloads]
        send = partial(_patch, sync, task)
        if decision.move is Move.RENEW:
            send = partial(_renew, sync, decision.reason)
        elif decision.move is Move.NOTE_IN_HOLD:
            send = partial(_note_in_hold, sync, decision.reason)
        answers = [_attempt(task, workload, send) for workload in chosen]
        events.extend(answer for answer in answers if answer is not None)
        if None not in answers:
            return events
        try:
            task = _read_anew(sync, task)
        except (ApiError, ClusterUnavailable) as error:
            return [*events, _event(_failed(task), task, str(error))]
    return [*events, _event(_failed(task), task, "its Workload keeps changing: apply again")]


def _attempt(task: _Task, workload: Object, send: Callable[[Object], str]) -> Event | None:
    """The event of one write; None where the Workload has changed since it was read."""
    named = f"Workload/{name(workload)}"
    try:
        detail = send(workload)
    except Conflict:
        return None
    except NotFound:
        # Kueue makes another, under the same name too.
        return None
    except ApiError as error:
        return _event(_failed(task), task, f"{named}: {error.reason}: {error.message}")
    except ClusterUnavailable as error:
        # The pauses of all others are still to be tried.
        return _event(_failed(task), task, str(error))
    done = Fate.RESUMED if task.wish.active else Fate.PAUSED
    return _event(done, task, f"{named} {detail}")


def _patch(sync: Sync, task: _Task, workload: Object) -> str:
    """Make one Workload active or inactive.

    A resume is bound to the Workload that was read, because a hold may have been put on it since.
    A pause is not: it holds for whatever runs.
    """
    active = task.wish.active
    spec: dict[str, object] = {"active": active}
    patch: dict[str, Object] = {"spec": spec}
    if active:
        # Kueue does not follow the Job's queue while inactive, and would go on with the old one.
        queue = label(task.job, KUEUE_QUEUE_LABEL) if task.job is not None else ""
        if queue and queue != workload["spec"].get("queueName", queue):
            spec["queueName"] = queue
        patch["metadata"] = {"resourceVersion": _version(workload)}
    sync.client.merge_patch(WORKLOADS, sync.namespace, name(workload), patch, FIELD_MANAGER)
    moved = f", moved to LocalQueue {spec['queueName']}" if "queueName" in spec else ""
    return f"active={str(active).lower()}{moved}"


def _renew(sync: Sync, reason: str, workload: Object) -> str:
    """Delete a Workload that Kueue has given up, as it was read; Kueue makes a new one."""
    sync.client.delete(
        WORKLOADS, sync.namespace, name(workload), uid=uid(workload), version=_version(workload)
    )
    return f"made anew, since Kueue had deactivated it ({reason})"


def _note_in_hold(sync: Sync, hold: str, workload: Object) -> str:
    """Have the hold's release leave a Workload inactive; bound to the hold that was read."""
    metadata = {
        "resourceVersion": _version(workload),
        "annotations": {WAS_INACTIVE_ANNOTATION: "true"},
    }
    patch = {"metadata": metadata}
    sync.client.merge_patch(WORKLOADS, sync.namespace, name(workload), patch, FIELD_MANAGER)
    return f"stays inactive when {hold} is released"


def _version(workload: Object) -> str:
    return str(workload["metadata"]["resourceVersion"])


def _read_anew(sync: Sync, task: _Task) -> _Task:
    now = read_workloads(sync.client, sync.namespace)
    return _Task(task.wish, task.job, workloads_of(task.job, now))


def _failed(task: _Task) -> Fate:
    return Fate.RESUME_FAILED if task.wish.active else Fate.PAUSE_FAILED


def _event(fate: Fate, task: _Task, detail: str) -> Event:
    return Event(fate, task.wish.job, detail, task.wish.campaign)


def _poll(sync: Sync, waiting: list[PauseWish], wait_seconds: float) -> tuple[list[PauseWish], str]:
    """Pause Workloads as they appear; what is left, and why the last read failed if it did."""
    trouble = ""
    until = time.monotonic() + wait_seconds
    while waiting and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
        sync.client.check()
        try:
            workloads = read_workloads(sync.client, sync.namespace)
        except (ApiError, ClusterUnavailable) as error:
            trouble = str(error)
            continue
        trouble = ""
        number = len(waiting)
        waiting = settle(sync, waiting, workloads)
        if len(waiting) < number:
            # Kueue is at it: of many Workloads the last may take longer.
            until = time.monotonic() + wait_seconds
    return waiting, trouble


def _needs_no_pause(sync: Sync, wish: PauseWish) -> bool:
    """A last look at a Job that has no Workload: it may be gone, or have ended, meanwhile."""
    try:
        job = sync.client.get(JOBS, sync.namespace, wish.job)
    except NotFound:
        return True
    except (ApiError, ClusterUnavailable):
        return False
    return decide(wish, job, (), reactivate=sync.reactivate).move is not Move.WAIT
