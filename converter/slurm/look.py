"""What Slurm knows, as one look tells: its jobs, the lines that a write is bound to, the clock."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final

from converter.slurm.errors import SlurmUnavailable, SlurmUnreadable
from converter.slurm.host import Host
from converter.slurm.job import Job
from converter.slurm.squeue import parse_jobs

_SQUEUE: Final = "==squeue=="
_RECORD: Final = re.compile(r"JobId=([0-9]+) ")


@dataclass(frozen=True, slots=True)
class Look:
    """`lines` are those of the job that was asked for, by the number of the record.

    `host_epoch` is the host's clock at some moment of the look, in whole seconds, and `seen` is the
    end of the look by the clock of the caller.
    """

    jobs: tuple[Job, ...]
    lines: Mapping[int, str]
    host_epoch: int
    seen: float

    def on_host(self, at: float) -> int:
        """A moment of the caller's clock as an epoch of the host's, at most that late.

        The two clocks need not agree: what counts is how long after the look it is.
        """
        return self.host_epoch + int(at - self.seen)


def look_at(host: Host, job_id: int | None, seconds: float, clock: Callable[[], float]) -> Look:
    """All jobs that Slurm knows, with the lines of one. Raises SlurmUnavailable and -Unreadable."""
    answer = host.run("show.sh", str(job_id or ""), seconds=seconds)
    seen = clock()
    head, found, listed = answer.out.partition(f"{_SQUEUE}\n")
    first, _, lines = head.partition("\n")
    if not found or not first.isascii() or not first.isdigit():
        raise SlurmUnavailable(f"{host} did not run the look: {answer.reason}")
    try:
        jobs = tuple(parse_jobs(listed))
    except SlurmUnreadable:
        if answer.code:
            raise SlurmUnavailable(f"squeue failed on {host}: {answer.reason}") from None
        raise
    by_record = {
        int(match[1]): line for line in lines.splitlines() if (match := _RECORD.match(line))
    }
    return Look(jobs, by_record, int(first), seen)
