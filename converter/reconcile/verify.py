"""Whether the queue did what it was told: a pause is verified, not believed."""

import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace

from converter.cluster.objects import name, uid
from converter.cluster.resources import JOBS
from converter.errors import ApiError, ClusterUnavailable
from converter.reconcile.live import workloads_of
from converter.reconcile.outcome import Event, Fate
from converter.reconcile.plan import PauseWish
from converter.reconcile.sync import Sync, settle
from converter.reconcile.units import Units

# A queue takes a moment. Each look is a LIST of all Jobs and Workloads, so that they become rarer.
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 4.0


def verify_pauses(
    sync: Sync, wishes: Sequence[PauseWish], before: Units, wait_seconds: float
) -> None:
    """Look until every pause holds; where none has come to hold in `wait_seconds`, they fail.

    An inactive Workload is a request to Kueue, which suspends the Job a moment later. If its
    webhook for Jobs is away, or Kueue itself is, it never does, and the pods run on. Or Kueue was
    just making another Workload, which has to be paused as well. What held with the Workloads
    `before` this run paused any is not looked at, so that a no-op costs nothing.
    """
    failed = {event.target for event in sync.outcome.events if event.fate is Fate.PAUSE_FAILED}
    left = [wish for wish in wishes if wish.job not in failed and not _holds(sync, wish, before)]
    _remind(sync, left)
    until = time.monotonic() + wait_seconds
    pause = FIRST_PAUSE_SECONDS
    trouble = ""
    now, units = sync, before
    while left:
        number = len(left)
        try:
            now, units = _look(sync)
        except (ApiError, ClusterUnavailable) as error:
            trouble = str(error)
        else:
            trouble = ""
            left = [wish for wish in left if not _holds(now, wish, units)]
            # One that has become active again, or is another one, is paused as well.
            settle(now, left, units)
        if len(left) < number:
            # The queue is at it: of many pauses the last may take longer.
            until = time.monotonic() + wait_seconds
        rest = until - time.monotonic()
        if not left or rest <= 0:
            break
        time.sleep(min(pause, rest))
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        sync.client.check()
    for wish in left:
        detail = f"whether the pause holds could not be read ({trouble}): apply again"
        if not trouble:
            job = now.jobs.get(wish.job)
            detail = sync.lever.unenforced(job, workloads_of(job, units), wait_seconds)
        sync.outcome.add(Event(Fate.PAUSE_FAILED, wish.job, detail, wish.campaign))


def _remind(sync: Sync, wishes: Sequence[PauseWish]) -> None:
    """Of pauses that an earlier apply wrote, and that do not hold: it may have been stopped there.

    The look that follows tells what came of it.
    """
    told = {event.target for event in sync.outcome.events if event.fate is Fate.PAUSED}
    for wish in wishes:
        job = sync.jobs.get(wish.job)
        if job is None or wish.job in told:
            continue
        with suppress(ApiError, ClusterUnavailable):
            sync.lever.remind(sync.client, sync.namespace, job)


def _look(sync: Sync) -> tuple[Sync, Units]:
    """The same Jobs and what the queue made for them, as they are now.

    Another Job of a name may be anybody's, and is not paused: it counts as gone.
    """
    jobs = {
        name(job): job
        for job in sync.client.list(JOBS, sync.namespace)
        if name(job) in sync.jobs and uid(job) == uid(sync.jobs[name(job)])
    }
    return replace(sync, jobs=jobs), sync.read_units()


def _holds(sync: Sync, wish: PauseWish, units: Units) -> bool:
    job = sync.jobs.get(wish.job)
    return sync.lever.holds(job, workloads_of(job, units))
