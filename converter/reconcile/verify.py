"""Whether Kueue did what it was told: a pause is verified, not believed."""

import time
from collections.abc import Sequence
from dataclasses import replace

from converter.cluster.objects import name
from converter.cluster.resources import JOBS
from converter.errors import ApiError, ClusterUnavailable
from converter.reconcile.live import Workloads, read_workloads, workloads_of
from converter.reconcile.outcome import Event, Fate
from converter.reconcile.pause import holds
from converter.reconcile.plan import PauseWish
from converter.reconcile.sync import Sync, settle

# Kueue takes a moment. Each look is a LIST of all Jobs and Workloads, so that they become rarer.
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 4.0


def verify_pauses(
    sync: Sync, wishes: Sequence[PauseWish], before: Workloads, wait_seconds: float
) -> None:
    """Look until every pause holds; where none has come to hold in `wait_seconds`, they fail.

    An inactive Workload is a request to Kueue, which suspends the Job a moment later. If its
    webhook for Jobs is away, or Kueue itself is, it never does, and the pods run on. Or Kueue was
    just making another Workload, which has to be paused as well. What held with the Workloads
    `before` this run paused any is not looked at, so that a no-op costs nothing.
    """
    failed = {event.target for event in sync.outcome.events if event.fate is Fate.PAUSE_FAILED}
    left = [wish for wish in wishes if wish.job not in failed and not _holds(sync, wish, before)]
    until = time.monotonic() + wait_seconds
    pause = FIRST_PAUSE_SECONDS
    trouble = ""
    while left:
        number = len(left)
        try:
            left, trouble = _look(sync, left), ""
        except (ApiError, ClusterUnavailable) as error:
            trouble = str(error)
        if len(left) < number:
            # Kueue is at it: of many pauses the last may take longer.
            until = time.monotonic() + wait_seconds
        rest = until - time.monotonic()
        if not left or rest <= 0:
            break
        time.sleep(min(pause, rest))
        pause = min(2 * pause, LONGEST_PAUSE_SECONDS)
        sync.client.check()
    detail = (
        f"its Workload is inactive, but Kueue has not suspended the Job after {wait_seconds:g} s, "
        "so its pods may run on: see whether Kueue and its webhooks run, then apply again"
    )
    if trouble:
        detail = f"whether the pause holds could not be read ({trouble}): apply again"
    for wish in left:
        sync.outcome.add(Event(Fate.PAUSE_FAILED, wish.job, detail, wish.campaign))


def _look(sync: Sync, wishes: Sequence[PauseWish]) -> list[PauseWish]:
    """The pauses that do not hold yet; a Workload of theirs that is active is paused."""
    jobs = {name(job): job for job in sync.client.list(JOBS, sync.namespace)}
    workloads = read_workloads(sync.client, sync.namespace)
    now = replace(sync, jobs=jobs)
    left = [wish for wish in wishes if not _holds(now, wish, workloads)]
    settle(now, left, workloads)
    return left


def _holds(sync: Sync, wish: PauseWish, workloads: Workloads) -> bool:
    job = sync.jobs.get(wish.job)
    return holds(job, workloads_of(job, workloads))
