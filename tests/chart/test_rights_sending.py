"""`apply` and `diff` without one of their rights: each is needed, and the one that lacks is named.

Those that only help leave the command working, and it says what it could not read.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

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
from chart.rights import Repository
from cluster.team import eventually

from converter.cli.repository import load_valid, rendered
from converter.cluster.objects import uid
from converter.cluster.resources import CONFIGMAPS, JOBS, LEASES, Resource
from converter.diff.compare import DryRunClient, compare
from converter.doctor.needs import Command, Need
from converter.errors import CampaignsError
from converter.model import Backend
from converter.names import LEASE_NAME
from converter.reconcile.live import read_live
from converter.reconcile.pause import kueue_deactivation

MAX_SECONDS_LABEL = "kueue.x-k8s.io/max-exec-time-seconds"


@dataclass(frozen=True)
class Case:
    """A repository in which the next `apply` meets a right."""

    prepare: Callable[[Released, Repository, str], object]
    options: tuple[str, ...] = ()


def fresh(released: Released, repository: Repository, name: str) -> None:
    """A campaign that is to be created."""
    campaign(repository, f"{name}-fresh", name, suspend=True)


def cancelled(released: Released, repository: Repository, name: str) -> None:
    """One campaign to cancel, one to keep."""
    campaign(repository, f"{name}-gone", name, suspend=True)
    campaign(repository, f"{name}-kept", name, suspend=True)
    repository.applied()
    (repository.directory / f"campaigns/{name}-gone.yaml").unlink()


def paused(released: Released, repository: Repository, name: str) -> None:
    """A campaign that Kueue has admitted, and git now wants paused."""
    running(released, repository, name)
    campaign(repository, f"{name}-one", name, suspend=True)


def running(released: Released, repository: Repository, name: str) -> None:
    campaign(repository, f"{name}-one", name)
    repository.applied()
    eventually(lambda: released.admitted(f"{name}-one"), "Workload admitted")


def given_up(released: Released, repository: Repository, name: str) -> None:
    """A campaign that Kueue has deactivated, after a second of having quota."""
    campaign(repository, f"{name}-one", name, suspend=True)
    repository.applied()
    label = {"metadata": {"labels": {MAX_SECONDS_LABEL: "1"}}}
    released.administrator.merge_patch(JOBS, RELEASE, f"{name}-one", label, "tests")
    campaign(repository, f"{name}-one", name)
    repository.applied()
    eventually(
        lambda: all(map(kueue_deactivation, released.workloads(f"{name}-one"))),
        "Kueue's own deactivation",
    )


def warmed(released: Released, repository: Repository, name: str) -> None:
    """A warm-up whose recipe changes before its pod runs, so that its Job is made anew."""
    pipeline(repository, name, warmup={"command": ["fetch"]})
    repository.applied()
    pipeline(repository, name, warmup={"command": ["fetch", "more"]})


def no_lease(released: Released, repository: Repository, name: str) -> None:
    lease = released.administrator.get(LEASES, RELEASE, LEASE_NAME)
    released.administrator.delete(LEASES, RELEASE, LEASE_NAME, uid=uid(lease))


def nothing(released: Released, repository: Repository, name: str) -> None:
    """A repository with a pipeline and a campaign that are as in git."""
    campaign(repository, f"{name}-one", name, suspend=True)
    repository.applied()


# Each ends with 1: nothing came through, or a pause, a resume or a prune did not.
CASES = {
    "list jobs": Case(nothing),
    "list configmaps": Case(nothing),
    "list workloads": Case(nothing),
    "create jobs": Case(fresh),
    "patch jobs": Case(fresh),
    "create configmaps": Case(fresh),
    "patch configmaps": Case(fresh),
    "get jobs": Case(warmed),
    "delete jobs": Case(cancelled, ("--prune",)),
    "delete configmaps": Case(cancelled, ("--prune",)),
    "patch workloads": Case(paused),
    "delete workloads": Case(given_up),
    "create leases": Case(no_lease),
    "get leases": Case(nothing),
    "update leases": Case(nothing),
}


def test_the_cases_are_all_that_apply_needs() -> None:
    assert CASES.keys() == {of(need) for need in needs(Command.APPLY)}


@pytest.mark.parametrize("need", needs(Command.APPLY), ids=of)
def test_apply_without_a_right_that_it_needs(need: Need, released: Released) -> None:
    name = f"a-{need.verb}-{need.resource}"
    repository = released.repository(name)
    case = CASES[of(need)]
    case.prepare(released, repository, name)
    with released.account("apply").without(permission(need)):
        done = repository.apply(*case.options)
    assert done.code == 1, done.text
    assert refusal_of(need) in done.text, done.text
    repository.applied(*case.options)


def test_one_refused_campaign_keeps_no_other_from_coming_through(released: Released) -> None:
    """What has nothing to do with the right that lacks is done all the same."""
    name = "a-some"
    repository = released.repository(name)
    paused(released, repository, name)
    campaign(repository, f"{name}-fresh", name, suspend=True)
    (need,) = (each for each in needs(Command.APPLY) if of(each) == "create jobs")
    with released.account("apply").without(permission(need)):
        done = repository.apply()
    assert done.code == 3, done.text
    assert refusal_of(need) in done.text
    assert not released.active(f"{name}-one")


@pytest.mark.parametrize(
    "need", [need for need in needs(Command.DIFF) if need.verb != "get"], ids=of
)
def test_diff_without_a_right_that_it_needs(need: Need, released: Released) -> None:
    name = f"d-{need.verb}-{need.resource}"
    repository = released.repository(name)
    campaign(repository, f"{name}-fresh", name, suspend=True)
    with released.account("apply").without(permission(need)):
        done = repository.run("diff")
    assert done.code == 1, done.text
    assert refusal_of(need) in done.text, done.text
    assert repository.run("diff").code == 2


@pytest.mark.parametrize(
    ("need", "kept"),
    [
        (need, kept)
        for need, kept in zip(
            [need for need in needs(Command.DIFF) if need.verb == "get"],
            (JOBS, CONFIGMAPS),
            strict=True,
        )
    ],
    ids=["get jobs", "get configmaps"],
)
def test_diff_without_a_second_look_at_what_changes_meanwhile(
    need: Need, kept: Resource, released: Released
) -> None:
    name = f"d-get-{need.resource}"
    repository = released.repository(name)
    campaign(repository, f"{name}-one", name, suspend=True)
    pipeline(repository, f"{name}-2")
    repository.applied()
    campaign(repository, f"{name}-one", name)
    pipeline(repository, f"{name}-2", steps={"changed": True})
    client = DryRunClient.from_kubeconfig(kubeconfig=repository.kubeconfig)
    repo = load_valid(repository.directory)
    manifests = rendered(repo, repository.directory)
    live = read_live(client, RELEASE, Backend.KUEUE)
    target = f"{name}-one" if kept is JOBS else f"pipeline-{name}-2"
    mark = {"metadata": {"annotations": {"rights.example/meanwhile": "yes"}}}
    released.administrator.merge_patch(kept, RELEASE, target, mark, "tests")
    with (
        released.account("apply").without(permission(need)),
        pytest.raises(CampaignsError, match=refusal_of(need)),
    ):
        compare(client, manifests, repo.settings, live, prune=False, concurrency=8)
    found = compare(client, manifests, repo.settings, live, prune=False, concurrency=8)
    assert found.exit_code == 2


@pytest.mark.parametrize("need", needs(Command.DIFF, helping=True), ids=of)
def test_sending_without_a_right_that_helps(need: Need, released: Released) -> None:
    name = f"s-{need.resource}"
    repository = released.repository(name)
    campaign(repository, f"{name}-fresh", name, priority=URGENT)
    with released.account("apply").without(permission(need)):
        for command, code in ((Command.DIFF, 2), (Command.APPLY, 0)):
            assert need in needs(command, helping=True)
            done = repository.run(command.value)
            assert done.code == code, done.text
            assert UNREAD[need.resource] in done.text, done.text
