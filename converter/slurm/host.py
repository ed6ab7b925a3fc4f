"""Runs Slurm's tools where they are: on this machine, or by ssh on another.

What is run is one of the scripts beside this module, for a POSIX shell. Their arguments are
arguments, never text of a script.
"""

import shlex
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Final

from converter.slurm.errors import LoginRefused, SlurmUnavailable

# What ssh itself ends with where it could not run anything.
SSH_FAILED: Final = 255
# Of the scripts.
NO_DIRECTORY: Final = 73
LOCKED: Final = 74
EXPIRED: Final = 75
CHANGED: Final = 76
FENCED: Final = 77
# Of `timeout`, for what it ended.
TIMED_OUT: Final = (124, 137)

# What ssh complains of where trying again brings nothing by itself.
_NO_LOGIN: Final = (
    "Permission denied (",
    "Too many authentication failures",
    "Host key verification failed",
)

_SSH: Final = ("ssh", "-o", "BatchMode=yes", "-o", "ServerAliveInterval=5")


@dataclass(frozen=True, slots=True)
class Answer:
    """How a script ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def reason(self) -> str:
        """The last line of what it complained of, in which Slurm's tools say why."""
        lines = [line.strip() for line in self.err.splitlines() if line.strip()]
        return lines[-1] if lines else f"exit code {self.code} and no word"


@dataclass(frozen=True, slots=True)
class Host:
    """A machine with Slurm's tools: `name` is a Host for ssh, empty for this machine."""

    name: str = ""

    def run(self, script: str, *arguments: str, seconds: float, data: bytes = b"") -> Answer:
        """Run a script by its name, with `data` as its standard input.

        Raises SlurmUnavailable where it did not run to its end, and LoginRefused where ssh got no
        login.
        """
        try:
            done = subprocess.run(  # noqa: S603 - fixed programs, words as they are
                self.command(script, *arguments, seconds=seconds),
                input=data,
                capture_output=True,
                timeout=seconds,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise SlurmUnavailable(f"{self} gave no answer in {seconds:.0f} s") from None
        except OSError as error:
            raise SlurmUnavailable(f"{self} could not be asked: {error}") from error
        answer = Answer(done.returncode, _decoded(done.stdout), _decoded(done.stderr))
        if self.name and done.returncode == SSH_FAILED:
            refused = any(each in answer.err for each in _NO_LOGIN)
            kind = LoginRefused if refused else SlurmUnavailable
            raise kind(f"{self} could not be reached: {answer.reason}")
        return answer

    def __str__(self) -> str:
        return f"the Slurm host {self.name}" if self.name else "this machine's Slurm"

    def command(self, script: str, *arguments: str, seconds: float) -> Sequence[str]:
        """The words that run a script there; `seconds` are for the connection."""
        command = ("sh", "-c", _text_of(script), script, *arguments)
        if not self.name:
            return command
        # ssh joins its words with blanks, for the login shell there to take apart again.
        wait = f"ConnectTimeout={max(1, int(seconds))}"
        return (*_SSH, "-o", wait, "--", self.name, shlex.join(command))


@cache
def _text_of(script: str) -> str:
    directory = files("converter.slurm") / "scripts"
    return "".join((directory / each).read_text("utf-8") for each in ("common.sh", script))


def _decoded(output: bytes) -> str:
    return output.decode("utf-8", "replace")
