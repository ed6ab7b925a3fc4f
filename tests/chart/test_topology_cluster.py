"""Teams, preemption and a cohort on a real Kueue, and what that refuses as the chart does."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from chart.helm import CHART
from chart.rights import run
from cluster.team import SLOW, Object, Team, eventually
from conftest import RunningCluster
from localcluster.tenant import Tenant

from converter.cluster.client import Client
from converter.cluster.resources import CLUSTER_QUEUES
from converter.errors import ApiError

NAME = f"topology-{os.getpid()}"
OTHER = f"{NAME}-b"
LOW, HIGH = f"{NAME}-low", f"{NAME}-high"
QUOTA = {"cpu": 1, "memory": "1Gi", "pods": 5}
QUEUE: dict[str, Any] = {
    "quota": QUOTA,
    "preemption": {"withinClusterQueue": "LowerPriority"},
    "priorityClasses": [{"name": LOW, "value": 1}, {"name": HIGH, "value": 2}],
}
VALUES: dict[str, Any] = {
    "teams": [{"namespace": OTHER}],
    "runtimeClass": {"create": True, "name": NAME, "handler": "runc"},
    "queue": QUEUE,
}
SIZES = {"s": {"cpu": 1, "memory": "64Mi", "gpu": 0, "workdir": "8Mi"}}
IN_COHORT: dict[str, Any] = {
    **QUEUE,
    "cohort": NAME,
    "borrowingLimit": {"cpu": "500m"},
    "lendingLimit": {"memory": "1Gi", "pods": 0},
    "preemption": {
        "withinClusterQueue": "LowerOrNewerEqualPriority",
        "reclaimWithinCohort": "Any",
        "borrowWithinCohort": {"policy": "LowerPriority"},
    },
}


@dataclass(frozen=True)
class Teams:
    """The release's own team and another one."""

    first: Team
    other: Team


@pytest.fixture(scope="module")
def teams(cluster: RunningCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Teams]:
    first = cluster.tenant(NAME)
    other = Tenant(first.kubectl, first.helm, OTHER, NAME)
    cluster.kubectl("create", "namespace", OTHER)
    try:
        first.install(VALUES)
        homes = (tmp_path_factory.mktemp("team") for _ in range(2))
        yield Teams(*(team(cluster, *each) for each in zip((first, other), homes, strict=True)))
    finally:
        cluster.kubectl("delete", "jobs", "--all", f"--namespace={OTHER}", "--wait=false")
        first.remove()
        cluster.kubectl("delete", "namespace", OTHER, "--wait=false")


def team(cluster: RunningCluster, tenant: Tenant, home: Path) -> Team:
    tenant.write_kubeconfig(home / "kubeconfig")
    (home / "repo").mkdir()
    made = Team(cluster.local, tenant, home / "repo", home / "kubeconfig")
    made.write_settings(sizes=SIZES, priority_classes=[LOW, HIGH])
    return made


def apply(team: Team) -> None:
    done = run(team.kubeconfig, "apply", str(team.repo))
    assert done.code == 0, done.text


def test_a_preempted_campaign_keeps_what_is_done_and_starts_anew_what_ran(teams: Teams) -> None:
    """As the chart's README says it of months of work."""
    low, high = teams.other, teams.first
    low.write_pipeline(script=f'[ "$JOB_COMPLETION_INDEX" = 0 ] || {{ {SLOW}; }}')
    low.write_campaign("low", 3, window=1, priority=LOW)
    mark = low.cluster.audit_mark()
    apply(low)
    eventually(lambda: low.job_status("low").get("completedIndexes") == "0", "the first is done")
    eventually(lambda: low.job_status("low").get("ready"), "the second volume runs")

    high.write_pipeline()
    high.write_campaign("high", priority=HIGH)
    apply(high)
    eventually(lambda: high.ended("high"), "the other campaign's end")
    assert "Preempted" in conditions(low.workload("low"))
    eventually(lambda: len(low.pods_created(mark, "low")) == 3, "one more pod")
    eventually(lambda: low.job_status("low").get("ready"), "the second volume runs again")
    status = low.job_status("low")
    assert (status["completedIndexes"], status.get("failed", 0)) == ("0", 0)
    assert not status.get("failedIndexes")
    # One for the first volume, and two for the second.
    assert len(low.pods_created(mark, "low")) == 3


def conditions(workload: Object | None) -> set[str]:
    """Those that a Workload has or had: Kueue leaves them there, false."""
    return {each["type"] for each in (workload or {}).get("status", {}).get("conditions", ())}


def test_a_team_cannot_use_the_identity_of_another(teams: Teams) -> None:
    teams.first.write_pipeline()
    done = run(teams.other.kubeconfig, "apply", str(teams.first.repo))
    assert done.code == 1
    assert (
        f'cannot get resource "leases" in API group "coordination.k8s.io" in the namespace "{NAME}"'
        in done.text
    )


def test_an_upgrade_into_a_cohort_and_an_uninstallation(teams: Teams) -> None:
    helm = teams.first.tenant.run_helm
    # Not with --wait: no pod uses the claims, so they stay unbound.
    helm(
        "upgrade",
        NAME,
        str(CHART),
        f"--namespace={NAME}",
        "--reuse-values",
        f"--set-json=queue={json.dumps(IN_COHORT)}",
        "--set=modelCache.create=true,modelCache.size=1Gi",
    )
    found = teams.first.get("clusterqueue", f"{NAME}-cq")
    assert found is not None
    assert found["spec"]["cohortName"] == NAME
    assert found["spec"]["preemption"]["borrowWithinCohort"] == {"policy": "LowerPriority"}
    assert teams.first.get("runtimeclass", NAME)
    helm("uninstall", NAME, f"--namespace={NAME}")
    assert not teams.first.get("runtimeclass", NAME)
    for each in (teams.first, teams.other):
        assert each.get("persistentvolumeclaim", f"{NAME}-model-cache")


def queue_of(limits: dict[str, str], **spec: object) -> dict[str, Any]:
    """A ClusterQueue with a quota of one cpu."""
    resources = [{"name": "cpu", "nominalQuota": "1", **limits}]
    flavors = [{"name": "any", "resources": resources}]
    group = {"coveredResources": ["cpu"], "flavors": flavors}
    return {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "ClusterQueue",
        "metadata": {"name": f"{NAME}-tried"},
        "spec": {"resourceGroups": [group], **spec},
    }


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        (queue_of({"borrowingLimit": "1"}), "borrowingLimit must be nil when cohort is empty"),
        (queue_of({"lendingLimit": "1"}), "must be nil when cohort is empty"),
        (queue_of({"lendingLimit": "1001m"}, cohortName="all"), "less than or equal to the nomina"),
        (
            queue_of(
                {},
                cohortName="all",
                preemption={
                    "reclaimWithinCohort": "Never",
                    "borrowWithinCohort": {"policy": "LowerPriority"},
                },
            ),
            "reclaimWithinCohort=Never and borrowWithinCohort.Policy!=Never",
        ),
    ],
    ids=["borrowing", "lending", "too much lent", "preemption"],
)
def test_kueue_refuses_what_the_chart_refuses(
    queue: dict[str, Any], said: str, cluster: RunningCluster
) -> None:
    client = Client.from_kubeconfig(kubeconfig=cluster.kubeconfig)
    with pytest.raises(ApiError, match=said):
        client.create(CLUSTER_QUEUES, "", queue, dry_run=True)
