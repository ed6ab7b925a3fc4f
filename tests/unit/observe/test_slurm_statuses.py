"""How far each campaign is on a Slurm, one situation a row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest
from slurm.submissions import submission
from unit.slurm.arrays import (
    LETTERS,
    NOW,
    ended,
    gated,
    held,
    kept,
    over,
    record,
    seen,
    task,
)
from unit.slurm.records import SUBMIT

from converter.observe.phase import DRIFTED, Phase
from converter.observe.slurm import slurm_statuses
from converter.observe.status import NOT_IN_GIT, Status
from converter.observe.wanted import NOT_PAUSED, NOT_RESUMED, Wanted, WantedPart
from converter.reconcile.slurm.submission import Submission
from converter.slurm.job import Job
from converter.slurm.state import State, Step
from converter.slurm.survey import Survey
from converter.times import rfc3339

PAUSED = replace(LETTERS, suspended=True)
ONE, TWO = (
    submission(f"atlas-part{part}", campaign="atlas", part=part, inputs=f"part {part}")
    for part in (1, 2)
)
RUNS = (task(0), task(1), record(array_tasks="2-3", reason="JobArrayTaskLimit"))


def wanted_of(*parts: Submission) -> dict[str, Wanted]:
    """What git says, of the same campaigns."""
    campaigns: dict[str, list[Submission]] = {}
    for part in parts:
        campaigns.setdefault(part.campaign, []).append(part)
    return {
        name: Wanted(
            {
                each.name: WantedPart(len(each.volumes), each.inputs_sha256, each.window)
                for each in of
            },
            of[0].pipeline,
            "small",
            "",
            of[0].priority,
            of[0].suspended,
        )
        for name, of in campaigns.items()
    }


def status_of(
    found: Survey, *wanted: Submission, held_back: Mapping[str, str] | None = None
) -> Status:
    (one,) = slurm_statuses(wanted_of(*wanted), found, held_back or {})
    return one


PHASES: Sequence[tuple[str, State | None, Sequence[Job], Phase, str]] = (
    ("waits for nodes", kept(), [record()], Phase.WAITING, "it is next, and waits for nodes"),
    (
        "waits behind others",
        kept(),
        [record(reason="Priority")],
        Phase.WAITING,
        "jobs of a higher priority are ahead of it",
    ),
    ("some tasks run", kept(), RUNS, Phase.RUNNING, ""),
    ("a task completes", kept(), [task(0, "COMPLETING")], Phase.RUNNING, ""),
    (
        "some tasks run, and the rest is on hold",
        kept(),
        [task(0), held(7, array_tasks="1-3")],
        Phase.RUNNING,
        "what waits is on hold 7",
    ),
    ("on hold", kept(), [held(7)], Phase.HELD, "hold 7 of ops since"),
    (
        "on hold, and paused",
        kept(PAUSED),
        [held(7)],
        Phase.HELD,
        "hold 7 of ops since",
    ),
    ("paused", kept(PAUSED), [held(1)], Phase.PAUSED, ""),
    ("paused behind its gate", kept(PAUSED), [gated()], Phase.PAUSED, ""),
    (
        "paused, and a task runs to its end",
        kept(PAUSED),
        [task(0), held(1, array_tasks="1-3")],
        Phase.PAUSING,
        "1 task(s) run to their end, and no other starts",
    ),
    (
        "paused, and what waits may start",
        kept(PAUSED),
        [record()],
        Phase.PAUSING,
        "what waits may start: apply again",
    ),
    (
        "paused, and a part of what waits may start",
        kept(PAUSED),
        [held(1, array_tasks="0-2"), task(3, "PENDING")],
        Phase.PAUSING,
        "what waits may start: apply again",
    ),
    (
        "paused, and a start that is years away is no hold",
        kept(PAUSED),
        [held(1, restarts=1)],
        Phase.PAUSING,
        "what waits may start: apply again",
    ),
    (
        "paused, and what a task is in nobody knows",
        kept(PAUSED),
        [held(1), task(3, "BEWITCHED")],
        Phase.PAUSING,
        "1 task(s) run to their end",
    ),
    (
        "on git's hold, which no apply has lifted",
        kept(),
        [held(1)],
        Phase.PAUSED,
        "an apply was stopped while it paused or resumed it: apply again",
    ),
    (
        "its gate is shut",
        kept(step=Step.SUBMITTED),
        [gated()],
        Phase.WAITING,
        "it was submitted and not let run: apply again",
    ),
    (
        "nothing is kept of it, and its gate is shut",
        None,
        [gated()],
        Phase.WAITING,
        "it was submitted and not let run: apply again",
    ),
    (
        "its number is not kept",
        kept(step=Step.SUBMITTING),
        [gated()],
        Phase.WAITING,
        "it was submitted and not let run: apply again",
    ),
    (
        "an apply was stopped while it submitted it",
        kept(step=Step.SUBMITTING),
        [],
        Phase.WAITING,
        "an apply was stopped while it submitted it: apply again",
    ),
    (
        "a start years away that is no hold",
        kept(),
        [held(7, restarts=1)],
        Phase.WAITING,
        "not our hold",
    ),
    (
        "its tasks have just ended without a word",
        kept(),
        [task(index, "FAILED", end=NOW - 30) for index in range(4)],
        Phase.WAITING,
        "its tasks have ended, and one that failed may come back within a minute",
    ),
    ("its tasks have ended without a word", kept(), [task(0, "FAILED")], Phase.FAILED, ""),
    (
        "Slurm has forgotten it, and none of its tasks has begun",
        kept(),
        [],
        Phase.MISSING,
        "Slurm has nothing of it any more: apply again",
    ),
    (
        "a task never comes to its end",
        kept(),
        [task(0, restarts=5), record(array_tasks="1-3", reason="JobArrayTaskLimit")],
        Phase.RUNNING,
        "task 31_0 was sent back to the queue 5 times without an end: look whether its nodes see",
    ),
    (
        "a task never comes to its end, and waits",
        kept(),
        [task(0, "PENDING", restarts=7, reason="BeginTime")],
        Phase.WAITING,
        "task 31_0 was sent back to the queue 7 times without an end",
    ),
    ("a task was preempted some times", kept(), [task(0, restarts=4)], Phase.RUNNING, ""),
    ("what nobody knows may run", kept(), [task(0, "BEWITCHED")], Phase.RUNNING, ""),
    ("finished", over(), [], Phase.FINISHED, ""),
    ("some failed", over(LETTERS, "letters-1"), [], Phase.PARTLY_FAILED, ""),
    (
        "finished, and it runs again",
        over(),
        [task(0)],
        Phase.FINISHED,
        "it has ended, and somebody has had tasks of it queued again",
    ),
)


@pytest.mark.parametrize(
    ("state", "jobs", "phase", "detail"),
    [row[1:] for row in PHASES],
    ids=[row[0] for row in PHASES],
)
def test_the_phase(state: State | None, jobs: Sequence[Job], phase: Phase, detail: str) -> None:
    wanted = PAUSED if state is not None and state.paused else LETTERS
    states = (state,) if state is not None else ()
    found = status_of(seen(*states, jobs=jobs), wanted)
    assert found.phase is phase
    assert detail in found.detail
    assert bool(detail) is bool(found.detail)
    assert found.drift == ""


@pytest.mark.parametrize("restarts", [0, 1])
def test_a_pause_is_never_claimed_while_anything_may_start(restarts: int) -> None:
    """Whatever one of its records is in."""
    every = (
        record(),
        gated(),
        held(1, restarts=restarts),
        held(7, restarts=restarts),
        *(task(0, state) for state in ("PENDING", "RUNNING", "COMPLETING", "SUSPENDED", "ODD")),
    )
    stopped = []
    for job in every:
        found = status_of(seen(kept(PAUSED), jobs=[held(1, array_tasks="1-3"), job]), PAUSED)
        if found.phase.rests:
            stopped.append(job)
    assert stopped == [gated(), *(every[2:4] if not restarts else ())]


@pytest.mark.parametrize(
    ("found", "counts"),
    [
        (seen(kept(), jobs=RUNS), (4, 0, 0, 2)),
        (seen(kept(), jobs=RUNS, results={"letters": ended(0, 13, 0)}), (4, 2, 1, 2)),
        (seen(jobs=RUNS), (4, 0, 0, 2)),
        (seen(kept(), results={"letters": ended(0, 0, 0, 0)}), (4, 4, 0, 0)),
        (seen(kept(), results={"letters": ended(0, 13)}), (4, 1, 3, 0)),
        (seen(over(LETTERS, "letters-1")), (4, 3, 1, 0)),
        (seen(over(), jobs=[task(0)]), (4, 4, 0, 1)),
    ],
    ids=[
        "none has ended",
        "some have ended",
        "nothing is kept of it",
        "all have ended, and no apply has seen it",
        "it is gone: what has no result failed",
        "recorded",
        "recorded, and it runs again",
    ],
)
def test_the_counts(found: Survey, counts: tuple[int, ...]) -> None:
    status = status_of(found, LETTERS)
    assert (status.total, status.done, status.failed, status.active) == counts


@pytest.mark.parametrize(
    ("found", "times"),
    [
        (seen(kept(), jobs=[record()]), (SUBMIT, None, None)),
        # A task that is queued again has the time of that.
        (seen(kept(), jobs=[record(submit=NOW - 5)]), (SUBMIT, None, None)),
        (seen(jobs=[record()]), (SUBMIT, None, None)),
        (seen(kept(), jobs=[task(0), task(1, start=SUBMIT + 30)]), (SUBMIT, SUBMIT + 30, None)),
        (seen(over()), (None, NOW - 600, NOW - 600)),
    ],
    ids=["waits", "queued again", "nothing is kept", "runs", "ended"],
)
def test_the_times(found: Survey, times: tuple[int | None, ...]) -> None:
    status = status_of(found, LETTERS)
    expected = [rfc3339(each) if each is not None else "" for each in times]
    assert [status.created, status.since, status.finished] == expected


@pytest.mark.parametrize(
    ("state", "wanted", "held_back", "drift", "shown"),
    [
        (kept(), [LETTERS], "", "", "Running"),
        (kept(), [], "", NOT_IN_GIT, DRIFTED),
        (kept(), [PAUSED], "", NOT_PAUSED, DRIFTED),
        (kept(PAUSED), [LETTERS], "", NOT_RESUMED, "Pausing"),
        (kept(), [replace(LETTERS, window=4)], "", "its window is 2, and git says 4", DRIFTED),
        (kept(), [PAUSED], "its list differs", "its list differs", DRIFTED),
        (None, [PAUSED], "", "", "Running"),
        (over(), [PAUSED], "its list differs", "", "Finished"),
        (over(), [], "", "", "Finished"),
    ],
    ids=[
        "as git has it",
        "not in git",
        "git pauses it, and no apply has",
        "git lets it run, and no apply has",
        "another window",
        "held back",
        "nothing is kept of it",
        "ended",
        "ended, and not in git",
    ],
)
def test_what_is_not_as_git_has_it(
    state: State | None, wanted: Sequence[Submission], held_back: str, drift: str, shown: str
) -> None:
    states = (state,) if state is not None else ()
    # What has gone would have ended.
    jobs = () if state is not None and state.record is not None else RUNS
    reasons = {"letters": held_back} if held_back else {}
    found = status_of(seen(*states, jobs=jobs), *wanted, held_back=reasons)
    assert (found.drift, found.shown_phase) == (drift, shown)


@pytest.mark.parametrize(
    ("found", "phase", "counts", "drift"),
    [
        (seen(), Phase.MISSING, (8, 0, 1), ""),
        (seen(kept(ONE), jobs=[task(0, wanted=ONE)]), Phase.RUNNING, (8, 1, 2), ""),
        (seen(over(ONE)), Phase.MISSING, (8, 0, 2), ""),
        (seen(over(ONE), over(TWO)), Phase.FINISHED, (8, 0, 2), ""),
        (seen(over(ONE), over(TWO, "atlas-part2-0")), Phase.PARTLY_FAILED, (8, 0, 2), ""),
        (
            seen(kept(ONE), kept(TWO, job=32), jobs=[held(7, ONE), task(0, wanted=TWO, number=32)]),
            Phase.RUNNING,
            (8, 1, 2),
            "",
        ),
    ],
    ids=[
        "nothing was submitted",
        "one part runs, and the other was not submitted",
        "one part has ended, and the other was not submitted",
        "both have finished",
        "of one a volume failed",
        "one is on hold, and the other runs",
    ],
)
def test_parts_are_one_campaign(
    found: Survey, phase: Phase, counts: tuple[int, ...], drift: str
) -> None:
    status = status_of(found, ONE, TWO)
    assert (status.name, status.phase, status.drift) == ("atlas", phase, drift)
    assert (status.total, status.active, status.parts) == counts
    assert status.size == "small"


def test_what_is_missing_says_why_apply_would_not_submit_it() -> None:
    found = status_of(seen(), LETTERS, held_back={"letters": "a volume is in maps too"})
    assert (found.phase, found.detail) == (Phase.MISSING, "a volume is in maps too")


@pytest.mark.parametrize(
    ("member", "value"),
    [("pipeline", "work"), ("queue", "gpu"), ("size", "small"), ("priority", "high")],
)
def test_what_else_is_known(member: str, value: Any) -> None:
    high = replace(LETTERS, priority="high")
    assert getattr(status_of(seen(kept(high), jobs=RUNS), high), member) == value
