"""What there is of one job array: what is kept of it, Slurm's records, what its tasks have written.

Pure readings of a survey.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from converter.holds.mark import Mark
from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_store import BY_GIT
from converter.reconcile.held import strongest
from converter.slurm.comment import comment_of
from converter.slurm.errors import InvalidTasks
from converter.slurm.job import Job, Phase
from converter.slurm.layout import CAMPAIGNS, TASK_SCRIPT
from converter.slurm.state import State, Step
from converter.slurm.survey import Result, Survey

# How long after its end a task may still come back to the queue.
COMES_BACK_SECONDS: Final = 60

# What is said where tasks are told to end, and Slurm has not heard of it.
PRUNE_WAS_STOPPED: Final = "a prune of it was stopped, and its tasks end without having run"


@dataclass(frozen=True, slots=True)
class Array:
    """What there is of one array; `now` is the host's clock, `marked` that tasks do not begin.

    `astray` says why it is not looked for where it is, so that nothing follows from not finding it.
    `failures` are the last failed tries by index. `cancelled` is that its tasks are told to end,
    `begun` that one of them has opened its log, `homeless` that its directory is not there.
    """

    state: State | None
    jobs: Sequence[Job] = ()
    results: Mapping[int, Result] = field(default_factory=dict)
    now: int = 0
    marked: bool = False
    astray: str = ""
    failures: Mapping[int, Result] = field(default_factory=dict)
    cancelled: bool = False
    begun: bool = False
    homeless: bool = False

    @property
    def numbers(self) -> tuple[int, ...]:
        """The numbers that Slurm has it under; more than one where it was submitted twice."""
        return tuple(sorted({job.array_job_id or job.job_id for job in self.jobs}))

    @property
    def pending(self) -> tuple[Job, ...]:
        """The records that may start."""
        return tuple(job for job in self.jobs if job.phase is Phase.PENDING)

    @property
    def going(self) -> tuple[Job, ...]:
        """The records that run, or are about to be over or back in the queue.

        One whose state is not known may run: nothing may count on it that it does not.
        """
        resting = (Phase.PENDING, Phase.ENDED)
        return tuple(job for job in self.jobs if job.phase not in resting)

    @property
    def has_gone(self) -> bool:
        """Whether nothing of what was submitted may run any more.

        A task that has failed and has itself queued again has ended for a moment, in Slurm's words:
        one that has written no result may come back until some time has passed.
        """
        state = self.state
        if state is None or state.step in (Step.SUBMITTING, Step.ENDED):
            return False
        if any(job.phase is not Phase.ENDED for job in self.jobs):
            return False
        if len(self.results) >= state.total:
            return True
        if self.astray or self.is_lost or self.homeless:
            return False
        return not any(map(self._may_come_back, self.jobs))

    @property
    def is_lost(self) -> bool:
        """Whether it was submitted, Slurm has nothing of it, and none of its tasks has begun.

        A controller that is killed forgets what it had not saved yet, and an array of which all
        tasks were cancelled is forgotten in time.
        """
        state = self.state
        if state is None or state.step not in (Step.SUBMITTED, Step.OPENED):
            return False
        wrote = self.begun or self.results or self.failures
        return not (self.jobs or wrote or self.astray)

    @property
    def is_void(self) -> bool:
        """Whether Slurm has nothing of it and it was never let run: it is to be submitted."""
        state = self.state
        if state is None or self.numbers:
            return False
        return state.step is Step.SUBMITTING or (state.step is Step.SUBMITTED and self.is_lost)

    @property
    def prune_was_stopped(self) -> bool:
        """Whether its tasks are told to end, and Slurm has not heard of it."""
        going_or_gone = (Phase.ENDED, Phase.COMPLETING)
        return self.cancelled and any(job.phase not in going_or_gone for job in self.jobs)

    @property
    def has_ended(self) -> bool:
        """Whether it was seen to have ended, so that it is never to run again."""
        return self.state is not None and self.state.step is Step.ENDED

    @property
    def tried_again(self) -> tuple[int, ...]:
        """The indexes of volumes that failed and are not given up."""
        failed = set(self.failures).difference(self.results)
        # Few have any, and what is accounted for takes a look at every task.
        return tuple(sorted(failed - self.unaccounted)) if failed else ()

    @property
    def unaccounted(self) -> frozenset[int]:
        """The indexes of volumes that have no result and no task any more: cancelled by hand, or
        killed with their node. None while Slurm does not say in full of which tasks a record is.
        """
        if self.state is None or not self.numbers:
            return frozenset()
        try:
            tasks = [job.tasks for job in self.jobs if self._may_come_back(job)]
        except InvalidTasks:
            return frozenset()
        return frozenset(range(self.state.total)).difference(self.results, *tasks)

    def _may_come_back(self, job: Job) -> bool:
        return job.phase is not Phase.ENDED or self.now - (job.end or 0) < COMES_BACK_SECONDS

    @property
    def runs_again(self) -> bool:
        """Whether Slurm has something of it that may run though it has ended: somebody has had it
        queued again.
        """
        return self.has_ended and any(job.phase is not Phase.ENDED for job in self.jobs)

    @property
    def is_left(self) -> bool:
        """Whether there is anything to cancel or to forget: what only completes is on its way out,
        as after a prune.
        """
        return self.state is not None or any(job.phase is not Phase.COMPLETING for job in self.jobs)

    @property
    def hold(self) -> Mark | None:
        """The hold on it that gives way last, and that is not git's own pause."""
        marks = (reading_of(job).mark for job in self.pending)
        return strongest(mark for mark in marks if mark is None or mark.instance != BY_GIT)


