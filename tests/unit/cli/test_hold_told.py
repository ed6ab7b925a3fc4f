"""What is told of a hold or a release on the tasks of a job array of Slurm."""

from __future__ import annotations

import pytest
from unit.slurm.records import SUBMIT, job

from converter.cli.hold_told import lines_of
from converter.holds.api import Part
from converter.holds.carry_out import Done
from converter.holds.errors import Rejected, StaleHold
from converter.holds.mark import Mark
from converter.holds.rules import Action, Call, State
from converter.holds.slurm_rules import decide_hold

CALL = Call(Action.HOLD, 7, at="2026-12-01T14:19:37Z", by="ops")
HELD = Done("job/21_[8-9]", State(mark=Mark(7), stopped=True), wrote=True)


def refused(label: str, state: str, *, passed_over: bool = False) -> Part:
    """As what Slurm says of a task in this state is refused."""
    number, _, task = label.partition("_")
    record = job(
        job_id=99,
        array_job_id=int(number),
        array_task_id=int(task),
        state=state,
        submit=SUBMIT,
    )
    why = decide_hold(record, None, CALL).why
    runs = state in ("RUNNING", "COMPLETING")
    return Part(f"job/{label}", Rejected(f"job/{label}: {why}"), passed_over, runs=runs)


ENDED = [refused(f"21_{n}", "COMPLETED", passed_over=True) for n in range(6)]
RUNS = [refused(f"21_{n}", "RUNNING") for n in (6, 7)]
WAITS = Part("job/21_[8-9]", HELD)
THEY_RUN = [
    f"error: job/21_{n}: it runs, and only what is pending can be held: it goes on to its end, "
    f"unless `scancel 21_{n}` ends it"
    for n in (6, 7)
]
NOTE = (
    "note: what waits is held, and 2 task(s) run on: one that fails and comes back to the queue is "
    "not held, so repeat this hold until none runs"
)
IN_FORCE = Part("job/21_3", StaleHold("job/21_3: hold 9 is in force", in_force=9))
HOLD_7 = "held: job/21_[8-9]: hold 7"


@pytest.mark.parametrize(
    ("parts", "lines"),
    [
        ([*ENDED, WAITS], ["ended: 6 tasks of job/21: there is nothing to hold", HOLD_7]),
        ([ENDED[0], WAITS], ["ended: job/21_0: there is nothing to hold", HOLD_7]),
        # Of each array, and where the first of them is.
        (
            [
                WAITS,
                *ENDED[:2],
                *(refused(f"22_{n}", "FAILED", passed_over=True) for n in (0, 1)),
                *ENDED[2:4],
            ],
            [
                HOLD_7,
                "ended: 4 tasks of job/21: there is nothing to hold",
                "ended: 2 tasks of job/22: there is nothing to hold",
            ],
        ),
        # A cancelled rest is one record.
        (
            [WAITS, Part("job/22_[1-3,7]", Rejected("it has ended"), ended=True), ENDED[0]],
            [
                HOLD_7,
                "ended: job/22_[1-3,7]: there is nothing to hold",
                "ended: job/21_0: there is nothing to hold",
            ],
        ),
        (
            [Part(f"job/22_{n}", Rejected("it has ended"), ended=True) for n in ("[1-3]", "7")],
            ["ended: 4 tasks of job/22: there is nothing to hold"],
        ),
        # What runs is named task by task, and what to do.
        (
            [*ENDED, *RUNS, WAITS],
            ["ended: 6 tasks of job/21: there is nothing to hold", *THEY_RUN, HOLD_7, NOTE],
        ),
        # Nothing waits, or not all that waits is held.
        (RUNS, THEY_RUN),
        ([*RUNS, WAITS, IN_FORCE], [*THEY_RUN, HOLD_7, "error: job/21_3: hold 9 is in force"]),
        # All have ended: the call has failed.
        (
            [refused(f"21_{n}", "COMPLETED") for n in range(4)],
            ["error: 4 tasks of job/21: it has ended"],
        ),
        ([refused("21_0", "COMPLETED")], ["error: job/21_0: it has ended"]),
        # On Kubernetes what is held is another object than what is named.
        (
            [
                Part("job/a-part1", Rejected("Job/a-part1: it has ended"), ended=True),
                Part("job/a-part2", Rejected("Job/a-part2: it has ended"), ended=True),
                Part("job/a-part3", Done("Workload/job-a-part3", HELD.state, wrote=True)),
            ],
            [
                "ended: job/a-part1: there is nothing to hold",
                "ended: job/a-part2: there is nothing to hold",
                "held: job/a-part3: hold 7 on Workload/job-a-part3",
            ],
        ),
    ],
)
def test_a_hold(parts: list[Part], lines: list[str]) -> None:
    told = list(lines_of(parts, "hold", 7))
    assert [line for line, _ in told] == lines
    assert all(err is line.startswith(("error: ", "note: ")) for line, err in told)


def lifted(state: State) -> Part:
    return Part("job/21_[8-9]", Done("job/21_[8-9]", state, wrote=True))


@pytest.mark.parametrize(
    ("state", "after"),
    [
        (State(), "it is queued again"),
        (State(queued=False), "it runs again"),
        (State(queued=False, opened=False, stopped=True), "it waits at its start gate"),
        (
            State(stopped=True, paused_in_git=True),
            "git pauses it, so it stays stopped: take `suspend: true` out of its file and apply to "
            "have it run",
        ),
    ],
)
def test_a_release(state: State, after: str) -> None:
    running = [refused(f"21_{n}", "RUNNING", passed_over=True) for n in (6, 7)]
    assert list(lines_of([*ENDED, *running, lifted(state)], "release", 7)) == [
        ("ended: 6 tasks of job/21: there is nothing to release", False),
        ("running: 2 tasks of job/21: there is nothing to release", False),
        (f"released: job/21_[8-9]: hold 7; {after}", False),
    ]
