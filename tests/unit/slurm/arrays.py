"""Arrays as an apply has submitted them: what is kept of them, and Slurm's records of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from slurm.submissions import REPOSITORY, submission
from unit.slurm.records import SUBMIT

from converter.model import (
    Backend,
    Campaign,
    Pipeline,
    Repo,
    Settings,
    Size,
    SlurmPriority,
    SlurmSettings,
    SourceKind,
    Volume,
)
from converter.reconcile.record import FINISHED, PARTLY_FAILED, Record
from converter.reconcile.slurm.submission import Submission, submissions
from converter.render.slurm import render_slurm
from converter.slurm.comment import Comment, Placing, written
from converter.slurm.job import Job
from converter.slurm.layout import repository_key
from converter.slurm.state import State, Step
from converter.slurm.survey import Result, Survey
from converter.slurm.times import BASE_SECONDS
from converter.times import rfc3339

# An hour after everything was submitted.
NOW: Final = SUBMIT + 3600
NUMBER: Final = 31
LETTERS: Final = submission()
SLURM: Final = SlurmSettings(
    "/shared", (), priorities={"high": SlurmPriority(), "low": SlurmPriority(nice=100)}
)


def campaign(name: str = "letters", number: int = 4, **keys: Any) -> Campaign:
    """A campaign of git, whose volumes have its name."""
    ids = [f"{name}-{index}" for index in range(number)]
    listed = tuple(Volume(each, SourceKind.REFERENCE, each) for each in ids)
    return Campaign(name, f"campaigns/{name}.yaml", "work", listed, **{"window": 2, **keys})


def repository(*campaigns: Campaign, slurm: SlurmSettings = SLURM) -> Repo:
    """A repository for Slurm with one pipeline, of the right name."""
    settings = Settings(
        namespace="",
        queue="",
        backend=Backend.SLURM,
        repository=REPOSITORY,
        slurm=slurm,
        priority_classes=("high", "low"),
        sizes={"small": Size("small", cpu="1", memory="1Gi")},
        default_size="small",
    )
    work = Pipeline("work", "pipelines/work.yaml", "none:1", ("true",))
    return Repo(settings, {"work": work}, {each.name: each for each in campaigns})


def wanted_in(repo: Repo) -> dict[str, Submission]:
    """What it renders to, by the names of arrays."""
    priorities = {each.name: each.priority for each in repo.campaigns.values()}
    return {each.name: each for each in submissions(render_slurm(repo), priorities)}


def kept(wanted: Submission = LETTERS, step: Step = Step.OPENED, **others: Any) -> State:
    """What is kept of an array that is as git has it."""
    values: dict[str, Any] = {
        "job": 0 if step is Step.SUBMITTING else NUMBER,
        "paused": wanted.suspended,
        **others,
    }
    return State(
        name=wanted.name,
        campaign=wanted.campaign,
        part=wanted.part,
        pipeline=wanted.pipeline,
        priority=wanted.priority,
        commit="c0ffee",
        volumes_sha256=wanted.volumes_sha256,
        inputs_sha256=wanted.inputs_sha256,
        total=len(wanted.volumes),
        step=step,
        **{"repository": REPOSITORY, "window": wanted.window, "at": SUBMIT, **values},
    )


def over(wanted: Submission = LETTERS, *failed: str, **others: Any) -> State:
    """What is kept of an array that was seen to have ended."""
    total = len(wanted.volumes)
    record = Record(
        phase=PARTLY_FAILED if failed else FINISHED,
        total=total,
        done=total - len(failed),
        failed=len(failed),
        failed_volumes=failed,
        started_at="",
        finished_at=rfc3339(NOW - 600),
        job_uid=f"slurm-{NUMBER}",
        volumes_sha256=wanted.volumes_sha256,
        commit="c0ffee",
    )
    return replace(kept(wanted, Step.ENDED), record=record, **others)


def record(wanted: Submission = LETTERS, number: int = NUMBER, **others: Any) -> Job:
    """A record of an array: without more, all of its tasks that wait for nodes."""
    job = Job(
        job_id=number,
        name=wanted.name,
        state="PENDING",
        reason="Resources",
        submit=SUBMIT,
        eligible=SUBMIT,
        restarts=0,
        priority=100,
        partition="gpu",
        comment=wanted.comment("c0ffee"),
        array_job_id=number,
        array_tasks=f"0-{len(wanted.volumes) - 1}",
    )
    return replace(job, **others)


def gated(wanted: Submission = LETTERS, number: int = NUMBER, **others: Any) -> Job:
    """All of its tasks, behind the gate."""
    shut = {"priority": 0, "reason": "JobHeldUser", "eligible": None}
    return record(wanted, number, **{**shut, **others})


def held(instance: int, wanted: Submission = LETTERS, **others: Any) -> Job:
    """The tasks that wait, with a hold."""
    placing = Placing(instance, SUBMIT, 0, rfc3339(NOW - 60), "ops", "a lost node")
    comment = Comment(
        wanted.campaign,
        commit="c0ffee",
        digest=wanted.digest,
        repository=repository_key(REPOSITORY),
        placing=placing,
    )
    start = SUBMIT + BASE_SECONDS + instance
    waits = {"reason": "BeginTime", "eligible": start, "start": start, "comment": written(comment)}
    return record(wanted, **{**waits, **others})


def task(
    index: int, state: str = "RUNNING", wanted: Submission = LETTERS, number: int = NUMBER, **o: Any
) -> Job:
    """One task that was started: it has a number of its own."""
    end = {} if state in ("RUNNING", "COMPLETING", "PENDING") else {"end": NOW - 600}
    own = {
        "job_id": number + 100 + index,
        "state": state,
        "reason": "None",
        "array_task_id": index,
        "array_tasks": "",
        "start": SUBMIT + 60,
    }
    return record(wanted, number, **{**own, **end, **o})


def ended(*codes: int, attempt: int = 1) -> dict[int, Result]:
    """What the tasks have written, by index."""
    return {
        index: Result(code, attempt, rfc3339(SUBMIT + 120 + index))
        for index, code in enumerate(codes)
    }


def seen(
    *states: State,
    jobs: Iterable[Job] = (),
    results: Mapping[str, Mapping[int, Result]] | None = None,
    now: int = NOW,
    **others: Any,
) -> Survey:
    """What one look finds."""
    by_name: dict[str, list[Job]] = {}
    for job in jobs:
        by_name.setdefault(job.name, []).append(job)
    by_state = {state.name: state for state in states}
    paused = frozenset(state.name for state in states if state.paused)
    others = {"marked": paused, **others}
    return Survey(now, by_state, by_name, dict(results or {}), **others)
