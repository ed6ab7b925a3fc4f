"""Pauses and resumes of arrays: git's own hold, the mark that tasks look at, and the gates."""

import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Final

from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_store import BY_GIT
from converter.reconcile.outcome import Fate
from converter.reconcile.slurm.array import Array, array_of
from converter.reconcile.slurm.deciding import (
    is_paused,
    never_in_words,
    pause_in_words,
    resume_of,
    stuck_in_words,
    was_paused,
)
from converter.reconcile.slurm.planning import Stray
from converter.reconcile.slurm.run import TROUBLE, Run
from converter.reconcile.slurm.submission import Submission
from converter.slurm.errors import SlurmRefused
from converter.slurm.job import Job
from converter.slurm.state import State, Step

# Looks at what was paused: between two of them tasks may start, or come back.
LOOKS: Final = 5

# Each is held by itself; what has been started, or changed, has one of its own.
MANY_RECORDS: Final = 20

# What a task takes from its look at the mark of a pause to its gate.
TO_THE_GATE_SECONDS: Final = 3.0


def pause(run: Run, wanted: Sequence[Submission | Stray]) -> None:
    """Hold what waits, and look until nothing of it may start. What runs, runs to its end."""
    left = list(wanted)
    changed: dict[str, bool] = {}
    trouble: dict[str, str] = {}
    for number in range(LOOKS):
        now = run.look() if left and (number or _is_new(run, left)) else run.found
        left = [each for each in left if not is_paused(array_of(each.name, now))]
        for each in left:
            try:
                trouble[each.name] = ""
                _pause_one(run, each, array_of(each.name, now), marked=each.name in changed)
                changed[each.name] = True
            except TROUBLE as error:
                trouble[each.name] = str(error)
        if not left:
            break
    for each in wanted:
        array = array_of(each.name, run.found)
        if each in left:
            why = trouble.get(each.name) or "tasks of it keep coming back to the queue"
            run.note(Fate.PAUSE_FAILED, each.name, f"{why}: apply again", each.campaign)
        elif changed.get(each.name):
            run.note(Fate.PAUSED, each.name, pause_in_words(array), each.campaign)


def _is_new(run: Run, wanted: Iterable[Submission | Stray]) -> bool:
    return any(not array_of(each.name, run.found).numbers for each in wanted)


def _pause_one(run: Run, wanted: Submission | Stray, array: Array, *, marked: bool) -> None:
    try:
        if not marked:
            if len(array.pending) >= MANY_RECORDS:
                many = f"it is being paused, which takes a while: {len(array.pending)} records wait"
                run.note(Fate.NOTE, wanted.name, many, wanted.campaign)
            run.steps.mark(wanted.name, paused=True)
    finally:
        # What waits is held also where its directory is out of reach.
        _each_of(array.pending, lambda job: run.steps.hold(job, pauses=True))
    if array.astray:
        raise SlurmRefused(array.astray)
    state = run.states.get(wanted.name)
    if state is None and array.numbers:
        if isinstance(wanted, Stray):
            raise SlurmRefused(
                "what waits is held, but nothing is kept of it: put the old list of volumes back"
            )
        state = run.steps.adopt(wanted, array)
    if state is not None and not state.paused:
        run.states[wanted.name] = run.steps.save(replace(state, paused=True))


def _each_of(jobs: Iterable[Job], step: Callable[[Job], object]) -> None:
    """Take a step with every record. Raises what went wrong first, once all were tried."""
    wrong: list[Exception] = []
    for job in jobs:
        try:
            step(job)
        except TROUBLE as error:
            wrong.append(error)
    if wrong:
        raise wrong[0]


def resume(run: Run, wanted: Sequence[Submission]) -> None:
    """Lift git's own hold, and open the gates. A newer hold wins, and is told."""
    found = run.look() if _is_new(run, wanted) else run.found
    late: list[Submission] = []
    for each in wanted:
        state = run.states.get(each.name)
        if state is None:
            continue
        array = replace(array_of(each.name, found), state=state)
        if was_paused(array) and array.going:
            late.append(each)
        resume = resume_of(array, each.campaign)
        if resume.words or state.step is not Step.OPENED:
            try:
                _resume_one(run, each, array, state)
                opened = run.steps.save(replace(state, step=Step.OPENED, paused=False))
            except TROUBLE as error:
                run.note(Fate.RESUME_FAILED, each.name, f"{error}: apply again", each.campaign)
                continue
            run.states[each.name] = opened
        if never := never_in_words(array):
            run.note(Fate.RESUME_FAILED, each.name, never, each.campaign)
        for kept in (resume.note, stuck_in_words(array)):
            if kept:
                run.note(Fate.NOTE, each.name, kept, each.campaign)
        # What is new starts, and that was told.
        if resume.words and array_of(each.name, run.found).numbers:
            fate = Fate.RESUMED if resume.starts else Fate.CONFIGURED
            run.note(fate, each.name, resume.words, each.campaign)
    if late:
        _open_late(run, late)


def _open_late(run: Run, resumed: Iterable[Submission]) -> None:
    """Open the gates of tasks that saw the mark just before it was taken away, and went there."""
    time.sleep(TO_THE_GATE_SECONDS)
    found = run.look()
    for each in resumed:
        try:
            run.steps.open(array_of(each.name, found).pending)
        except TROUBLE as error:
            run.note(Fate.RESUME_FAILED, each.name, f"{error}: apply again", each.campaign)


def _resume_one(run: Run, wanted: Submission, array: Array, state: State) -> None:
    if others := sorted(set(array.numbers) - {state.job}):
        # One that was on its way for longer than anything should be.
        numbers = " ".join(map(str, others))
        raise SlurmRefused(
            f"Slurm has {numbers} under its name beside array {state.job}, and neither is opened: "
            f"cancel that with scancel {numbers}"
        )
    paused = was_paused(array)
    if paused:
        run.steps.mark(wanted.name, paused=False)
    _each_of(
        (job for job in array.pending if paused or reading_of(job).instance == BY_GIT),
        lambda job: run.steps.hold(job, pauses=False),
    )
    run.steps.open(array.pending)
