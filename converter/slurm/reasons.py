"""Why a job waits, in words, and who can change it: the reasons that squeue gives.

The words are those of ``squeue``'s manual, JOB REASON CODES.
"""

from typing import Final, NamedTuple

from converter.slurm.job import Job
from converter.wording import said


class Reason(NamedTuple):
    """A reason in words, and what to do about it; the remedy is empty where waiting is all.

    `is_final` where waiting brings nothing: it asks for what it never gets.
    """

    words: str
    remedy: str = ""
    is_final: bool = False


def _never(why: str, correction: str) -> Reason:
    """Of what asks for what it never gets: an array keeps what it was submitted with."""
    return Reason(
        f"{why}, so it never starts",
        f"remove the campaign with --prune, then {correction}, and write a new file",
        is_final=True,
    )


_ADMIN: Final = "who runs Slurm has to change that"
_SIZE: Final = "correct the size or its flavor in converter.yaml"
_LIMIT: Final = Reason(
    "a limit of its account, user or QOS is reached", "wait, or have the limit raised"
)
_KNOWN: Final = {
    "None": Reason("Slurm has not come to look at it yet"),
    "Priority": Reason("jobs of a higher priority are ahead of it in the queue"),
    "Resources": Reason("it is next, and waits for nodes with enough free CPUs, memory or GPUs"),
    "JobArrayTaskLimit": Reason("as many of its volumes run as its window lets"),
    "BeginTime": Reason("its time has not come: a task that is tried again waits two minutes"),
    "Dependency": Reason("it waits for another job", "see scontrol show job"),
    "DependencyNeverSatisfied": Reason(
        "it waits for a job that did not end as it should, so it never starts",
        "remove the campaign and write a new file",
        is_final=True,
    ),
    "JobHeldUser": Reason("its gate is shut"),
    "JobHeldAdmin": Reason(
        "an operator of Slurm holds it with scontrol hold", "ask for scontrol release"
    ),
    "PartitionDown": Reason("its partition is down", _ADMIN),
    "PartitionInactive": Reason("its partition is inactive", _ADMIN),
    "PartitionNodeLimit": _never("it asks for more nodes than its partition allows", _SIZE),
    "PartitionConfig": _never("no node of its partition has as much as its size asks for", _SIZE),
    "PartitionTimeLimit": _never(
        "its max_seconds is more than its partition allows",
        "write a smaller max_seconds, or another partition in converter.yaml",
    ),
    "BadConstraints": _never("no node has what its size and flavor ask for together", _SIZE),
    "ReqNodeNotAvail": Reason("the nodes that it could run on are down or reserved", _ADMIN),
    "NodeDown": Reason("a node that it needs is down", _ADMIN),
    "Reservation": Reason("it waits for its reservation"),
    "Licenses": Reason("it waits for a license"),
    "InvalidAccount": _never("its account is not valid", "correct slurm.account in converter.yaml"),
    "AccountNotAllowed": _never(
        "its partition does not take its account",
        "correct slurm.account or the partition in converter.yaml",
    ),
    "InvalidQOS": _never("its QOS is not valid", "correct slurm.priorities in converter.yaml"),
    "QOSNotAllowed": _never(
        "its account or partition does not take its QOS",
        "correct slurm.priorities in converter.yaml",
    ),
}


def why_waits(job: Job) -> Reason:
    """The reason of a pending job, in Slurm's own words where it says more than one word of it.

    Of one that waits for nodes it says so where they are down or drained.
    """
    known = reason_of(job.reason)
    if not job.description or known.is_final:
        return known
    return Reason(f"Slurm says: {said(job.description)}", "see sinfo --list-reasons")


def reason_of(word: str) -> Reason:
    """The words for what squeue says; of what is not known, its own."""
    if known := _KNOWN.get(word):
        return known
    if word.startswith(("QOS", "Assoc", "MaxJobs")):
        return Reason(f"{_LIMIT.words} ({word})", _LIMIT.remedy)
    if word.startswith("ReqNodeNotAvail"):
        return _KNOWN["ReqNodeNotAvail"]
    return Reason(f"Slurm says {word}")
