"""A task of a job array: task.sh on rendered files, with a scontrol that notes its calls."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from unit.render.shells import Ran
from unit.render.slurm_samples import of_nodes

from converter.model import SourceKind, Volume
from converter.render.slurm import render_slurm
from converter.slurm.layout import WRITTEN

# Notes what it is asked, and answers as `answers` says: a line `VERB EXIT TEXT` for each verb.
SCONTROL = """#!/bin/sh
echo "$*" >>"$FAKE/calls"
if [ "$1" = --oneliner ]; then shift; fi
if [ "$*" = "show config" ]; then shift; fi
while read -r verb code text; do
  if [ "$verb" = "$1" ]; then
    printf '%s' "$text"
    exit "$code"
  fi
done <"$FAKE/answers"
exit 1
"""
SHOWN = "JobId=77 ArrayJobId=70 JobState={} Reason={} Dependency=(null) Requeue=1 Restarts={} X=1"
RUNNING = SHOWN.format("RUNNING", "None", 0)
TIMED_OUT = SHOWN.format("COMPLETING", "TimeLimit", 0)
CANCELLED = SHOWN.format("COMPLETING", "None", 0)
RUNS_ELSEWHERE = SHOWN.format("RUNNING", "None", 1)
TAKEN = {
    "requeue": (0, ""),
    "requeuehold": (0, ""),
    "show": (0, RUNNING),
    "config": (0, "KillWait                = 30 sec"),
}
TOLD = b"campaigns: "
LINE = re.compile(r"(\d+) (\d+) \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ\n")
REQUEUE = "requeue 70_0"
HOLD = "requeuehold 70_0"
STATE = "--oneliner show job 70_0"
CONFIG = "show config"


@dataclass
class Task:
    """A task of a job array, and where it runs."""

    shell: tuple[str, ...]
    root: Path

    @property
    def home(self) -> Path:
        return self.root / "shared/letters"

    def prepare(
        self,
        *command: str,
        volumes: Sequence[Volume] = (Volume("A1", SourceKind.REFERENCE),),
        env: dict[str, str] | None = None,
        limit: int = 2,
    ) -> Task:
        fake = self.root / "fake"
        self.home.mkdir(parents=True)
        for path in (fake, self.root / "tmp", *(self.home / name for name in WRITTEN)):
            path.mkdir()
        self.fake("scontrol", SCONTROL)
        self.while_it_waits("true")
        self.answers()
        repo = of_nodes(command, volumes, env or {}, backoff_limit_per_index=limit)
        for name, content in render_slurm(repo)[0].files.items():
            (self.home / name).write_bytes(content.encode())
        # Slurm keeps the script of a job, and hands it to the nodes.
        shutil.copy(self.home / "task.sh", self.root / "spool")
        return self

    def fake(self, name: str, text: str) -> None:
        path = self.root / "fake" / name
        path.write_text(text)
        path.chmod(0o755)

    def while_it_waits(self, text: str) -> None:
        """What happens at each pause of the script, which takes no time; $1 is how long it is."""
        self.fake("sleep", f'#!/bin/sh\necho "$1" >>"$FAKE/pauses"\n{text}\n')

    @property
    def pauses(self) -> list[int]:
        return [int(line) for line in (self.root / "fake/pauses").read_text().split()]

    def answers(self, **changes: tuple[int, str]) -> None:
        lines = [f"{verb} {code} {said}\n" for verb, (code, said) in {**TAKEN, **changes}.items()]
        (self.root / "fake/answers").write_text("".join(lines))

    def start(self, index: int = 0, **variables: str) -> subprocess.Popen[bytes]:
        fake = self.root / "fake"
        return subprocess.Popen(
            [*self.shell, str(self.root / "spool"), str(self.home)],
            # Where Slurm starts a task whose directory is away.
            cwd=self.root / "tmp",
            env={
                "PATH": f"{fake}:/usr/bin:/bin",
                "FAKE": str(fake),
                "TMPDIR": str(self.root / "tmp"),
                "SLURM_ARRAY_JOB_ID": "70",
                "SLURM_ARRAY_TASK_ID": str(index),
                "SLURM_JOB_ID": "77",
                **variables,
            },
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )

    def run(self, index: int = 0, **variables: str) -> Ran:
        before = len(self.log(index))
        process = self.start(index, **variables)
        output, errors = process.communicate(timeout=60)
        assert output == b""
        lines = self.log(index)[before:].splitlines(keepends=True)
        told = [line for line in lines if line.startswith(TOLD)]
        said = b"".join(line for line in lines if line not in told)
        return Ran(process.returncode, said, (errors + b"".join(told)).decode())

    def log(self, index: int = 0) -> bytes:
        """What the tries of a task have written, by command and script."""
        path = self.home / f"logs/{index}.log"
        return path.read_bytes() if path.exists() else b""

    @property
    def calls(self) -> list[str]:
        path = self.root / "fake/calls"
        return path.read_text().splitlines() if path.exists() else []

    def noted(self, directory: str) -> dict[str, tuple[int, int]]:
        """By file: exit code and number of the try."""
        return {path.name: noted(path) for path in (self.home / directory).iterdir()}

    def mark(self, name: str) -> None:
        (self.home / name).touch()

    @property
    def left(self) -> list[str]:
        """What is left in the directory for temporary files."""
        return os.listdir(self.root / "tmp")


def noted(path: Path) -> tuple[int, int]:
    found = LINE.fullmatch(path.read_text())
    assert found is not None
    return int(found[1]), int(found[2])


def script(text: str) -> tuple[str, str, str]:
    return ("sh", "-c", text)


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)
