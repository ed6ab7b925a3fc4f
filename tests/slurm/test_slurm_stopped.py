"""What an apply that was stopped, or that Slurm keeps waiting, leaves for the next one."""

from __future__ import annotations

import os
import shutil
import signal
from dataclasses import replace
from pathlib import Path

from slurm.lab import eventually
from slurm.slurm_team import COMMAND, SlurmTeam

from converter.slurm.comment import comment_of, written


def begun(team: SlurmTeam) -> Path:
    """A campaign with a task that runs; gives the mark that keeps its tasks from beginning."""
    team.write_campaign("letters", 3, pipeline="slow", window=1)
    team.apply()
    eventually(team.at_work.exists, "one task")
    return team.directory("letters") / "paused"


def test_a_pause_that_was_stopped_and_taken_back_keeps_no_task_from_beginning(
    team: SlurmTeam,
) -> None:
    """It had put the mark, and nothing else: each task would go back to its gate."""
    mark = begun(team)
    mark.touch()
    assert "resume: Array/letters: what waits may start" in team.run("diff", ".").stdout
    assert "1 resumed" in team.apply().stdout
    assert not mark.exists()
    assert team.run("diff", ".").code == 0


def test_a_resume_that_was_stopped_and_taken_back_is_no_pause(team: SlurmTeam) -> None:
    """It had taken the mark away: a task that fails would be queued again, and begin."""
    mark = begun(team)
    team.write_campaign("letters", 3, pipeline="slow", window=1, suspend=True)
    team.apply()
    mark.unlink()
    assert "what waits may start" in team.status()["letters"]["detail"]
    assert "1 paused" in team.apply().stdout
    assert mark.exists()
    assert team.run("diff", ".").code == 0


def test_git_pauses_what_an_operator_holds_for_the_release_too(team: SlurmTeam) -> None:
    begun(team)
    call = ("letters", ".", "--deadline=20s", "--by=tests", "--instance=5")
    team.run("hold", *call)
    team.write_campaign("letters", 3, pipeline="slow", window=1, suspend=True)
    team.apply()
    # As a resume that was stopped half-way has left it.
    (job,) = [job for job in team.survey().jobs["letters"] if job.state == "PENDING"]
    comment = comment_of(job.comment)
    assert comment is not None
    assert comment.paused
    left = written(replace(comment, paused=False))
    team.lab.scontrol("update", f"JobId={job.address}", f"Comment={left}")
    assert "1 paused" in team.apply().stdout
    team.run("release", *call)
    assert team.states("letters")[1] == "PENDING"
    assert team.phases()["letters"] == "Pausing"


def test_a_submission_that_slurm_keeps_waiting_keeps_nothing_else(team: SlurmTeam) -> None:
    """As where it has no room for more jobs: the prune that makes room must not wait for it."""
    team.write_settings(
        slurm={"directory": str(team.shared), "container": [], "command_timeout": 3}
    )
    begun(team)
    team.lab.command("sbatch", "sleep 60")
    (team.repo / "campaigns/letters.yaml").unlink()
    for name in ("new", "other"):
        team.write_campaign(name)
    done = team.apply("--prune", code=1)
    assert "so that it is not known whether it was submitted" in done.stderr
    assert "not submitted, since Slurm took no submission in time" in done.stderr
    assert "1 pruned" in done.stdout
    eventually(lambda: team.running("letters") == 0, "the end of what git has no more")
    team.lab.plain()
    # One may be on its way still; of the other nothing was sent.
    done = team.apply(code=3)
    assert "held back: campaign new" in done.stderr
    assert "1 applied" in done.stdout


def test_results_that_cannot_be_read_are_not_none(team: SlurmTeam) -> None:
    begun(team)
    team.lab.command("grep", "echo 'grep: letters/results/0: Stale file handle' >&2; exit 2")
    for command in ("apply", "status"):
        done = team.run(command, ".")
        assert done.code == 1
        assert "Stale file handle" in done.stderr


def test_a_hold_does_not_make_the_directory(team: SlurmTeam) -> None:
    begun(team)
    number = team.survey().states["letters"].job
    shutil.rmtree(team.shared)
    done = team.run("hold", str(number), ".", "--deadline=20s", "--by=tests", "--instance=5")
    assert done.code == 1
    assert "is not there: mount its file system" in done.stderr
    assert not team.shared.exists()


