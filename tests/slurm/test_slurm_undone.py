"""A prune that was stopped, a Slurm that forgot, a state that somebody has put back or spoilt."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from localslurm import Options, Slurm
from slurm.lab import eventually, lab_on
from slurm.slurm_team import SlurmTeam


def campaign_file(team: SlurmTeam, name: str) -> Path:
    return team.repo / f"campaigns/{name}.yaml"


def end(team: SlurmTeam, *names: str) -> None:
    """Their end, and the record of it."""
    eventually(lambda: team.phases() == dict.fromkeys(names, "Finished"), "their end")
    told = team.apply().stdout
    assert all(f"recorded: Array/{name}: Finished" in told for name in names)


def prune_fails(team: SlurmTeam) -> None:
    """It has told the tasks to end, and Slurm does not hear of it."""
    text = campaign_file(team, "letters").read_text()
    campaign_file(team, "letters").unlink()
    team.lab.command("scancel", "echo 'scancel: error: no route' >&2; exit 1")
    assert "no route" in team.apply("--prune", "--allow-empty", code=1).stderr
    team.lab.plain()
    assert (team.directory("letters") / "cancelled").exists()
    campaign_file(team, "letters").write_text(text)


def test_a_campaign_whose_prune_was_stopped_runs_when_its_file_is_put_back(
    team: SlurmTeam,
) -> None:
    team.write_campaign("letters", 2, suspend=True)
    team.apply()
    prune_fails(team)
    words = "a prune of it was stopped, and its tasks end without having run"
    assert team.status()["letters"]["drift"] == words
    assert f"{words}: that is undone" in team.run("diff", ".").stdout
    team.write_campaign("letters", 2)
    done = team.apply()
    assert f"Array/letters: {words}, and is undone" in done.stdout
    assert "1 resumed" in done.stdout
    end(team, "letters")


def test_a_campaign_that_is_paused_or_held_back_does_not_keep_what_a_prune_has_left(
    team: SlurmTeam,
) -> None:
    """A task that fails would not be tried again."""
    team.write_campaign("letters", 3, pipeline="slow", window=1)
    team.apply()
    eventually(team.at_work.exists, "one task")
    prune_fails(team)
    team.write_campaign("letters", 4, pipeline="slow", window=1, suspend=True)
    assert "its tasks end without having run, and is undone" in team.apply(code=3).stdout
    assert not (team.directory("letters") / "cancelled").exists()
    assert (team.directory("letters") / "paused").exists()


def test_what_is_cut_into_other_parts_is_paused_all_the_same(team: SlurmTeam) -> None:
    """By a longer list, or by another setting: held back, and nothing of it starts."""
    team.write_campaign("letters", 3, pipeline="slow", window=1)
    team.apply()
    eventually(team.at_work.exists, "one task")
    number = team.survey().states["letters"].job
    slurm = {"directory": str(team.shared), "container": [], "max_array_size": 2}
    team.write_settings(slurm=slurm)
    team.write_campaign("letters", 3, pipeline="slow", window=1, suspend=True)
    assert "pause: Array/letters: what waits does not start" in team.run("diff", ".").stdout
    done = team.apply(code=3)
    assert "its list of volumes differs from what was applied as letters" in done.stderr
    assert "paused: Array/letters: what waits does not start; 1 task(s) run" in done.stdout
    team.lab.slurm.ask("scancel", f"{number}_0")
    eventually(lambda: team.running("letters") == 0, "the end of the task")
    time.sleep(3)
    assert set(team.states("letters").values()) <= {"PENDING"}
    assert "0 paused" in team.apply(code=3).stdout
    # As it was before.
    team.write_settings()
    team.write_campaign("letters", 3, pipeline="slow", window=1)
    assert "1 resumed" in team.apply().stdout
    eventually(lambda: team.running("letters") == 1, "the next task")


def test_a_state_that_is_put_back_from_before_records_what_was_done(team: SlurmTeam) -> None:
    team.write_campaign("letters", 2)
    team.apply()
    before = team.state_file("letters").read_text()
    end(team, "letters")
    record = json.loads(team.state_file("letters").read_text())["record"]
    team.state_file("letters").write_text(before)
    assert team.phases() == {"letters": "Finished"}
    assert "recorded: Array/letters: Finished: 2 of 2 volumes done" in team.apply().stdout
    assert json.loads(team.state_file("letters").read_text())["record"] == record
    # Beside it: no state of anything.
    for name in ("letters.old.json", "letters-old.json"):
        team.state_file("letters").with_name(name).write_text(before)
    assert team.phases() == {"letters": "Finished"}
    assert "1 finished" in team.apply().stdout


def test_a_state_that_is_cut_spoils_no_other(team: SlurmTeam) -> None:
    for name in ("atlas", "letters", "maps"):
        team.write_campaign(name, suspend=True)
    team.apply()
    cut = team.state_file("letters")
    for text in (cut.read_text()[:200], "[" * 100_000):
        cut.write_text(text)
        found = team.status()
        assert {name: found[name]["phase"] for name in ("atlas", "maps")} == {
            "atlas": "Paused",
            "maps": "Paused",
        }
        assert "2 unchanged" in team.apply(code=3).stdout
    fence = next((team.shared / "applied").glob("*.json"), None)
    assert fence is None, "this repository is none of git"


def test_a_number_of_applies_that_somebody_spoilt_stops_none(team: SlurmTeam) -> None:
    team.write_campaign("letters", suspend=True)
    team.apply()
    epoch = team.shared / "epoch"
    for text in ("abc\n", "", "09\n", "9" * 30):
        epoch.write_text(text)
        assert "1 unchanged" in team.apply().stdout
        assert abs(int(epoch.read_text()) - time.time()) < 60
    assert "1 unchanged" in team.apply().stdout


def test_a_disk_that_is_full_is_named(team: SlurmTeam) -> None:
    team.write_campaign("letters", suspend=True)
    team.apply()
    team.lab.command("sync", "echo 'sync: No space left on device' >&2; exit 1")
    done = team.apply(code=1)
    assert f"{team.shared}/epoch cannot be written: make room for it" in done.stderr
    assert not list(team.shared.glob("*.new"))


@pytest.fixture
def forgetful(
    new_slurm: Callable[[Options], Slurm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> SlurmTeam:
    """A team on a Slurm of its own."""
    made = SlurmTeam(lab_on(new_slurm(Options(nodes=1)), tmp_path, monkeypatch), tmp_path)
    made.write_settings()
    made.write_pipeline()
    return made


def forget(slurm: Slurm) -> None:
    """Kill the controller before it has saved anything of its jobs."""
    slurm.kill_controller()
    for file in (slurm.files.directory / "state").glob("job_state*"):
        file.unlink()
    shutil.rmtree(slurm.files.directory / "state" / "hash.0", ignore_errors=True)
    slurm.start_controller()


def test_what_slurm_has_lost_is_not_taken_for_what_has_ended(forgetful: SlurmTeam) -> None:
    team = forgetful
    (node,) = team.lab.slurm.nodes()
    team.lab.slurm.set_node(node, "DRAIN")
    team.write_campaign("letters", 2)
    team.write_campaign("maps", 2, suspend=True)
    team.apply()
    forget(team.lab.slurm)
    assert team.survey().jobs == {}
    found = team.status()
    assert found["letters"]["drift"].startswith("Slurm has no array 1 any more")
    done = team.apply(code=3)
    # One may have run, as far as anybody knows, and the other may not.
    file = team.state_file("letters")
    assert f"To have it run, delete {file} on the Slurm host and apply again" in done.stderr
    assert "created: Array/maps" in done.stdout
    assert set(team.states("maps").values()) == {"PENDING"}
    file.unlink()
    assert "1 applied" in team.apply().stdout
    team.write_campaign("maps", 2)
    team.apply()
    # Slurm may have forgotten that it was drained, too.
    for state in ("DOWN", "RESUME"):
        team.lab.slurm.set_node(node, state)
    end(team, "letters", "maps")


def test_a_number_that_slurm_gives_again_is_another_campaigns(forgetful: SlurmTeam) -> None:
    """What it had lost is not let run, and not cancelled, in the other's place."""
    team = forgetful
    (node,) = team.lab.slurm.nodes()
    team.lab.slurm.set_node(node, "DRAIN")
    team.write_campaign("letters", 2)
    team.apply()
    forget(team.lab.slurm)
    team.write_campaign("maps", 2, suspend=True)
    team.apply(code=3)
    numbers = {name: state.job for name, state in team.survey().states.items()}
    assert numbers == {"letters": 1, "maps": 1}
    done = team.apply(code=3)
    assert "Slurm has no array 1 any more" in done.stderr
    assert "0 applied, 1 unchanged" in done.stdout
    campaign_file(team, "letters").unlink()
    assert "1 pruned" in team.apply("--prune").stdout
    assert team.phases() == {"maps": "Paused"}
    assert team.arrays("maps") == {1}
    assert set(team.states("maps").values()) == {"PENDING"}


