"""A call on every record of a job array. Pure."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from converter.holds.rules import Action, Call, Decision, Verdict
from converter.holds.slurm_rules import decide_hold, decide_open, decide_release, placing_of
from converter.holds.slurm_state import Reading, reading
from converter.slurm.errors import InvalidTasks
from converter.slurm.job import Job, Phase


@dataclass(frozen=True, slots=True)
class Record:
    """What a call does to one record of an array, and to which tasks (empty: the list was cut).

    `passed_over`: the call has nothing to come into force on there, while it has elsewhere.
    """

    job: Job
    tasks: frozenset[int]
    reading: Reading
    decision: Decision
    passed_over: bool = False

    @property
    def failed(self) -> bool:
        """Whether the call is not in force where it should be; one such makes the exit code 1."""
        in_force = self.decision.verdict in (Verdict.WRITE, Verdict.DONE)
        return not in_force and not self.passed_over


def decide_array(records: Sequence[Job], call: Call) -> tuple[Record, ...]:
    """A call on every record of one array, of which each keeps its own hold in its comment.

    While others go on, tasks that have ended are passed over, and while others wait, by a release
    and an opening also those that run or complete: there is nothing to lift or to open. A hold on
    a task that runs is refused, and that counts.
    """
    decided = [_record(job, call) for job in records]
    phases = {job.phase for job in records}
    over = {Phase.ENDED} if phases != {Phase.ENDED} else set()
    if call.action is not Action.HOLD and Phase.PENDING in phases:
        over |= {Phase.RUNNING, Phase.COMPLETING}
    return tuple(replace(each, passed_over=each.job.phase in over) for each in decided)


def any_failed(records: Iterable[Record]) -> bool:
    """Whether the call is not in force somewhere; with no record there is nothing to be in force.

    A task that could not be held fails the call though all others are held.
    """
    outcomes = [record.failed for record in records]
    return not outcomes or any(outcomes)


def _record(job: Job, call: Call) -> Record:
    placing = placing_of(job)
    try:
        tasks, cut = job.tasks, ""
    except InvalidTasks as error:
        tasks, cut = frozenset(), str(error)
    if cut and job.phase is Phase.PENDING:
        # Its address is not known, and the number of the array would be all of its tasks.
        decision = Decision(Verdict.REJECTED, cut)
    elif call.action is Action.OPEN:
        decision = decide_open(job, placing)
    else:
        decides = decide_hold if call.action is Action.HOLD else decide_release
        decision = decides(job, placing, call)
    return Record(job, tasks, reading(job, placing), decision)
