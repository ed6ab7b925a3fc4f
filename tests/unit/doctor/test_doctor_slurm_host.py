"""What is said of the host, its directory and who is let in there."""

from __future__ import annotations

from dataclasses import replace
from inspect import getsource
from typing import Any

import pytest
from unit.doctor.findings import holds
from unit.doctor.slurm_site import (
    CONFIG,
    DIRECTORY,
    FILES,
    HOST,
    NOW,
    ended,
    slurm,
    state,
    survey,
    task,
)

from converter.doctor.needs import Purpose
from converter.doctor.slurm.directory import (
    directory_finding,
    directory_findings,
    locks_finding,
    shared_finding,
    space_finding,
)
from converter.doctor.slurm.facts import Ended, HostFacts
from converter.doctor.slurm.host import SLURM_TOOLS, SYSTEM_TOOLS, host_findings, tools_finding
from converter.doctor.slurm.rights import excess_finding, rights_findings
from converter.reconcile.queue_chain import Unknown
from converter.reconcile.slurm import steps, submission
from converter.resources import task_script
from converter.slurm.host import LOCKED, _text_of
from converter.slurm.survey import Result, Survey

UNREAD = Unknown("no answer")


def statuses(host: HostFacts | Unknown) -> dict[str, str]:
    return {each.check: str(each.status) for each in host_findings(host)}


def test_a_fit_host() -> None:
    fit = {"reachable": "ok", "login": "ok", "tools": "ok", "clock": "ok"}
    assert statuses(HOST) == fit
    local = replace(HOST, by_ssh=False)
    assert statuses(local) == {"reachable": "ok", "tools": "ok"}
    assert statuses(UNREAD) == {"reachable": "fault"}


@pytest.mark.parametrize(
    ("change", "check", "status", "words"),
    [
        ({"noise": "Welcome"}, "login", "fault", "prints 'Welcome' before"),
        ({"noise": "Welcome", "by_ssh": False}, "login", "fault", "Welcome"),
        ({"missing": ("flock",)}, "tools", "fault", "util-linux (flock)"),
        ({"missing": ("squeue", "tar")}, "tools", "fault", "squeue, tar -> put Slurm's tools"),
        ({"skew": 30.0}, "clock", "ok", "agree to 30 s"),
        ({"skew": 31.0}, "clock", "warning", "31 s ahead of this machine's"),
        ({"skew": -4000.0}, "clock", "warning", "4000 s behind this machine's"),
    ],
)
def test_a_host_that_is_not(change: dict[str, Any], check: str, status: str, words: str) -> None:
    found = {each.check: each for each in host_findings(replace(HOST, **change))}
    holds(found[check], status, words)


def test_where_the_path_is_that_a_tool_is_missing_on() -> None:
    missing = replace(HOST, missing=("scontrol",))
    assert "of a login by ssh" in tools_finding(missing).remedy
    assert "of this shell" in tools_finding(replace(missing, by_ssh=False)).remedy


SCRIPTS = ("fenced", "lock", "save", "show", "survey", "unpack", "update")


def test_the_tools_are_those_that_the_scripts_run() -> None:
    text = "".join(_text_of(f"{name}.sh") for name in SCRIPTS) + task_script()
    text += getsource(steps) + getsource(submission)
    words = {word.strip("$()`\"';|&,") for word in text.replace("(", " ").split()}
    assert words.issuperset({*SLURM_TOOLS, *SYSTEM_TOOLS})


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({}, "ok", f"{DIRECTORY} is there"),
        ({"kind": "other"}, "fault", "is no directory"),
        ({"kind": "absent", "nearest": "/shared"}, "fault", "apply does not make it"),
    ],
)
def test_the_directory(change: dict[str, Any], status: str, words: str) -> None:
    holds(directory_finding(DIRECTORY, replace(FILES, **change)), status, words)
    holds(directory_finding(DIRECTORY, UNREAD), "unknown", "no answer")


def test_of_what_is_no_directory_nothing_else_is_said() -> None:
    def checks(kind: str) -> list[str]:
        files = replace(FILES, kind=kind)
        found = directory_findings(DIRECTORY, files, survey(), applies=True)
        return [each.check for each in found]

    assert checks("other") == ["directory"]
    assert checks("there") == ["directory", "locks", "space", "shared"]


@pytest.mark.parametrize(
    ("change", "status", "words"),
    [
        ({}, "ok", "locks work there (nfs4)"),
        ({"mount": ""}, "ok", "locks work there"),
        ({"lock": Ended(LOCKED)}, "warning", f"a call has the lock {DIRECTORY}/lock"),
        ({"lock": Ended(LOCKED), "applying": Ended(LOCKED)}, "ok", "an apply has one"),
        ({"lock": Ended(65, "Function not implemented")}, "fault", "Function not implemented"),
        ({"lock": Ended(127)}, "fault", "exit code 127"),
        ({"mount": "nfs   rw,nolock,vers=3"}, "warning", "(nfs) is mounted with nolock"),
        ({"mount": "nfs   rw,local_lock=all"}, "warning", "local_lock=all"),
        ({"mount": "nfs   rw,local_lock=none"}, "ok", "locks work"),
        ({"mount": "nfs   rw,local_lock=posix"}, "ok", "locks work"),
        ({"mount": "lustre rw,localflock"}, "warning", "localflock"),
        ({"mount": "lustre rw,flock,lazystatfs"}, "ok", "locks work there (lustre)"),
    ],
)
def test_locks(change: dict[str, Any], status: str, words: str) -> None:
    holds(locks_finding(DIRECTORY, replace(FILES, **change)), status, words)


