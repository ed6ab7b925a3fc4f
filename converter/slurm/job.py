"""A job as the controller has it, whatever release wrote it down."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Final

from converter.slurm.errors import InvalidTasks
from converter.slurm.tasks import spelt, tasks_of


class Phase(StrEnum):
    """Where a job is in its life. What pends may start, what completes may come back pending."""

    PENDING = "pending"
    RUNNING = "running"
    COMPLETING = "completing"
    ENDED = "ended"
    UNKNOWN = "unknown"


# The words of job_state_string in Slurm's src/common/slurm_protocol_defs.c: eleven states, one at
# a time, and flags beside them. Release 22.05 prints one word, a flag rather than the state.
_ENDED: Final = frozenset(
    (
        "COMPLETED",
        "CANCELLED",
        "FAILED",
        "TIMEOUT",
        "NODE_FAIL",
        "PREEMPTED",
        "BOOT_FAIL",
        "DEADLINE",
        "OUT_OF_MEMORY",
    )
)
_RUNNING_FLAGS: Final = frozenset(
    ("CONFIGURING", "POWER_UP_NODE", "RESIZING", "STOPPED", "SIGNALING")
)
_GATED_FLAGS: Final = frozenset(("REQUEUE_HOLD", "SPECIAL_EXIT", "RESV_DEL_HOLD"))
STATES: Final = _ENDED | {"PENDING", "RUNNING", "SUSPENDED"}
# The first that has a word of a job is its phase. A job that is requeued while it completes is
# PENDING already, and a cancelled one that completes CANCELLED.
_PHASES: Final = (
    (Phase.COMPLETING, frozenset(("COMPLETING", "STAGE_OUT", "REQUEUED", "REQUEUE_FED"))),
    (Phase.ENDED, _ENDED | {"REVOKED"}),
    (Phase.RUNNING, _RUNNING_FLAGS | {"RUNNING", "SUSPENDED"}),
    (Phase.PENDING, _GATED_FLAGS | {"PENDING"}),
)

# As JSON, scontrol and squeue spell them, without blanks and underscores.
_OWNERS_GATE: Final = "jobhelduser"
_OTHER_GATES: Final = frozenset(
    ("jobheldadmin", "jobrequeuedinheldstate", "jobholdmaxrequeue", "launchfailedrequeuedheld")
)


@dataclass(frozen=True, slots=True)
class Job:
    """One record: a job, one task of an array, or all tasks of an array that still wait together.

    Such a waiting rest has `array_job_id` and, in `array_tasks`, its list of tasks; a task that
    was started or changed on its own has `array_job_id` and `array_task_id`. Times are epochs,
    None where there is none; of a job that has not ended, `start` may be an estimate and `end`
    follows from it. `time_limit` is in minutes, None without a limit. `exit_code` and `signal` say
    something of what has ended alone. `flags` are the words beside the state, and `script` is the
    file that was submitted. `description` says more of the reason, where there is more.
    """

    job_id: int
    name: str
    state: str
    reason: str
    submit: int | None
    eligible: int | None
    restarts: int
    comment: str = ""
    flags: tuple[str, ...] = ()
    array_job_id: int | None = None
    array_task_id: int | None = None
    array_tasks: str = ""
    user: str = ""
    partition: str = ""
    start: int | None = None
    end: int | None = None
    priority: int | None = None
    exit_code: int | None = None
    signal: int | None = None
    may_requeue: bool = True
    dependency: str = ""
    time_limit: int | None = None
    nodes: str = ""
    script: str = ""
    description: str = ""

    @property
    def phase(self) -> Phase:
        """By the state words alone: a reason or a time may be left from before."""
        words = {self.state, *self.flags}
        return next((phase for phase, known in _PHASES if words & known), Phase.UNKNOWN)

    @property
    def gated(self) -> bool:
        """Whether a pending job waits for ``scontrol release``: only then is its priority 0."""
        return self.priority == 0 or self._reason == _OWNERS_GATE or self._held_by_other

    @property
    def gated_by_owner(self) -> bool:
        """Whether its owner may release it; what Slurm or an operator holds, only an operator."""
        return self.gated and not self._held_by_other

    @property
    def _held_by_other(self) -> bool:
        flagged = not _GATED_FLAGS.isdisjoint((self.state, *self.flags))
        return flagged or self._reason in _OTHER_GATES

    @property
    def _reason(self) -> str:
        return self.reason.replace("_", "").replace(" ", "").lower()

    @property
    def address(self) -> str:
        """How scontrol names just this record: ``31``, ``29_2``, or ``29_[0-1,3]`` for the rest.

        The bare number of an array would be all of its tasks. Raises CutTasks and InvalidTasks.
        """
        if self.array_job_id is None:
            return str(self.job_id)
        if self.array_task_id is not None:
            return f"{self.array_job_id}_{self.array_task_id}"
        return f"{self.array_job_id}_[{spelt(self.tasks)}]"

    @property
    def label(self) -> str:
        """How messages name it: its address, or its number where its tasks are not known."""
        try:
            return self.address
        except InvalidTasks:
            return str(self.job_id)

    @property
    def tasks(self) -> frozenset[int]:
        """The array tasks of the record, none of a job that is no array.

        Raises CutTasks, and InvalidTasks also for a record of an array that names no task.
        """
        if self.array_task_id is not None:
            return frozenset((self.array_task_id,))
        ids = tasks_of(self.array_tasks).ids
        if self.array_job_id is not None and not ids:
            raise InvalidTasks(f"the record {self.job_id} of an array names none of its tasks")
        return ids


def records_of(jobs: Iterable[Job], job_id: int) -> list[Job]:
    """All records of a job or of an array, or the one of an array's task with a number of its own.

    In the order of their tasks; a list that was cut comes last. Empty where Slurm knows none.
    """
    jobs = list(jobs)
    of_array = [job for job in jobs if job.array_job_id == job_id]
    found = of_array or [job for job in jobs if job.job_id == job_id]
    return sorted(found, key=_order)


def task_record(jobs: Iterable[Job], array: int, task: int) -> Job | None:
    """One task of an array: its own record, or the waiting rest as if it were that task alone.

    Slurm takes a task out of the rest, with a number of its own, as soon as it is changed.
    """
    records = records_of(jobs, array)
    for job in records:
        if job.array_task_id == task:
            return job
    for job in records:
        if job.array_task_id is None and task in tasks_of(job.array_tasks).ids:
            return replace(job, array_task_id=task, array_tasks="")
    return None


def _order(job: Job) -> tuple[bool, int]:
    first = job.array_tasks.replace("-", ",").partition(",")[0].partition("%")[0]
    if job.array_task_id is not None:
        return False, job.array_task_id
    cut = "..." in job.array_tasks or not first.isdecimal()
    return cut, int(first) if not cut else 0
