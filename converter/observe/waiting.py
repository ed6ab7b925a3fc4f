"""Waiting for campaigns until they rest, whatever becomes of the API server or Slurm meanwhile.

Only reads are sent and no Lease is held, so that others may apply during a wait of days.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from converter.errors import ApiError, ClusterUnavailable, NoCredentials
from converter.observe.phase import Phase
from converter.observe.status import Status
from converter.reconcile.outcome import NOT_AS_IN_GIT, Fate, Outcome

# An API server that has just started refuses for a moment what it is going to allow.
REFUSALS = 4
PASSING_STATUS = (408, 410, 429)

Read = Callable[[], Sequence[Status]]
# Given the statuses as they were read last, and why they cannot be read now, else "".
Show = Callable[[Sequence[Status], str], object]


@dataclass(frozen=True, slots=True)
class Pace:
    """How long to wait between two reads, in seconds: the longer a wait, the longer.

    `trouble` is for a read that failed.
    """

    shortest: float = 1.0
    longest: float = 15.0
    trouble: float = 3.0

    def after(self, elapsed: float) -> float:
        """After so many seconds: a short wait ends at once, a long one is cheap."""
        return min(max(elapsed / 30, self.shortest), self.longest)


API_SERVER: Final = "the API server"
API_SERVERS_PACE: Final = Pace()
# A controller of Slurm makes a list of all jobs for each call, and schedules nothing meanwhile.
SLURMS_PACE: Final = Pace(shortest=5.0, longest=60.0, trouble=15.0)


@dataclass(frozen=True, slots=True)
class Followed:
    """The statuses as they were read last.

    `timed_out` where the time passed before all of them rested, and `trouble` where they could not
    be read at that moment.
    """

    statuses: tuple[Status, ...]
    timed_out: bool = False
    trouble: str = ""


def follow(
    read: Read,
    show: Show,
    *,
    seconds: float | None = None,
    pace: Pace = API_SERVERS_PACE,
    sleep: Callable[[float], object],
    clock: Callable[[], float] = time.monotonic,
) -> Followed:
    """Read and show the statuses until all of them rest, or so many seconds have passed.

    A read that fails is tried again for as long as it may get better by itself. Raises
    ClusterUnavailable when the API server answers and keeps refusing, for example an expired token,
    or ssh a login.
    """
    started = clock()
    found: tuple[Status, ...] = ()
    refusals = 0
    while True:
        trouble = ""
        try:
            found = tuple(read())
            refusals = 0
        except ClusterUnavailable as error:
            trouble = str(error)
            # A plugin may fail once; an answer that is not there says nothing about credentials.
            refusals += isinstance(error, NoCredentials)
            if refusals == REFUSALS:
                raise
        except ApiError as error:
            trouble = str(error)
            refusals = 0 if _may_pass(error) else refusals + 1
            if refusals == REFUSALS:
                raise _refused(error) from error
        show(found, trouble)
        if not trouble and all(status.phase.rests for status in found):
            return Followed(found)
        elapsed = clock() - started
        if seconds is not None and elapsed >= seconds:
            return Followed(found, timed_out=True, trouble=trouble)
        pause = pace.trouble if trouble else pace.after(elapsed)
        sleep(pause if seconds is None else min(pause, seconds - elapsed))


class Result(StrEnum):
    """What a wait came to for one campaign; the value is the word that is printed."""

    FINISHED = "finished"
    PAUSED = "paused"
    STOPPED = "stopped"
    FAILED = "failed"
    GONE = "gone"
    GOING_ON = "not ended"

    @property
    def exit_code(self) -> int:
        """1 for what failed, is gone or has not ended; 3 for what was stopped; else 0."""
        if self is Result.STOPPED:
            return 3
        return 0 if self in (Result.FINISHED, Result.PAUSED) else 1


def result_of(status: Status, *, suspended: bool) -> Result:
    """`suspended` is what git says: a campaign that should run and does not was stopped."""
    match status.phase:
        case Phase.FINISHED:
            return Result.FINISHED
        case Phase.FAILED | Phase.PARTLY_FAILED:
            return Result.FAILED
        case Phase.MISSING:
            return Result.GONE
        case Phase.PAUSED | Phase.HELD:
            return Result.PAUSED if suspended else Result.STOPPED
    return Result.GOING_ON


def detail_of(status: Status, result: Result, *, recorded: bool = False) -> str:
    """What there is to say of a campaign that did not come to the end that git wants.

    `recorded` where the apply has kept how it ended.
    """
    reason = f" ({status.detail})" if status.detail else ""
    counts = f"{status.phase}, {status.done}/{status.total} done, {status.failed} failed{reason}"
    match result:
        case Result.FAILED:
            first = "" if recorded else "apply again to record it, then "
            return f"{counts}: {first}see `campaigns retry {status.name}`"
        case Result.GONE:
            return "it is gone, and nothing says how it ended: apply again to see what is left"
        case Result.STOPPED:
            return f"{counts}: git wants it to run, and it was stopped on the cluster"
    return counts


def awaited(campaigns: Iterable[str], outcome: Outcome) -> frozenset[str]:
    """The campaigns of an apply that may still end.

    What was held back or refused is not as in git, and may never end; what had ended before is
    nothing that this apply did.
    """
    return frozenset(campaigns) - outcome.campaigns(*NOT_AS_IN_GIT, Fate.FINISHED)


def worst(codes: Iterable[int]) -> int:
    """One exit code for several: 1 beats 3 beats 0."""
    found = set(codes)
    return next((code for code in (1, 3) if code in found), 0)


def _may_pass(error: ApiError) -> bool:
    return error.status >= 500 or error.status in PASSING_STATUS


def _refused(error: ApiError) -> ClusterUnavailable:
    on = "the campaigns go on in the cluster"
    if error.status == 401:
        return ClusterUnavailable(
            f"the API server no longer accepts the token (401 {error.reason}), so it cannot be "
            f"seen how they end; {on}: get a new token and see `campaigns status`"
        )
    return ClusterUnavailable(f"{error}; {on}: see `campaigns status`")
