"""Limits of slurm.conf: how long arrays may be, how many jobs there may be, and requeueing."""

from collections.abc import Iterator, Mapping
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.doctor.slurm.facts import SlurmFacts
from converter.reconcile.queue_chain import Unknown
from converter.slurm.errors import InvalidTasks
from converter.slurm.job import Phase
from converter.slurm.survey import Survey
from converter.slurm.tasks import tasks_of
from converter.wording import first_few

# How a task ends that has not failed, or has for good: it is not tried again.
_NOT_TRIED_AGAIN: Final = (0, 13)

# Failed for good, and failed as most programs say it.
_OURS: Final = frozenset((1, 13))

_ARRAYS: Final = Check(Group.SLURM, "array-size")
_COUNT: Final = Check(Group.SLURM, "job-count")
_AGE: Final = Check(Group.SLURM, "job-age")
_REQUEUE: Final = Check(Group.SLURM, "requeue")
_ON_NODES: Final = Check(Group.SLURM, "scontrol-on-nodes")
_RAISE: Final = "have MaxJobCount raised in slurm.conf"


def limit_findings(
    slurm: SlurmFacts,
    config: Mapping[str, str],
    found: Survey | Unknown,
    arrays: Mapping[str, int],
    most: int,
    tries_again: Mapping[str, int],
) -> Iterator[Finding]:
    """Everything about limits. `arrays` are how many volumes each has, by name, `most` is
    max_array_size of converter.yaml, and `tries_again` as `on_nodes_finding` has it."""
    yield array_finding(config, arrays, most)
    yield count_finding(slurm.tasks, config, found, arrays)
    yield age_finding(config)
    yield requeue_finding(config, found)
    yield on_nodes_finding(found, tries_again)


def array_finding(config: Mapping[str, str], arrays: Mapping[str, int], most: int) -> Finding:
    """Whether Slurm takes arrays as long as converter.yaml says that it does."""
    allowed, key = array_limit(config)
    if allowed is None:
        return _ARRAYS.unknown("MaxArraySize is not known", "ask who runs Slurm")
    if not allowed:
        return _ARRAYS.fault(f"job arrays are switched off ({key}=0)", f"have {key} raised")
    remedy = f"write slurm.max_array_size: {allowed} in converter.yaml, or have {key} raised"
    long = sorted(name for name, size in arrays.items() if size > allowed)
    if long:
        return _ARRAYS.fault(
            f"{first_few(long)} would be refused: an array has {max(arrays.values())} volumes, and "
            f"{key} lets it have {allowed}",
            remedy,
        )
    if most > allowed:
        return _ARRAYS.warning(
            f"slurm.max_array_size is {most}, and {key} lets an array have {allowed}: a campaign "
            "with more volumes would be refused",
            remedy,
        )
    return _ARRAYS.ok(f"an array may have {allowed} volumes ({key}); campaigns are split at {most}")


def array_limit(config: Mapping[str, str]) -> tuple[int | None, str]:
    """How many tasks an array may have, and which setting says so; None where none is known."""
    size = config.get("MaxArraySize", "")
    limits = [(int(size), "MaxArraySize")] if size.isdecimal() else []
    for word in config.get("SchedulerParameters", "").split(","):
        key, _, value = word.partition("=")
        if key == "max_array_tasks" and value.isdecimal():
            limits.append((int(value), key))
    return min(limits, default=(None, ""))


def count_finding(
    tasks: int | Unknown,
    config: Mapping[str, str],
    found: Survey | Unknown,
    arrays: Mapping[str, int],
) -> Finding:
    """Whether there is room for what is still to be submitted. Each task of an array counts.

    sbatch waits where there is none, and is ended at its time: nothing is refused.
    """
    text = config.get("MaxJobCount", "")
    if not text.isdecimal() or isinstance(tasks, Unknown) or isinstance(found, Unknown):
        return _COUNT.unknown("how many jobs there are and may be is not known", "check again")
    most, room = int(text), max(0, int(text) - tasks)
    longest = max(arrays.values(), default=0)
    if longest > most:
        return _COUNT.fault(
            f"Slurm keeps {most} jobs (MaxJobCount), each task counted, and an array has {longest}",
            _RAISE,
        )
    known = found.states.keys() | found.jobs.keys()
    new = sum(size for name, size in arrays.items() if name not in known)
    some = "some of the jobs" if config.get("PrivateData", "none") != "none" else "jobs"
    stands = f"Slurm keeps {most} {some} (MaxJobCount), each task counted, and has {tasks}"
    if new > room:
        return _COUNT.warning(
            f"{stands}; {new} are to be submitted, paused ones too, and would wait for room",
            f"{_RAISE}, or merge fewer campaigns at once and apply again as others end",
        )
    return _COUNT.ok(f"{stands}; {new} are to be submitted")


