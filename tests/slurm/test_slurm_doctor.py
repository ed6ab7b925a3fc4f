"""`campaigns doctor` on a real Slurm: one that is fit, and what can be wrong with one."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from localslurm import Options, Slurm, SshHost
from slurm.lab import Lab, eventually, lab_on
from slurm.slurm_team import SlurmTeam

from converter.doctor.slurm.host import SYSTEM_TOOLS

FRESH = {"shared": "unknown", "scontrol-on-nodes": "unknown"}
# All that runs here runs as root, which doctor does not like, and outside git.
HERE = {"excess": "warning", "history": "warning"}


@pytest.fixture
def team(lab: Lab, tmp_path: Path) -> SlurmTeam:
    return team_of(lab, tmp_path)


def team_of(lab: Lab, home: Path) -> SlurmTeam:
    made = SlurmTeam(lab, home)
    made.write_settings()
    made.write_pipeline()
    made.write_campaign("letters", 2)
    return made


def findings(team: SlurmTeam, *arguments: str) -> list[dict[str, str]]:
    done = team.run("doctor", ".", "--format=json", *arguments)
    assert done.stderr == ""
    document = json.loads(done.stdout)
    assert document["exitCode"] == done.code
    found: list[dict[str, str]] = document["findings"]
    assert all(bool(each["remedy"]) is (each["status"] != "ok") for each in found)
    return found


def bad(found: list[dict[str, str]]) -> dict[str, str]:
    """The worst status of each check that is not ok, without what is so of every test here."""
    worst: dict[str, str] = {}
    for each in found:
        if each["status"] != "ok" and HERE.get(each["check"]) != each["status"]:
            kept = worst.get(each["check"], "unknown")
            order = ("unknown", "warning", "fault")
            worst[each["check"]] = max(kept, each["status"], key=order.index)
    return worst


def told(found: list[dict[str, str]], check: str) -> str:
    lines = [
        f"{each['found']} -> {each['remedy']}"
        for each in found
        if each["check"] == check and each["status"] != "ok"
    ]
    return "\n".join(lines)


def said(found: list[dict[str, str]], check: str) -> str:
    return "\n".join(each["found"] for each in found if each["check"] == check)


# A Slurm that is fit.


def listing(directory: Path) -> dict[str, tuple[int, int, bytes]]:
    """Everything below a directory, with its times and content."""
    return {
        str(path): (
            path.stat().st_mtime_ns,
            path.stat().st_ino,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in (directory, *directory.rglob("*"))
    }


def test_a_fit_slurm_of_which_nothing_is_changed(team: SlurmTeam) -> None:
    team.write_pipeline('[ "$VOLUME_ID$INDEX_FAILURE_COUNT" != letters-00 ]')
    git(team.repo, "init", "--quiet")
    git(team.repo, "add", ".")
    git(team.repo, "commit", "--quiet", "--message=one")
    team.apply()

    def has_ended() -> bool:
        team.lab.hasten(team.survey().jobs["letters"])
        return team.phases()["letters"] == "Finished"

    eventually(has_ended, "its end, at the second try", 60)
    calls = {name: team.lab.watch(name) for name in ("sbatch", "scontrol", "squeue", "scancel")}
    before = listing(team.shared), team.lab.slurm.jobs()
    found = findings(team)
    assert (listing(team.shared), team.lab.slurm.jobs()) == before
    assert bad(found) == {}
    assert team.run("doctor", ".").code == 0
    checks = {each["check"] for each in found}
    assert {"size", "submission", "commit", "scontrol-on-nodes", "array-size"} <= checks
    assert "is the same as the one here" in said(found, "commit")
    asked = {name: log.read_text().splitlines() for name, log in calls.items()}
    assert asked["scancel"] == []
    assert all(" --test-only " in line for line in asked["sbatch"])
    words = {line.split()[2].removeprefix("--") for line in asked["scontrol"]}
    assert words == {"ping", "show", "all", "oneliner"}
    assert all(line.startswith("UTC %s ") for each in asked.values() for line in each)


def git(directory: Path, *words: str) -> None:
    names = ("-c", "user.name=tests", "-c", "user.email=tests@example.org")
    subprocess.run(["git", *names, *words], cwd=directory, check=True)


def test_before_the_first_apply(team: SlurmTeam) -> None:
    found = findings(team)
    assert bad(found) == FRESH
    assert list(team.shared.iterdir()) == []
    assert team.run("doctor", ".").code == 0
    assert team.run("doctor", ".", "--strict").code == 1
    done = team.run("doctor", ".", "--only=queue", "--strict", "--kubeconfig=converter.yaml")
    assert done.code == 0
    assert "partition main is up" in done.stdout
    assert "Slurm host" not in done.stdout


@pytest.mark.parametrize(
    ("purpose", "absent"),
    [
        ("view", {"may-apply", "may-hold", "lock", "commit", "size", "submission", "space"}),
        ("hold", {"may-apply", "may-view", "lock", "commit", "size", "submission", "space"}),
        ("apply", {"may-view", "may-hold"}),
    ],
)
def test_what_it_is_for_decides_what_is_looked_at(
    purpose: str, absent: set[str], team: SlurmTeam
) -> None:
    calls = team.lab.watch("sbatch")
    found = findings(team, f"--for={purpose}")
    checks = {each["check"] for each in found}
    assert checks.isdisjoint(absent)
    assert {f"may-{purpose}", "reachable", "controller", "excess", "files"} <= checks
    assert bool(calls.read_text()) is (purpose == "apply")


def test_a_user_of_its_own_is_no_excess(team: SlurmTeam) -> None:
    team.lab.command("id", "case $1 in -u) echo 1234 ;; *) echo anna ;; esac")
    found = findings(team)
    assert "anna is neither root" in said(found, "excess")
    assert said(found, "reachable").startswith("this machine's Slurm answers: anna on ")


# What is wrong with converter.yaml.

SIZE = {"cpu": 1, "memory": "64Mi", "workdir": "16Mi", "gpu": 0}


@pytest.mark.parametrize(
    ("settings", "size", "expected", "words"),
    [
        (
            {"partition": "nowhere"},
            {},
            {"partition": "fault", "submission": "fault"},
            ("partition", "there is no partition nowhere", "Slurm has main"),
        ),
        (
            {},
            {"cpu": 3},
            {"size": "fault", "submission": "fault"},
            ("size", "the most that one gives is 2 CPUs, 1000 MiB and 2 GPUs"),
        ),
        (
            {},
            {"memory": "2000Mi"},
            {"size": "fault", "submission": "fault"},
            ("submission", "Requested node configuration is not available", "said of its size"),
        ),
        (
            {},
            {"gpu": 3},
            {"size": "fault", "submission": "fault"},
            ("size", "(1 CPU, 64 MiB, 3 GPUs) fits no node"),
        ),
        (
            {"flavors": {"fast": {"constraint": "h100"}}},
            {"flavor": "fast"},
            {"size": "fault", "submission": "fault"},
            ("submission", "Invalid feature specification", "slurm.flavors"),
        ),
        (
            {"priorities": {"urgent": {"qos": "high"}}},
            {},
            {"priority": "warning"},
            ("priority", "takes any name for nothing: priority urgent (QOS high)"),
        ),
        (
            {"max_array_size": 2000},
            {},
            {"array-size": "warning"},
            ("array-size", "MaxArraySize lets an array have 1001", "slurm.max_array_size: 1001"),
        ),
    ],
    ids=["partition", "cpu", "memory", "gpu", "constraint", "qos", "array size"],
)
def test_what_slurm_has_not(
    settings: dict[str, Any],
    size: dict[str, Any],
    expected: dict[str, str],
    words: tuple[str, ...],
    team: SlurmTeam,
) -> None:
    team.write_settings(
        slurm={"directory": str(team.shared), "container": [], **settings},
        sizes={"page": {**SIZE, **size}},
        priority_classes=list(settings.get("priorities", ())),
    )
    found = findings(team)
    assert bad(found) == {**FRESH, **expected}
    check, *parts = words
    for part in parts:
        assert part in told(found, check)


def test_an_invalid_repository_keeps_nothing_else_from_being_checked(team: SlurmTeam) -> None:
    (team.repo / "campaigns/letters.yaml").write_text("pipeline: nothing\n")
    found = findings(team)
    assert bad(found) == {**FRESH, "files": "fault"}
    assert "size page (1 CPU, 64 MiB) fits 4 nodes" in said(found, "size")


# What is wrong with the host.


def test_tools_that_are_not_there(
    team: SlurmTeam, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "path"
    path.mkdir()
    for name in {*SYSTEM_TOOLS, "sh", "git", "uname", "id", "df", "tail"} - {"flock"}:
        (path / name).symlink_to(shutil.which(name) or name)
    for name in ("sbatch", "squeue", "scontrol"):
        (path / name).symlink_to(team.lab.slurm.bin / name)
    monkeypatch.setenv("PATH", str(path))
    found = findings(team)
    assert bad(found) == {**FRESH, "tools": "fault", "locks": "fault"}
    assert "not there: scancel, flock" in told(found, "tools")
    assert "slurm.host" in told(found, "tools")

    (path / "scontrol").unlink()
    found = findings(team)
    assert "Slurm cannot be asked without scontrol" in told(found, "controller")
    assert bad(found)["tools"] == "fault"
    assert {each["check"] for each in found} >= {"locks", "files", "excess"}


def test_a_directory_that_is_not_there(team: SlurmTeam) -> None:
    team.shared.rmdir()
    found = findings(team)
    assert bad(found)["directory"] == "fault"
    assert "is not there" in told(found, "directory")
    assert not team.shared.exists()


def test_a_directory_that_is_a_file(team: SlurmTeam) -> None:
    team.shared.rmdir()
    team.shared.write_text("")
    found = findings(team)
    assert bad(found)["directory"] == "fault"
    assert "is no directory" in told(found, "directory")
    assert bad(found)["may-apply"] == "unknown"


@pytest.fixture
def shared_with_all() -> Iterator[Path]:
    """A directory that everybody may read, as those of pytest are not."""
    directory = Path(tempfile.mkdtemp(prefix="campaigns-doctor-"))
    directory.chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def test_a_user_that_may_not_write(team: SlurmTeam, shared_with_all: Path) -> None:
    team.write_settings(slurm={"directory": str(shared_with_all), "container": []})
    team.apply()
    as_nobody = "setpriv --reuid=nobody --regid=nogroup --clear-groups --"
    team.lab.command("sh", f'exec {as_nobody} /bin/sh "$@"')
    found = findings(team)
    assert bad(found)["may-apply"] == "warning"
    assert f"nobody may not write {shared_with_all}" in told(found, "may-apply")
    assert bad(findings(team, "--for=apply"))["may-apply"] == "fault"
    assert bad(findings(team, "--for=hold"))["may-hold"] == "fault"
    team.lab.plain()

    state = next(shared_with_all.glob("state/*/letters.json"))
    state.chmod(0o600)
    team.lab.command("sh", f'exec {as_nobody} /bin/sh "$@"')
    found = findings(team, "--for=view")
    assert bad(found)["may-view"] == "fault"
    assert str(state) in told(found, "may-view")


def test_a_clock_that_is_off(team: SlurmTeam) -> None:
    team.lab.command("date", 'exec /bin/date --date="10 minutes" "$@"')
    found = findings(team)
    assert bad(found) == {**FRESH, "clock": "warning", "controller-clock": "warning"}
    assert "s ahead of this machine's" in told(found, "clock")
    assert "so that what is released starts that much later" in told(found, "controller-clock")


def test_by_ssh(team: SlurmTeam, slurm_host: SshHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{slurm_host.bin}:/usr/bin:/bin")
    team.host = "slurm-host"
    team.write_settings()
    found = findings(team, "--probe-holds")
    assert bad(found) == FRESH
    assert "a job was held" in said(found, "holds")
    assert "agree to 30 s" in said(found, "clock")

    # What a login prints stands in front of every answer.
    shell = team.lab.slurm.bin / "sh"
    shell.write_text('#!/bin/sh\necho Welcome to the cluster\nexec /bin/sh "$@"\n')
    shell.chmod(0o755)
    try:
        found = findings(team)
        assert bad(found)["login"] == "fault"
        assert "prints 'Welcome to the cluster'" in told(found, "login")
        assert bad(found)["json"] == "fault"
        assert team.run("status", ".").code == 1
    finally:
        shell.unlink()

    slurm_host.stop()
    try:
        found = findings(team)
        assert bad(found) == {"reachable": "fault"}
        assert "the Slurm host slurm-host could not be reached" in told(found, "reachable")
        assert {each["group"] for each in found} == {"Slurm host", "Repository"}
    finally:
        slurm_host.start()


# What is wrong with Slurm.


def test_a_controller_that_is_away(team: SlurmTeam) -> None:
    team.lab.slurm.stop_controller()
    calls = team.lab.watch("scontrol")
    try:
        found = findings(team, "--probe-holds")
    finally:
        team.lab.slurm.start_controller()
    assert bad(found)["controller"] == "fault"
    assert "is DOWN" in told(found, "controller")
    assert bad(found)["holds"] == "unknown"
    # It is asked once, and not waited for by each check.
    assert len(calls.read_text().splitlines()) == 1
    assert {"locks", "lock", "files"} <= {each["check"] for each in found}


def test_a_squeue_that_prints_no_json(team: SlurmTeam) -> None:
    team.lab.command(
        "squeue",
        'case $* in *--json*) echo "squeue: error: no serializer" >&2; exit 1 ;; esac\n'
        'exec "$real" "$@"',
    )
    found = findings(team)
    assert bad(found)["json"] == "fault"
    assert "serializer/json" in told(found, "json")


LIMITED = """\
MaxJobCount=20
RequeueExit=13
PartitionName=short Nodes=n1 MaxTime=5
PartitionName=narrow Nodes=n1 MaxMemPerNode=100 MaxCPUsPerNode=1
PartitionName=closed Nodes=n1 State=DOWN
PartitionName=drained Nodes=n2 State=UP
"""


def test_limits_and_partitions(
    new_slurm: Callable[[Options], Slurm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scheduler = "max_array_tasks=5,batch_sched_delay=0,sched_interval=1"
    slurm = new_slurm(
        Options(nodes=2, cpus=2, max_array_size=10, scheduler=scheduler, extra=LIMITED)
    )
    slurm.set_node("n2", "DRAIN")
    team = team_of(lab_on(slurm, tmp_path, monkeypatch), tmp_path)
    flavors = {name: {"partition": name} for name in ("short", "narrow", "closed", "drained")}
    flavors["either"] = {"partition": "closed,main"}
    size = {**SIZE, "memory": "200Mi"}

    def settings(**others: Any) -> None:
        team.write_settings(
            slurm={"directory": str(team.shared), "container": [], "flavors": flavors},
            sizes={"page": SIZE, **{name: {**size, "flavor": name} for name in flavors}},
            max_seconds=600,
            **others,
        )

    settings()
    team.write_campaign("letters", 6)
    team.write_campaign("maps", 16)
    found = findings(team)
    assert bad(found) == {
        "shared": "unknown",
        "scontrol-on-nodes": "unknown",
        "array-size": "fault",
        "job-count": "warning",
        "requeue": "fault",
        "partition": "fault",
        "size": "fault",
        "time-limit": "fault",
        "submission": "fault",
    }
    assert "letters, maps would be refused" in told(found, "array-size")
    assert "max_array_tasks lets it have 5" in told(found, "array-size")
    assert "22 are to be submitted" in told(found, "job-count")
    assert "that end with 13 back to the queue" in told(found, "requeue")
    assert "partition closed is DOWN: it keeps jobs waiting" in told(found, "partition")
    assert "size narrow (1 CPU, 200 MiB) fits no node of partition narrow" in told(found, "size")
    assert "size drained (1 CPU, 200 MiB) fits only nodes of partition drained that are" in told(
        found, "size"
    )
    assert "fits 2 nodes of partition closed or main, 1 of them up" in said(found, "size")
    assert told(found, "time-limit").count("\n") == 0
    assert "size short may run 10 minutes, and partition short allows 5" in told(
        found, "time-limit"
    )
    # Slurm itself takes all others, and has them wait for ever: what is tried is not enough.
    assert told(found, "submission").count("\n") == 0
    assert "Slurm has no nodes for size drained" in told(found, "submission")

    # As doctor says, so it is: this Slurm takes no longer array, and no more jobs.
    team.write_campaign("maps", 2)
    done = team.apply(code=3)
    assert "Invalid job array specification" in done.text


def test_tasks_that_do_not_find_scontrol(
    new_slurm: Callable[[Options], Slurm], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slurm = new_slurm(Options(nodes=1, cpus=2, extra="TaskProlog=/bin/true"))
    team = team_of(lab_on(slurm, tmp_path, monkeypatch), tmp_path)
    team.write_pipeline("exit 1")
    team.apply()
    eventually(lambda: len(team.survey().results.get("letters", ())) == 2, "its end", 150)
    found = findings(team)
    assert bad(found) == {"scontrol-on-nodes": "fault"}
    assert "letters index 0, letters index 1" in told(found, "scontrol-on-nodes")
    assert "nodes see it" in said(found, "shared")


# What applies have left.


def test_an_apply_that_runs_and_one_that_was_killed(team: SlurmTeam) -> None:
    begun = team.home / "begun"
    team.lab.command(
        "sbatch",
        f'case $* in *--test-only*) exec "$real" "$@" ;; esac\ntouch {begun}\nsleep 8\nexit 1',
    )
    process = team.start("apply", ".")
    eventually(begun.exists, "sbatch")
    # It waits for the lock that the apply's command has, and disturbs nothing.
    found = findings(team)
    assert "an apply is running: " in said(found, "lock")
    assert bad(found).keys() <= FRESH.keys()
    team.kill(process)
    eventually(lambda: "no apply is running" in said(findings(team), "lock"), "its end")
    found = findings(team)
    assert bad(found)["submissions"] == "warning"
    assert "an apply ended before it let these run: letters" in told(found, "submissions")
    team.lab.plain()


def test_looking_keeps_no_apply_out(team: SlurmTeam) -> None:
    """A doctor has the lock of an apply only for a moment, which an apply waits out."""
    team.apply()
    real = shutil.which("flock")
    team.lab.command(
        "flock",
        f'case $* in *--shared*) exec {real} "$1" "$2" "$3" "$4" "$5" sleep 0.5 ;; esac\n'
        f'exec {real} "$@"',
    )
    doctor = team.start("doctor", ".", "--format=json")
    while doctor.poll() is None:
        team.apply()
    out, _ = doctor.communicate()
    assert doctor.returncode == 0, out


def test_a_state_that_cannot_be_read(team: SlurmTeam) -> None:
    team.apply()
    team.state_file("letters").write_text("{}\n")
    found = findings(team)
    assert bad(found)["state"] == "fault"
    assert "letters.json in " in told(found, "state")


def test_jobs_of_somebody_else(team: SlurmTeam) -> None:
    team.write_pipeline("sleep 300")
    team.apply()
    team.lab.command("id", "case $1 in -u) echo 1234 ;; *) echo anna ;; esac")
    found = findings(team)
    assert bad(found)["may-apply"] == bad(found)["may-hold"] == "warning"
    assert "jobs of this repository are those of root" in told(found, "may-hold")
    assert bad(findings(team, "--for=hold"))["may-hold"] == "fault"


# A hold, tried.

NAME = "campaigns-doctor-hold"


def probes(team: SlurmTeam) -> dict[int, str]:
    """The jobs of all probes, ended ones too, by number."""
    jobs = team.lab.slurm.jobs()
    return {job["job_id"]: job["job_state"] for job in jobs if job["name"] == NAME}


def new_probes(team: SlurmTeam, before: dict[int, str]) -> dict[int, str]:
    return {number: state for number, state in probes(team).items() if number not in before}


def probed(team: SlurmTeam) -> list[dict[str, str]]:
    return [each for each in findings(team, "--probe-holds") if each["check"] == "holds"]


def test_a_hold_is_tried_on_a_job_that_never_runs(team: SlurmTeam) -> None:
    before = probes(team)
    calls = team.lab.watch("scontrol")
    (found,) = probed(team)
    assert found["status"] == "ok", found
    updates = [line for line in calls.read_text().splitlines() if " update " in line]
    assert len(updates) == 2
    assert " StartTime=now" in updates[1]
    ((number, state),) = new_probes(team, before).items()
    assert state == "CANCELLED"
    record = team.lab.slurm.ask("scontrol", "show", "job", "--oneliner", str(number))
    assert " StartTime=Unknown" in record or " RunTime=00:00:00" in record
    assert " BatchHost=" not in record


@pytest.mark.parametrize(
    ("command", "script", "status", "words"),
    [
        (
            "sbatch",
            'for w; do shift; [ "$w" = --hold ] || set -- "$@" "$w"; done\nexec "$real" "$@"',
            "fault",
            "its gate is not shut",
        ),
        (
            "scontrol",
            'case $1 in update) exit 0 ;; esac\nexec "$real" "$@"',
            "fault",
            "holds do not work on this Slurm",
        ),
        (
            "scontrol",
            'case $1 in update) echo "update not permitted" >&2; exit 1 ;; esac\nexec "$real" "$@"',
            "fault",
            "Slurm refuses: update not permitted",
        ),
        (
            "scontrol",
            'case $1 in update) "$real" update "$2" StartTime=2100-01-01T00:00:00 ;; esac\n'
            'exec "$real" "$@"',
            "ok",
            "a job was held",
        ),
        (
            "scontrol",
            'case $1 in update) "$real" "$@"; exec "$real" update "$2" StartTime=now ;; esac\n'
            'exec "$real" "$@"',
            "fault",
            "holds do not work on this Slurm",
        ),
        (
            "sbatch",
            'case $* in *--test-only*) exec "$real" "$@" ;; esac\n'
            'number=$("$real" "$@") && scontrol hold "$number" && echo "$number"',
            "ok",
            "its gate still shut",
        ),
        (
            "sbatch",
            'case $* in *--test-only*) exec "$real" "$@" ;; esac\necho "no entry" >&2; exit 1',
            "unknown",
            "for want of a job to hold: no entry",
        ),
    ],
    ids=[
        "no gate",
        "dropped",
        "refused",
        "rewritten before",
        "lifted at once",
        "held by an operator",
        "not submitted",
    ],
)
def test_a_hold_that_somebody_meddles_with(
    command: str, script: str, status: str, words: str, team: SlurmTeam
) -> None:
    before = probes(team)
    team.lab.command(command, script)
    (found,) = probed(team)
    assert (found["status"], words in found["found"]) == (status, True), found
    eventually(
        lambda: set(new_probes(team, before).values()) <= {"CANCELLED", "COMPLETED"}, "its end"
    )


def test_a_hold_of_somebody_else_on_it_is_told(team: SlurmTeam) -> None:
    """It is held under a newer number while it is tried, which wins."""
    submit = (
        'case $* in *--test-only*) exec "$real" "$@" ;; esac\n'
        'number=$("$real" "$@") || exit\n'
        'at=$(scontrol show job --oneliner "$number" | sed "s/.*SubmitTime=\\([0-9]*\\).*/\\1/")\n'
        'scontrol update "JobId=$number" "StartTime=uts$((at + 315576005))"\necho "$number"'
    )
    team.lab.command("sbatch", submit)
    (found,) = probed(team)
    assert found["status"] == "unknown"
    assert "hold 5 is in force" in found["found"]
    assert "RUNNING" not in probes(team).values()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_it_leaves_no_job(how: signal.Signals, team: SlurmTeam) -> None:
    before = probes(team)
    begun = team.home / "begun"
    team.lab.command(
        "scontrol",
        f'case $1 in update) touch {begun}; sleep 1 ;; esac\nexec "$real" "$@"',
    )
    process = team.start("doctor", ".", "--probe-holds")
    eventually(begun.exists, "the hold")
    assert set(new_probes(team, before).values()) == {"PENDING"}
    process.send_signal(how)
    out, err = process.communicate(timeout=60)
    assert "Traceback" not in err
    assert process.returncode == (-how if how == signal.SIGKILL else 128 + how), out + err
    eventually(lambda: set(new_probes(team, before).values()) == {"CANCELLED"}, "its end")


def test_what_a_killed_doctor_left_is_cancelled_first(team: SlurmTeam) -> None:
    before = probes(team)
    begun = team.home / "begun"
    team.lab.command(
        "scontrol",
        f'case $1 in update) touch {begun}; exec sleep 60 ;; esac\nexec "$real" "$@"',
    )
    team.lab.command("scancel", "exit 1")
    process = team.start("doctor", ".", "--probe-holds")
    eventually(begun.exists, "the hold")
    team.kill(process)
    # A job of the name that is somebody else's is left alone.
    other = team.lab.gated(f"--job-name={NAME}")
    subprocess.run(["fuser", "--kill", str(team.shared / "lock")], check=False)
    team.lab.plain()
    (left,) = [n for n, state in new_probes(team, before).items() if n != other]
    assert team.lab.state(left) == "PENDING"
    (found,) = probed(team)
    assert found["status"] == "ok", found
    states = new_probes(team, before)
    assert states.pop(other) == "PENDING"
    assert states[left] == "CANCELLED"
    assert set(states.values()) == {"CANCELLED"}


def test_a_job_that_cannot_be_cancelled_is_told(team: SlurmTeam) -> None:
    team.lab.command("scancel", 'echo "not today" >&2; exit 1')
    found = probed(team)
    assert [each["status"] for each in found] == ["ok", "warning"]
    assert "was not cancelled: not today" in found[1]["found"]
    assert f"scancel --name={NAME}" in found[1]["remedy"]
