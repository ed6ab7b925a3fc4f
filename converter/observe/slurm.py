"""How far each campaign is on a Slurm: a pure reading of its arrays."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_state import others_gate
from converter.holds.slurm_store import BY_GIT
from converter.holds.words import told
from converter.observe.phase import Phase
from converter.observe.status import NOT_IN_GIT, Status, together
from converter.observe.wanted import NOT_PAUSED, NOT_RESUMED, Wanted
from converter.reconcile.record import Record
from converter.reconcile.slurm.array import (
    PRUNE_WAS_STOPPED,
    Array,
    arrays_in,
    campaign_of,
)
from converter.reconcile.slurm.ending import ended
from converter.slurm.errors import InvalidTasks
from converter.slurm.job import Job
from converter.slurm.reasons import why_waits
from converter.slurm.state import Step
from converter.slurm.survey import Survey
from converter.times import rfc3339

_WINDOW: Final = "its window is "
# What a preemption, a lost node and a pause or two may come to.
MANY_STARTS: Final = 5
AGAIN: Final = "it has ended, and somebody has had tasks of it queued again"
ENDING: Final = "its tasks have ended, and one that failed may come back within a minute"


def slurm_statuses(
    wanted: Mapping[str, Wanted], found: Survey, held_back: Mapping[str, str]
) -> list[Status]:
    """One status a campaign, by name. `held_back` says in which way one is not as git has it."""
    parts: dict[str, list[Status]] = {}
    for array in arrays_in(found).values():
        campaign = campaign_of(array)
        if array.state is None and not array.jobs:
            continue
        why = held_back.get(campaign, "")
        drift = why or _drift(array, wanted.get(campaign))
        status = _status(campaign, array, found.host_epoch, drift, why)
        parts.setdefault(campaign, []).append(status)
    for campaign, one in wanted.items():
        there = sum(part.total for part in parts.get(campaign, ()))
        if there < one.total and (campaign not in parts or len(one.parts) > 1):
            absent = Status(
                campaign,
                Phase.MISSING,
                one.total - there,
                pipeline=one.pipeline,
                priority=one.priority,
                detail=held_back.get(campaign, ""),
            )
            parts.setdefault(campaign, []).append(absent)
    sizes = {campaign: one.size for campaign, one in wanted.items()}
    return [
        replace(together(campaign, parts[campaign]), size=sizes.get(campaign, ""))
        for campaign in sorted(parts)
    ]


def _drift(array: Array, wanted: Wanted | None) -> str:
    """In which way one that apply would not hold back is not as git has it."""
    state = array.state
    if wanted is None:
        return NOT_IN_GIT
    if array.prune_was_stopped:
        return PRUNE_WAS_STOPPED
    if state is None:
        return ""
    if state.paused is not wanted.suspended:
        return NOT_PAUSED if wanted.suspended else NOT_RESUMED
    part = wanted.parts.get(state.name)
    if part is not None and state.window != part.window:
        return f"{_WINDOW}{state.window}, and git says {part.window}"
    return ""


def is_put_right(drift: str) -> bool:
    """Whether it is a difference from git that the next apply puts right."""
    return drift in (NOT_PAUSED, NOT_RESUMED, PRUNE_WAS_STOPPED) or drift.startswith(_WINDOW)


def _status(campaign: str, array: Array, now: int, drift: str, held_back: str) -> Status:
    state = array.state
    if (record := ended(array, (), now)) is not None:
        return _of_record(campaign, array, record, held_back)
    phase, detail = _phase(array)
    done = sum(result.code == 0 for result in array.results.values())
    # A task that is queued again has another submit time: that of the apply stays.
    submitted = [job.submit for job in array.jobs if job.submit is not None]
    if state is not None and state.job:
        submitted = [state.at]
    starts = [job.start for job in array.going if job.start is not None]
    active = sum(1 for _ in array.going)
    return Status(
        name=campaign,
        phase=phase,
        total=state.total if state is not None else sum(map(_number_of, array.jobs)),
        done=done,
        failed=len(array.results) - done + len(array.unaccounted),
        active=active,
        ready=active,
        pipeline=state.pipeline if state is not None else "",
        priority=state.priority if state is not None else "",
        queue=next((job.partition for job in array.jobs), ""),
        created=rfc3339(min(submitted)) if submitted else "",
        since=rfc3339(min(starts)) if starts else "",
        detail=detail,
        drift=drift,
        hold=array.hold,
    )


def _number_of(job: Job) -> int:
    """How many tasks a record is of; 0 where Slurm does not say that in full."""
    try:
        return len(job.tasks)
    except InvalidTasks:
        return 0


def _phase(array: Array) -> tuple[Phase, str]:
    """Where one is that has not ended, and why."""
    if array.astray:
        return Phase.MISSING, array.astray
    state = array.state
    paused = state is not None and state.paused
    held = [reading_of(job).mark is not None or job.gated for job in array.pending]
    if paused and not (array.marked and all(held)):
        return Phase.PAUSING, "what waits may start: apply again"
    if array.going:
        tasks = f"{len(array.going)} task(s)"
        if paused:
            return Phase.PAUSING, f"{tasks} run to their end, and no other starts"
        mark = array.hold
        if mark:
            return Phase.RUNNING, f"what waits is on hold {mark.instance}"
        return Phase.RUNNING, _others_gate(array) or tries_in_words(array) or _starts(array)
    if mark := array.hold:
        return Phase.HELD, told(mark)
    if paused:
        return Phase.PAUSED, ""
    if array.is_lost:
        return Phase.MISSING, "Slurm has nothing of it any more: apply again"
    if not array.numbers:
        return Phase.WAITING, "an apply was stopped while it submitted it: apply again"
    if not array.pending:
        return Phase.WAITING, ENDING
    if any(reading_of(job).instance == BY_GIT for job in array.pending):
        return Phase.PAUSED, "an apply was stopped while it paused or resumed it: apply again"
    reasons = [why_waits(job) for job in array.pending]
    if final := next((each for each in reasons if each.is_final), None):
        return Phase.WAITING, final.words
    shut = any(job.gated and job.gated_by_owner for job in array.pending)
    if state is None or state.step is Step.SUBMITTED or shut or array.marked:
        return Phase.WAITING, "it was submitted and not let run: apply again"
    if again := tries_in_words(array) or _starts(array):
        return Phase.WAITING, again
    notes = (reading_of(job).note for job in array.pending)
    note = next(filter(None, notes), "")
    return Phase.WAITING, note or reasons[0].words


def tries_in_words(array: Array) -> str:
    """How many volumes failed and are tried again; empty where none is."""
    number = len(array.tried_again)
    if number < 2:
        return "1 volume failed and is tried again" if number else ""
    return f"{number} volumes failed and are tried again"


def _starts(array: Array) -> str:
    """That tasks are started again and again and no try of them ends; empty where none is.

    As on a node that does not see the shared directory, from which they go back to the queue.
    """
    for job in (*array.pending, *array.going):
        # What waits together was never started.
        if (index := job.array_task_id) is None:
            continue
        failed = array.failures.get(index)
        without_end = job.restarts - (failed.attempt if failed is not None else 0)
        if without_end >= MANY_STARTS:
            return (
                f"task {job.address} was sent back to the queue {without_end} times without an "
                "end: look whether its nodes see the shared directory, if it was not preempted"
            )
    return ""


def _others_gate(array: Array) -> str:
    """Why what waits does not follow on what runs; empty where no operator of Slurm keeps it."""
    gated = (job for job in array.pending if job.gated and not job.gated_by_owner)
    return next((f"what waits stays so: {others_gate(job)}" for job in gated), "")


def _of_record(campaign: str, array: Array, record: Record, held_back: str) -> Status:
    state = array.state
    return Status(
        name=campaign,
        phase=Phase(record.phase),
        total=record.total,
        done=record.done,
        failed=record.failed,
        active=len(array.going),
        ready=len(array.going),
        detail=AGAIN if array.runs_again else held_back,
        pipeline=state.pipeline if state is not None else "",
        priority=state.priority if state is not None else "",
        created=record.started_at,
        since=record.finished_at,
        finished=record.finished_at,
    )