@pytest.mark.parametrize(
    ("kib", "inodes", "status", "words"),
    [
        (2**20, None, "ok", "1.0 GiB are free"),
        (2**20 - 1, None, "warning", "1.0 GiB are free: tasks that cannot write"),
        (2**21, 9_999, "warning", "2.0 GiB and 9999 files are free"),
        (2**21, 10_000, "ok", "2.0 GiB"),
        (None, 10_000, "unknown", "could not be read"),
    ],
)
def test_space(kib: int | None, inodes: int | None, status: str, words: str) -> None:
    files = replace(FILES, free_kib=kib, free_inodes=inodes)
    holds(space_finding(DIRECTORY, files), status, words)


DONE = {0: Result(0, 1, "2026-12-01T15:00:00Z")}
FAILED = task(0, state="FAILED", exit_code=1)


@pytest.mark.parametrize(
    ("found", "status", "words"),
    [
        (UNREAD, "unknown", "no answer"),
        (survey(), "unknown", f"srun --ntasks=1 ls -d {DIRECTORY}"),
        (survey(states=(state(),)), "unknown", "no task of this repository"),
        (survey(results=DONE), "ok", "tasks have written"),
        (survey(states=(ended(),)), "ok", "tasks have written"),
        (survey(states=(ended(done=0),)), "unknown", "no task"),
        (survey(replace(FAILED, end=NOW - 60)), "warning", "without writing down how: 31_0"),
        # It may have had itself queued again, and come back.
        (survey(replace(FAILED, end=NOW - 59)), "unknown", "no task"),
        (survey(replace(FAILED, end=NOW - 90), results=DONE), "ok", "tasks have written"),
        (survey(replace(FAILED, end=NOW - 90), states=(ended(),)), "ok", "tasks have written"),
    ],
)
def test_whether_nodes_see_it(found: Survey | Unknown, status: str, words: str) -> None:
    holds(shared_finding(DIRECTORY, found), status, words)


MAY = {"may-view": "ok", "may-apply": "ok", "may-hold": "ok", "excess": "ok"}
OTHERS = survey(task(0, user="berta"), task(1, user="anna"))
LOCK = f"{DIRECTORY}/lock"


@pytest.mark.parametrize(
    ("files", "found", "without", "needed"),
    [
        ({}, survey(), MAY, {}),
        (
            {"unwritable": (DIRECTORY,), "unheld": DIRECTORY},
            survey(),
            {"may-apply": "warning", "may-hold": "warning"},
            {"may-apply": "fault", "may-hold": "fault"},
        ),
        (
            {"unwritable": (f"{DIRECTORY}/state",)},
            survey(),
            {"may-apply": "warning", "may-hold": "ok"},
            {"may-apply": "fault", "may-hold": "ok"},
        ),
        (
            {"unwritable": (LOCK,), "unheld": LOCK},
            survey(),
            {"may-apply": "warning", "may-hold": "warning"},
            {"may-apply": "fault", "may-hold": "fault"},
        ),
        (
            {},
            OTHERS,
            {"may-apply": "warning", "may-hold": "warning"},
            {"may-apply": "fault", "may-hold": "fault"},
        ),
        ({}, survey(task(0, user="berta", state="COMPLETED")), MAY, {}),
        (
            {"unreadable": (f"{DIRECTORY}/state/team/letters.json",)},
            survey(),
            {"may-view": "fault"},
            {"may-view": "fault"},
        ),
        (
            {"kind": "other"},
            survey(),
            {"may-view": "unknown", "may-apply": "unknown", "may-hold": "unknown"},
            {},
        ),
    ],
)
def test_rights(
    files: dict[str, Any], found: Survey, without: dict[str, str], needed: dict[str, str]
) -> None:
    def said(wish: Purpose | None) -> dict[str, str]:
        there = replace(FILES, **files)
        judged = rights_findings(HOST, there, slurm(), found, wish)
        return {each.check: str(each.status) for each in judged}

    assert said(None) == {**MAY, **without}
    for wish in Purpose:
        alone = said(wish)
        assert alone.keys() == {f"may-{wish}", "excess"}
        expected = {**MAY, **without, **needed}[f"may-{wish}"]
        assert alone[f"may-{wish}"] == expected


def test_a_plugin_may_refuse_a_hold() -> None:
    asked = slurm(config={**CONFIG, "JobSubmitPlugins": "lua"})
    for site, words in ((asked, "JobSubmitPlugins=lua"), (slurm(config=UNREAD), "not known")):
        found = rights_findings(HOST, FILES, site, survey(), Purpose.HOLD)
        holds(next(iter(found)), "unknown", words)


@pytest.mark.parametrize(
    ("host", "level", "status", "words"),
    [
        ({}, "", "ok", "anna is neither root"),
        ({}, "None", "ok", "anna"),
        ({}, "Operator", "warning", "anna is Operator"),
        ({"user": "root", "uid": 0}, "", "warning", "run as root on the nodes"),
        ({"user": "slurm", "uid": 64030}, "", "warning", "that Slurm itself runs as"),
        ({"user": "", "uid": None}, "", "ok", "neither"),
    ],
)
def test_excess(host: dict[str, Any], level: str, status: str, words: str) -> None:
    holds(excess_finding(replace(HOST, **host), slurm(admin_level=level)), status, words)
