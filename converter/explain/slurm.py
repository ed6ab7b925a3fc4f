"""Why a campaign is where it is on a Slurm, in order of cause. Pure."""

from collections.abc import Iterator, Sequence

from converter.explain.cause import Cause
from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_state import Reads
from converter.holds.words import in_force, lifted_by
from converter.observe.phase import Phase
from converter.observe.status import Status
from converter.reconcile.slurm.planning import Array
from converter.slurm.job import Job
from converter.slurm.reasons import reason_of

# Of many volumes that failed the first will do.
SHOWN = 20


def slurm_causes(
    status: Status, arrays: Sequence[Array], failed: Sequence[str], directory: str
) -> tuple[Cause, ...]:
    """All that keeps a campaign from running, or says how it ended.

    `failed` are the volumes of it that are not done, `directory` has its logs.
    """
    return tuple(_causes(status, arrays, failed, directory))


def _causes(
    status: Status, arrays: Sequence[Array], failed: Sequence[str], directory: str
) -> Iterator[Cause]:
    file = f"campaigns/{status.name}.yaml"
    if status.drift:
        yield Cause("not-as-in-git", status.drift)
    if status.phase is Phase.MISSING:
        yield Cause(
            "missing",
            status.detail or f"{file} is in git, and no apply has submitted it",
            "run `campaigns apply`",
        )
        return
    for array in arrays:
        if (mark := array.hold) is not None:
            yield Cause("hold", in_force(mark), lifted_by(mark, status.name))
    if any(array.state is not None and array.state.paused for array in arrays):
        more = f"; {status.detail}" if status.detail else ""
        yield Cause(
            "paused-in-git",
            f"git pauses it: suspend: true in {file}{more}",
            f"take suspend out of {file} and apply",
        )
    if status.phase.is_end:
        yield from _ends(status, failed, directory)
        return
    jobs = [job for array in arrays for job in array.pending]
    yield from dict.fromkeys(cause for job in jobs if (cause := _waits(job)) is not None)
    if status.phase is Phase.RUNNING:
        yield Cause("running", f"it runs: {status.active} task(s)")
    elif status.phase is Phase.WAITING and not jobs:
        yield Cause("not-submitted", status.detail, "run `campaigns apply` again")


def _ends(status: Status, failed: Sequence[str], directory: str) -> Iterator[Cause]:
    if status.phase is Phase.FINISHED:
        yield Cause("finished", f"all of its {status.total} volumes are done")
        return
    yield Cause(
        "failed-volumes",
        f"{status.failed} of its {status.total} volumes failed",
        f"see their logs in {directory}; `campaigns retry {status.name}` writes a campaign file of "
        "what failed",
        tuple(failed[:SHOWN]),
    )


def _waits(job: Job) -> Cause | None:
    """Why one record waits; None where a hold or git's pause has said it already."""
    read = reading_of(job)
    if read.mark is not None:
        return None
    if read.reads is Reads.FAR_START:
        again = "hold it and release it, which has it start"
        return Cause("far-start", read.note, again)
    if job.gated and job.gated_by_owner:
        return Cause("gate", "its gate is shut", "run `campaigns apply`, which opens it")
    reason = reason_of(job.reason)
    return Cause("waits", read.note or reason.words, reason.remedy)