def test_a_task_that_sees_the_mark_as_it_is_taken_away_does_not_stay_at_its_gate(
    team: SlurmTeam,
) -> None:
    mark = begun(team)
    number = team.survey().states["letters"].job
    team.write_campaign("letters", 3, pipeline="slow", window=1, suspend=True)
    team.apply()
    team.write_campaign("letters", 3, pipeline="slow", window=1)
    # As a task does that looked before.
    team.lab.command(
        "sh",
        f"""/bin/sh "$@"
        code=$?
        case "$*" in *" rm -f {mark}"*) {team.lab.slurm.bin}/scontrol requeuehold {number}_0 ;; esac
        exit $code""",
    )
    assert "1 resumed" in team.apply().stdout
    assert not [job for job in team.lab.records(number) if job.gated]
    assert team.run("diff", ".").code == 0


def test_the_pause_of_an_apply_that_lost_its_lock_is_not_carried_out(team: SlurmTeam) -> None:
    """The later one has had the campaign resumed, and nobody would look at it again."""
    begun(team)
    late = team.home / "late"
    release = team.home / "release"
    # What is sent to be written arrives as late as this test wants it.
    wait = f"touch {late}; until [ -e {release} ]; do sleep 0.1; done"
    team.lab.command(
        "sh",
        f'''case "$*" in
            *update.sh*) {wait} ;;
            *lock.sh*) echo $$ > {team.home}/lock.pid ;;
        esac
        exec /bin/sh "$@"''',
    )
    team.write_campaign("letters", 3, pipeline="slow", window=1, suspend=True)
    first = team.start("apply", ".")
    eventually(late.exists, "the hold is on its way")
    os.kill(int((team.home / "lock.pid").read_text()), signal.SIGTERM)
    team.lab.plain()
    team.write_campaign("letters", 3, pipeline="slow", window=1)
    team.apply()
    release.touch()
    _, complaint = first.communicate(timeout=60)
    assert first.returncode == 1
    assert "another apply has begun since" in complaint
    assert team.phases()["letters"] == "Running"
    assert team.run("diff", ".").code == 0


def test_a_hold_that_comes_while_apply_is_at_other_campaigns_keeps_from_a_prune(
    team: SlurmTeam,
) -> None:
    begun(team)
    (team.repo / "campaigns/letters.yaml").unlink()
    team.write_campaign("new")
    # Before the submission of the other one has the lock of all who write.
    hold = f"{COMMAND} hold letters {team.repo} --deadline=20s --by=tests --instance=5"
    team.lab.command(
        "sh", f'case "$*" in *" sbatch "*) {hold} > /dev/null ;; esac\nexec /bin/sh "$@"'
    )
    done = team.apply("--prune", code=3)
    assert "1 applied" in done.stdout
    assert "and hold 5 is in force" in done.stderr
    assert team.running("letters") == 1
    assert "PENDING" in team.states("letters").values()


def test_what_slurm_has_refused_is_new(team: SlurmTeam) -> None:
    """Nothing is kept of it, so that it goes out at once when what was wrong is mended."""
    team.write_settings(
        slurm={
            "directory": str(team.shared),
            "container": [],
            "flavors": {"big": {"partition": "nowhere"}},
        },
        sizes={"page": {"cpu": 1, "memory": "64Mi", "workdir": "16Mi", "gpu": 0, "flavor": "big"}},
    )
    team.write_campaign("letters")
    assert "Invalid partition name specified" in team.apply(code=1).stderr
    assert team.phases() == {"letters": "Missing"}
    assert "create: Array/letters" in team.run("diff", ".").stdout
    team.write_settings()
    assert "1 applied" in team.apply().stdout


def test_a_submission_to_which_nobody_answered_may_be_on_its_way(team: SlurmTeam) -> None:
    refusal = "sbatch: error: Batch job submission failed: Socket timed out on send/recv operation"
    team.lab.command("sbatch", f"echo {refusal!r} >&2; exit 1")
    team.write_campaign("letters")
    assert "Socket timed out" in team.apply(code=1).stderr
    team.lab.plain()
    assert "which may still be on its way" in team.apply(code=3).stderr
