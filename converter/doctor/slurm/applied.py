"""What applies have left on the host: who applies, what is kept, and of which commit."""

from collections.abc import Callable, Iterator
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.doctor.lease import commit_finding
from converter.doctor.repository import Clone
from converter.doctor.slurm.facts import FileFacts
from converter.git import Order
from converter.names import APPLIED_COMMITS_ANNOTATION
from converter.reconcile.queue_chain import Missing, Read, Unknown
from converter.slurm.host import LOCKED
from converter.slurm.layout import repository_key
from converter.slurm.state import Step
from converter.slurm.survey import Survey
from converter.wording import first_few, said

_LOCK: Final = Check(Group.APPLY, "lock")
_STATE: Final = Check(Group.APPLY, "state")
_SUBMISSIONS: Final = Check(Group.APPLY, "submissions")


def applied_findings(
    files: FileFacts | Unknown,
    found: Survey | Unknown,
    clone: Clone,
    directory: str,
    order: Callable[[str], Order],
) -> Iterator[Finding]:
    """Everything about applies; `order` is how the clone's commit stands to another one."""
    applies = isinstance(files, FileFacts) and files.applying.code == LOCKED
    yield lock_finding(files)
    yield state_finding(found, f"{directory}/state/{repository_key(clone.name)}")
    yield submissions_finding(found, applies=applies)
    yield commit_finding(_commits(files), clone.name, clone.commit, order, "on this Slurm")


def lock_finding(files: FileFacts | Unknown) -> Finding:
    """Whether an apply runs."""
    if isinstance(files, Unknown):
        return _LOCK.unknown(files.why, "see what is said of the shared directory")
    if files.applying.code == LOCKED:
        return _LOCK.ok(f"an apply is running: {said(files.holder) or 'unknown'}")
    if files.applying.code:
        return _LOCK.unknown(
            f"whether an apply runs could not be told: {files.applying.said}",
            "see what is said of locks and of rights",
        )
    last = f"; the last one was {said(files.holder)}" if files.holder else ""
    return _LOCK.ok(f"no apply is running{last}")


def state_finding(found: Survey | Unknown, directory: str) -> Finding:
    """Whether what is kept of campaigns can be read."""
    if isinstance(found, Unknown):
        return _STATE.unknown(
            f"what is kept of campaigns: {found.why}", "see what is said of Slurm"
        )
    if found.unreadable:
        return _STATE.fault(
            f"{first_few(found.unreadable)} in {directory} cannot be read: campaigns of which "
            "nothing else is kept are held back, since they may have run already",
            "repair what cannot be read, or delete it where its campaign has not run",
        )
    return _STATE.ok(f"what is kept of {len(found.states)} arrays can be read")


def submissions_finding(found: Survey | Unknown, *, applies: bool) -> Finding:
    """Whether an apply ended between two steps, or submitted something twice."""
    if isinstance(found, Unknown):
        return _SUBMISSIONS.unknown(f"what was submitted: {found.why}", "see what is said of Slurm")
    numbers = {
        name: {job.array_job_id or job.job_id for job in jobs if job.state != "CANCELLED"}
        for name, jobs in found.jobs.items()
    }
    if twice := sorted(name for name, known in numbers.items() if len(known) > 1):
        return _SUBMISSIONS.fault(
            f"Slurm has more than one array of {first_few(twice)}",
            "cancel all but one of each with scancel, and apply again",
        )
    half = [
        state.name
        for state in found.states.values()
        if state.step in (Step.SUBMITTING, Step.SUBMITTED) and not state.paused
    ]
    if half and not applies:
        return _SUBMISSIONS.warning(
            f"an apply ended before it let these run: {first_few(sorted(half))}",
            "apply again: an apply finishes what another one began",
        )
    return _SUBMISSIONS.ok("no submission was left half-way")


def _commits(files: FileFacts | Unknown) -> Read:
    """As the Lease of a Kubernetes cluster has it, which the rules of both read."""
    if isinstance(files, Unknown):
        return files
    if not files.applied:
        return Missing()
    return {"metadata": {"annotations": {APPLIED_COMMITS_ANNOTATION: files.applied}}}
