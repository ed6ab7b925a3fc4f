"""What the commands say of a hold, and that Slurm does just that."""

from __future__ import annotations

import json
from typing import Any

import pytest
from cluster.team import Done
from slurm.lab import eventually
from slurm.slurm_team import SlurmTeam

# The first three have ended when two of the others run.
SOME_END = '[ "$JOB_COMPLETION_INDEX" -lt 3 ] || sleep 300'


@pytest.fixture
def scans(team: SlurmTeam) -> int:
    """A campaign of which 3 tasks have ended, 2 run and 3 wait; gives its number."""
    team.write_pipeline(SOME_END)
    team.write_campaign("scans", 8, window=2)
    team.apply()
    eventually(
        lambda: (
            [team.states("scans").get(n) for n in (2, 3, 4, 5)]
            == ["COMPLETED", "RUNNING", "RUNNING", "PENDING"]
        ),
        "the first of them",
    )
    return team.survey().states["scans"].job


def call(team: SlurmTeam, action: str, instance: int = 5, *options: str) -> Done:
    return team.run(
        action, "scans", ".", "--deadline=30s", "--by=tests", f"--instance={instance}", *options
    )


def held(team: SlurmTeam) -> dict[str, str]:
    """Whether each hold is enforced, by its target."""
    listed: dict[str, Any] = json.loads(team.run("holds", ".", "--format=json").stdout)
    return {each["target"]: each["enforced"] for each in listed["holds"]}


def pause(team: SlurmTeam, *, suspend: bool) -> None:
    team.write_campaign("scans", 8, window=2, **({"suspend": True} if suspend else {}))


def test_what_has_ended_is_one_line_and_what_runs_is_named(team: SlurmTeam, scans: int) -> None:
    looks = team.lab.watch("squeue")
    done = call(team, "hold")
    assert done.code == 1
    assert done.stdout.splitlines() == [
        f"ended: 3 tasks of job/{scans}: there is nothing to hold",
        f"held: job/{scans}_[5-7]: hold 5",
    ]
    *errors, note = done.stderr.splitlines()
    assert errors == [
        f"error: job/{scans}_{n}: it runs, and only what is pending can be held: it goes on to its "
        f"end, unless `scancel {scans}_{n}` ends it"
        for n in (3, 4)
    ]
    assert note.startswith("note: what waits is held, and 2 task(s) run on")
    # All of it, before and after, and what is held, before and after: none for what cannot be.
    assert len(looks.read_text().splitlines()) == 4
    team.lab.plain()

    document = json.loads(call(team, "hold", 5, "--format=json").stdout)
    parts = {part["target"].partition("_")[2]: part for part in document["parts"]}
    assert {task: (part["ended"], part["runs"]) for task, part in parts.items()} == {
        **dict.fromkeys(("0", "1", "2"), (True, False)),
        **dict.fromkeys(("3", "4"), (False, True)),
        "[5-7]": (False, False),
    }
    assert parts["[5-7]"]["outcome"] == "already"

    # Of the campaign, which it is said to stop, something runs; then nothing does.
    assert held(team) == {f"job/{scans}_[5-7]": "partly"}
    (line,) = team.run("holds", ".").stdout.splitlines()[1:]
    assert "campaign scans  partly" in line
    team.lab.slurm.ask("scancel", f"{scans}_[3-4]")
    eventually(lambda: held(team) == {f"job/{scans}_[5-7]": "yes"}, "nothing of it runs")
    assert team.running("scans") == 0

    done = call(team, "release")
    assert (done.code, done.stderr) == (0, "")
    assert done.stdout.splitlines() == [
        f"ended: 5 tasks of job/{scans}: there is nothing to release",
        f"released: job/{scans}_[5-7]: hold 5; it is queued again",
    ]
    eventually(lambda: team.running("scans") == 2, "what waited runs")


