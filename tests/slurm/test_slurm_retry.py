"""`campaigns retry` on a real Slurm."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from slurm.lab import Lab, eventually
from slurm.slurm_team import SlurmTeam

FIRST = ["a", "b", "c"]


@pytest.fixture
def team(lab: Lab, tmp_path: Path) -> SlurmTeam:
    """Volume b fails until there is a file `mended`."""
    made = SlurmTeam(lab, tmp_path)
    made.write_settings()
    made.write_pipeline(f'[ "$VOLUME_ID" != b ] || [ -e {tmp_path}/mended ] || exit 13')
    return made


def write(team: SlurmTeam, volumes: list[str], **keys: object) -> None:
    document = {"pipeline": "work", "volumes": volumes, "window": 2, **keys}
    team.write("campaigns/letters.yaml", document)


def is_over(team: SlurmTeam) -> None:
    eventually(lambda: team.phases()["letters"] == "PartlyFailed", "its end")


def test_what_failed_is_a_new_campaign_that_runs(team: SlurmTeam) -> None:
    write(team, FIRST)
    team.apply()
    is_over(team)
    # No apply has recorded it yet.
    writers = [team.lab.watch(name) for name in ("scontrol", "sbatch", "scancel")]
    done = team.run("retry", "letters", ".")
    assert [log.read_text() for log in writers] == ["", "", ""]
    team.lab.plain()
    assert done.code == 0, done.text
    assert done.stdout == (
        "campaigns/letters-retry1.yaml: failed volumes 1; look at it, commit it and apply\n"
    )
    file = team.repo / "campaigns/letters-retry1.yaml"
    assert yaml.safe_load(file.read_text()) == {"pipeline": "work", "window": 2, "volumes": ["b"]}
    assert team.survey().states["letters"].record is None

    (team.home / "mended").touch()
    assert "recorded: Array/letters: PartlyFailed: 2 of 3 volumes done" in team.apply().stdout
    eventually(lambda: team.phases()["letters-retry1"] == "Finished", "the end of the retry")
    done = team.run("retry", "letters-retry1", ".")
    assert (done.code, done.stdout) == (0, "")
    assert done.stderr.splitlines()[-1] == "no volume of letters-retry1 failed"

    # A name that Slurm has is taken, though git has it no more.
    file.unlink()
    done = team.run("retry", "letters", ".")
    assert done.stdout.startswith("campaigns/letters-retry2.yaml: failed volumes 1")
    assert not file.exists()


def test_the_volumes_are_those_that_ran_though_git_has_others_by_then(team: SlurmTeam) -> None:
    write(team, FIRST)
    team.apply()
    is_over(team)
    write(team, ["c", "a", "b"])
    done = team.run("retry", "letters", ".")
    assert done.code == 1
    assert done.stderr == (
        "error: campaign letters has ended and is not recorded yet, and git has other volumes than "
        "those it ran: apply first\n"
    )
    team.apply(code=3)
    record = team.survey().states["letters"].record
    assert record is not None
    assert record.failed_volumes == ("b",)
    assert team.run("retry", "letters", ".").code == 0
    retried = yaml.safe_load((team.repo / "campaigns/letters-retry1.yaml").read_text())
    assert retried["volumes"] == ["b"]


def test_all_parts_of_a_campaign_that_was_split(team: SlurmTeam) -> None:
    slurm = {"directory": str(team.shared), "container": [], "max_array_size": 2}
    team.write_settings(slurm=slurm)
    write(team, FIRST)
    team.apply()
    is_over(team)
    done = team.run("retry", "letters", ".")
    assert done.stdout.startswith("campaigns/letters-retry1.yaml: failed volumes 1"), done.text


def test_what_cannot_be_told_is_one_line(team: SlurmTeam) -> None:
    write(team, FIRST)
    done = team.run("retry", "letters", ".")
    assert (done.code, done.stderr) == (
        1,
        "error: nothing is known of campaign letters on the Slurm host\n",
    )
    team.write_pipeline("sleep 300")
    team.apply()
    done = team.run("retry", "letters", ".")
    assert (done.code, done.stderr) == (
        1,
        "error: campaign letters has not ended yet: what fails now may still succeed\n",
    )
    assert "did you mean letters?" in team.run("retry", "lettres", ".").stderr
    assert not (team.repo / "campaigns/letters-retry1.yaml").exists()
