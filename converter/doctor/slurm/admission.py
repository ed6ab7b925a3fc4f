"""What the controller says to a submission that is only tried (``sbatch --test-only``)."""

from collections.abc import Iterator, Sequence
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.doctor.slurm.asks import Ask
from converter.doctor.slurm.facts import Ended

_SUBMISSION: Final = Check(Group.ADMISSION, "submission")
# What sbatch says, and what to change; tried on 22.05, and else only told.
_REMEDIES: Final = (
    ("account", "correct slurm.account in converter.yaml, or have this user added to it"),
    ("partition", "correct the partition in converter.yaml, or have it let this user in"),
    ("qos", "correct slurm.priorities in converter.yaml, or have this user given the QOS"),
    ("feature", "correct the constraint in slurm.flavors in converter.yaml"),
    ("gres", "set gpu: 0 in the size, or name a flavor whose nodes have GPUs"),
    ("time limit", "write a smaller max_seconds, or name another partition"),
    ("temporarily unavailable", "see what is said of job-count"),
)
_NO_NODES: Final = "node configuration is not available"
_SUBJECT: Final = ("sbatch: error: ", "allocation failure: ")


def submission_findings(asks: Sequence[Ask], trials: Sequence[Ended]) -> Iterator[Finding]:
    """One for each kind of task that there is; plugins of the controller have been asked too."""
    for ask, trial in zip(asks, trials, strict=False):
        yield submission_finding(ask, trial)
    for ask in asks[len(trials) :]:
        yield _SUBMISSION.unknown(f"{ask.whose} was not tried", "check again")


def submission_finding(ask: Ask, trial: Ended) -> Finding:
    """Whether Slurm would take such a task."""
    if not trial.code:
        return _SUBMISSION.ok(f"Slurm would take {ask.whose} ({ask.amount})")
    why = trial.said or f"exit code {trial.code}"
    for subject in _SUBJECT:
        why = why.removeprefix(subject)
    if "contact slurm controller" in why or trial.code in (124, 137):
        return _SUBMISSION.unknown(f"{ask.whose} was not tried: {why}", "check again")
    if _NO_NODES in why:
        # Of nodes that are down too, for which a real submission would wait.
        return _SUBMISSION.fault(
            f"Slurm has no nodes for {ask.whose}: {why}", "see what is said of its size"
        )
    remedy = next((text for word, text in _REMEDIES if word in why.lower()), "ask who runs Slurm")
    return _SUBMISSION.fault(f"Slurm would refuse {ask.whose}: {why}", remedy)
