"""What one look at a Slurm gives, as values: states, records, results."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from slurm.submissions import submission
from unit.slurm.records import SUBMIT, job

from converter.reconcile.slurm.submission import Submission
from converter.slurm.comment import Comment, Placing, written
from converter.slurm.job import Job
from converter.slurm.layout import SBATCH, TASK_SCRIPT, VOLUMES, repository_key
from converter.slurm.state import State, Step
from converter.slurm.survey import Result, Survey
from converter.slurm.times import BASE_SECONDS

NOW: Final = SUBMIT + 1000
NUMBER: Final = 31


def wanted(name: str = "letters", number: int = 4, *, window: int = 2, **others: Any) -> Submission:
    """What git wants, with the files that are rendered for it."""
    made = submission(name, number, window=window, **others)
    lines = [*made.arguments, f"--chdir=/shared/{name}"]
    files = {
        TASK_SCRIPT: "#!/bin/sh\nexit 0\n",
        SBATCH: "".join(f"{line}\n" for line in lines),
        VOLUMES: "".join(f"{volume}\tsource of {volume}\n" for volume in made.volumes),
        "environment": "LANG=C\n",
    }
    return submission(name, number, window=window, **{"files": files, **others})


def state(part: Submission, step: Step = Step.OPENED, **others: Any) -> State:
    """What an apply has kept of it."""
    values: dict[str, Any] = {
        "name": part.name,
        "campaign": part.campaign,
        "part": part.part,
        "repository": part.repository,
        "pipeline": part.pipeline,
        "priority": part.priority,
        "commit": "c0ffee",
        "volumes_sha256": part.volumes_sha256,
        "inputs_sha256": part.inputs_sha256,
        "total": len(part.volumes),
        "window": part.window,
        "step": step,
        "at": SUBMIT,
        "job": 0 if step is Step.SUBMITTING else NUMBER,
        "paused": part.suspended,
    }
    return State(**{**values, **others})


def waiting(part: Submission, hold: int | None = None, **others: Any) -> Job:
    """The tasks of an array that wait together, under a hold or none."""
    placing = None if hold is None else Placing(hold, SUBMIT, 0, by="ops", reason="a lost node")
    comment = Comment(
        campaign=part.campaign,
        part=part.part,
        commit="c0ffee",
        digest=part.digest,
        repository=repository_key(part.repository),
        placing=placing,
        paused=part.suspended or hold == 1,
    )
    values: dict[str, Any] = {
        "job_id": NUMBER,
        "array_job_id": NUMBER,
        "array_tasks": f"0-{len(part.volumes) - 1}%{part.window}",
        "name": part.name,
        "reason": "BeginTime" if hold else "Resources",
        "priority": 4294901759,
        "eligible": SUBMIT if hold is None else SUBMIT + BASE_SECONDS + hold,
        "comment": written(comment),
    }
    return job(**{**values, **others})


def gated(part: Submission, **others: Any) -> Job:
    """The same behind its start gate."""
    return waiting(part, reason="JobHeldUser", priority=0, eligible=None, **others)


def task(part: Submission, index: int, state: str = "RUNNING", **others: Any) -> Job:
    """A task that has a record of its own."""
    values: dict[str, Any] = {
        "job_id": NUMBER + 1 + index,
        "array_tasks": "",
        "array_task_id": index,
        "state": state,
        "reason": "None",
        "end": None if state == "RUNNING" else NOW - 500,
    }
    return waiting(part, **{**values, **others})


def survey_of(
    states: Iterable[State] = (),
    jobs: Iterable[Job] = (),
    results: Mapping[str, Mapping[int, int]] | None = None,
    **others: Any,
) -> Survey:
    """`results` are exit codes by the name of the array and the index."""
    by_name: dict[str, list[Job]] = {}
    for each in jobs:
        by_name.setdefault(each.name, []).append(each)
    kept = list(states)
    values: dict[str, Any] = {
        "host_epoch": NOW,
        "marked": frozenset(each.name for each in kept if each.paused),
        "states": {each.name: each for each in kept},
        "jobs": by_name,
        "results": {
            name: {index: Result(code, 1, "2026-12-01T15:00:00Z") for index, code in ends.items()}
            for name, ends in (results or {}).items()
        },
    }
    return Survey(**{**values, **others})
