"""`hold`, `release` and `holds` with the holder, and without one of its rights."""

from __future__ import annotations

import pytest
from chart.release import (
    RELEASE,
    Released,
    campaign,
    needs,
    of,
    permission,
    pipeline,
    refusal_of,
)
from chart.rights import Done, run
from cluster.team import eventually

from converter.cluster.objects import annotation, name
from converter.doctor.needs import Command, Need
from converter.names import HOLD_ANNOTATION

CAMPAIGN = "h-runs"
# What these commands ask of a kind that the cluster does not have.
TRAINJOB = "trainjob/h-none"


@pytest.fixture(scope="module")
def held(released: Released) -> Released:
    """A campaign with a Workload."""
    repository = released.repository("h")
    pipeline(repository, "h")
    campaign(repository, CAMPAIGN, "h")
    repository.applied()
    eventually(lambda: released.workloads(CAMPAIGN), "a Workload")
    return released


def call(released: Released, command: Command, target: str, instance: int) -> Done:
    kubeconfig, place = released.kubeconfigs["holder"], f"--namespace={RELEASE}"
    if command is Command.HOLDS:
        return run(kubeconfig, "holds", place)
    options = (f"--instance={instance}", "--deadline=30s", "--by=tests", place)
    return run(kubeconfig, command.value, target, *options)


def in_force(released: Released) -> str:
    (workload,) = released.workloads(CAMPAIGN)
    return annotation(workload, HOLD_ANNOTATION)


def test_the_holder_holds_looks_and_releases(held: Released) -> None:
    for number, target in enumerate((CAMPAIGN, f"job/{CAMPAIGN}"), start=1):
        done = call(held, Command.HOLD, target, number)
        assert done.code == 0, done.text
        assert "note:" not in done.text
        assert in_force(held) == str(number)
        assert f"job/{CAMPAIGN}" in call(held, Command.HOLDS, "", 0).text
        assert call(held, Command.RELEASE, target, number).code == 0
        assert in_force(held) == ""
    # By way of its own Workload, the name of which nobody chose.
    (workload,) = held.workloads(CAMPAIGN)
    assert call(held, Command.HOLD, f"workload/{name(workload)}", 1).code == 0
    assert call(held, Command.RELEASE, f"workload/{name(workload)}", 1).code == 0


def target_for(released: Released, need: Need) -> str:
    """What has to be asked for, for a right to be needed."""
    if need.resource == "trainjobs":
        return TRAINJOB
    if need.resource == "workloads" and need.verb == "get":
        return f"workload/{name(released.workloads(CAMPAIGN)[0])}"
    return CAMPAIGN


@pytest.mark.parametrize("need", needs(Command.HOLD), ids=of)
def test_holding_without_a_right_that_it_needs(need: Need, held: Released) -> None:
    target = target_for(held, need)
    with held.account("holder").without(permission(need)):
        done = call(held, Command.HOLD, target, 3)
        assert done.code == 1, done.text
        assert refusal_of(need) in done.text, done.text
        assert in_force(held) == ""
        if need in needs(Command.HOLDS):
            done = call(held, Command.HOLDS, "", 0)
            assert done.code == 1, done.text
            assert refusal_of(need) in done.text, done.text


@pytest.mark.parametrize("need", needs(Command.RELEASE), ids=of)
def test_releasing_without_a_right_that_it_needs(need: Need, held: Released) -> None:
    target = target_for(held, need)
    assert call(held, Command.HOLD, CAMPAIGN, 4).code == 0
    try:
        with held.account("holder").without(permission(need)):
            done = call(held, Command.RELEASE, target, 4)
        assert done.code == 1, done.text
        assert refusal_of(need) in done.text, done.text
        assert in_force(held) == "4"
    finally:
        assert call(held, Command.RELEASE, CAMPAIGN, 4).code == 0


@pytest.mark.parametrize("need", needs(Command.HOLD, helping=True), ids=of)
def test_holding_without_a_right_that_helps(need: Need, held: Released) -> None:
    assert need in needs(Command.RELEASE, helping=True)
    with held.account("holder").without(permission(need)):
        for command in (Command.HOLD, Command.RELEASE):
            done = call(held, command, CAMPAIGN, 5)
            assert done.code == 0, done.text
            assert refusal_of(need) in done.text, done.text


def test_doctor_finds_the_holder_fit(held: Released) -> None:
    directory = str(held.directory / "h")
    done = run(held.kubeconfigs["holder"], "doctor", directory, "--for=hold", "--only=permissions")
    assert done.code == 0, done.text
    for command in (Command.HOLD, Command.RELEASE, Command.HOLDS):
        assert f"`campaigns {command}` can be run" in done.text
