"""Why a campaign is where it is on a Slurm, in order of cause. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from converter.explain.cause import Cause
from converter.explain.slurm_volumes import FailedVolume
from converter.explain.text import counted
from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_state import Reads
from converter.holds.slurm_state import unknown as state_unknown
from converter.holds.words import in_force, lifted_by
from converter.observe.phase import Phase
from converter.observe.slurm import AGAIN, is_put_right
from converter.observe.status import NOT_IN_GIT, Status
from converter.observe.wanted import NOT_RESUMED
from converter.reconcile.slurm.array import Array
from converter.slurm.job import Job
from converter.slurm.job import Phase as JobPhase
from converter.slurm.reasons import why_waits

# Of many volumes that failed the first will do.
SHOWN = 20


_APPLY = "merge, and look whether CI's job that applies it has run; or run `campaigns apply`"


def slurm_causes(
    status: Status,
    arrays: Sequence[Array],
    failed: Sequence[FailedVolume],
    directory: str,
    retried: Sequence[FailedVolume] = (),
) -> tuple[Cause, ...]:
    """All that keeps a campaign from running, or says how it ended; there is one at least.

    `failed` are the volumes of it that failed for good, `retried` those that failed and are tried
    again; `directory` has their logs.
    """
    found = tuple(_causes(status, arrays, failed, directory, retried))
    detail = f": {status.detail}" if status.detail else ""
    return found or (Cause("unknown", f"it is {status.phase}{detail}"),)


def _causes(
    status: Status,
    arrays: Sequence[Array],
    failed: Sequence[FailedVolume],
    directory: str,
    retried: Sequence[FailedVolume],
) -> Iterator[Cause]:
    file = f"campaigns/{status.name}.yaml"
    if status.drift:
        yield Cause("not-as-in-git", status.drift, _remedy(status))
    yield from _missing(status, arrays)
    if status.phase is Phase.MISSING:
        return
    yield from dict.fromkeys(
        Cause("hold", in_force(mark), lifted_by(mark, status.name))
        for array in arrays
        if (mark := array.hold) is not None
    )
    if status.drift != NOT_RESUMED and any(_is_paused(array) for array in arrays):
        more = f"; {status.detail}" if status.detail else ""
        yield Cause(
            "paused-in-git",
            f"git pauses it: suspend: true in {file}{more}",
            f"take suspend out of {file} and apply",
        )
    yield from _run_again(arrays)
    if status.phase.is_end:
        yield from _ends(status, failed, directory)
        return
    yield from _of_unknown_state(arrays)
    if failed:
        yield Cause(
            "volumes-failed",
            f"{status.failed} of its {counted(status.total, 'volume')} failed for good so far",
            f"see INDEX.log of each in {directory}",
            _first(failed),
        )
    if retried:
        are = "is" if len(retried) == 1 else "are"
        yield Cause(
            "volumes-retried",
            f"{len(retried)} of its {counted(status.total, 'volume')} failed and {are} tried "
            "again, each about two minutes after its end",
            f"see INDEX.log of each in {directory}",
            _first(retried),
        )
    yield from _all_waits(job for array in arrays for job in array.pending)
    if status.phase is Phase.RUNNING:
        yield Cause("running", f"it runs: {status.active} task(s)")
    elif status.phase is Phase.WAITING:
        yield from _not_in_slurm(status, arrays)


def _missing(status: Status, arrays: Sequence[Array]) -> Iterator[Cause]:
    """What is in git of it and not in Slurm: all, or some parts."""
    there = sum(array.state.total for array in arrays if array.state is not None)
    if not arrays:
        what = f"campaigns/{status.name}.yaml is in git, and no apply has submitted it"
    elif all(array.state is not None for array in arrays) and there < status.total:
        left = counted(status.total - there, "volume")
        what = f"{left} of it are in parts that no apply has submitted"
    else:
        return
    if status.phase is Phase.MISSING and status.detail:
        # Apply holds it back, and says what to do about that.
        yield Cause("missing", status.detail)
        return
    yield Cause("missing", what, "run `campaigns apply`")


def _remedy(status: Status) -> str:
    """Against a difference from git; what apply holds back says what to do itself."""
    if status.drift == NOT_IN_GIT:
        return "put the file back to keep it"
    return _APPLY if is_put_right(status.drift) else ""


def _is_paused(array: Array) -> bool:
    is_over = array.has_ended or array.has_gone
    return array.state is not None and array.state.paused and not is_over


def _run_again(arrays: Sequence[Array]) -> Iterator[Cause]:
    if numbers := sorted({number for each in arrays if each.runs_again for number in each.numbers}):
        named = " ".join(map(str, numbers))
        yield Cause(
            "runs-again",
            f"it has ended, and somebody has had tasks of it queued again (array {named})",
            f"cancel them with scancel {named}",
        )


def _of_unknown_state(arrays: Sequence[Array]) -> Iterator[Cause]:
    for job in (job for array in arrays for job in array.jobs):
        if job.phase is JobPhase.UNKNOWN:
            yield Cause("unknown", f"{job.label}: {state_unknown(job)}", "see scontrol show job")


def _not_in_slurm(status: Status, arrays: Sequence[Array]) -> Iterator[Cause]:
    if any(not array.numbers and not array.has_ended for array in arrays):
        yield Cause("not-submitted", status.detail, "run `campaigns apply` again")
    elif not any(array.pending for array in arrays):
        yield Cause("ending", status.detail)


def _ends(status: Status, failed: Sequence[FailedVolume], directory: str) -> Iterator[Cause]:
    if status.phase is Phase.FINISHED:
        yield Cause("finished", f"all of its {status.total} volumes are done")
        if status.detail not in ("", AGAIN):
            yield Cause("not-as-in-git", status.detail)
        return
    yield Cause(
        "failed-volumes",
        f"{status.failed} of its {status.total} volumes failed",
        f"see INDEX.log of each in {directory} (exit codes in ../results/INDEX); `campaigns retry "
        f"{status.name}` writes a campaign file of what failed",
        _first(failed),
    )


def _first(volumes: Sequence[FailedVolume]) -> tuple[str, ...]:
    more = (f"and {len(volumes) - SHOWN} more",) if len(volumes) > SHOWN else ()
    return (*map(str, volumes[:SHOWN]), *more)


def _all_waits(jobs: Iterable[Job]) -> Iterator[Cause]:
    """One cause for all that wait for the same: of tasks that begin one after the other the first
    will do."""
    found: dict[tuple[str, str], dict[Cause, None]] = {}
    for job in sorted(jobs, key=lambda each: each.eligible or 0):
        if (cause := _waits(job)) is not None:
            found.setdefault((cause.code, job.reason), {})[cause] = None
    for first, *others in found.values():
        more = (f"and {len(others)} more wait for the like",) if others else ()
        yield replace(first, details=more)


def _waits(job: Job) -> Cause | None:
    """Why one record waits; None where a hold or git's pause has said it already."""
    read = reading_of(job)
    if read.mark is not None:
        return None
    if read.reads is Reads.FAR_START:
        again = "hold it and release it, which has it start"
        return Cause("far-start", read.note, again)
    reason = why_waits(job)
    if job.gated and job.gated_by_owner and not reason.is_final:
        return Cause("gate", "its gate is shut", "run `campaigns apply`, which opens it")
    if reason.is_final:
        return Cause("never", f"{reason.words} (Slurm: {job.reason})", reason.remedy)
    return Cause("waits", read.note or reason.words, reason.remedy)
