"""`status`, `explain`, `report` and `doctor` with the viewer, and without one of its rights."""

from __future__ import annotations

import pytest
from chart.release import (
    RELEASE,
    UNREAD,
    URGENT,
    Released,
    campaign,
    needs,
    of,
    permission,
    pipeline,
    refusal_of,
)
from chart.rights import Done, Repository, run
from cluster.team import eventually

from converter.cluster.resources import JOBS
from converter.doctor.needs import Command, Need


@pytest.fixture(scope="module")
def viewed(released: Released) -> Repository:
    """A campaign that has the quota, with pods that no node takes, and one that waits for it."""
    repository = released.repository("v")
    pipeline(repository, "v-big", size="b")
    campaign(repository, "v-runs", "v-big")
    repository.applied()
    eventually(lambda: released.admitted("v-runs"), "Workload admitted")
    campaign(repository, "v-waits", "v-big", priority=URGENT)
    repository.applied()
    eventually(lambda: has_pods(released, "v-runs"), "a pod")
    eventually(lambda: released.workloads("v-waits"), "a Workload that waits")
    return Repository(repository.directory, released.kubeconfigs["viewer"])


def has_pods(released: Released, job: str) -> bool:
    status = released.administrator.get(JOBS, RELEASE, job).get("status") or {}
    return bool(status.get("active"))


def looks(viewed: Repository, command: Command, campaign: str) -> Done:
    """A command that looks at a campaign."""
    page = viewed.directory / "page.html"
    arguments = {
        Command.STATUS: (campaign,),
        Command.REPORT: (f"--out={page}",),
    }
    if command is Command.EXPLAIN:
        return run(viewed.kubeconfig, "explain", campaign, str(viewed.directory))
    done = viewed.run(command.value, *arguments[command])
    return Done(done.code, done.text + page.read_text()) if page.exists() else done


LOOKING = (Command.STATUS, Command.EXPLAIN, Command.REPORT)


@pytest.mark.parametrize("need", needs(Command.STATUS), ids=of)
def test_looking_without_a_right_that_it_needs(
    need: Need, released: Released, viewed: Repository
) -> None:
    assert all(need in needs(command) for command in LOOKING)
    with released.account("viewer").without(permission(need)):
        for command in LOOKING:
            done = looks(viewed, command, "v-runs")
            assert done.code == 1, done.text
            assert refusal_of(need) in done.text, done.text


def test_looking_with_the_viewer_alone(released: Released, viewed: Repository) -> None:
    for command in LOOKING:
        for campaign_name in ("v-runs", "v-waits"):
            done = looks(viewed, command, campaign_name)
            assert done.code == 0, done.text
            assert "not permitted" not in done.text
            assert "forbidden" not in done.text


@pytest.mark.parametrize(
    "need", [need for need in needs(Command.STATUS, helping=True) if need.verb != "watch"], ids=of
)
def test_looking_without_a_right_that_helps(
    need: Need, released: Released, viewed: Repository
) -> None:
    about = "v-runs" if need.resource in ("pods", "events") else "v-waits"
    with released.account("viewer").without(permission(need)):
        for command in LOOKING:
            assert need in needs(command, helping=True)
            done = looks(viewed, command, about)
            assert done.code == 0, done.text
            assert UNREAD[need.resource] in done.text, f"{command}: {done.text}"


@pytest.mark.parametrize("need", needs(Command.DOCTOR, helping=True), ids=of)
def test_doctor_without_a_right_that_helps(
    need: Need, released: Released, viewed: Repository
) -> None:
    with released.account("viewer").without(permission(need)):
        done = viewed.run("doctor", "--for=view")
    line = next(line for line in done.text.splitlines() if "`campaigns doctor`" in line)
    assert "can be run, and tells less without: " in line
    _, resource, name, verb = permission(need)
    assert f"{verb} {resource}" in line
    assert name in ("*", *line.split())


@pytest.mark.parametrize(
    "need", [need for need in needs(Command.APPLY, helping=True) if need.verb == "watch"], ids=of
)
def test_following_without_a_watch_asks_again_and_again(need: Need, released: Released) -> None:
    name = f"w-{need.resource}"
    repository = released.repository(name)
    campaign(repository, f"{name}-one", name, suspend=True)
    for identity, arguments in (("apply", ("apply", "--wait")), ("viewer", ("status", "--watch"))):
        command, option = arguments
        kubeconfig = released.kubeconfigs[identity]
        with released.account(identity).without(permission(need)):
            done = run(kubeconfig, command, str(repository.directory), option)
        assert done.code == 0, done.text
        assert refusal_of(need) in done.text, done.text
        assert "asking every few seconds instead" in done.text