def age_finding(config: Mapping[str, str]) -> Finding:
    """How long Slurm remembers what has ended. How campaigns ended is kept beside them."""
    age = config.get("MinJobAge", "").split(" ")[0]
    return _AGE.ok(
        f"Slurm forgets a job {age or '?'} s after its end; how campaigns ended is kept beside "
        "their results"
    )


def requeue_finding(config: Mapping[str, str], found: Survey | Unknown) -> Finding:
    """Whether tasks may be queued again, which tries and the loss of a node need."""
    for key, what in (("RequeueExit", "again and again"), ("RequeueExitHold", "to a shut gate")):
        codes = config.get(key, "(null)")
        if codes not in ("(null)", ""):
            judged = _REQUEUE.fault if _are_common(codes) else _REQUEUE.warning
            return judged(
                f"Slurm itself sends tasks that end with {codes} back to the queue ({key}), "
                f"{what}: a campaign with such a task never ends",
                f"have {key} taken out of slurm.conf, or let no command end with these codes",
            )
    jobs = () if isinstance(found, Unknown) else [j for each in found.jobs.values() for j in each]
    fixed = [job.label for job in jobs if not job.may_requeue and job.phase is not Phase.ENDED]
    if fixed:
        return _REQUEUE.fault(
            f"Slurm does not queue again: {first_few(fixed)}, so that their volumes have one try",
            "scontrol update JobId=... Requeue=1, and see which job_submit plugin takes it away",
        )
    own = " (JobRequeue is 0, which campaigns override)" if config.get("JobRequeue") == "0" else ""
    return _REQUEUE.ok(f"tasks are submitted so that they may be queued again{own}")


def _are_common(codes: str) -> bool:
    """Whether tasks of campaigns end with one of these exit codes, whatever their commands do."""
    try:
        return not _OURS.isdisjoint(tasks_of(codes).ids)
    except InvalidTasks:
        return True


def _waits_again(found: Survey | Unknown) -> bool:
    """Whether a task that failed is back in the queue."""
    return not isinstance(found, Unknown) and any(
        job.restarts > 0 and job.array_task_id in found.failures.get(name, {})
        for name, jobs in found.jobs.items()
        for job in jobs
    )


def on_nodes_finding(found: Survey | Unknown, tries_again: Mapping[str, int]) -> Finding:
    """Whether tasks can run scontrol on their nodes, by which they have themselves queued again.

    What was tried again is proof of it, and what was given up before its tries were used up is
    proof of the contrary. `tries_again` is how many tries more there are, by the name of the array.
    """
    results = (
        {}
        if isinstance(found, Unknown)
        else {
            (name, index): result
            for name, of_array in found.results.items()
            for index, result in of_array.items()
        }
    )
    given_up = [
        f"{name} index {index}"
        for (name, index), result in sorted(results.items())
        if result.code not in _NOT_TRIED_AGAIN and result.attempt <= tries_again.get(name, 0)
    ]
    if given_up:
        return _ON_NODES.fault(
            f"a task could not have itself queued again, and its volume was given up with tries "
            f"left: {first_few(given_up)}",
            "see the end of its log for what scontrol said; put Slurm's tools on the PATH of a "
            "login on the nodes, and let its user requeue",
        )
    if _waits_again(found) or any(result.attempt > 1 for result in results.values()):
        return _ON_NODES.ok("tasks reach Slurm from their nodes: some were tried again")
    return _ON_NODES.unknown(
        "whether tasks find scontrol on their nodes is not known: none was tried again yet",
        "have a node look: `sbatch --export=NONE --output=FILE --wrap='command -v scontrol'`",
    )
