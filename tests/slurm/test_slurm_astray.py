"""Looked for where it is not: another cluster, user, directory or name of the repository."""

from __future__ import annotations

import shutil

import pytest
from slurm.lab import eventually
from slurm.slurm_team import SlurmTeam

from converter.holds.slurm_rules import reading_of

NOTHING = '{"jobs": [], "errors": []}'


def live(team: SlurmTeam) -> int:
    """A campaign with a task that runs; gives its number."""
    team.write_campaign("letters", 3, pipeline="slow", window=1)
    team.apply()
    eventually(team.at_work.exists, "one task")
    return team.survey().states["letters"].job


def finished(team: SlurmTeam) -> None:
    team.write_campaign("letters", 2)
    team.apply()
    eventually(lambda: team.phases()["letters"] == "Finished", "its end")
    team.apply()


@pytest.mark.parametrize(
    ("config", "user", "why"),
    [
        ("s/^ClusterName .*/ClusterName = lab/", "root", "was submitted to the cluster local, and"),
        ("s/^PrivateData .*/PrivateData = jobs/", "anna", "was submitted by root, and this Slurm"),
    ],
    ids=["another cluster", "another user"],
)
def test_what_slurm_does_not_show_has_not_ended(
    config: str, user: str, why: str, team: SlurmTeam
) -> None:
    number = live(team)
    team.lab.command("squeue", f"echo '{NOTHING}'")
    team.lab.command(
        "scontrol", f'[ "$*" = "show config" ] || exec "$real" "$@"\n"$real" "$@" | sed {config!r}'
    )
    team.lab.command("id", f"echo {user}")
    reason = f"array {number} {why}"
    done = team.apply(code=3)
    assert reason in done.stderr
    assert "0 applied" in done.stdout
    assert reason in team.status()["letters"]["drift"]
    assert reason in team.run("explain", "letters", ".").stdout
    # A pause that is not seen to hold is none.
    team.write_campaign("letters", 3, pipeline="slow", window=1, suspend=True)
    assert (
        f"not paused: Array/letters (campaigns/letters.yaml): {reason}" in team.apply(code=1).stderr
    )
    # And what cannot be cancelled is not forgotten.
    (team.repo / "campaigns/letters.yaml").unlink()
    assert reason in team.run("diff", ".", "--prune").stdout
    assert reason in team.apply("--prune", "--allow-empty", code=1).stderr
    team.lab.plain()
    assert "letters" in team.survey().states
    assert team.running("letters") == 1


def test_another_directory_takes_nothing_over(team: SlurmTeam) -> None:
    number = live(team)
    old = team.shared
    new = team.home / "new"
    new.mkdir()
    team.write_settings(slurm={"directory": str(new), "container": []})
    done = team.apply(code=3)
    assert f"array {number} was submitted from {old}/campaigns/" in done.stderr
    assert "put `slurm.directory` back" in done.stderr
    assert not list((new / "state").glob("*/*.json"))


@pytest.mark.parametrize("ended", [True, False])
def test_another_name_of_the_repository_runs_nothing_again(ended: bool, team: SlurmTeam) -> None:
    if ended:
        finished(team)
    else:
        live(team)
    calls = team.lab.watch("sbatch")
    team.write_settings(repository="another")
    done = team.apply(code=3)
    how = "Finished" if ended else "not ended, as far as is kept"
    assert f"it was applied there for the repository {team.name} ({how})" in done.stderr
    assert f"write `repository: {team.name}` into converter.yaml" in done.stderr
    assert calls.read_text() == ""
    # As the message says.
    team.write_settings()
    team.apply()


def test_a_pause_holds_what_waits_also_where_the_directory_is_gone(team: SlurmTeam) -> None:
    live(team)
    shutil.rmtree(team.shared / "campaigns")
    team.write_campaign("letters", 3, pipeline="slow", window=1, suspend=True)
    assert "not paused: Array/letters" in team.apply(code=1).stderr
    (waiting,) = (job for job in team.survey().jobs["letters"] if job.state == "PENDING")
    assert reading_of(waiting).mark is not None
