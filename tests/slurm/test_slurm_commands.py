"""The commands on a real Slurm: the life that campaigns have everywhere, and its own ways."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from conformance import live
from localslurm import Options, Slurm, SshHost
from slurm.conforming import SlurmSite
from slurm.lab import Lab, eventually, lab_on
from slurm.slurm_team import SlurmTeam

SLOW = "sleep 300"


def team_of(lab: Lab, home: Path) -> SlurmTeam:
    made = SlurmTeam(lab, home)
    made.write_settings()
    made.write_pipeline()
    return made


@pytest.fixture
def team(lab: Lab, tmp_path: Path) -> SlurmTeam:
    return team_of(lab, tmp_path)


def test_a_life_of_campaigns(
    new_slurm: Callable[[Options], Slurm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of every backend, on a Slurm that soon forgets what has ended."""
    slurm = new_slurm(Options(cpus=2, min_job_age=2))
    live(SlurmSite.of(team_of(lab_on(slurm, tmp_path, monkeypatch), tmp_path)))


def test_an_apply_asks_slurm_once(team: SlurmTeam) -> None:
    team.write_pipeline(SLOW)
    for number in range(3):
        team.write_campaign(f"c{number}", 2, suspend=number == 2)
    team.apply()
    calls = team.lab.watch("scontrol"), team.lab.watch("sbatch"), team.lab.watch("squeue")
    team.apply()
    assert [len(each.read_text().splitlines()) for each in calls] == [0, 0, 1]

    team.write_campaign("c0", 2, suspend=True)
    assert "2 task(s) run to their end" in team.apply().stdout
    team.write_campaign("c1", 3)
    assert "its list of volumes differs" in team.apply(code=3).stderr
    assert team.status()["c1"]["drift"].startswith("its list of volumes differs")


def test_the_sample(team: SlurmTeam) -> None:
    for path in sorted(team.repo.rglob("*.yaml")):
        path.unlink()
    for name in ("campaigns", "pipelines"):
        if (team.repo / name).exists():
            (team.repo / name).rmdir()
    team.repo.rmdir()
    team.copy_sample()
    assert team.run("validate", ".").code == 0
    assert "1 paused" in team.apply().stdout
    ends = {"guests": "Finished", "ledgers": "PartlyFailed", "late-guests": "Paused"}
    eventually(lambda: team.phases() == ends, "the end of what is not paused")
    team.apply()
    assert team.phases() == ends
    record = team.survey().states["ledgers"].record
    assert record is not None
    assert record.failed_volumes == ("ledger-1872",)
    done = team.run("explain", "ledgers", ".")
    assert "1 of its 3 volumes failed" in done.stdout
    assert "ledger-1872" in done.stdout


def test_a_failure_is_tried_again_up_to_the_limit_and_exit_13_is_not(team: SlurmTeam) -> None:
    team.write_settings(backoff_limit_per_index=2)
    team.write_pipeline('[ "$VOLUME_ID" = mixed-0 ] && exit 13; [ "$VOLUME_ID" != mixed-1 ]')
    team.write_campaign("mixed", 3)
    team.apply()

    def has_ended() -> bool:
        team.lab.hasten(team.survey().jobs["mixed"])
        return team.phases()["mixed"] == "PartlyFailed"

    eventually(has_ended, "its end", 60)
    team.apply()
    found = team.survey().states["mixed"]
    assert found.record is not None
    assert found.record.failed_volumes == ("mixed-0", "mixed-1")
    directory = next((team.shared / "campaigns").glob("*/mixed"))
    assert {path.name for path in (directory / "failures").glob("1.*")} == {"1.1", "1.2", "1.3"}
    assert (directory / "results/0").read_text().startswith("13 1 ")
    assert (directory / "results/1").read_text().startswith("1 3 ")


