"""Flavors on a real Kueue: pods land on the nodes that their size says, and on no others.

The nodes are fake ones of the test's own, which no pod of another test tolerates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import pytest
from cluster.team import Object, Team, eventually
from localcluster import KwokNode
from localcluster.errors import ClusterError
from localcluster.kwok import node_manifest
from localcluster.spec import KWOK_TAINT

if TYPE_CHECKING:
    from conftest import RunningCluster, TeamFactory

KEY = "tests.gitops-campaigns.io/kind"
TOLERATIONS = [{"key": "kwok.x-k8s.io/node", "operator": "Exists"}]
QUOTA = {"cpu": 5, "memory": "8Gi", "nvidia.com/gpu": 0}
JOB_NAME = "batch.kubernetes.io/job-name"

AddNode = Callable[..., None]


@pytest.fixture
def add_node(cluster: RunningCluster) -> Iterator[AddNode]:
    """Makes a fake node with labels; all of them are gone after the test."""
    made: list[str] = []

    def add(name: str, labels: Mapping[str, str], *taints: str, cpu: int = 8) -> None:
        node = KwokNode(name, labels, (KWOK_TAINT, *taints), cpu=cpu)
        made.append(name)
        cluster.local.kubectl.apply([node_manifest(node)])

    yield add
    cluster.kubectl("delete", "nodes", "--ignore-not-found", "--wait=false", *made)


def flavor(name: str, labels: Mapping[str, str], quota: Mapping[str, Any] = QUOTA) -> Object:
    return {"name": name, "nodeLabels": dict(labels), "quota": dict(quota)}


def size(cpu: str, flavor_name: str | None = None) -> Object:
    return {"cpu": cpu, "memory": "64Mi", "gpu": 0, "workdir": "8Mi", "flavor": flavor_name}


def nodes_of(team: Team) -> dict[str, str | None]:
    """The node of each pod, by Job."""
    return {
        pod["metadata"]["labels"][JOB_NAME]: pod["spec"].get("nodeName")
        for pod in team.objects("pods", JOB_NAME)
    }


def test_campaigns_land_where_their_size_says(new_team: TeamFactory, add_node: AddNode) -> None:
    team = new_team()
    big, plain = f"{team.namespace}-big", f"{team.namespace}-plain"
    taint = {"key": KEY, "value": big, "effect": "NoSchedule"}
    flavors = [{**flavor(big, {KEY: big}), "nodeTaints": [taint]}, flavor(plain, {KEY: plain})]
    team.tenant.install({"queue": {"flavors": flavors}})
    sizes = {"big": size("400m", big), "plain": size("400m", plain), "any": size("400m")}
    team.write_settings(flavors=flavors, sizes=sizes, default_size="any", tolerations=TOLERATIONS)
    for name in sizes:
        team.write_pipeline(name, size=name)
    add_node(plain, {KEY: plain})

    # Without its node, what is admitted on the first flavor keeps all of that flavor's quota.
    team.write_campaign("full", 12, "big")
    team.apply()
    eventually(lambda: team.admitted("full"), "the admission of what fills the first flavor")
    team.write_campaign("second", pipeline="any")
    team.apply()
    eventually(lambda: nodes_of(team).get("second"), "a node for what finds no room on the first")
    assert nodes_of(team) == {"full": None, "second": plain}

    add_node(big, {KEY: big}, f"{KEY}={big}:NoSchedule")
    eventually(lambda: nodes_of(team)["full"] == big, "the node that the first campaign waits for")
    team.delete_campaign("full")
    team.apply("--prune")
    eventually(lambda: len(team.objects("workloads")) == 1, "room on the first flavor")
    team.write_campaign("first", pipeline="any")
    for number in range(10):
        team.write_campaign(f"big-{number}", pipeline="big")
        team.write_campaign(f"plain-{number}", pipeline="plain")
    team.apply()
    names = [f"{kind}-{number}" for kind in ("big", "plain") for number in range(10)]
    eventually(lambda: set(names) <= nodes_of(team).keys(), "a pod of each campaign")
    eventually(lambda: None not in nodes_of(team).values(), "a node for each pod")
    found = nodes_of(team)
    wanted = {
        f"{kind}-{n}": node for kind, node in (("big", big), ("plain", plain)) for n in range(10)
    }
    assert {name: found[name] for name in names} == wanted
    assert found["first"] == big


def raw_queue(team: Team, *flavors: Object) -> None:
    """A queue `raw` with these flavors, as somebody makes it without the chart."""
    api = {"apiVersion": "kueue.x-k8s.io/v1beta2"}
    names = [each["name"] for each in flavors]
    quota = [{"name": "cpu", "nominalQuota": "1"}]
    cluster_queue = {
        "namespaceSelector": {"matchLabels": {"kubernetes.io/metadata.name": team.namespace}},
        "resourceGroups": [
            {
                "coveredResources": ["cpu"],
                "flavors": [{"name": name, "resources": quota} for name in names],
            }
        ],
    }
    team.cluster.kubectl.apply(
        [
            *(
                {
                    **api,
                    "kind": "ResourceFlavor",
                    "metadata": {"name": each["name"]},
                    "spec": {"nodeLabels": each["nodeLabels"]},
                }
                for each in flavors
            ),
            {
                **api,
                "kind": "ClusterQueue",
                "metadata": {"name": f"{team.namespace}-raw"},
                "spec": cluster_queue,
            },
            {
                **api,
                "kind": "LocalQueue",
                "metadata": {"name": "raw", "namespace": team.namespace},
                "spec": {"clusterQueue": f"{team.namespace}-raw"},
            },
        ]
    )


def remove_raw_queue(team: Team, *flavors: Object) -> None:
    team.kubectl("delete", "jobs", "--all", "--wait=false")
    team.kubectl("delete", "clusterqueue", f"{team.namespace}-raw", "--wait=false")
    names = [each["name"] for each in flavors]
    team.kubectl("delete", "resourceflavors", "--wait=false", *names)


def create_job(team: Team, name: str, selector: Mapping[str, str]) -> None:
    """A Job of one pod that goes on, for nodes with these labels."""
    security = {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}
    container = {
        "name": "main",
        "image": "example.invalid/none@sha256:" + "0" * 64,
        "resources": {"requests": {"cpu": "800m"}},
        "securityContext": security,
    }
    pod = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "nodeSelector": dict(selector),
        "tolerations": TOLERATIONS,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    goes_on = {"pod-complete.stage.kwok.x-k8s.io/delay": "1h"}
    job = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": team.namespace,
            "labels": {"kueue.x-k8s.io/queue-name": "raw"},
        },
        "spec": {
            "suspend": True,
            "template": {"metadata": {"annotations": goes_on}, "spec": pod},
        },
    }
    team.cluster.kubectl.apply([job])


def landed_on(team: Team, job: str) -> str:
    """The flavor that a Job was admitted on."""
    workload = team.workload(job) or {}
    (assignment,) = workload["status"]["admission"]["podSetAssignments"]
    return str(assignment["flavors"]["cpu"])


def no_node_for(team: Team, job: str) -> bool:
    """Whether the scheduler has said of the only pod of a Job that no node takes it."""
    pods = team.pods(job)
    conditions = pods[0].get("status", {}).get("conditions", []) if pods else []
    return any(c["type"] == "PodScheduled" and c["reason"] == "Unschedulable" for c in conditions)


def refusals(team: Team, *flavors: Object) -> tuple[str, str]:
    """What helm and validate say of the flavors."""
    with pytest.raises(ClusterError) as refused:
        team.tenant.install({"queue": {"flavors": list(flavors)}})
    team.write_settings(flavors=list(flavors))
    return str(refused.value), team.run("validate", ".").stdout


@pytest.mark.parametrize("kind", ["more labels", "other labels"])
def test_flavors_that_share_no_key_go_wrong_and_are_refused(
    kind: str, team: Team, add_node: AddNode
) -> None:
    one, other = f"{team.namespace}-one", f"{team.namespace}-other"
    first = {KEY: one}
    second = {f"{KEY}-2": other} if kind == "other labels" else {**first, f"{KEY}-2": other}
    listed = [flavor(other, second), flavor(one, first)]
    for text in refusals(team, *listed):
        assert f"{one}" in text
        assert "share no label key with different values" in text
    try:
        raw_queue(team, *listed)
        if kind == "more labels":
            # A node of the flavor `one` is free; Kueue takes the other one for it, and sends the
            # pod to nodes that are not there.
            add_node(one, first)
            create_job(team, "one", first)
            eventually(lambda: no_node_for(team, "one"), "a pod that waits for a node")
            assert landed_on(team, "one") == other
        else:
            # A node with the labels of both counts for both: the second one has quota and no room.
            add_node(one, {**first, **second}, cpu=1)
            create_job(team, "one", first)
            eventually(lambda: nodes_of(team).get("one"), "a node for the first pod")
            create_job(team, "other", second)
            eventually(lambda: no_node_for(team, "other"), "a pod that waits for a node")
            assert (landed_on(team, "one"), landed_on(team, "other")) == (one, other)
        assert team.run("validate", ".").code == 1
    finally:
        remove_raw_queue(team, *listed)
