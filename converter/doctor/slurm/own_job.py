"""A job of doctor's own on the Slurm host: behind its gate for a block, and cancelled after it."""

import os
import re
import select
import subprocess
import time
from contextlib import suppress
from types import TracebackType
from typing import Final, Self

from converter.model import SlurmSettings
from converter.slurm.comment import Comment, written
from converter.slurm.errors import SlurmUnavailable
from converter.slurm.host import SSH_FAILED, Host
from converter.wording import said

NAME: Final = "campaigns-doctor-hold"
# No repository has this for its key, and it is the job of no campaign.
COMMENT: Final = Comment(repository="campaigns-doctor")

_NUMBER: Final = re.compile(r"^([0-9]+)(?:;.*)?$", re.MULTILINE)
_FAILED: Final = re.compile(r"^failed$", re.MULTILINE)
_SUBMITTED: Final = "==submitted==\n"
_END: Final = re.compile(r"^==end==$", re.MULTILINE)
# The least that there is; it never runs.
_WORDS: Final = (
    *("--nodes=1", "--ntasks=1", "--cpus-per-task=1", "--mem=1M", "--time=1", "--no-requeue"),
    *("--export=NONE", "--chdir=/", "--output=/dev/null"),
)


class NotSubmitted(SlurmUnavailable):
    """There is no job of doctor's own."""


class OwnJob:
    """The job, as a context. Its process on the host ends with this one or with the connection to
    it, and cancels the job then.

    `number` is the job's, 0 before it is known. `left` says after the block why the job may still
    be there; it is empty where it was cancelled, or never came to be.
    """

    def __init__(self, host: Host, settings: SlurmSettings) -> None:
        self.number = 0
        self.left = ""
        self._host = host
        self._settings = settings
        self._seconds = float(settings.command_timeout)
        self._out = ""

    def __enter__(self) -> Self:
        """Submit it. Raises NotSubmitted, and SlurmUnavailable."""
        self._process = subprocess.Popen(  # noqa: S603 - fixed programs, words as they are
            self._command(),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            # Ctrl-C is for this process, and ends that one by way of its standard input.
            start_new_session=True,
        )
        try:
            self._submit()
        except BaseException:
            self._end()
            raise
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Cancel it."""
        self._end()

    def _command(self) -> tuple[str, ...]:
        settings = self._settings
        named = (settings.partition, *(each.partition for each in settings.flavors.values()))
        where = {"partition": next(filter(None, named), ""), "account": settings.account}
        return (
            *self._host.command(
                "doctor-hold.sh",
                *(settings.directory, f"{self._seconds:.0f}", NAME, written(COMMENT)),
                *_WORDS,
                *(f"--{name}={value}" for name, value in where.items() if value),
                seconds=self._seconds,
            ),
        )

    def _submit(self) -> None:
        # The lock, what was left behind, and the submission each have as long as one command.
        until = time.monotonic() + 4 * self._seconds
        while not (_FAILED.search(self._said) or _NUMBER.search(self._said)):
            if not self._read(until):
                break
        number = _NUMBER.search(self._said)
        if number is not None:
            self.number = int(number[1])
            return
        lines = [line for line in self._out.splitlines() if line.strip() not in ("", "failed")]
        why = said(lines[-1]) if lines and not lines[-1].startswith("==") else "no word"
        if _FAILED.search(self._said):
            raise NotSubmitted(why)
        code = self._process.poll()
        if self._host.name and code == SSH_FAILED:
            raise SlurmUnavailable(f"{self._host} could not be reached: {why}")
        if code is None:
            raise SlurmUnavailable(f"{self._host} gave no answer")
        raise NotSubmitted(why)

    @property
    def _said(self) -> str:
        """The whole lines that came since the submission began."""
        return self._out.partition(_SUBMITTED)[2].rpartition("\n")[0]

    def _read(self, until: float) -> bool:
        """Wait for more of what it prints; false where there is no more, or not in time."""
        stream = self._process.stdout
        rest = until - time.monotonic()
        if stream is None or rest <= 0 or not select.select((stream,), (), (), rest)[0]:
            return False
        more = os.read(stream.fileno(), 4096)
        self._out += more.decode("utf-8", "replace")
        if not more:
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(timeout=self._seconds)
        return bool(more)

    def _end(self) -> None:
        if self._process.stdin is not None:
            with suppress(OSError):
                self._process.stdin.close()
        until = time.monotonic() + 3 * self._seconds
        while not _END.search(self._out) and self._read(until):
            pass
        if self._process.stdout is not None:
            self._process.stdout.close()
        # It is not killed: what it has still to do is to cancel the job.
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=self._seconds)
        if self.number and not re.search(rf"^cancelled {self.number}$", self._out, re.MULTILINE):
            last = self._out.partition("==cancelled==")[2].replace("==end==", "")
            self.left = said(last, 120) or f"{self._host} gave no answer"