def test_a_task_that_comes_back_to_the_queue_is_held_by_the_same_hold_again(
    team: SlurmTeam, scans: int
) -> None:
    call(team, "hold")
    team.lab.slurm.ask("scancel", f"{scans}_4")
    team.lab.scontrol("requeue", f"{scans}_3")
    eventually(lambda: team.states("scans")[3] == "PENDING", "it waits again")
    assert held(team) == {f"job/{scans}_[5-7]": "partly"}
    eventually(lambda: 4 not in team.states("scans"), "the end of the other")
    done = call(team, "hold")
    assert (done.code, done.stderr) == (0, "")
    assert f"held: job/{scans}_3: hold 5" in done.stdout.splitlines()
    assert f"already held: job/{scans}_[5-7]: hold 5" in done.stdout.splitlines()
    assert held(team) == {f"job/{scans}_3": "yes", f"job/{scans}_[5-7]": "yes"}


def test_what_comes_back_while_the_rest_is_being_held_is_held_too(
    team: SlurmTeam, scans: int
) -> None:
    # Between the look at all of it and the write, and a task of the rest starts in its place.
    pending = f"{team.lab.slurm.bin}/squeue -h -j {scans}_3 -o %T"
    script = f"""[ "$1" != update ] || [ -e {team.home}/back ] || {{
        touch {team.home}/back; "$real" requeue {scans}_3
        until {pending} | grep -q PENDING; do sleep 0.2; done
    }}
    exec "$real" "$@\""""
    team.lab.command("scontrol", script)
    done = call(team, "hold")
    assert f"held: job/{scans}_3: hold 5" in done.stdout.splitlines()
    assert f"held: job/{scans}_[6-7]: hold 5" in done.stdout.splitlines()
    running = [line.partition(": it runs")[0] for line in done.stderr.splitlines()[:-1]]
    assert running == [f"error: job/{scans}_{n}" for n in (4, 5)]
    assert set(held(team)) == {f"job/{scans}_3", f"job/{scans}_[6-7]"}


def test_a_release_of_what_git_pauses_says_that_it_stays_paused(
    team: SlurmTeam, scans: int
) -> None:
    call(team, "hold")
    pause(team, suspend=True)
    team.apply()
    done = call(team, "release")
    assert done.code == 0
    assert done.stdout.splitlines() == [
        f"ended: 3 tasks of job/{scans}: there is nothing to release",
        f"running: 2 tasks of job/{scans}: there is nothing to release",
        f"released: job/{scans}_[5-7]: hold 5; git pauses it, so it stays stopped: take "
        "`suspend: true` out of its file and apply to have it run",
    ]
    assert team.run("diff", ".").code == 0
    team.lab.slurm.ask("scancel", f"{scans}_[3-4]")
    eventually(lambda: team.phases() == {"scans": "Paused"}, "nothing of it runs")
    pause(team, suspend=False)
    assert "resumed: Array/scans: what waits may start" in team.apply().stdout
    eventually(lambda: team.running("scans") == 2, "what waited runs")


def test_a_resume_under_a_hold_says_that_it_stays_stopped(team: SlurmTeam, scans: int) -> None:
    call(team, "hold", 5, "--reason=node a7 is lost")
    pause(team, suspend=True)
    team.apply()
    pause(team, suspend=False)
    words = "Array/scans: git's pause is lifted, and it stays stopped: hold 5 is in force (of tests"
    remedy = "`campaigns release scans --instance 5 --deadline 30s` lifts it"
    shown = team.run("diff", ".")
    assert shown.code == 2
    (line,) = [each for each in shown.stdout.splitlines() if "Array/scans" in each]
    assert line.startswith(f"change: {words}")
    assert line.endswith(remedy)
    done = team.apply()
    (told,) = [each for each in done.text.splitlines() if "Array/scans" in each]
    assert told == line.replace("change: ", "configured: ")
    assert "1 applied" in done.stdout
    assert "resumed" not in done.stdout.replace("0 resumed", "")
    # Once it is lifted nothing is left to change.
    shown = team.run("diff", ".")
    assert shown.code == 0
    assert "note: Array/scans: stays stopped: hold 5 is in force" in shown.stderr
    assert "; it is queued again" in call(team, "release").stdout


def test_one_is_gits_own_number(team: SlurmTeam, scans: int) -> None:
    done = call(team, "hold", 1)
    assert done.code == 2
    assert "is git's own pause: write a number from 2 to 4294967295" in done.stderr
    assert held(team) == {}
    assert team.run("hold", f"{scans}_7", ".", "--deadline=30s", "--instance=2").code == 0
    assert held(team) == {f"job/{scans}_7": "partly"}
