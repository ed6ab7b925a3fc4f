"""`campaigns apply --wait` on a real Slurm."""

from __future__ import annotations

import json
import signal
import subprocess
from pathlib import Path

import pytest
from cluster.team import Done
from localslurm import SshHost
from slurm.lab import Lab, eventually
from slurm.slurm_team import COMMAND, SlurmTeam

CALL = (".", "--deadline=20s", "--by=tests")


@pytest.fixture
def team(lab: Lab, tmp_path: Path) -> SlurmTeam:
    """Its tasks go on until there is a file `go`."""
    made = SlurmTeam(lab, tmp_path)
    made.write_settings()
    made.write_pipeline(f"until [ -e {tmp_path}/go ]; do sleep 0.2; done")
    made.write_pipeline("true", "quick")
    return made


def waiting(team: SlurmTeam, *options: str) -> tuple[subprocess.Popen[str], Path]:
    """An apply that waits, and what it says."""
    said = team.home / "said"
    with said.open("w") as stream:
        process = subprocess.Popen(
            (str(COMMAND), "apply", ".", "--wait", *options),
            cwd=team.repo,
            stdout=stream,
            stderr=stream,
            text=True,
        )
    eventually(lambda: "Running" in said.read_text(), "its first look", 60)
    return process, said


def end(process: subprocess.Popen[str], said: Path) -> Done:
    code = process.wait(timeout=120)
    text = said.read_text()
    assert "Traceback" not in text
    return Done(code, text, "")


def go(team: SlurmTeam) -> None:
    (team.home / "go").touch()


def test_it_waits_for_each_campaign_as_it_ends_or_rests(team: SlurmTeam) -> None:
    team.write_pipeline('[ "$VOLUME_ID" != bad-1 ] || exit 13', "quick")
    team.write_campaign("bad", 2, pipeline="quick")
    team.write_campaign("good", 2, pipeline="quick")
    team.write_campaign("later", 2, suspend=True)
    done = team.run("apply", ".", "--wait", "--format=json")
    found = json.loads(done.stdout)
    assert (done.code, found["exitCode"], found["wait"]["timedOut"]) == (1, 1, False)
    results = {each["name"]: each["result"] for each in found["wait"]["campaigns"]}
    assert results == {"bad": "failed", "good": "finished", "later": "paused"}
    # What had ended before is nothing that this apply did.
    team.apply()
    calls = team.lab.watch("squeue")
    done = team.apply("--wait")
    assert done.stdout.splitlines()[-1] == "waited: 1 paused"
    assert len(calls.read_text().splitlines()) == 2


def test_others_apply_meanwhile_and_what_they_cancel_is_gone(team: SlurmTeam) -> None:
    team.write_campaign("gone", 1)
    team.write_campaign("slow", 1)
    process, said = waiting(team)
    (team.repo / "campaigns/gone.yaml").unlink()
    assert "1 pruned" in team.apply("--prune").stdout
    go(team)
    done = end(process, said)
    assert done.code == 1
    assert "gone: campaign gone" in done.text
    assert done.text.splitlines()[-1] == "waited: 1 finished, 1 gone"


def test_a_hold_ends_it_when_what_runs_has_ended(team: SlurmTeam) -> None:
    team.write_campaign("slow", 2, window=1)
    process, said = waiting(team)
    # What runs cannot be held.
    assert team.run("hold", "slow", *CALL, "--instance=4").code == 1
    assert process.poll() is None
    go(team)
    done = end(process, said)
    assert done.code == 3
    assert "stopped: campaign slow" in done.text
    assert "hold 4 of tests" in done.text
    assert "git wants it to run, and it was stopped on the cluster" in done.text


def test_the_time_is_over_and_the_campaign_goes_on(team: SlurmTeam) -> None:
    team.write_campaign("slow", 1)
    calls = {name: team.lab.watch(name) for name in ("squeue", "scontrol", "sbatch", "scancel")}
    done = team.run("apply", ".", "--wait", "--timeout=12s")
    assert done.code == 1
    assert done.stdout.splitlines()[-1] == (
        "timed out after 12s: 1 not ended; what has not ended goes on in the cluster"
    )
    assert "not ended: campaign slow (campaigns/slow.yaml): Running, 0/1 done" in done.stderr
    # The apply looks twice, and the wait every 5 s at most; it calls nothing else.
    counted = {name: len(log.read_text().splitlines()) for name, log in calls.items()}
    assert counted["squeue"] <= 2 + 4
    assert (counted["scontrol"], counted["sbatch"], counted["scancel"]) == (1, 1, 0)
    assert team.running("slow") == 1


def test_ctrl_c_stops_no_campaign(team: SlurmTeam) -> None:
    team.write_campaign("slow", 1)
    process, said = waiting(team)
    process.send_signal(signal.SIGINT)
    done = end(process, said)
    assert done.code == 130
    assert "interrupted: the campaigns go on in the cluster" in done.text
    assert team.running("slow") == 1


def test_a_controller_that_is_away_for_a_while_does_not_end_it(team: SlurmTeam) -> None:
    slurm = {"directory": str(team.shared), "container": [], "command_timeout": 3}
    team.write_settings(slurm=slurm)
    team.write_campaign("slow", 1)
    process, said = waiting(team)
    team.lab.slurm.stop_controller()
    try:
        eventually(
            lambda: "waiting for Slurm: this machine's Slurm gave no answer" in said.read_text(),
            "its trouble",
            60,
        )
        go(team)
        assert process.poll() is None
    finally:
        team.lab.slurm.start_controller()
    done = end(process, said)
    assert done.code == 0
    assert "Slurm answers again" in done.text
    assert done.text.splitlines()[-1] == "waited: 1 finished"


def test_a_host_that_refuses_connections_for_a_while_does_not_end_it(
    team: SlurmTeam, slurm_host: SshHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{slurm_host.bin}:/usr/bin:/bin")
    team.host = "slurm-host"
    team.write_settings()
    team.write_campaign("slow", 1)
    process, said = waiting(team)
    slurm_host.stop()
    try:
        eventually(
            lambda: (
                "waiting for Slurm: the Slurm host slurm-host could not be reached"
                in said.read_text()
            ),
            "its trouble",
            60,
        )
        go(team)
    finally:
        slurm_host.start()
    done = end(process, said)
    assert done.code == 0
    assert "Slurm answers again" in done.text


def test_a_login_that_stays_refused_ends_it(
    team: SlurmTeam, slurm_host: SshHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As with a ticket or a key that has expired. The campaigns go on."""
    front = team.home / "ssh-front"
    front.mkdir()
    script = front / "ssh"
    refused = "root@slurm-host: Permission denied (publickey,gssapi-with-mic)."
    script.write_text(
        f'#!/bin/sh\nif [ -e {team.home}/expired ]; then echo "{refused}" >&2; exit 255; fi\n'
        f'exec {slurm_host.bin}/ssh "$@"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{front}:{slurm_host.bin}:/usr/bin:/bin")
    team.host = "slurm-host"
    team.write_settings()
    team.write_campaign("slow", 1)
    process, said = waiting(team)
    (team.home / "expired").touch()
    done = end(process, said)
    assert done.code == 1
    assert done.text.splitlines()[-1] == (
        f"error: the Slurm host slurm-host could not be reached: {refused}"
    )
    monkeypatch.setenv("PATH", team.lab.path)
    assert team.running("slow") == 1
