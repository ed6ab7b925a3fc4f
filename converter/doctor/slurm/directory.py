"""The shared directory: there, with locks that work and room, and seen by the nodes."""

import re
from collections.abc import Iterator
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.doctor.slurm.facts import FileFacts
from converter.reconcile.queue_chain import Unknown
from converter.reconcile.slurm.array import COMES_BACK_SECONDS
from converter.slurm.host import LOCKED
from converter.slurm.job import Job
from converter.slurm.state import Step
from converter.slurm.survey import Survey
from converter.wording import first_few

LEAST_KIB: Final = 2**20
LEAST_INODES: Final = 10_000

_DIRECTORY: Final = Check(Group.DIRECTORY, "directory")
_LOCKS: Final = Check(Group.DIRECTORY, "locks")
_SPACE: Final = Check(Group.DIRECTORY, "space")
_SHARED: Final = Check(Group.DIRECTORY, "shared")
# Options of a mount with which a lock is one of this machine alone.
_LOCAL_LOCKS: Final = re.compile(r"[ ,](localflock|nolock|local_lock=(?:all|flock))(?:,|$)")


def directory_findings(
    directory: str, files: FileFacts | Unknown, found: Survey | Unknown, *, applies: bool
) -> Iterator[Finding]:
    """Everything about it; `applies`: also what only an apply needs."""
    yield directory_finding(directory, files)
    # Of another file system, as below a mount point where nothing is mounted, nothing is said.
    if isinstance(files, Unknown) or files.kind != "there":
        return
    yield locks_finding(directory, files)
    if applies:
        yield space_finding(directory, files)
        yield shared_finding(directory, found)


def directory_finding(directory: str, files: FileFacts | Unknown) -> Finding:
    """Whether there is such a directory."""
    if isinstance(files, Unknown):
        return _DIRECTORY.unknown(files.why, f"see whether `ls {directory}` answers there")
    if files.kind == "other":
        return _DIRECTORY.fault(
            f"{directory} is no directory", "correct slurm.directory in converter.yaml"
        )
    if files.kind == "absent":
        return _DIRECTORY.fault(
            f"{directory} is not there (there is {files.nearest}), and apply does not make it",
            "mount its file system, make it once where all nodes see it (mkdir -p), or correct "
            "slurm.directory",
        )
    return _DIRECTORY.ok(f"{directory} is there")


def locks_finding(directory: str, files: FileFacts) -> Finding:
    """Whether a lock keeps others out, which two applies and two holds rely on."""
    kind = files.mount.split(" ")[0]
    if files.lock.code == LOCKED and files.applying.code == LOCKED:
        return _LOCKS.ok("locks work there: an apply has one, and others wait")
    if files.lock.code == LOCKED:
        return _LOCKS.warning(
            f"a call has the lock {directory}/lock, and did not give it back while this waited",
            "see whether a Slurm tool hangs there: `fuser` names who has the file",
        )
    if files.lock.code:
        return _LOCKS.fault(
            f"a lock could not be taken below {files.nearest}{f' ({kind})' if kind else ''}: "
            f"{files.lock.said or f'exit code {files.lock.code}'}",
            "mount the file system with locks (flock for Lustre), or name another slurm.directory",
        )
    if local := _LOCAL_LOCKS.search(files.mount):
        return _LOCKS.warning(
            f"the file system ({kind}) is mounted with {local[1]}, so that a lock counts on this "
            "host alone",
            "have locks shared, or let everybody name this one host as slurm.host, and no alias "
            "of several",
        )
    return _LOCKS.ok(f"locks work there{f' ({kind})' if kind else ''}")


def space_finding(directory: str, files: FileFacts) -> Finding:
    """Results that cannot be written are work that is done again."""
    if files.free_kib is None:
        return _SPACE.unknown("how much is free could not be read", "ask who runs the file system")
    free = f"{files.free_kib / 2**20:.1f} GiB"
    inodes = files.free_inodes
    few = inodes is not None and inodes < LEAST_INODES
    if files.free_kib < LEAST_KIB or few:
        return _SPACE.warning(
            f"{free}{f' and {inodes} files' if few else ''} are free: tasks that cannot write how "
            "they ended run again",
            f"make room, for example of what was cancelled ({directory}/cancelled)",
        )
    return _SPACE.ok(f"{free} are free")


def shared_finding(directory: str, found: Survey | Unknown) -> Finding:
    """Whether the nodes see it, of which only what tasks have written there is proof."""
    look = f"have nodes look: `srun --ntasks=1 ls -d {directory}`"
    if isinstance(found, Unknown):
        return _SHARED.unknown(f"whether the nodes see it is not known: {found.why}", look)
    if wordless := [job.label for job in _wordless(found)]:
        return _SHARED.warning(
            f"tasks have failed without writing down how: {first_few(wordless)}; their nodes may "
            "not see it, or not let them write",
            look,
        )
    records = (each.record for each in found.states.values() if each.step is Step.ENDED)
    if any(found.results.values()) or any(record.done for record in records if record):
        return _SHARED.ok("nodes see it: tasks have written their results there")
    return _SHARED.unknown(
        "whether the nodes see it is not known: no task of this repository has written there yet",
        look,
    )


def _wordless(found: Survey) -> Iterator[Job]:
    """Tasks that have failed for a while, so that they do not come back, and have no result."""
    for name, jobs in found.jobs.items():
        known = found.results.get(name, {})
        state = found.states.get(name)
        for job in jobs:
            since = found.host_epoch - (job.end or found.host_epoch)
            if job.state != "FAILED" or since < COMES_BACK_SECONDS:
                continue
            if job.array_task_id not in known and (state is None or state.step is not Step.ENDED):
                yield job
