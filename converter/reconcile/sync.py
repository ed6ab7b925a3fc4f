"""Pauses and resumes campaigns on the cluster, as the backend's lever decides."""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from converter.cluster.client import Client
from converter.cluster.objects import Object, name
from converter.cluster.resources import JOBS
from converter.errors import ApiError, CannotPause, ClusterUnavailable, Conflict, NotFound
from converter.model import Backend
from converter.reconcile.levers import Lever, lever_for
from converter.reconcile.live import workloads_of
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.pause import Decision, Move
from converter.reconcile.plan import PauseWish
from converter.reconcile.side_by_side import side_by_side
from converter.reconcile.units import Units, read_units
from converter.wording import first_few

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
    backend: Backend = Backend.KUEUE

    @property
    def lever(self) -> Lever:
        """What the Jobs are paused by."""
        return lever_for(self.backend)

    def read_units(self) -> Units:
        """What the queue has made for Jobs, as it is now."""
        return read_units(self.client, self.namespace, self.backend)


def sync_pause(
    sync: Sync, wishes: Sequence[PauseWish], workloads: Units, wait_seconds: float
) -> None:
    """Write what disagrees with git: pauses first, then resumes.

    A paused Job that should have a Workload or QueueUnit and has none is looked at again until none
    has come for `wait_seconds`, since an admission may be on its way; that is a pause that does not
    hold.
    """
    waiting = settle(sync, [wish for wish in wishes if not wish.active], workloads)
    settle(sync, [wish for wish in wishes if wish.active], workloads)
    waiting, trouble = _poll(sync, waiting, wait_seconds)
    detail = sync.lever.no_unit(wait_seconds)
    if trouble:
        detail = f"whether it could be paused could not be read ({trouble}): apply again"

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
        return sync.lever.decide(self.wish, self.job, self.workloads, reactivate=sync.reactivate)


def settle(sync: Sync, wishes: Sequence[PauseWish], workloads: Units) -> list[PauseWish]:
    """Write what can be; the pauses that have to wait for the queue are returned."""
    tasks = [_task(sync, wish, workloads) for wish in wishes]
    moves = [(task, task.decide(sync).move) for task in tasks]
    writes = [task for task, move in moves if move in (*WRITES, Move.KEEP, Move.REMEMBER)]
    results: list[list[Event]] = []
    side_by_side(lambda task: _carry_out(sync, task), writes, sync.concurrency, results.append)
    # Reported when all are sent: a report that fails must not keep a pause from being enforced.
    for events in results:
        sync.outcome.extend(events)
    return [task.wish for task, move in moves if move is Move.WAIT]


def _task(sync: Sync, wish: PauseWish, workloads: Units) -> _Task:
    job = sync.jobs.get(wish.job)
    return _Task(wish, job, workloads_of(job, workloads))


def _carry_out(sync: Sync, task: _Task) -> list[Event]:
    """Carry out what is decided of one Job; of one that has changed, decide anew."""
    events: list[Event] = []
    for _ in range(TRIES):
        decision = task.decide(sync)
        if decision.move in (Move.KEEP, Move.REMEMBER) and decision.reason:
            events.append(_event(Fate.NOTE, task, decision.reason))
        if task.job is None or decision.move not in (*WRITES, Move.REMEMBER):
            return events
        if decision.move is Move.REMEMBER:
            _remember(sync, task, task.job, decision)
            return events
        chosen = [
            each
            for each in sync.lever.targets(task.job, task.workloads)
            if name(each) in decision.workloads
        ]
        write = partial(sync.lever.write, sync.client, sync.namespace, task.wish, task.job)
        answers = [
            _attempt(task, sync.lever.named(task.job, each), partial(write, each, decision))
            for each in chosen
        ]
        events.extend(answer for answer in answers if answer is not None)
        if None not in answers:
            return events
        try:
            job, found = sync.lever.read_anew(sync.client, sync.namespace, task.job)
            task = _Task(task.wish, job, tuple(found))
        except NotFound as error:
            # There is nothing left to pause; what should run does not.
            failed = [_event(_failed(task), task, f"{error}: apply again")]
            return [*events, *(failed if task.wish.active else ())]
        except (ApiError, ClusterUnavailable) as error:
            return [*events, _event(_failed(task), task, str(error))]
    named = first_few(
        sync.lever.named(task.job, each)
        for each in sync.lever.targets(task.job, task.workloads)
        if task.job is not None
    )
    return [
        *events,
        _event(_failed(task), task, f"{named or 'its unit'} keeps changing: apply again"),
    ]


def _remember(sync: Sync, task: _Task, job: Object, decision: Decision) -> None:
    """Note on a Job what stops it. Where that fails the next apply does it."""
    try:
        sync.lever.write(sync.client, sync.namespace, task.wish, job, job, decision)
    except (ApiError, ClusterUnavailable):
        return


def _attempt(task: _Task, named: str, send: Callable[[], str]) -> Event | None:
    """The event of one write; None where the object has changed since it was read."""
    try:
        detail = send()
    except Conflict:
        return None
    except NotFound:
        # The queue makes another, under the same name too.
        return None
    except CannotPause as error:
        return _event(_failed(task), task, str(error))
    except ApiError as error:
        return _event(_failed(task), task, f"{named}: {error.reason}: {error.message}")
    except ClusterUnavailable as error:
        # The pauses of all others are still to be tried.
        return _event(_failed(task), task, str(error))
    done = Fate.RESUMED if task.wish.active else Fate.PAUSED
    return _event(done, task, f"{named} {detail}")


def _failed(task: _Task) -> Fate:
    return Fate.RESUME_FAILED if task.wish.active else Fate.PAUSE_FAILED


def _event(fate: Fate, task: _Task, detail: str) -> Event:
    return Event(fate, task.wish.job, detail, task.wish.campaign)


def _poll(sync: Sync, waiting: list[PauseWish], wait_seconds: float) -> tuple[list[PauseWish], str]:
    """Pause Jobs as the queue takes them up; what is left, and why the last read failed if so."""
    trouble = ""
    until = time.monotonic() + wait_seconds
    while waiting and time.monotonic() < until:
        time.sleep(POLL_SECONDS)
        sync.client.check()
        try:
            workloads = sync.read_units()
        except (ApiError, ClusterUnavailable) as error:
            trouble = str(error)
            continue
        trouble = ""
        number = len(waiting)
        waiting = settle(sync, waiting, workloads)
        if len(waiting) < number:
            # The queue is at it: of many the last may take longer.
            until = time.monotonic() + wait_seconds
    return waiting, trouble


def _needs_no_pause(sync: Sync, wish: PauseWish) -> bool:
    """A last look at a Job that the queue has not taken up: it may have ended meanwhile."""
    try:
        job = sync.client.get(JOBS, sync.namespace, wish.job)
    except NotFound:
        return True
    except (ApiError, ClusterUnavailable):
        return False
    decision = sync.lever.decide(wish, job, (), reactivate=sync.reactivate)
    return decision.move is Move.NOTHING