def array_of(name: str, found: Survey) -> Array:
    """What there is of an array by its name.

    What has ended under another number than the one that is kept was cancelled and forgotten: Slurm
    remembers it for a while.
    """
    state = found.states.get(name)
    number = state.job if state is not None else 0
    jobs = [
        job
        for job in found.jobs.get(name, ())
        if job.phase is not Phase.ENDED or number in (job.job_id, job.array_job_id)
    ]
    results = found.results.get(name, {})
    astray = _astray(state, jobs, found)
    return Array(
        state,
        jobs,
        results,
        found.host_epoch,
        name in found.marked,
        astray,
        found.failures.get(name, {}),
        cancelled=name in found.cancelled,
        begun=name in found.begun,
        homeless=name in found.homeless,
    )


def _astray(state: State | None, jobs: Sequence[Job], found: Survey) -> str:
    """Why an array that may run is not looked for where it is; empty where it is."""
    if state is not None and state.step is not Step.ENDED:
        what = f"array {state.job}" if state.job else "it"
        if state.cluster not in ("", found.cluster):
            return (
                f"{what} was submitted to the cluster {state.cluster}, and this is "
                f"{found.cluster}: put `slurm.host` back until it has ended"
            )
        if not jobs and found.is_private and state.user not in ("", found.user):
            return (
                f"{what} was submitted by {state.user}, and this Slurm shows {found.user} no jobs "
                f"of others (PrivateData): run it as {state.user}"
            )
    for job in jobs:
        # The script has the directory as its argument, but in older submissions.
        there, mark, rest = job.script.partition(f"/{TASK_SCRIPT}")
        is_ours = mark and (not rest or rest.startswith(" "))
        if is_ours and not there.startswith(f"{found.directory}/{CAMPAIGNS}/"):
            return (
                f"array {job.array_job_id or job.job_id} was submitted from {there}: put "
                "`slurm.directory` back until it has ended"
            )
    return ""


def arrays_in(found: Survey, names: Iterable[str] = ()) -> dict[str, Array]:
    """All that are known there, ended ones too, and those of these names; in order of names."""
    known = {*names, *found.states, *found.jobs}
    return {name: array_of(name, found) for name in sorted(known)}


def by_campaign(arrays: Mapping[str, Array]) -> dict[str, dict[str, Array]]:
    """The same, each campaign's by its name."""
    found: dict[str, dict[str, Array]] = {}
    for name, array in arrays.items():
        found.setdefault(campaign_of(array), {})[name] = array
    return found


def campaign_of(array: Array) -> str:
    """The campaign that it is of, as the state or the comment says."""
    if array.state is not None:
        return array.state.campaign
    said = [comment_of(job.comment) for job in array.jobs]
    return next((comment.campaign for comment in said if comment is not None), "")


def names_in(found: Survey) -> frozenset[str]:
    """The names of all arrays and campaigns that are known there, ended ones too."""
    comments = (comment_of(job.comment) for jobs in found.jobs.values() for job in jobs)
    return frozenset(
        (
            *found.states,
            *found.jobs,
            *(state.campaign for state in found.states.values()),
            *(comment.campaign for comment in comments if comment is not None),
        )
    )
