"""Applies to a real Slurm: a life of campaigns, kills between all steps, two at once."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from slurm.lab import Arrays, Lab, eventually
from slurm.submissions import in_directory, submission

from converter.errors import ClusterUnavailable, LeaseHeld, LeaseLost, Refused
from converter.holds.errors import InvalidCall
from converter.holds.slurm import SlurmHolds
from converter.holds.slurm_rules import reading_of
from converter.holds.slurm_store import BY_GIT
from converter.reconcile.outcome import Fate, Outcome
from converter.reconcile.slurm.applying import apply
from converter.reconcile.slurm.run import Options
from converter.reconcile.slurm.submission import Submission
from converter.slurm.errors import SlurmUnavailable
from converter.slurm.host import Answer, Host
from converter.slurm.layout import job_directory
from converter.slurm.session import locked

SLOW = "sleep 300"
CALL: dict[str, Any] = {"deadline": 20.0, "by": "tests"}


@dataclass
class Site(Arrays):
    """A directory of campaigns on the Slurm host."""

    lab: Lab
    directory: Path

    @property
    def shared(self) -> Path:
        return self.directory

    @property
    def name(self) -> str:
        return self.directory.parent.name

    def options(self, **others: Any) -> Options:
        made = Options(self.name, "tests", "c0ffee", str(self.directory), seconds=10.0)
        return replace(made, **others)

    def apply(self, *wanted: Submission, host: Host | None = None, **options: Any) -> Outcome:
        outcome = Outcome(lambda event: None)
        ours = [
            in_directory(
                replace(each, repository=self.name),
                job_directory(str(self.directory), self.name, each.name),
            )
            for each in wanted
        ]
        apply(host or Host(), ours, self.options(**options), outcome)
        return outcome

    def states(self, array: str = "letters") -> dict[int, str]:
        return super().states(array)

    def arrays(self, array: str = "letters") -> set[int]:
        return super().arrays(array)

    def running(self, array: str = "letters") -> int:
        return super().running(array)

    def ended(self, name: str = "letters") -> bool:
        states = self.states(name).values()
        return bool(states) and set(states) <= {"COMPLETED", "FAILED"}

    def holds(self) -> SlurmHolds:
        return SlurmHolds(Host(), str(self.directory / "lock"))


@pytest.fixture
def site(lab: Lab, tmp_path: Path) -> Site:
    made = Site(lab, tmp_path / "shared")
    made.directory.mkdir()
    return made


def told(outcome: Outcome, *fates: Fate) -> list[str]:
    return [str(event) for event in outcome.events if event.fate in fates or not fates]


def test_a_life_of_a_campaign(site: Site) -> None:
    wanted = submission(number=5, command='[ "$SLURM_ARRAY_TASK_ID" != 3 ] || exit 13')
    (line,) = told(site.apply(wanted), Fate.CREATED)
    assert line.startswith("created: Array/letters: job ")
    eventually(site.ended, "its end")
    outcome = site.apply(wanted)
    (line,) = told(outcome, Fate.RECORDED)
    assert line == "recorded: Array/letters: PartlyFailed: 4 of 5 volumes done"
    record = site.survey().states["letters"].record
    assert record is not None
    assert record.failed_volumes == ("letters-3",)

    # Finished is finished, also when Slurm has forgotten it and its results are gone.
    site.lab.cancel_all()
    assert told(site.apply(wanted)) == ["finished: campaign letters"]
    outcome = site.apply(submission(number=6))
    assert "it has ended (PartlyFailed) and its record is of another list" in told(outcome)[0]
    assert outcome.exit_code == 3
    outcome = site.apply(prune=True, allow_empty=True)
    assert told(outcome) == ["pruned: Array/letters"]
    assert site.survey().states == {}
    assert len(list((site.directory / "cancelled").glob("*/letters.*/results/*"))) == 5


def test_the_window_is_never_exceeded_and_may_change(site: Site) -> None:
    wanted = submission(number=40, window=3, command="sleep 0.2")
    site.apply(wanted)
    most, later = 0, 0
    while not site.ended():
        most = max(most, site.running())
        if most and not later:
            site.apply(replace(wanted, window=1))
            later = 1
            most = max(most, site.running())
        elif later:
            # Those that ran when it changed run to their end.
            later = max(later, site.running() if site.survey() else 0)
    assert most <= 3
    record = site.apply(replace(wanted, window=1))
    (line,) = told(record, Fate.RECORDED)
    assert line == "recorded: Array/letters: Finished: 40 of 40 volumes done"


def test_the_window_of_an_array_changes_though_some_of_it_has_ended(site: Site) -> None:
    """With those Slurm exits with 1, whatever came of the others."""
    wanted = submission(number=6, window=2, command='[ "$SLURM_ARRAY_TASK_ID" = 0 ] || sleep 300')
    site.apply(wanted)
    eventually(lambda: len(site.survey().results.get("letters", {})) == 1, "one has ended")
    eventually(lambda: site.running() == 2, "two run")
    (line,) = told(site.apply(replace(wanted, window=3)), Fate.CONFIGURED)
    assert line == "configured: Array/letters: window 2 -> 3"
    eventually(lambda: site.running() == 3, "three run")


def test_a_window_that_slurm_refuses_is_told_and_the_rest_goes_on(site: Site) -> None:
    wanted, other = submission(number=3, window=1, command=SLOW), submission("other", 1)
    site.apply(wanted)
    site.lab.command(
        "scontrol",
        'case "$*" in *ArrayTaskThrottle*) echo "slurm_update error: No" >&2; exit 1;; esac\n'
        'exec "$real" "$@"',
    )
    outcome = site.apply(replace(wanted, window=2), other)
    assert told(outcome, Fate.REFUSED) == [
        "refused: Array/letters: window 1 -> 2: slurm_update error: No"
    ]
    assert outcome.count(Fate.CREATED) == 1
    site.lab.plain()
    assert len(told(site.apply(replace(wanted, window=2), other), Fate.CONFIGURED)) == 1


def test_a_pause_while_tasks_run(site: Site) -> None:
    wanted = submission(number=6, command="sleep 2")
    site.apply(wanted)
    eventually(lambda: site.running() == 2, "two tasks")
    paused = replace(wanted, suspended=True)
    (line,) = told(site.apply(paused), Fate.PAUSED)
    assert line == "paused: Array/letters: what waits does not start; 2 task(s) run to their end"
    ran = {task for task, state in site.states().items() if state != "PENDING"}
    eventually(lambda: not site.running(), "the end of what ran")
    time.sleep(1)
    assert {task for task, state in site.states().items() if state != "PENDING"} == ran
    assert told(site.apply(paused), Fate.PAUSED, Fate.PAUSE_FAILED) == []

    (line,) = told(site.apply(wanted), Fate.RESUMED)
    eventually(site.ended, "its end")
    assert told(site.apply(wanted), Fate.RECORDED)[0].endswith("Finished: 6 of 6 volumes done")


def test_new_and_paused_campaigns_never_start_a_task(site: Site) -> None:
    wanted = [submission(f"c{number:02}", 1, suspended=True) for number in range(20)]
    outcome = site.apply(*wanted)
    assert outcome.count(Fate.CREATED) == outcome.count(Fate.PAUSED) == 20
    # Not even where somebody opens the gate.
    site.lab.scontrol("release", *(str(job) for name in wanted for job in site.arrays(name.name)))
    time.sleep(2)
    assert {state for each in wanted for state in site.states(each.name).values()} == {"PENDING"}
    assert list(site.directory.glob("campaigns/*/*/results/*")) == []
    assert site.apply(*wanted).count(Fate.PAUSED) == 0
    outcome = site.apply(*(replace(each, suspended=False) for each in wanted))
    assert outcome.count(Fate.RESUMED) == 20
    eventually(lambda: all(site.ended(each.name) for each in wanted), "their end")


def test_a_task_that_comes_back_while_it_is_paused_does_not_start(site: Site) -> None:
    """As one does that failed and tries again."""
    wanted = submission(number=3, window=1, command=SLOW)
    site.apply(wanted)
    eventually(lambda: site.running() == 1, "one task")
    paused = replace(wanted, suspended=True)
    site.apply(paused)
    (array,) = site.arrays()
    site.lab.scontrol("requeue", f"{array}_0")

    def is_gated() -> bool:
        jobs = site.survey().jobs["letters"]
        site.lab.hasten([job for job in jobs if job.array_task_id == 0])
        return any(job.gated for job in jobs)

    eventually(is_gated, "it is back, and has gated itself")
    assert site.running() == 0
    assert told(site.apply(paused), Fate.PAUSE_FAILED) == []
    site.apply(wanted)
    eventually(lambda: site.running() == 1, "it goes on")


def test_holds_win_over_git_and_git_over_their_release(site: Site) -> None:
    wanted = submission(command=SLOW, window=1)
    site.apply(wanted)
    eventually(lambda: site.running() == 1, "one task")
    site.holds().hold("letters", 7, **CALL)
    outcome = site.apply(wanted)
    assert "stays stopped: hold 7 is in force" in told(outcome, Fate.NOTE)[0]

    # Paused meanwhile, its release leaves it under git's own.
    paused = replace(wanted, suspended=True)
    site.apply(paused)
    assert [held.mark.instance for held in site.holds().list()] == [7]
    site.holds().release("letters", 7, **CALL)
    assert site.holds().list() == ()
    # Whatever reason Slurm gives for it: the window of an array is one, too.
    waiting = [job for job in site.survey().jobs["letters"] if job.state == "PENDING"]
    assert {reading_of(job).instance for job in waiting} == {BY_GIT}
    assert site.running() == 1
    for call in (site.holds().hold, site.holds().release):
        with pytest.raises(InvalidCall, match="git's own pause"):
            call("letters", 1, **CALL)
    assert told(site.apply(paused), Fate.PAUSED, Fate.PAUSE_FAILED) == []

    # Resumed meanwhile, its release starts it.
    site.holds().hold("letters", 8, **CALL)
    site.apply(wanted)
    assert [held.mark.instance for held in site.holds().list()] == [8]
    site.holds().release("letters", 8, **CALL)
    assert site.holds().list() == ()
    outcome = site.apply(prune=True, allow_empty=True)
    assert told(outcome) == ["pruned: Array/letters"]
    eventually(lambda: not site.running(), "the end of its tasks")


def test_what_may_not_change_is_held_back(site: Site) -> None:
    wanted = submission(command=SLOW)
    site.apply(wanted)
    for changed, said in (
        (submission(number=5, command=SLOW), "its list of volumes differs"),
        (submission(command=SLOW, inputs="others"), "an array cannot change"),
        (replace(wanted, pipeline="other"), "its pipeline was work and is now other"),
        (replace(wanted, name="letters-part1"), "differs from what was applied as letters"),
    ):
        outcome = site.apply(changed)
        assert said in told(outcome, Fate.HELD_BACK)[0]
        assert outcome.exit_code == 3
    other = replace(submission("other", command=SLOW), volumes=wanted.volumes)
    assert "volume letters-0 is in campaign letters too" in told(site.apply(wanted, other))[0]
    assert len(site.arrays()) == 1
    assert "still on the cluster" in told(site.apply())[0]


class Killed(BaseException):
    """Nothing that runs after it, as after SIGKILL."""


@dataclass(frozen=True)
class Dying(Host):
    """A host whose caller is gone after so many commands, or just before the answer of the last."""

    commands: int = 0
    answered: bool = True
    counted: list[str] = field(default_factory=list)

    def run(self, script: str, *arguments: str, seconds: float, data: bytes = b"") -> Answer:
        if len(self.counted) == self.commands:
            raise Killed
        self.counted.append(script)
        answer = Host.run(self, script, *arguments, seconds=seconds, data=data)
        if len(self.counted) == self.commands and not self.answered:
            raise Killed
        return answer


@pytest.mark.parametrize("suspended", [False, True])
def test_killed_between_any_two_steps_it_is_submitted_once(
    suspended: bool, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next apply goes on, without waiting: what is found in the queue is taken over."""
    monkeypatch.setattr("converter.reconcile.slurm.objections.ON_ITS_WAY_SECONDS", 0)
    number, killed = 0, True
    while killed:
        wanted = submission(f"k{number}{'p' if suspended else ''}", 2, suspended=suspended)
        try:
            host = Dying(commands=number // 2, answered=number % 2 == 1, counted=[])
            site.apply(wanted, host=host)
            killed = False
        except Killed:
            pass
        site.apply(wanted)
        assert len(site.arrays(wanted.name)) == 1, (number, host.counted)
        if suspended:
            assert set(site.states(wanted.name).values()) == {"PENDING"}
            site.apply(replace(wanted, suspended=False))
        eventually(partial(site.ended, wanted.name), f"the end after a kill at {number}")
        site.apply(replace(wanted, suspended=False))
        record = site.survey().states[wanted.name].record
        assert record is not None
        assert record.phase == "Finished"
        number += 1
    assert number > 8


def test_a_prune_that_is_killed_between_any_two_steps_loses_no_work(site: Site) -> None:
    """Its file is put back: what was done is kept, or somebody is asked, unless all was pruned."""
    number, fates = 0, set()
    while "anew" not in fates:
        wanted = submission(f"k{number}", 2)
        site.apply(wanted)
        eventually(partial(site.ended, wanted.name), f"the end before a kill at {number}")
        with suppress(Killed):
            site.apply(host=Dying(commands=number, counted=[]), prune=True, allow_empty=True)
        outcome = site.apply(wanted)
        state = site.survey().states.get(wanted.name)
        if told(outcome, Fate.CREATED):
            # It was pruned to the end: what was done is with its logs.
            assert len(list(site.directory.glob(f"cancelled/*/{wanted.name}.*/results/*"))) == 2
            fates.add("anew")
        elif state is None:
            assert "tasks of it have run" in told(outcome, Fate.HELD_BACK)[0]
            fates.add("asked")
        else:
            assert state.record is not None
            assert state.record.done == 2
            fates.add("recorded")
        site.lab.cancel_all()
        site.apply(prune=True, allow_empty=True)
        number += 1
    assert fates == {"recorded", "asked", "anew"}


def test_a_submission_that_may_be_on_its_way_is_waited_for(site: Site) -> None:
    wanted = submission()
    counted: list[str] = []
    with pytest.raises(Killed):
        site.apply(wanted, host=Dying(commands=3, counted=counted))
    assert counted == ["survey.sh", "unpack.sh", "save.sh"]
    outcome = site.apply(wanted)
    assert "which may still be on its way: apply again in" in told(outcome, Fate.HELD_BACK)[0]
    assert site.arrays() == set()


def test_two_applies_at_once(site: Site) -> None:
    wanted = [submission(f"c{number}", 2) for number in range(6)]

    def one(_: int) -> str:
        try:
            return str(site.apply(*wanted).exit_code)
        except LeaseHeld as held:
            return str(held)

    with ThreadPoolExecutor() as pool:
        done = list(pool.map(one, range(4)))
    assert "0" in done
    assert all(each == "0" or "another apply has the lock" in each for each in done)
    assert [len(site.arrays(each.name)) for each in wanted] == [1] * 6


def test_a_lock_that_is_gone_stops_what_it_was_for(site: Site) -> None:
    with locked(Host(), str(site.directory), "one", seconds=5) as first:
        assert first.run("echo", "here") == "here\n"
        with (
            pytest.raises(LeaseHeld, match="one, since"),
            locked(Host(), str(site.directory), "two", seconds=5),
        ):
            pass
    with pytest.raises(LeaseLost):
        first.run("echo", "late")
    # What was sent before, and arrives after another has begun, is refused on the host.
    stale = replace(first, alive=lambda: True)
    with (
        locked(Host(), str(site.directory), "two", seconds=5),
        pytest.raises(LeaseLost, match="another apply has begun since"),
    ):
        stale.run("touch", str(site.directory / "never"))
    assert not (site.directory / "never").exists()


def test_a_controller_that_is_away_is_never_one_without_jobs(site: Site) -> None:
    wanted = submission(command=SLOW)
    site.apply(wanted)
    site.lab.slurm.stop_controller()
    try:
        with pytest.raises(ClusterUnavailable):
            site.apply(wanted, seconds=30.0)
    finally:
        site.lab.slurm.start_controller()
    assert site.survey().states["letters"].record is None
    assert told(site.apply(wanted), Fate.CREATED, Fate.RECORDED) == []
    assert len(site.arrays()) == 1


def test_what_slurm_refuses_is_told_and_others_go_on(site: Site) -> None:
    bad = submission("bad")
    bad = replace(bad, arguments=(*bad.arguments, "--partition=nosuch"))
    outcome = site.apply(bad, submission("good"))
    (line,) = told(outcome, Fate.REFUSED)
    assert "invalid partition" in line.lower()
    assert len(site.arrays("good")) == 1
    assert outcome.exit_code == 3


def test_a_directory_that_is_not_there_is_not_made(site: Site) -> None:
    """As where it is not mounted: what has ended would be unknown, and run again."""
    site.directory.rmdir()
    with pytest.raises(SlurmUnavailable, match=r"shared is not there: mount its file system, or"):
        site.apply(submission())
    assert not site.directory.exists()


def test_an_empty_repository_cancels_nothing_by_itself(site: Site) -> None:
    site.apply(submission(command=SLOW))
    with pytest.raises(Refused, match="--allow-empty"):
        site.apply(prune=True)
    many = [submission(f"c{number}", 1, command=SLOW, window=1) for number in range(12)]
    site.apply(*many)
    with pytest.raises(Refused, match="more than the limit of"):
        site.apply(many[0], prune=True)
    assert len(site.arrays("c5")) == 1
