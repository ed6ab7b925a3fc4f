"""Numbered holds on Slurm's jobs for programs, as `api` has them for Kubernetes."""

import re
import time
from collections.abc import Callable, Iterable, Sequence
from typing import Final

from converter.errors import ClusterUnavailable
from converter.holds.api import Part
from converter.holds.call import hold_call, numbered_call
from converter.holds.carry_out import carry_out
from converter.holds.deadline import Deadline, deadline_in
from converter.holds.errors import HoldError, InvalidCall, Rejected
from converter.holds.listing import Enforced, Held
from converter.holds.mark import MOST
from converter.holds.rules import Action, Call, Verdict
from converter.holds.slurm_array import Record, decide_array
from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_store import BY_GIT, SlurmStore
from converter.names import DNS_LABEL
from converter.slurm.comment import comment_of
from converter.slurm.host import Host
from converter.slurm.job import Job, Phase, records_of, task_record
from converter.slurm.layout import repository_key
from converter.slurm.look import look_at

# How long after its deadline a call may still come into force: the tools are ended at the deadline,
# and a controller that is busy may take up what it was sent a while later.
CALL_BOUND: Final = 60.0

_JOB: Final = re.compile(r"(?:job/)?(?P<job>[0-9]{1,10})(?:_(?P<task>[0-9]{1,7}))?")
_FORMS: Final = (
    "write a campaign's name, the number of a job, or of a task as in 29_2; one call is for one "
    "of them"
)
_STARTED: Final = frozenset((Phase.RUNNING, Phase.COMPLETING))