def test_what_has_finished_is_not_run_again_when_slurm_has_forgotten_it(
    new_slurm: Callable[[Options], Slurm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    team = team_of(
        lab_on(new_slurm(Options(cpus=2, min_job_age=2)), tmp_path, monkeypatch), tmp_path
    )
    team.write_campaign("one", 2)
    team.write_campaign("kept", 2)
    team.apply()
    eventually(lambda: set(team.phases().values()) == {"Finished"}, "their end")
    # Not even where no apply has seen it end: its tasks have said how.
    eventually(lambda: not team.survey().jobs, "Slurm has forgotten them", 60)
    done = team.apply()
    assert "recorded: Array/one: Finished: 2 of 2 volumes done" in done.stdout
    assert "2 finished" in team.apply().stdout
    assert team.survey().jobs == {}


def test_a_hold_by_the_commands(team: SlurmTeam) -> None:
    team.write_pipeline(SLOW)
    team.write_campaign("slow", 3, window=1)
    team.apply()
    eventually(lambda: team.running("slow") == 1, "one task")
    call = ("slow", ".", "--deadline=20s", "--by=tests")
    # What runs cannot be held, and that is said; what waits is held all the same.
    done = team.run("hold", *call, "--instance=3", "--reason=a lost node")
    assert done.code == 1
    assert "it runs, and only what is pending can be held" in done.stderr
    assert team.status()["slow"]["hold"]["instance"] == 3
    assert "what waits is on hold 3" in team.status()["slow"]["detail"]
    assert "hold 3 is in force" in team.run("explain", "slow", ".").stdout
    assert "stays stopped: hold 3 is in force" in team.apply().stderr
    assert team.run("release", *call, "--instance=2").code == 1
    assert team.run("release", *call, "--instance=3").code == 0
    assert team.run("hold", *call, "--instance=1").code == 2
    assert team.status()["slow"]["hold"] is None


def test_killed_while_it_submits_it_is_submitted_once(team: SlurmTeam) -> None:
    """What goes on on the host after SIGKILL is waited for by the next apply, and taken over."""
    begun = team.home / "begun"
    team.lab.command("sbatch", f'touch {begun}\nsleep 2\nexec "$real" "$@"')
    team.write_campaign("one", 2)
    process = team.start("apply", ".")
    eventually(begun.exists, "sbatch")
    team.kill(process)
    done = team.apply()
    assert "created" not in done.stdout
    assert len(team.arrays("one")) == 1
    eventually(lambda: team.phases()["one"] == "Finished", "its end")


def test_by_ssh(team: SlurmTeam, slurm_host: SshHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{slurm_host.bin}:/usr/bin:/bin")
    team.host = "slurm-host"
    team.write_settings()
    team.write_campaign("one", 2, suspend=True)
    done = team.apply()
    assert "1 paused" in done.stdout
    team.write_campaign("one", 2)
    assert "1 resumed" in team.apply().stdout
    eventually(lambda: team.phases()["one"] == "Finished", "its end")
    slurm_host.stop()
    try:
        done = team.apply(code=1)
        assert "error: the Slurm host slurm-host could not be reached" in done.stderr
        assert "finished" not in done.stdout
    finally:
        slurm_host.start()
    assert "1 finished" in team.apply().text or team.phases()["one"] == "Finished"


def test_a_controller_that_is_away_is_one_line(team: SlurmTeam) -> None:
    slurm = {"directory": str(team.shared), "container": [], "command_timeout": 3}
    team.write_settings(slurm=slurm)
    team.lab.slurm.stop_controller()
    try:
        for command in (("apply", "."), ("status", ".")):
            done = team.run(*command)
            assert done.code == 1
            assert len(done.stderr.splitlines()) == 1, done.text
    finally:
        team.lab.slurm.start_controller()


def test_a_thousand_campaigns_cost_one_squeue(
    new_slurm: Callable[[Options], Slurm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm = new_slurm(Options(nodes=1, extra="MaxJobCount=20000"))
    team = team_of(lab_on(slurm, tmp_path, monkeypatch), tmp_path)
    for _ in range(10):
        team.lab.gated("--array=0-999")
    for number in range(1000):
        team.write_campaign(f"c{number:04}")
    calls = team.lab.watch("squeue")
    done = team.run("status", ".", "--format=json")
    assert done.code == 0
    assert {each["phase"] for each in json.loads(done.stdout)["campaigns"]} == {"Missing"}
    assert len(calls.read_text().splitlines()) == 1


def test_the_estimate_of_the_scheduler_hides_no_hold(
    new_slurm: Callable[[Options], Slurm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """StartTime is for half a minute what the backfill scheduler expects, and not what was set."""
    slurm = new_slurm(Options(nodes=1, scheduler="bf_interval=5"))
    team = team_of(lab_on(slurm, tmp_path, monkeypatch), tmp_path)
    team.lab.running("--exclusive", "--time=5")
    job = slurm.submit("true", "--exclusive", "--time=5")

    def is_estimated() -> bool:
        start = team.lab.one(job).start
        return start is not None and start > time.time() + 60

    eventually(is_estimated, "the estimate", 60)
    call = (str(job), ".", "--deadline=20s", "--by=tests")
    assert team.run("hold", *call, "--instance=9").code == 0
    record = team.lab.one(job)
    assert record.start is not None
    assert record.start < time.time() + 3600, "it is an estimate still"
    (held,) = json.loads(team.run("holds", ".", "--format=json").stdout)["holds"]
    assert held["instance"] == 9
    assert team.run("hold", *call, "--instance=8").code == 1
    assert team.run("release", *call, "--instance=9").code == 0


def test_the_parts_of_a_campaign_have_its_window_between_them(team: SlurmTeam) -> None:
    slurm = {"directory": str(team.shared), "container": [], "max_array_size": 3}
    team.write_settings(slurm=slurm)
    team.write_pipeline(SLOW)
    team.write_campaign("atlas", 6, window=4)
    team.apply()
    parts = ("atlas-part1", "atlas-part2")
    eventually(lambda: [team.running(part) for part in parts] == [2, 2], "four tasks")
    time.sleep(3)
    assert [team.running(part) for part in parts] == [2, 2]
    assert team.run("diff", ".").code == 0
    assert team.status()["atlas"]["phase"] == "Running"
    team.write_campaign("atlas", 6, window=2)
    assert "window 2 -> 1" in team.apply().stdout
