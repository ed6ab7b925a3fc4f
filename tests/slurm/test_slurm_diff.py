"""`campaigns diff` on a real Slurm: each kind of edit is shown and nothing else, and nothing is
written."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

import pytest
from localslurm import SshHost
from slurm.lab import Lab, eventually
from slurm.slurm_team import SlurmTeam

from converter.slurm.host import Host
from converter.slurm.session import locked
from converter.slurm.state import Step

SLOW = "sleep 300"
WRITERS = ("scontrol", "sbatch", "scancel")
CREATE = "create: Array/{}"
PAUSE = "pause: Array/{}: it is submitted paused, and no task of it starts"
RESUME = "resume: Array/{}: what waits may start"
OPENED = "resume: Array/{}: its gate was shut and is opened: what waits may start"


@pytest.fixture
def team(lab: Lab, tmp_path: Path) -> SlurmTeam:
    made = SlurmTeam(lab, tmp_path)
    made.write_settings()
    # A task looks for a pause before it begins its command.
    made.write_pipeline(f"touch {tmp_path}/begun.$VOLUME_ID; {SLOW}")
    return made


def begun(team: SlurmTeam, name: str, number: int) -> None:
    """Wait until so many tasks are in the middle of their command."""
    eventually(lambda: len(list(team.home.glob(f"begun.{name}-*"))) == number, f"{name} runs")


def everything(team: SlurmTeam) -> dict[str, tuple[int, bytes]]:
    """All that is in the directory on the Slurm host but for what tasks write, and when it was
    written."""
    return {
        str(path): (path.stat().st_mtime_ns, path.read_bytes() if path.is_file() else b"")
        for path in team.shared.rglob("*")
        if path.parent.name not in ("logs", "results", "failures")
        and path.name not in ("logs", "results", "failures")
    }


def document(team: SlurmTeam, *options: str) -> dict[str, Any]:
    """What diff says as JSON, of a run that asked once and wrote nothing."""
    calls = {name: team.lab.watch(name) for name in (*WRITERS, "squeue")}
    before = everything(team)
    done = team.run("diff", ".", "--format=json", *options)
    assert everything(team) == before
    asked = {name: len(log.read_text().splitlines()) for name, log in calls.items()}
    assert asked == {**dict.fromkeys(WRITERS, 0), "squeue": 1}
    team.lab.plain()
    found: dict[str, Any] = json.loads(done.stdout)
    assert (done.code, found["error"]) == (found["exitCode"], None), done.text
    return found


def shown(team: SlurmTeam, *options: str) -> list[str]:
    """The changes in a line each; what has finished is none."""
    found = document(team, *options)
    lines = [
        ": ".join(filter(None, (each["action"], each["target"], each["detail"])))
        for each in found["changes"]
        if each["action"] != "finished"
    ]
    differs = [line for line in lines if not line.startswith(("note", "stays"))]
    assert found["exitCode"] == (2 if differs else 0)
    return lines


def applied(team: SlurmTeam, *options: str, code: int = 0) -> str:
    """Apply; then there is no difference."""
    done = team.apply(*options, code=code)
    assert [line for line in shown(team, *options) if not line.startswith("note")] == []
    return done.text


def test_each_edit_is_shown_and_nothing_else_and_after_an_apply_nothing(team: SlurmTeam) -> None:
    team.write_campaign("slow", 4, window=1)
    team.write_campaign("fresh", 2, suspend=True)
    assert shown(team) == [CREATE.format("fresh"), PAUSE.format("fresh"), CREATE.format("slow")]
    assert list(team.shared.iterdir()) == []
    applied(team)
    begun(team, "slow", 1)
    done = team.run("diff", ".")
    assert (done.code, done.stdout, done.stderr) == (0, "", "no differences\n")

    team.write_campaign("slow", 4, window=2)
    (change,) = document(team)["changes"]
    assert (change["action"], change["detail"]) == ("change", "window 1 -> 2")
    assert "\n---array=0-3%1\n+--array=0-3%2\n" in change["diff"]
    applied(team)
    begun(team, "slow", 2)

    team.write_campaign("slow", 4, window=2, suspend=True)
    paused = "pause: Array/slow: what waits does not start; 2 task(s) run to their end"
    assert shown(team) == [paused]
    applied(team)
    # More than one at a time.
    team.write_campaign("slow", 4, window=1)
    team.write_campaign("fresh", 2)
    assert shown(team) == [
        RESUME.format("fresh"),
        "change: Array/slow: window 2 -> 1",
        RESUME.format("slow"),
    ]
    assert "2 resumed" in applied(team)
    begun(team, "fresh", 2)

    team.write_pipeline("sleep 299", "other")
    volumes = ["fresh-0", "fresh-1"]
    longer = [*volumes, "fresh-2"]
    edits: list[tuple[dict[str, Any], str]] = [
        ({"volumes": longer}, "its list of volumes differs"),
        ({"volumes": longer, "suspend": True}, "its list of volumes differs"),
        ({"pipeline": "other"}, "its pipeline was work and is now other"),
    ]
    for keys, said in edits:
        team.write("campaigns/fresh.yaml", {"pipeline": "work", "volumes": volumes, **keys})
        held, *others = shown(team)
        assert held.startswith(f"held back: campaign fresh: {said}")
        assert [line.partition(":")[0] for line in others] == ["pause"] * bool(keys.get("suspend"))
    team.write_campaign("fresh", 2)
    team.write_settings(max_seconds=120)
    assert [line.partition(": its")[0] for line in shown(team)] == [
        "held back: campaign fresh",
        "held back: campaign slow",
    ]
    team.write_settings()
    assert shown(team) == []


def test_another_priority_of_a_live_campaign(team: SlurmTeam) -> None:
    slurm = {
        "directory": str(team.shared),
        "container": [],
        "priorities": {"low": {"nice": 100}, "lower": {"nice": 200}},
    }
    team.write_settings(slurm=slurm, priority_classes=["low", "lower"])
    team.write_campaign("one", priority="low")
    applied(team)
    team.write_campaign("one", priority="lower")
    (line,) = shown(team)
    assert line.startswith("held back: campaign one: its priority was low and is now lower")
    assert "its priority was low" in team.apply(code=3).stderr


def test_a_hold_and_what_git_has_no_more(team: SlurmTeam) -> None:
    team.write_campaign("slow", 3, window=1)
    team.write_campaign("kept", 1)
    applied(team)
    begun(team, "slow", 1)
    call = ("slow", ".", "--deadline=20s", "--by=tests")
    team.run("hold", *call, "--instance=3")
    (line,) = shown(team)
    assert line.startswith("note: Array/slow: stays stopped: hold 3 is in force")
    # A pause beside it, and a resume.
    team.write_campaign("slow", 3, window=1, suspend=True)
    assert len(shown(team)) == 1
    applied(team)
    team.write_campaign("slow", 3, window=1)
    (line,) = shown(team)
    assert "git's pause is lifted, and it stays stopped: hold 3 is in force" in line
    applied(team)

    (team.repo / "campaigns/slow.yaml").unlink()
    (line,) = shown(team)
    assert line.startswith("stays: campaign slow: still on the cluster though not in git; hold 3")
    (line,) = shown(team, "--prune")
    assert line.startswith("held back: campaign slow: its file is gone, and hold 3 is in force")
    (line,) = shown(team, "--prune", "--release-holds")
    assert line.startswith("prune: Array/slow: is released with it, though hold 3 is in force")
    assert "released with it, though hold 3" in applied(team, "--prune", "--release-holds")

    # Slurm remembers it for some minutes, and that is nothing to cancel again.
    eventually(lambda: not team.running("slow"), "its end")
    assert team.survey().jobs["slow"]
    assert shown(team) == shown(team, "--prune") == []
    assert "0 pruned" in team.apply("--prune").stdout
    (number,) = team.arrays("slow")

    # The same file put back is a new campaign, and it starts.
    team.write_campaign("slow", 2)
    assert shown(team) == [CREATE.format("slow")]
    applied(team)
    assert len(team.arrays("slow") - {number}) == 1
    eventually(lambda: team.running("slow") == 2, "it runs")
    document(team, "--prune")

    (team.repo / "campaigns/slow.yaml").unlink()
    (team.repo / "campaigns/kept.yaml").unlink()
    refused, *pruned = shown(team, "--prune")
    assert refused.startswith("refused: prune: there is no campaign in the repository")
    assert pruned == ["prune: Array/kept", "prune: Array/slow"]


def test_what_an_apply_that_was_killed_has_left(team: SlurmTeam) -> None:
    """Between sbatch and its number; git pauses one of the two meanwhile."""
    submitted = team.home / "submitted"
    for name in ("runs", "stops"):
        team.lab.command("sbatch", f'"$real" "$@"; touch {submitted}; sleep 5')
        team.write_campaign(name, 2)
        process = team.start("apply", ".")
        eventually(submitted.exists, "sbatch")
        team.kill(process)
        submitted.unlink()
        team.lab.plain()
    numbers = {name: next(iter(team.arrays(name))) for name in ("runs", "stops")}
    assert team.survey().states["runs"].step is Step.SUBMITTING
    team.write_campaign("stops", 2, suspend=True)
    kept = "change: Array/{}: job {} is there, and its number is to be kept"
    assert shown(team) == [
        kept.format("runs", numbers["runs"]),
        OPENED.format("runs"),
        kept.format("stops", numbers["stops"]),
        "pause: Array/stops: what waits does not start",
    ]
    applied(team)
    eventually(lambda: team.running("runs") == 2, "it runs")
    assert team.phases() == {"runs": "Running", "stops": "Paused"}
    assert {name: team.arrays(name) for name in numbers} == {
        name: {number} for name, number in numbers.items()
    }


def test_a_gate_that_was_shut_by_hand(team: SlurmTeam) -> None:
    team.write_campaign("slow", 3, window=1)
    applied(team)
    begun(team, "slow", 1)
    (number,) = team.arrays("slow")
    team.lab.scontrol("uhold", str(number))
    eventually(lambda: any(job.gated for job in team.survey().jobs["slow"]), "its gate")
    assert shown(team) == [OPENED.format("slow")]
    assert "1 resumed" in applied(team)


def test_a_new_campaign_is_shown_with_its_files(team: SlurmTeam) -> None:
    team.write_campaign("slow", 2, window=2)
    done = team.run("diff", ".")
    assert done.code == 2
    lines = done.stdout.splitlines()
    assert lines[0] == "create: Array/slow"
    files = [line.rpartition("/")[2] for line in lines if line.startswith("+++ git/Array/slow/")]
    assert files[0] == "sbatch"
    assert "task.sh" not in files
    assert "+--array=0-1%2" in lines
    assert done.stderr == "differences: 1 to create\n"
    page = team.run("diff", ".", "--format=markdown").stdout
    assert "| Array/slow | create |  |" in page


def test_it_takes_no_lock_and_needs_none(team: SlurmTeam) -> None:
    team.write_campaign("slow")
    with locked(Host(), str(team.shared), "another", seconds=10):
        assert shown(team) == [CREATE.format("slow")]
    assert "1 applied" in team.apply().stdout


def test_a_controller_that_is_away_is_no_difference_and_no_equality(team: SlurmTeam) -> None:
    slurm = {"directory": str(team.shared), "container": [], "command_timeout": 3}
    team.write_settings(slurm=slurm)
    team.write_campaign("slow")
    team.lab.slurm.stop_controller()
    try:
        done = team.run("diff", ".", "--format=json")
        found = json.loads(done.stdout)
        assert (done.code, found["exitCode"], found["changes"]) == (1, 1, [])
        assert found["error"] in done.stderr
        assert len(done.stderr.splitlines()) == 1
    finally:
        team.lab.slurm.start_controller()


def test_by_ssh_it_is_one_connection(
    team: SlurmTeam, slurm_host: SshHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = team.home / "ssh.calls"
    front = team.home / "ssh-front"
    front.mkdir()
    script = front / "ssh"
    real = shlex.quote(str(slurm_host.bin / "ssh"))
    script.write_text(f'#!/bin/sh\necho call >> {shlex.quote(str(calls))}\nexec {real} "$@"\n')
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{front}:{slurm_host.bin}:/usr/bin:/bin")
    team.host = "slurm-host"
    team.write_settings()
    team.write_campaign("one", 2)
    assert "1 applied" in team.apply().stdout
    team.write_campaign("one", 2, suspend=True)
    calls.unlink()
    done = team.run("diff", ".")
    assert done.code == 2
    assert done.stdout.startswith("pause: Array/one: what waits does not start")
    assert calls.read_text() == "call\n"
