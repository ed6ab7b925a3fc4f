"""Helpers for tests on a real Slurm: the tools as a caller sees them, watched or bent."""

from __future__ import annotations

import os
import shlex
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import pytest
from cluster.team import eventually as on_a_cluster
from localslurm import Slurm

from converter.holds.api import Part
from converter.holds.carry_out import Done
from converter.slurm.host import Host
from converter.slurm.job import Job, records_of
from converter.slurm.squeue import parse_jobs
from converter.slurm.survey import Survey, survey

SECONDS = 30.0


def eventually(found: Callable[[], object], what: str, seconds: float = SECONDS) -> None:
    """Wait until `found()` holds: not as long as on a cluster, where pods have to start."""
    on_a_cluster(found, what, seconds)


@dataclass(frozen=True)
class Lab:
    """A Slurm, and a directory of commands in front of its own on PATH, in which a test meddles."""

    slurm: Slurm
    front: Path

    @property
    def path(self) -> str:
        return f"{self.front}:{self.slurm.bin}:{os.environ['PATH']}"

    def command(self, name: str, script: str) -> None:
        """Put a script in the place of a command. It finds the real one as ``$real``."""
        real = self.slurm.bin / name
        text = f"#!/bin/sh\nreal={shlex.quote(str(real))}\n{script}\n"
        made = self.front / name
        made.write_text(text)
        made.chmod(0o755)

    def plain(self) -> None:
        """Take them all away again."""
        for each in self.front.iterdir():
            each.unlink()

    def watch(self, name: str) -> Path:
        """Have each call of a command noted: its zone, its format of times and its words.

        But for that by which each look learns which Slurm it is.
        """
        log = self.front.parent / f"{name}.calls"
        log.write_text("")
        note = f'echo "${{TZ-}} ${{SLURM_TIME_FORMAT-}} $*" >> {shlex.quote(str(log))}'
        self.command(name, f'[ "$*" = "show config" ] || {note}\nexec "$real" "$@"')
        return log

    def array(self, tasks: str, *arguments: str, command: str = "sleep 300") -> int:
        return self.slurm.submit(command, f"--array={tasks}", *arguments)

    def gated(self, *arguments: str, command: str = "true") -> int:
        return self.slurm.submit(command, "--hold", *arguments)

    def running(self, *arguments: str, command: str = "sleep 300") -> int:
        job = self.slurm.submit(command, *arguments)
        eventually(lambda: self.state(job) == "RUNNING", f"job {job} runs")
        return job

    def records(self, job: int) -> list[Job]:
        return records_of(parse_jobs(self.slurm.ask("squeue", "--json")), job)

    def one(self, job: int) -> Job:
        (record,) = self.records(job)
        return record

    def state(self, job: int) -> str:
        return self.one(job).state

    def scontrol(self, *words: str) -> None:
        self.slurm.ask("scontrol", *words)

    def hasten(self, jobs: Iterable[Job]) -> None:
        """Cut short the two minutes that Slurm puts between two tries of a task.

        Not to nothing: one that starts in the second of the requeue fails, its credential revoked.
        """
        for job in jobs:
            again = time.time() > (job.submit or 0) + 3
            if job.state == "PENDING" and (job.eligible or 0) > time.time() + 5 and again:
                self.slurm.run(["scontrol", "update", f"JobId={job.address}", "StartTime=now"])

    def end(self) -> None:
        """Leave the Slurm as it was."""
        self.slurm.set_epilog_seconds(0)
        self.plain()
        self.cancel_all()
        eventually(
            lambda: {"RUNNING", "COMPLETING"}.isdisjoint(
                job["job_state"] for job in self.slurm.jobs()
            ),
            "the end of its jobs",
        )

    def cancel_all(self) -> None:
        self.slurm.run(["scancel", "--user=root"])


def lab_on(slurm: Slurm, home: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A Slurm with its commands on PATH."""
    front = home / "front"
    front.mkdir()
    made = Lab(slurm, front)
    monkeypatch.setenv("PATH", made.path)
    return made


class Arrays:
    """The arrays of one repository, as they are now: `shared` is its directory."""

    @property
    def shared(self) -> Path:
        raise NotImplementedError

    @property
    def name(self) -> str:
        """Of the repository. One of its own: Slurm remembers the jobs of other tests."""
        raise NotImplementedError

    def survey(self) -> Survey:
        return survey(Host(), str(self.shared), self.name, seconds=20)

    def states(self, array: str) -> dict[int, str]:
        """What each task of an array is in, by its number."""
        found: dict[int, str] = {}
        for job in self.survey().jobs.get(array, ()):
            # What was cancelled as a whole names no tasks any more.
            if job.state != "CANCELLED":
                found |= dict.fromkeys(job.tasks, job.state)
        return found

    def running(self, array: str) -> int:
        return list(self.states(array).values()).count("RUNNING")

    def arrays(self, array: str) -> set[int]:
        """The numbers that Slurm has it under."""
        jobs = self.survey().jobs.get(array, ())
        return {job.array_job_id or job.job_id for job in jobs}


def outcomes(parts: tuple[Part, ...]) -> dict[str, str]:
    """What came of each part: ``wrote``, ``in force``, or the kind of the error."""
    return {part.target: _word(part) for part in parts}


def _word(part: Part) -> str:
    if isinstance(part.outcome, Done):
        return "wrote" if part.outcome.wrote else "in force"
    return type(part.outcome).__name__


def why(parts: tuple[Part, ...]) -> str:
    (part,) = parts
    return str(part.outcome)
