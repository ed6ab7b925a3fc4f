"""What a job's state in Slurm reads as. Pure.

A job is held by a start time ten years and more away, which says the instance. It counts as a hold
while the job is the one that it was placed on: with the submit time and the restarts that its
comment keeps. A requeue moves both and leaves the start, which then says another instance or none,
while the job waits on.
"""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final

from converter.holds.mark import Mark
from converter.slurm.comment import Placing
from converter.slurm.errors import InvalidTime
from converter.slurm.job import Job, Phase
from converter.slurm.times import decode, is_far_start, is_years_away, text_of


class Reads(StrEnum):
    """How a job's state reads."""

    GATED = "gated"
    GATED_AND_HELD = "gated and held"
    HELD = "held"
    PENDING = "pending"
    FAR_START = "far start, not a hold"
    COMPLETING = "completing"
    RUNNING = "running"
    ENDED = "ended"
    NOT_FOUND = "not found"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Reading:
    """A state, the hold that is in force, and what else there is to say of it.

    `mark` has what is known of who placed the hold, and why.
    """

    reads: Reads
    mark: Mark | None = None
    note: str = ""

    @property
    def instance(self) -> int | None:
        """The instance in force, None without a hold."""
        return self.mark.instance if self.mark is not None else None


_OF_PHASES: Final = {
    Phase.COMPLETING: Reads.COMPLETING,
    Phase.RUNNING: Reads.RUNNING,
    Phase.ENDED: Reads.ENDED,
    Phase.UNKNOWN: Reads.UNKNOWN,
}


NO_JOB: Final = "there is no such job: Slurm does not know it, or no longer"
DORMANT: Final = "it runs under a start time that is years away: requeued, it would wait for that"


def reading(job: Job | None, placing: Placing | None) -> Reading:
    """What a job's state reads as. `placing` is what its comment keeps, None where it keeps none.

    The state comes first: an ended job keeps the reason and the times that it had when it waited.
    A job that is None is one that an answer of Slurm does not have; without an answer nothing may
    be read.
    """
    if job is None:
        return Reading(Reads.NOT_FOUND, note=NO_JOB)
    if job.phase is Phase.PENDING:
        return _pending(job, placing)
    note = ""
    if job.phase is Phase.UNKNOWN:
        note = unknown(job)
    elif job.phase is Phase.RUNNING and is_years_away(job.eligible, job.submit):
        note = DORMANT
    return Reading(_OF_PHASES[job.phase], note=note)


def unknown(job: Job) -> str:
    """That a state is not known."""
    return f"its state {job.state} is none that is known here"


def others_gate(job: Job) -> str:
    """Whose gate it is that its owner cannot open."""
    return f"Slurm or an operator holds it ({job.reason}): only an operator of Slurm releases it"


def _pending(job: Job, placing: Placing | None) -> Reading:
    shown = decode(job.eligible, job.submit)
    far = is_far_start(job.eligible, job.submit)
    moved = _moved(job, placing)
    mark = None if shown is None or moved else _mark(shown, placing)
    if mark is not None:
        note = _by_hand(shown, placing)
        return Reading(Reads.GATED_AND_HELD if job.gated else Reads.HELD, mark, note)
    if shown is not None:
        far, note = True, f"alias: not our hold: it decodes as {shown}, but {moved}; {_until(job)}"
    elif far:
        note = f"its start is years away and is no hold{_since(moved)}; {_until(job)}"
    elif placing is not None and not moved:
        note = f"its comment keeps hold {placing.instance}, which somebody has lifted by hand"
    elif job.gated and not job.gated_by_owner:
        note = others_gate(job)
    else:
        note = _begins(job)
    if job.gated:
        return Reading(Reads.GATED, note=note)
    return Reading(Reads.FAR_START if far else Reads.PENDING, note=note)


def _moved(job: Job, placing: Placing | None) -> str:
    """Why a start time cannot be a hold on this job; empty where it can."""
    if placing is None:
        # Placed with scontrol by hand. Without a record nothing tells it from an alias.
        return _requeued(job.restarts) + " and nothing keeps the hold" if job.restarts else ""
    if job.restarts != placing.restarts:
        return f"{_requeued(job.restarts)}, {placing.restarts} at hold {placing.instance}"
    if job.submit != placing.submit:
        return f"its submit time has changed since hold {placing.instance} was placed"
    return ""


def _requeued(restarts: int) -> str:
    return f"the job was requeued (restarts {restarts})"


def _since(moved: str) -> str:
    return f" ({moved})" if moved else ""


def _mark(instance: int, placing: Placing | None) -> Mark:
    if placing is None or placing.instance != instance:
        return Mark(instance)
    return Mark(instance, placing.at, placing.by, placing.reason)


def _by_hand(shown: int | None, placing: Placing | None) -> str:
    if placing is None:
        return "its comment does not keep this hold: it was placed with scontrol by hand"
    if placing.instance != shown:
        return f"its comment keeps hold {placing.instance}: this one was placed by hand"
    return ""


def _until(job: Job) -> str:
    return f"it waits until {_start(job)}, or until it is held and released"


def _begins(job: Job) -> str:
    """A start of its own, as of ``sbatch --begin`` or two minutes after a requeue."""
    if job.reason != "BeginTime" or job.eligible is None or job.eligible <= (job.submit or 0):
        return ""
    return f"it begins at {_start(job)}, which a hold would replace"


def _start(job: Job) -> str:
    try:
        return f"{text_of(job.eligible or 0)} UTC"
    except InvalidTime:
        return "after the year 9999"
