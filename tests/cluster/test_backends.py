"""The same life of campaigns on every backend: what one cannot do is a declared capability."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.team import SLOW, Team, eventually
from conftest import RunningCluster, TeamFactory
from localcluster.tenant import Tenant

from cluster import koord, koord_crds
from converter.capabilities import CAPABILITIES
from converter.cluster.client import Client
from converter.model import Backend

NUMBERS = itertools.count()
RULES = [
    {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]},
    {"apiGroups": ["coordination.k8s.io"], "resources": ["leases"], "verbs": ["*"]},
    {"apiGroups": [""], "resources": ["pods", "events"], "verbs": ["list"]},
    {
        "apiGroups": ["scheduling.x-k8s.io"],
        "resources": ["queueunits"],
        "verbs": ["get", "list", "watch", "patch"],
    },
]


def unqueued_team(cluster: RunningCluster, home: Path, **settings: object) -> Team:
    """A namespace without the chart, and an identity with the rights that the documents name."""
    name = f"b{os.getpid()}-{next(NUMBERS)}"
    tenant = Tenant(cluster.local.kubectl, cluster.helm_command, name, name)
    account = f"{name}-apply"
    subject = {"kind": "ServiceAccount", "name": account, "namespace": name}
    group = "rbac.authorization.k8s.io"
    cluster.local.kubectl.apply(
        [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
            _named("v1", "ServiceAccount", account, name),
            {**_named(f"{group}/v1", "Role", account, name), "rules": RULES},
            {
                **_named(f"{group}/v1", "RoleBinding", account, name),
                "roleRef": {"apiGroup": group, "kind": "Role", "name": account},
                "subjects": [subject],
            },
        ]
    )
    home.mkdir()
    tenant.write_kubeconfig(home / "kubeconfig")
    team = Team(cluster.local, tenant, home / "repo", home / "kubeconfig")
    team.write_settings(**settings)
    return team


def _named(version: str, kind: str, name: str, namespace: str) -> dict[str, object]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


@pytest.fixture(params=[each.value for each in CAPABILITIES])
def team(
    request: pytest.FixtureRequest,
    cluster: RunningCluster,
    new_team: TeamFactory,
    tmp_path: Path,
) -> Iterator[Team]:
    """A team on each backend that this release has."""
    backend = Backend(request.param)
    if backend is Backend.KUEUE:
        yield new_team()
        return
    if backend is Backend.NONE:
        made = unqueued_team(cluster, tmp_path / "none", backend="none", queue="")
        yield made
        _remove(made)
        return
    cluster.local.kubectl.apply([koord_crds.queue_units(), koord_crds.queues()])
    koord.wait_for_definition(Client.from_kubeconfig(kubeconfig=cluster.kubeconfig))
    made = unqueued_team(cluster, tmp_path / "koord", backend="koord-queue", queue="gpu")
    with koord.running(cluster.kubeconfig, made.namespace, pods={"gpu": 8}):
        yield made
        _remove(made)


def _remove(team: Team) -> None:
    team.kubectl("delete", "jobs", "--all", "--wait=false")
    team.cluster.kubectl.run("delete", "namespace", team.namespace, "--wait=false")


def phases(team: Team) -> dict[str, str]:
    return {name: str(each["phase"]) for name, each in team.status().items()}


def writes(team: Team, since: int) -> list[tuple[str, str]]:
    return [
        (event.verb, event.name)
        for event in team.requests(since)
        if event.is_write and event.resource != "leases"
    ]


def test_a_life_of_campaigns(team: Team) -> None:
    team.write_pipeline("quick")
    team.write_pipeline("slow", script=SLOW)
    team.write_campaign("quick", 3, pipeline="quick", window=2)
    team.write_campaign("slow", 2, pipeline="slow")
    team.write_campaign("fresh", pipeline="slow", suspend=True)
    mark = team.cluster.audit_mark()
    done = team.apply()
    assert "3 applied" in done.stdout
    assert "1 paused" in done.stdout

    # It runs to its end, in its window; what is new and paused has no pod, not for a moment.
    eventually(lambda: team.ended("quick"), "quick ends")
    eventually(lambda: team.job_status("slow").get("ready") == 2, "slow runs")
    eventually(lambda: phases(team)["slow"] == "Running", "and status says so")
    assert team.job("quick")["spec"]["parallelism"] == 2
    assert phases(team)["fresh"] == "Paused"

    # An apply that has nothing to do writes nothing but the record of what has ended.
    team.apply()
    again = team.cluster.audit_mark()
    team.apply()
    assert writes(team, again) == []

    team.write_campaign("slow", 2, pipeline="slow", suspend=True)
    done = team.apply()
    assert "1 paused" in done.stdout, done.text
    eventually(lambda: not team.pods("slow"), "no pod of what is paused")
    eventually(lambda: phases(team)["slow"] == "Paused", "the pause")
    assert team.pods_created(mark, "fresh") == []

    # Another window on the way, and both run.
    paused = team.cluster.audit_mark()
    team.write_campaign("slow", 2, pipeline="slow", window=1)
    team.write_campaign("fresh", pipeline="slow")
    done = team.apply()
    assert "2 resumed" in done.stdout, done.text
    for name in ("slow", "fresh"):
        eventually(lambda name=name: team.pods_created(paused, name), f"a pod of {name}")
    eventually(lambda: team.job_status("slow").get("active") == 1, "one pod at a time")

    # A change that a running Job cannot take is held back; what has finished never runs again.
    team.write_campaign("slow", 2, pipeline="slow", window=2)
    team.kubectl("delete", "job", "quick")
    finished = team.cluster.audit_mark()
    done = team.apply(code=3)
    assert "its window was 1 and is now 2" in done.stderr
    assert phases(team)["quick"] == "Finished"
    assert team.pods_created(finished, "quick") == []
    assert team.get("job", "quick") is None

    team.delete_campaign("fresh")
    team.write_campaign("slow", 2, pipeline="slow", window=1)
    team.apply("--prune")
    eventually(lambda: team.get("job", "fresh") is None, "the campaign that git has no more")
    assert team.get("configmap", "campaign-fresh") is None
    assert team.get("job", "slow") is not None


def test_a_backend_that_lacks_something_says_so(tmp_path: Path) -> None:
    """The table that validate goes by, and the one in the documents."""
    assert json.dumps(CAPABILITIES[Backend.NONE].queue) == "false"
