"""Tasks on nodes without the shared directory, and at the end of their time: none is lost."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from localslurm import Options, Slurm
from slurm.lab import eventually, lab_on
from slurm.slurm_team import SlurmTeam


@pytest.fixture
def own_team(
    new_slurm: Callable[[Options], Slurm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> SlurmTeam:
    """A team with a Slurm of its own, of one node that two tasks fit on."""
    slurm = new_slurm(Options(nodes=1, cpus=2, extra="KillWait=9"))
    made = SlurmTeam(lab_on(slurm, tmp_path, monkeypatch), tmp_path)
    made.write_settings()
    made.write_pipeline()
    return made


def pauses(team: SlurmTeam, of_tasks: str) -> Path:
    """What tasks do where they wait, $1 seconds as they mean; gives a file that has all of them."""
    sleep, found = team.lab.slurm.bin / "sleep", team.home / "pauses"
    sleep.write_text(f'#!/bin/sh\necho "$1" >>{found}\n{of_tasks}\n')
    sleep.chmod(0o755)
    found.touch()
    return found


@contextmanager
def away(team: SlurmTeam) -> Iterator[None]:
    """Without the shared directory; all that was submitted starts meanwhile."""
    kept = team.home / "away"
    team.shared.rename(kept)
    try:
        team.lab.scontrol("update", "PartitionName=main", "State=UP")
        yield
    finally:
        kept.rename(team.shared)


def submitted(team: SlurmTeam, number: int, **keys: object) -> int:
    """A campaign that is to start as soon as the partition is up again; gives its job."""
    team.lab.scontrol("update", "PartitionName=main", "State=DOWN")
    team.write_campaign("letters", number, **keys)
    team.apply()
    job = team.survey().states["letters"].job
    assert job is not None
    return job


def written(team: SlurmTeam) -> dict[str, str]:
    """What the tasks have written of how they ended: exit code and try by the name of the file."""
    home = team.directory("letters")
    files = [*home.glob("results/*"), *home.glob("failures/*")]
    return {str(each.relative_to(home)): each.read_text().rpartition(" ")[0] for each in files}


def states(team: SlurmTeam, job: int) -> set[str]:
    return {record.state for record in team.lab.records(job)}


def test_tasks_wait_for_a_directory_that_is_away_for_a_moment(own_team: SlurmTeam) -> None:
    noted = pauses(own_team, 'exec /bin/sleep "$1"')
    job = submitted(own_team, 4, window=1)
    with away(own_team):
        eventually(lambda: noted.read_text() == "0\n1\n2\n5\n", "a task waits")
        assert states(own_team, job) == {"RUNNING", "PENDING"}
    eventually(lambda: own_team.phases()["letters"] == "Finished", "the end of all", 60)
    assert written(own_team) == {f"results/{index}": "0 1" for index in range(4)}


def test_tasks_go_back_into_the_queue_where_it_stays_away(own_team: SlurmTeam) -> None:
    pauses(own_team, "exec /bin/sleep 0.1")
    job = submitted(own_team, 3, window=2)

    def back() -> list[int]:
        found = own_team.lab.records(job)
        return [each.restarts for each in found if each.state == "PENDING" and each.restarts]

    with away(own_team):
        eventually(lambda: len(back()) == 3, "all of them back in the queue")
    assert written(own_team) == {}

    def ended() -> bool:
        own_team.lab.hasten(own_team.lab.records(job))
        return own_team.phases()["letters"] == "Finished"

    eventually(ended, "the end of all", 60)
    assert written(own_team) == {f"results/{index}": "0 1" for index in range(3)}
    assert "recorded: Array/letters: Finished" in own_team.apply().stdout


def test_a_task_that_waits_for_its_directory_can_be_cancelled(own_team: SlurmTeam) -> None:
    job = submitted(own_team, 2)
    with away(own_team):
        eventually(lambda: states(own_team, job) == {"RUNNING"}, "both")
        own_team.lab.slurm.ask("scancel", str(job))
        eventually(lambda: states(own_team, job) == {"CANCELLED"}, "their end")
        # After KillWait none of them is there to ask for anything.
        nodes = own_team.lab.slurm.nodes
        eventually(lambda: set(nodes().values()) == {"idle"}, "nothing on the node")
        assert states(own_team, job) == {"CANCELLED"}
        assert [record.restarts for record in own_team.lab.records(job)] == [0, 0]


def test_a_program_that_goes_on_after_its_time_has_another_try(own_team: SlurmTeam) -> None:
    text = 'touch "$AT_WORK.$INDEX_FAILURE_COUNT"; trap "" TERM; while :; do /bin/sleep 1; done'
    own_team.write_settings(
        backoff_limit_per_index=1, env={"AT_WORK": str(own_team.at_work)}, max_seconds=60
    )
    own_team.write_pipeline(text)
    own_team.write_campaign("letters")
    own_team.apply()
    job = own_team.survey().states["letters"].job or 0
    started = [own_team.at_work.with_name(f"{own_team.at_work.name}.{each}") for each in (0, 1)]

    def has_started(number: int) -> bool:
        own_team.lab.hasten(own_team.lab.records(job))
        return started[number].exists()

    def end(number: int) -> None:
        """Its time is over; Slurm looks at that every half minute."""
        eventually(lambda: has_started(number), f"try {number + 1}")
        now = f"EndTime=uts{int(time.time()) + 1}"
        own_team.lab.scontrol("update", f"JobId={job}_0", now)

    end(0)
    notes = {"failures/0.1": "137 1"}
    eventually(lambda: written(own_team) == notes, "the first note", 90)
    end(1)
    notes |= {"failures/0.2": "137 2", "results/0": "137 2"}
    eventually(lambda: written(own_team) == notes, "the end", 90)