class SlurmHolds:
    """The holds of one Slurm.

    `lock` is a file on the host, the same for all who hold and release there. A target is a
    campaign's name, the number of a job or array, or a task of an array as ``29_2``. Calls raise
    and answer like those of `Holds`.
    """

    def __init__(
        self,
        host: Host,
        lock: str,
        *,
        repository: str = "",
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._host = host
        self._lock = lock
        self._repository = repository
        self._clock = clock
        self.call_bound: Final = CALL_BOUND

    def hold(
        self, target: str, instance: int, *, deadline: float | None, by: str, reason: str = ""
    ) -> tuple[Part, ...]:
        """Keep what pends from starting until this instance is released.

        What runs or completes is not held, and fails the call, though the rest is held.
        """
        return self._call(target, hold_call(instance, by, reason), deadline)

    def release(
        self, target: str, instance: int, *, deadline: float | None, by: str
    ) -> tuple[Part, ...]:
        """Lift the hold of just this instance. What waits at its gate waits on."""
        return self._call(target, numbered_call(Action.RELEASE, instance, by), deadline)

    def list(self, *, seconds: float = 30.0) -> tuple[Held, ...]:
        """Every hold that Slurm knows of. Raises SlurmUnavailable."""
        return held_jobs(look_at(self._host, None, seconds, self._clock).jobs)

    def _call(self, target: str, call: Call, seconds: float | None) -> tuple[Part, ...]:
        chosen = _chosen(target)
        deadline = deadline_in(seconds, self._clock)
        records = self._records(target, chosen, call, deadline)
        if call.instance == BY_GIT and any(_campaign_of(each.job) for each in records):
            raise InvalidCall(
                f"hold {BY_GIT} on the jobs of a campaign is git's own pause: write a number from "
                f"{BY_GIT + 1} to {MOST}"
            )
        parts = {each.job.job_id: self._part(each, call, deadline) for each in records}
        if call.action is Action.HOLD:
            told = {part.target for part in parts.values()}
            missed = self._missed(target, chosen, records, call, deadline)
            # One task has another number once it was taken out of the rest.
            anew = {n: part for n, part in missed.items() if n in parts or part.target not in told}
            parts |= anew
        return tuple(parts.values())

    def _records(
        self, target: str, chosen: re.Match[str] | None, call: Call, deadline: Deadline
    ) -> Sequence[Record]:
        """All that a target has in Slurm. Raises Rejected where there is nothing."""
        deadline.check(f"read {target}")
        look = look_at(self._host, None, max(1.0, deadline.rest), deadline.clock)
        if chosen is not None:
            found = _of_job(look.jobs, chosen)
            if not found:
                raise Rejected(f"{target}: Slurm knows no such job, or no longer")
            return decide_array(found, call)
        found = [job for job in look.jobs if self._is_of(job, target)]
        # Arrays of the name that were cancelled, or have ended, are remembered for a while.
        going = [job for job in found if job.phase is not Phase.ENDED]
        arrays = sorted({job.array_job_id or job.job_id for job in going or found})
        if not arrays:
            raise Rejected(f"Slurm knows no job of a campaign {target}")
        jobs = (decide_array(records_of(found, array), call) for array in arrays)
        return [record for of_array in jobs for record in of_array]

    def _is_of(self, job: Job, campaign: str) -> bool:
        comment = comment_of(job.comment)
        if comment is None or comment.campaign != campaign:
            return False
        return not self._repository or repository_key(self._repository) == comment.repository

    def _part(self, record: Record, call: Call, deadline: Deadline) -> Part:
        if record.job.phase is Phase.PENDING:
            return self._tried(record, call, deadline)
        # To ask for each of the others would take the time of those that may start.
        return _refused(record)

    def _tried(self, record: Record, call: Call, deadline: Deadline) -> Part:
        store = SlurmStore(self._host, self._lock, record.job)
        try:
            done = carry_out(store, call, deadline)
        except (HoldError, ClusterUnavailable) as error:
            return Part(store.target, error, runs=store.job.phase in _STARTED)
        # Of a waiting rest some may have started since it was listed.
        return Part(store.target, done)

    def _missed(
        self,
        target: str,
        chosen: re.Match[str] | None,
        before: Iterable[Record],
        call: Call,
        deadline: Deadline,
    ) -> dict[int, Part]:
        """Tasks that have left the waiting rest while it was being held, and are not held; and what
        ran and has come back to the queue, which is tried.
        """
        phases = {record.job.job_id: record.job.phase for record in before}
        found: dict[int, Part] = {}
        try:
            now = self._records(target, chosen, call, deadline)
        except (HoldError, ClusterUnavailable):
            # It was read a moment ago; each record has told for itself.
            return found
        for record in now:
            number = record.job.job_id
            was = phases.get(number)
            if record.job.phase is Phase.PENDING and was is not Phase.PENDING:
                if record.decision.verdict is not Verdict.DONE:
                    found[number] = self._tried(record, call, deadline)
            elif was is None and record.failed:
                found[number] = _refused(record)
        return found


def held_jobs(jobs: Sequence[Job]) -> tuple[Held, ...]:
    """The holds on the jobs of one look, in its order. Pure."""
    loose = frozenset(_place_of(job) for job in jobs if _is_loose(job))
    return tuple(held for job in jobs if (held := _held(job, loose)) is not None)


def _refused(record: Record) -> Part:
    """What a call comes to that is not sent."""
    target = f"job/{record.job.label}"
    rejected = Rejected(f"{target}: {record.decision.why}")
    return Part(target, rejected, record.passed_over, runs=record.job.phase in _STARTED)


def _chosen(target: str) -> re.Match[str] | None:
    """The job or task that a target names, None for a campaign. Raises InvalidCall.

    Slurm itself takes an empty number for nothing to do, and changes the first of a list.
    """
    chosen = _JOB.fullmatch(target)
    if chosen is None and not DNS_LABEL.match(target):
        raise InvalidCall(f"{target!r} is no target: {_FORMS}")
    return chosen


def _of_job(jobs: Iterable[Job], chosen: re.Match[str]) -> Sequence[Job]:
    if chosen["task"] is None:
        return records_of(jobs, int(chosen["job"]))
    record = task_record(jobs, int(chosen["job"]), int(chosen["task"]))
    return [] if record is None else [record]


def _campaign_of(job: Job) -> str:
    comment = comment_of(job.comment)
    return comment.campaign if comment is not None else ""


def _place_of(job: Job) -> tuple[str, str, int]:
    """What a hold on it is said to stop: the part of a campaign; of no campaign just itself."""
    comment = comment_of(job.comment)
    if comment is None or not comment.campaign:
        return "", job.label, 0
    return comment.repository, comment.campaign, comment.part


def _is_loose(job: Job) -> bool:
    """Whether it runs, or no hold keeps it from starting."""
    return job.phase is not Phase.ENDED and reading_of(job).mark is None


def _held(job: Job, loose: frozenset[tuple[str, str, int]]) -> Held | None:
    """The hold on a record. Git's own pause of a campaign is none that anybody placed."""
    mark = reading_of(job).mark
    if mark is None or (mark.instance == BY_GIT and _campaign_of(job)):
        return None
    comment = comment_of(job.comment)
    campaign, part = (comment.campaign, comment.part) if comment is not None else ("", 0)
    enforced = Enforced.PARTLY if _place_of(job) in loose else Enforced.YES
    return Held(f"job/{job.label}", f"Job/{job.label}", campaign, part, mark, enforced)
