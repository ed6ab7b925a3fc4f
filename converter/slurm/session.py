"""One apply at a time: a lock on the Slurm host, and commands that count only while it is held.

The lock is held by a process there that ends with this one, or with the connection to it. A command
that arrives after another apply has begun is refused by the number of the apply.
"""

import os
import select
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass

from converter.errors import LeaseHeld, LeaseLost
from converter.slurm.errors import SlurmRefused, SlurmUnavailable
from converter.slurm.host import EXPIRED, FENCED, LOCKED, SSH_FAILED, TIMED_OUT, Answer, Host

# What the way to the host and back may take beyond the deadline of a command.
_WAY_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Session:
    """The lock of one apply. `seconds` are for each command, `offset` is the host's clock less
    that of the caller: each command has a deadline by the host's clock.
    """

    host: Host
    directory: str
    epoch: str
    seconds: float
    offset: float
    alive: Callable[[], bool]
    clock: Callable[[], float] = time.monotonic

    @property
    def now(self) -> int:
        """The host's clock."""
        return int(self.clock() + self.offset)

    def check(self) -> None:
        """Raise LeaseLost where the lock is not held any more."""
        if not self.alive():
            raise LeaseLost(
                f"the lock on {self.host} is lost, so nothing more is sent: apply again"
            )

    def run(self, *command: str) -> str:
        """Run a command, and give what it prints. Raises as `script`."""
        return self.script("fenced.sh", *command)

    def script(self, script: str, *arguments: str, data: bytes = b"") -> str:
        """Run a script that takes a deadline, the directory and the number of the apply first.

        Raises LeaseLost, SlurmRefused where Slurm or the host would not do it, and
        SlurmUnavailable where what came of it is not known.
        """
        self.check()
        deadline = int(self.clock() + self.offset + self.seconds)
        answer = self.host.run(
            script,
            str(deadline),
            self.directory,
            self.epoch,
            *arguments,
            seconds=self.seconds + _WAY_SECONDS,
            data=data,
        )
        if answer.code == FENCED:
            raise LeaseLost(f"{answer.reason} on {self.host}: apply again")
        if answer.code == EXPIRED:
            raise SlurmRefused(f"{answer.reason} before {self.host} came to it")
        if answer.code in TIMED_OUT:
            raise SlurmUnavailable(f"{self.host} gave no answer in {self.seconds:.0f} s")
        if answer.code:
            raise SlurmRefused(answer.reason, answer.err)
        return answer.out


@contextmanager
def locked(host: Host, directory: str, who: str, *, seconds: float) -> Iterator[Session]:
    """Hold the lock for a block. Raises LeaseHeld where another apply has it, SlurmUnavailable."""
    process = subprocess.Popen(  # noqa: S603 - fixed programs, words as they are
        host.command("lock.sh", directory, who, seconds=seconds),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    try:
        now, epoch = _greeting(process, host, seconds)
        offset = int(now) - time.monotonic()
        yield Session(host, directory, epoch, seconds, offset, lambda: process.poll() is None)
    finally:
        with suppress(OSError):
            if process.stdin is not None:
                process.stdin.close()
        try:
            process.wait(timeout=seconds)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()


def _greeting(process: "subprocess.Popen[bytes]", host: Host, seconds: float) -> tuple[str, str]:
    """The clock of the host and the number of the apply, which come when the lock is taken."""
    said = b""
    until = time.monotonic() + seconds
    stream = process.stdout
    while stream is not None and said.count(b"\n") < 2:
        rest = until - time.monotonic()
        if rest <= 0 or not select.select((stream,), (), (), rest)[0]:
            process.kill()
            raise SlurmUnavailable(f"{host} gave no answer in {seconds:.0f} s")
        read = os.read(stream.fileno(), 4096)
        if not read:
            raise _no_lock(process, host)
        said += read
    lines = said.decode("ascii", "replace").split("\n")
    return lines[0], lines[1]


def _no_lock(process: "subprocess.Popen[bytes]", host: Host) -> Exception:
    complaint = process.stderr.read() if process.stderr is not None else b""
    answer = Answer(process.wait(), "", complaint.decode("utf-8", "replace"))
    if host.name and answer.code == SSH_FAILED:
        return SlurmUnavailable(f"{host} could not be reached: {answer.reason}")
    if answer.code == LOCKED:
        return LeaseHeld(
            f"another apply has the lock on {host}: {answer.reason}; nothing was sent: apply "
            "again when it has ended"
        )
    return SlurmUnavailable(f"{host}: {answer.reason}")
