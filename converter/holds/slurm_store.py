"""One record of a Slurm job for `carry_out`: read, and written only as it was read."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Final

from converter.errors import Conflict, LeaseLost
from converter.holds.deadline import Deadline
from converter.holds.errors import DeadlinePassed, Rejected
from converter.holds.rules import Decision, State
from converter.holds.slurm_rules import not_pending, placing_of, state_of, unkept
from converter.slurm.comment import Comment, Placing, comment_of, is_foreign, written
from converter.slurm.errors import SlurmUnavailable, is_unanswered
from converter.slurm.host import CHANGED, EXPIRED, FENCED, TIMED_OUT, Answer, Host
from converter.slurm.job import Job, records_of, task_record
from converter.slurm.look import Look, look_at
from converter.slurm.times import decode, encode, start_of_lifted

# The instance of git's own pause, under which a campaign's jobs wait.
BY_GIT: Final = 1


class SlurmStore:
    """One record of a job or array, by its address: ``31``, ``29_2`` or ``29_[3-9]``.

    `job_id` is the number that the record is found by, of a job or of its array; `record` is the
    record's own. `lock` is a file on the host, the same for everybody who writes there. `paused` is
    what an apply says of git beside its call; None leaves what is said, and a release of what git
    pauses leaves it under git's own hold. `epoch` is the number of that apply, which writes nothing
    once another has begun.
    """

    def __init__(
        self, host: Host, lock: str, job: Job, *, paused: bool | None = None, epoch: str = ""
    ) -> None:
        self._host = host
        self._epoch = epoch
        self._paused = paused
        self._lock = lock
        self._job_id = job.array_job_id or job.job_id
        self._job = job
        self._look: Look | None = None

    @property
    def target(self) -> str:
        """``job/29_[3-9]``."""
        return f"job/{self._job.label}"

    @property
    def job(self) -> Job:
        """The record as it was read last."""
        return self._job

    def read(self, deadline: Deadline) -> State:
        """The record as it is now. Raises Rejected for what can be neither held nor released."""
        self._look = look_at(self._host, self._job_id, _seconds(deadline), deadline.clock)
        found = self._found(self._look)
        if found is None:
            raise Rejected(f"{self.target}: there is no such job: Slurm does not know it any more")
        self._job = found
        if why := not_pending(self._job):
            raise Rejected(f"{self.target}: {why}")
        # An open gate is past what is ours to start: Slurm's queue has it.
        return replace(
            state_of(self._job, placing_of(self._job)),
            queued=not self._job.gated,
            paused_in_git=self._is_paused(),
        )

    def write(self, decision: Decision, deadline: Deadline) -> None:
        """One ``scontrol update`` of the start and of what the comment keeps of it.

        Raises Conflict where the record has changed since it was read, which is looked at on the
        host, under its lock; LeaseLost where another apply has begun; Rejected where Slurm refuses,
        and SlurmUnavailable where nobody knows what came of it.
        """
        look, job, after = self._look, self._job, decision.after
        if look is None or after is None:
            raise ValueError("nothing was read, or nothing is to be written")
        line = look.lines.get(job.job_id)
        if line is None:
            raise self._changed("it came to be while it was read")
        placing = _placed(job, decision) if after.mark is not None else self._by_git()
        if placing is None:
            start = start_of_lifted(job.submit, job.restarts, look.on_host(deadline.clock()))
            self._update(look, line, _words(job, start, None, self._paused), deadline)
            return
        if why := unkept(job):
            raise Rejected(f"{self.target}: {why}")
        start = encode(placing.submit, placing.instance)
        self._update(look, line, _words(job, start, placing, self._paused), deadline)
        self._verify(placing, deadline)

    def say(self, deadline: Deadline) -> None:
        """Write whether git pauses what was read last, and nothing else. Raises as `write`."""
        look, comment = self._look, comment_of(self._job.comment)
        if look is None or comment is None or comment.paused is self._paused:
            return
        line = look.lines.get(self._job.job_id)
        if line is None:
            raise self._changed("it came to be while it was read")
        # The start stays: it is the hold's.
        words = _comment_words(self._job, comment.placing, self._paused)
        self._update(look, line, words, deadline)

    def _by_git(self) -> Placing | None:
        """The hold that a release leaves: git's pause, where the job's comment says that."""
        job = self._job
        if not self._is_paused() or job.submit is None:
            return None
        return Placing(BY_GIT, job.submit, job.restarts, by="git")

    def _is_paused(self) -> bool:
        if self._paused is not None:
            return self._paused
        comment = comment_of(self._job.comment)
        return comment is not None and comment.paused

    def _update(self, look: Look, line: str, words: Sequence[str], deadline: Deadline) -> None:
        job = self._job
        answer = self._host.run(
            "update.sh",
            str(look.on_host(deadline.at)),
            self._lock,
            self._epoch,
            str(self._job_id),
            str(job.job_id),
            line,
            f"JobId={job.address}",
            *words,
            # The host ends it at the deadline; what is left is the way back.
            seconds=_seconds(deadline) + 5,
        )
        if answer.code == CHANGED:
            raise self._changed("it has changed since it was read")
        if answer.code == FENCED:
            raise LeaseLost(f"{answer.reason} on {self._host}: apply again")
        if answer.code == EXPIRED:
            raise DeadlinePassed(f"{self.target}: {answer.reason} on {self._host}")
        if answer.code and not self._is_partly(answer):
            raise self._refusal(answer)

    def _verify(self, placing: Placing, deadline: Deadline) -> None:
        """Read back: a job that was requeued just then has the start, and it is no hold any more.

        Raises Conflict, so that it is decided anew.
        """
        look = look_at(self._host, self._job_id, _seconds(deadline), deadline.clock)
        job = self._found(look)
        as_placed = (placing.submit, placing.restarts, placing.instance)
        if job is None or not_pending(job):
            raise self._changed("it is pending no more")
        if (job.submit, job.restarts, decode(job.eligible, job.submit)) != as_placed:
            raise self._changed("it was requeued meanwhile, or somebody else wrote it")
        self._job = job

    def _found(self, look: Look) -> Job | None:
        task = self._job.array_task_id
        if task is not None:
            return task_record(look.jobs, self._job_id, task)
        records = records_of(look.jobs, self._job_id)
        return next((each for each in records if each.job_id == self._job.job_id), None)

    def _is_partly(self, answer: Answer) -> bool:
        """Whether some tasks of a waiting rest had started: the others have the start.

        Slurm says of each set of tasks what came of it, of those that were changed ``No error``.
        """
        return f"{self._job_id}_" in answer.err and "No error" in answer.err

    def _refusal(self, answer: Answer) -> Exception:
        if answer.code in TIMED_OUT or is_unanswered(answer.err):
            return SlurmUnavailable(f"{self._host}: {answer.reason}")
        return Rejected(f"{self.target}: Slurm refuses: {answer.reason}")

    def _changed(self, why: str) -> Conflict:
        return Conflict("update", self.target, 409, "Conflict", why)


def _seconds(deadline: Deadline) -> float:
    """For one command. One that had no time at all would be ended before it says why."""
    return max(1.0, deadline.rest)


def _placed(job: Job, decision: Decision) -> Placing:
    entry, after = decision.entry, decision.after
    if after is None or after.mark is None or after.mark.instance is None or job.submit is None:
        raise ValueError("a job without a submit time cannot be held")
    at, by, reason = (entry.at, entry.by, entry.reason) if entry is not None else ("", "", "")
    return Placing(after.mark.instance, job.submit, job.restarts, at, by, reason)


def _words(job: Job, start: str, placing: Placing | None, paused: bool | None) -> list[str]:
    return [f"StartTime={start}", *_comment_words(job, placing, paused)]


def _comment_words(job: Job, placing: Placing | None, paused: bool | None) -> list[str]:
    """The comment for scontrol, where it is not somebody else's.

    Of a job that is no campaign's it goes with its hold.
    """
    if is_foreign(job.comment):
        return []
    comment = replace(comment_of(job.comment) or Comment(), placing=placing)
    if paused is not None and comment.campaign:
        comment = replace(comment, paused=paused)
    return [f"Comment={written(comment) if comment != Comment() else ''}"]
