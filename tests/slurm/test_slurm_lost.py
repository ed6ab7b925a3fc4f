"""What somebody else has changed or lost: nothing runs again, and a pause still holds."""

from __future__ import annotations

import shutil

import pytest
from slurm.lab import eventually
from slurm.slurm_team import SlurmTeam

from converter.holds.slurm_rules import reading_of


def finished(team: SlurmTeam) -> None:
    team.write_campaign("letters", 2)
    team.apply()
    eventually(lambda: team.phases()["letters"] == "Finished", "its end")
    assert "recorded: Array/letters: Finished" in team.apply().stdout


@pytest.mark.parametrize("words", ["Comment=checked", "Comment=", "JobName=anna"])
def test_an_array_that_somebody_has_relabelled_is_still_paused_and_counted(
    words: str, team: SlurmTeam
) -> None:
    team.write_campaign("letters", 3, pipeline="slow", window=1)
    team.apply()
    eventually(team.at_work.exists, "one task")
    number = team.survey().states["letters"].job
    team.lab.scontrol("update", f"JobId={number}", words)
    assert team.phases() == {"letters": "Running"}
    team.write_campaign("letters", 3, pipeline="slow", window=1, suspend=True)
    assert "1 paused" in team.apply().stdout
    assert team.phases() == {"letters": "Pausing"}
    team.write_campaign("letters", 3, pipeline="slow", window=1)
    assert "1 resumed" in team.apply().stdout
    assert team.arrays("letters") == {number}
    (team.repo / "campaigns/letters.yaml").unlink()
    team.apply("--prune", "--allow-empty")
    eventually(
        lambda: {job.state for job in team.lab.records(number)} <= {"CANCELLED"}, "all is cancelled"
    )


def test_what_has_ended_and_is_queued_again_is_told_and_can_be_paused(team: SlurmTeam) -> None:
    finished(team)
    number = team.survey().states["letters"].job
    directory = team.directory("letters")
    # Else its tasks would find that they have ended, and end.
    shutil.rmtree(directory / "results")
    (directory / "results").mkdir()
    team.lab.scontrol("requeue", f"{number}_0")
    eventually(lambda: "PENDING" in team.states("letters").values(), "it is back in the queue")
    done = team.apply(code=3)
    assert f"cancel them with scancel {number}" in done.stderr
    assert "somebody has had tasks of it queued again" in team.run("explain", "letters", ".").stdout
    team.write_campaign("letters", 2, suspend=True)
    team.apply(code=3)
    waiting = [job for job in team.lab.records(number) if job.state == "PENDING"]
    assert waiting
    assert all(reading_of(job).mark is not None for job in waiting)
    team.lab.slurm.ask("scancel", str(number))
    eventually(lambda: "1 finished" in team.run("apply", ".").stdout, "it has ended as before")


def test_what_has_ended_does_not_run_again_where_its_state_is_lost(team: SlurmTeam) -> None:
    finished(team)
    calls = team.lab.watch("sbatch")
    team.state_file("letters").unlink()
    done = team.apply(code=3)
    assert "tasks of it have run, as its directory on the Slurm host says" in done.stderr
    assert "0 applied" in done.stdout
    assert calls.read_text() == ""
    # As the message says.
    shutil.rmtree(team.directory("letters"))
    assert "1 applied" in team.apply().stdout
    assert len(calls.read_text().splitlines()) == 1


def test_a_state_that_is_empty_is_not_none(team: SlurmTeam) -> None:
    finished(team)
    team.state_file("letters").write_text("")
    shutil.rmtree(team.directory("letters"))
    done = team.apply(code=3)
    assert "letters.json in " in done.stderr
    assert "0 applied" in done.stdout


def test_a_state_that_cannot_be_read_stops_its_own_campaign_alone(team: SlurmTeam) -> None:
    """Others are paused all the same."""
    finished(team)
    team.write_campaign("maps", 2, pipeline="slow", window=1)
    team.apply()
    kept = team.state_file("letters")
    kept.unlink()
    kept.mkdir()
    team.write_campaign("maps", 2, pipeline="slow", window=1, suspend=True)
    done = team.apply(code=3)
    assert "held back: campaign letters" in done.stderr
    assert "letters.json in " in done.stderr
    assert "1 paused" in done.stdout
    assert team.phases()["maps"] in ("Paused", "Pausing")


def test_what_lies_about_in_the_directory_stops_nothing(team: SlurmTeam) -> None:
    finished(team)
    elsewhere = team.state_file("letters").parent.with_name("other")
    elsewhere.mkdir()
    (elsewhere / "x.json").write_text("==squeue==\n==results==\n")
    directory = team.directory("letters")
    odd = directory.with_name("-rf") / "results"
    odd.mkdir(parents=True)
    (odd / "0").write_text("x\n")
    assert team.phases() == {"letters": "Finished"}
    assert "1 finished" in team.apply().stdout


def test_a_file_by_another_name_does_not_run_twice(team: SlurmTeam) -> None:
    team.write_campaign("letters", 2, pipeline="slow")
    team.apply()
    old = team.repo / "campaigns/letters.yaml"
    old.rename(team.repo / "campaigns/letters-again.yaml")
    done = team.apply(code=3)
    assert "its volumes are those of campaign letters of the same pipeline" in done.stderr
    assert team.arrays("letters-again") == set()
    assert "1 pruned" in team.apply("--prune", code=3).stdout
    assert "1 applied" in team.apply().stdout


def test_a_directory_that_is_not_mounted_is_told_by_every_command(team: SlurmTeam) -> None:
    finished(team)
    away = team.home / "away"
    team.shared.rename(away)
    page = str(team.home / "page.html")
    commands = (
        ("status", "."),
        ("diff", "."),
        ("explain", "letters", "."),
        ("report", ".", "--out", page),
    )
    for command in (*commands, ("apply", ".")):
        done = team.run(*command)
        assert done.code == 1, command
        assert "is not there: mount its file system" in done.stderr, command
    away.rename(team.shared)
    assert team.phases() == {"letters": "Finished"}


def test_what_has_ended_keeps_its_age_and_says_what_git_has_added(team: SlurmTeam) -> None:
    finished(team)
    assert team.status()["letters"]["created"]
    team.write_campaign("letters", 3)
    why = "its record is of another list of volumes"
    assert why in team.apply(code=3).stderr
    assert why in team.status()["letters"]["detail"]
    assert why in " ".join(team.run("explain", "letters", ".").stdout.split())
