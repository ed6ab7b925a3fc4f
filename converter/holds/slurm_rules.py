"""What a hold, a release or an opening does to a job of Slurm in a given state. Pure.

Which of two calls wins is decided as for every other kind of object, in `rules`; here is what
Slurm accepts and must not be sent.
"""

from typing import Final

from converter.holds.call import check_instance
from converter.holds.rules import Action, Call, Decision, State, Verdict, decide
from converter.holds.slurm_state import DORMANT, NO_JOB, Reading, others_gate, reading, unknown
from converter.slurm.comment import Placing, comment_of, is_foreign
from converter.slurm.job import Job, Phase
from converter.slurm.times import is_years_away

HAS_ENDED: Final = "it has ended"


def decide_hold(job: Job | None, placing: Placing | None, call: Call) -> Decision:
    """What a hold does: WRITE places it, DONE is in force already; else the reason is in `why`.

    It replaces a start time of the job's own (``sbatch --begin``), which nothing brings back.
    Raises InvalidCall for what is no instance.
    """
    _check(call, Action.HOLD)
    if job is None:
        return _rejected(NO_JOB)
    if job.phase is not Phase.PENDING:
        return _refused(job)
    if job.submit is None:
        return _rejected("Slurm tells no submit time of it, which a hold counts from")
    decision = decide(state_of(job, placing), call)
    if decision.verdict is Verdict.WRITE and (why := unkept(job)):
        return _rejected(why)
    return decision


def decide_release(job: Job | None, placing: Placing | None, call: Call) -> Decision:
    """What a release does: WRITE lifts just this hold; else the job is left as it is.

    Raises InvalidCall for what is no instance.
    """
    _check(call, Action.RELEASE)
    if job is None:
        return _rejected(NO_JOB)
    if job.phase is not Phase.PENDING:
        return _refused(job)
    return decide(state_of(job, placing), call)


def decide_open(job: Job | None, placing: Placing | None) -> Decision:
    """Whether ``scontrol release`` opens the gate: WRITE. It lifts no hold.

    DONE where the gate is open: there it would only cost the job its place in the queue.
    """
    if job is None:
        return _rejected(NO_JOB)
    if job.phase is Phase.RUNNING:
        return Decision(Verdict.DONE)
    if job.phase is not Phase.PENDING:
        return _refused(job)
    if job.gated and not job.gated_by_owner:
        return _rejected(others_gate(job))
    return decide(state_of(job, placing), Call(Action.OPEN))


def not_pending(job: Job) -> str:
    """Why a job can be neither held nor released; empty where it is pending."""
    return "" if job.phase is Phase.PENDING else _refused(job).why


def unkept(job: Job) -> str:
    """Why nothing could keep which job a hold was placed on; empty where its comment can.

    Without that a start is a hold as long as the job was never requeued.
    """
    if not job.restarts or not is_foreign(job.comment):
        return ""
    return (
        "it was requeued, so that a hold counts only with its comment, and that is somebody "
        f"else's: take it away with scontrol update JobId={job.job_id} Comment="
    )


def refused_requeue(job: Job) -> str:
    """Why a job must not be requeued; empty where it may be."""
    if job.phase is Phase.RUNNING and is_years_away(job.eligible, job.submit):
        return DORMANT
    if not job.may_requeue:
        return "it was submitted with --no-requeue"
    return ""


def placing_of(job: Job) -> Placing | None:
    """The hold that a job's own comment keeps."""
    comment = comment_of(job.comment)
    return comment.placing if comment is not None else None


def reading_of(job: Job) -> Reading:
    """What a job's state reads as, by its own comment."""
    return reading(job, placing_of(job))


def placed_by(job: Job, call: Call) -> Placing:
    """What the comment keeps of a hold that is placed on the job as it was read."""
    if job.submit is None:
        raise ValueError("a job without a submit time cannot be held")
    return Placing(call.instance, job.submit, job.restarts, call.at, call.by, call.reason)


def state_of(job: Job, placing: Placing | None) -> State:
    """A pending job for the rules: it has a gate that we open, so no queue has the say of that."""
    mark = reading(job, placing).mark
    return State(
        mark=mark, stopped=mark is not None or job.gated, queued=False, opened=not job.gated
    )


def _refused(job: Job) -> Decision:
    why = {
        Phase.COMPLETING: "it completes: call again when that is over, if it comes back pending",
        Phase.RUNNING: "it runs, and only what is pending can be held: it goes on to its end, "
        f"unless `scancel {job.label}` ends it",
        Phase.ENDED: HAS_ENDED,
    }
    return _rejected(why.get(job.phase) or f"{unknown(job)}, so nothing is done to it")


def _rejected(why: str) -> Decision:
    return Decision(Verdict.REJECTED, why)


def _check(call: Call, action: Action) -> None:
    if call.action is not action:
        raise ValueError(f"{call.action} is no {action}")
    check_instance(call.instance)
