"""When campaigns were submitted, ran and ended on a Slurm, as far as it is still known. Pure.

Slurm forgets a task a few minutes after its end, and of an array that has ended nothing is kept but
how and when. When the first task started is known until then only: what ran is drawn from the first
start or end that is known.
"""

from collections.abc import Iterator
from datetime import UTC, datetime

from converter.explain.slurm_look import SlurmLook
from converter.holds.words import told as hold_told
from converter.observe.phase import Phase
from converter.reconcile.slurm.array import Array
from converter.reconcile.slurm.ending import ended
from converter.report.model import Timeline, phase_words
from converter.report.timeline import History, told
from converter.slurm.job import Phase as JobPhase
from converter.times import instant


def slurm_timeline(seen: SlurmLook) -> Timeline:
    """The campaigns that Slurm has, or of which the end is kept."""
    return told(_histories(seen), seen.now)


def _histories(seen: SlurmLook) -> Iterator[History]:
    for campaign, arrays in seen.arrays.items():
        history = History(campaign)
        for name, array in arrays.items():
            _of_array(history, array, "" if len(arrays) == 1 else f"{name}: ", seen)
        yield history


def _of_array(history: History, array: Array, of: str, seen: SlurmLook) -> None:
    submitted, first = _submitted(array), _first(array)
    history.note(submitted, "created", f"{of}submitted")
    record = ended(array, (), seen.found.host_epoch)
    end = instant(record.finished_at) if record is not None else None
    if record is not None:
        what = f"{of}ended: {phase_words(Phase(record.phase)).lower()}"
        history.note(end, "ended", what)
    stopped = None
    if record is None and (mark := array.hold) is not None:
        stopped = instant(mark.at)
        history.note(stopped, "stopped", f"{of}{hold_told(mark)}")
    until = end or seen.now
    history.was(submitted, first or stopped or until, "waiting")
    if array.going or stopped is None:
        history.was(first, until, "running")
    else:
        history.was(first, stopped, "running")
        history.was(stopped, until, "stopped")


def _submitted(array: Array) -> datetime | None:
    """When an apply submitted it; of one that has ended that is known while Slurm remembers it."""
    state = array.state
    if state is not None and state.job and not array.has_ended:
        return _at(state.at)
    return min((_at(job.submit) for job in array.jobs if job.submit is not None), default=None)


def _first(array: Array) -> datetime | None:
    """The first start or end of a task that is known. What waits has an estimate for a start."""
    starts = [
        _at(job.start)
        for job in array.jobs
        if job.phase is not JobPhase.PENDING and job.start is not None
    ]
    ends = (instant(result.at) for result in array.results.values())
    return min((*starts, *(end for end in ends if end is not None)), default=None)


def _at(epoch: int) -> datetime:
    return datetime.fromtimestamp(epoch, UTC)
