"""Whether Kueue did what it was told: a pause is verified, not believed."""

import time
from collections.abc import Sequence

from converter.cluster.objects import Object, is_being_deleted, is_suspended, job_end, name
from converter.cluster.resources import JOBS
from converter.errors import ApiError, ClusterUnavailable
from converter.reconcile.outcome import Event, Fate
from converter.reconcile.plan import PauseWish
from converter.reconcile.sync import Sync

# Kueue takes a moment. Each look is a LIST of all Jobs, so that they become rarer.
FIRST_PAUSE_SECONDS = 0.5
LONGEST_PAUSE_SECONDS = 4.0


def verify_pauses(sync: Sync, wishes: Sequence[PauseWish], wait_seconds: float) -> None:
    """Look until every paused Job is suspended; one that is not in time is a pause that fails.

    An inactive Workload is a request to Kueue, which suspends the Job a moment later. If its
    webhook for Jobs is away, or Kueue itself is, it never does, and the pods run on. Only Jobs that
    ran, or that were paused in this run, are looked at, so that a no-op costs nothing.
    """
    failed = {event.target for event in sync.outcome.events if event.fate is Fate.PAUSE_FAILED}
    paused = {event.target for event in sync.outcome.events if event.fate is Fate.PAUSED}
    left = {
        wish.job: wish
        for wish in wishes
        if wish.job not in failed and (wish.job in paused or _may_run(sync.jobs.get(wish.job)))
    }
    until = time.monotonic() + wait_seconds
    pause = FIRST_PAUSE_SECONDS
    trouble = ""
    while left:
        try:
            now = {name(job): job for job in sync.client.list(JOBS, sync.namespace)}
            left = {job: wish for job, wish in left.items() if _may_run(now.get(job))}
            trouble = ""
        except (ApiError, ClusterUnavailable) as error:
            trouble = str(error)
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
    for wish in left.values():
        sync.outcome.add(Event(Fate.PAUSE_FAILED, wish.job, detail, wish.campaign))


def _may_run(job: Object | None) -> bool:
    """The pods of a Job that is being deleted end with it, and Kueue looks at it no more."""
    if job is None or job_end(job) is not None or is_being_deleted(job):
        return False
    return not is_suspended(job)