def test_a_cancellation_that_slurm_has_forgotten_is_told(team: SlurmTeam) -> None:
    """The array is in the queue again, and what its tasks need is among what was cancelled."""
    team.write_campaign("letters", 2, suspend=True)
    team.apply()
    number = team.survey().states["letters"].job
    # As after a controller that was killed just then.
    team.lab.command("scancel", "exit 0")
    campaign_file(team, "letters").unlink()
    assert "1 pruned" in team.apply("--prune", "--allow-empty").stdout
    team.lab.plain()
    team.write_campaign("letters", 2)
    words = f"to have it run anew, scancel {number}, and apply again"
    assert words in team.apply(code=3).stderr
    assert words in team.status()["letters"]["drift"]
    team.lab.slurm.ask("scancel", str(number))
    assert "1 applied" in team.apply().stdout
    end(team, "letters")


def test_a_task_that_somebody_cancels_is_told_while_the_others_go_on(team: SlurmTeam) -> None:
    team.write_campaign("letters", 3, pipeline="slow", window=1)
    team.apply()
    eventually(team.at_work.exists, "one task")
    number = team.survey().states["letters"].job
    team.lab.slurm.ask("scancel", f"{number}_2")
    # Slurm takes it out of the tasks that wait, or keeps a record of it for a while.
    eventually(lambda: team.status()["letters"]["failed"] == 1, "it counts as failed", 90)
    told = team.run("explain", "letters", ".").stdout
    assert "1 of its 3 volumes failed for good so far" in told
    assert "letters-2 (index 2): it wrote no result: cancelled" in told
    assert team.phases() == {"letters": "Running"}
