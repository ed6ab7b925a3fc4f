"""Upgrades and the end of a release while campaigns run, by real helm on a real Kueue.

What Kueue does with Workloads that are admitted is what README.md's procedure is made for.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from chart.helm import CHART
from cluster.team import SLOW, Object, Team, eventually

if TYPE_CHECKING:
    from conftest import TeamFactory

# Labels that the cluster's two nodes have; nobody else's flavors meet these.
REAL = {"kubernetes.io/hostname": "real-1"}
FAKE = {"kubernetes.io/hostname": "kwok-gpu"}
FAKE_TAINT = {"key": "kwok.x-k8s.io/node", "value": "fake", "effect": "NoSchedule"}
QUOTA = {"cpu": 1, "memory": "4Gi", "nvidia.com/gpu": 0}


def sized(cpu: str) -> Object:
    return {"cpu": cpu, "memory": "64Mi", "gpu": 0, "workdir": "8Mi"}


def flavor_of(team: Team, campaign: str) -> str:
    """The flavor that a campaign was admitted on; empty before that."""
    admission = (team.workload(campaign) or {}).get("status", {}).get("admission") or {}
    flavors = {
        f for each in admission.get("podSetAssignments", ()) for f in each["flavors"].values()
    }
    assert len(flavors) < 2
    return flavors.pop() if flavors else ""


def workload(team: Team) -> Object:
    """That of the campaign `long`."""
    return team.workload("long") or {}


def held_cpu(team: Team) -> dict[str, str]:
    """What Kueue says is in use, by flavor of the ClusterQueue."""
    queue = team.get("clusterqueue", f"{team.tenant.queue}-cq")
    assert queue is not None
    return {
        each["name"]: next(r["total"] for r in each["resources"] if r["name"] == "cpu")
        for each in queue["status"]["flavorsReservation"]
    }


def usage(team: Team) -> list[tuple[str, str]]:
    """What doctor says of quota that the queue no longer has."""
    done = team.run("doctor", ".", "--format=json")
    findings = json.loads(done.stdout)["findings"]
    return [(each["status"], each["found"]) for each in findings if each["check"] == "usage"]


def uids(objects: Iterable[Object]) -> set[str]:
    return {each["metadata"]["uid"] for each in objects}


def running(team: Team, campaign: str) -> bool:
    pods = team.pods(campaign)
    return bool(pods) and all(pod["status"].get("phase") == "Running" for pod in pods)


def upgrade(team: Team, flavors: list[Object], value: int, **queue: Any) -> None:
    classes = [{"name": f"{team.tenant.queue}-urgent", "value": value}]
    team.tenant.install({"queue": {"flavors": flavors, "priorityClasses": classes, **queue}})


def start(team: Team, **settings: Any) -> None:
    """A campaign `long` of one pod that runs until it is stopped."""
    urgent = f"{team.tenant.queue}-urgent"
    sizes = {"half": sized("500m"), "more": sized("600m")}
    team.write_settings(sizes=sizes, default_size="half", priority_classes=[urgent], **settings)
    team.write_pipeline(script=SLOW)
    team.write_pipeline("more", script=SLOW, size="more")
    team.write_campaign("long", priority=urgent)
    team.apply()
    eventually(lambda: running(team, "long"), "a pod that runs")


def test_three_value_sets_with_a_campaign_running(new_team: TeamFactory) -> None:
    team = new_team()
    queue = team.tenant.queue
    main, other, new = (f"{queue}-{name}" for name in ("main", "other", "new"))
    upgrade(team, [], 10, flavor=main, quota=QUOTA)
    start(team)
    before = uids([workload(team), *team.pods("long")])

    def undisturbed() -> bool:
        return uids([workload(team), *team.pods("long")]) == before

    # From one flavor to several, of which the first keeps its name: what runs is counted there.
    first = {"name": main, "nodeLabels": REAL, "quota": QUOTA}
    second = {"name": other, "nodeLabels": FAKE, "nodeTaints": [FAKE_TAINT], "quota": QUOTA}
    upgrade(team, [first, second], 20)
    eventually(lambda: held_cpu(team) == {main: "500m", other: "0"}, "the usage by flavor")
    eventually(lambda: workload(team)["spec"]["priority"] == 20, "the new value of its class")
    assert undisturbed()
    assert flavor_of(team, "long") == main
    assert [status for status, _ in usage(team)] == ["ok"]
    team.write_campaign("late", pipeline="more")
    team.apply()
    eventually(lambda: flavor_of(team, "late"), "the admission of what the first flavor lacks")
    assert flavor_of(team, "late") == other
    team.delete_campaign("late")
    team.apply("--prune")

    # Another quota, and no flavor of the name that what runs was admitted on: it runs on, and is
    # counted nowhere.
    upgrade(team, [{**first, "name": new, "quota": {**QUOTA, "cpu": "800m"}}], 20)
    eventually(lambda: held_cpu(team) == {new: "0"}, "no usage by flavor")
    eventually(lambda: team.get("resourceflavor", main) is None, "no flavor of the old name")
    assert undisturbed()
    assert flavor_of(team, "long") == main
    ((status, found),) = usage(team)
    assert status == "warning"
    assert f"Job long runs on flavor {main}, which ClusterQueue {queue}-cq no longer has" in found
    team.write_campaign("late", pipeline="more")
    team.apply()
    eventually(lambda: flavor_of(team, "late") == new, "the admission of more than there is")
    eventually(lambda: held_cpu(team) == {new: "600m"}, "the usage of the new campaign alone")
    team.delete_campaign("late")

    # Paused and resumed it takes part again.
    team.write_campaign("long", priority=f"{queue}-urgent", suspend=True)
    team.apply("--prune")
    eventually(lambda: not team.pods("long"), "the pause")
    team.write_campaign("long", priority=f"{queue}-urgent")
    team.apply()
    eventually(lambda: flavor_of(team, "long") == new, "the admission on a flavor of today")
    eventually(lambda: held_cpu(team) == {new: "500m"}, "its usage")
    assert [status for status, _ in usage(team)] == ["ok"]
    eventually(lambda: running(team, "long"), "its pod")


def test_what_an_uninstalled_release_leaves(new_team: TeamFactory) -> None:
    team = new_team()
    queue = team.tenant.queue
    release = f"--namespace={team.namespace}"
    cluster_queue = ("clusterqueue", f"{queue}-cq")

    def going() -> bool:
        return "deletionTimestamp" in (team.get(*cluster_queue) or {}).get("metadata", {})

    classes = [{"name": f"{queue}-urgent", "value": 10}]
    team.tenant.install({"queue": {"priorityClasses": classes}})
    # Nothing in this cluster provides the volume, for which helm would wait.
    chart = (queue, str(CHART), release)
    team.tenant.run_helm("upgrade", *chart, "--reuse-values", "--set=modelCache.create=true")
    start(team)
    before = uids([workload(team), *team.pods("long")])
    team.tenant.run_helm("uninstall", queue, release)

    # Everything of the campaigns, and the model cache, stays; the queue until they have ended.
    assert uids([workload(team), *team.pods("long")]) == before
    assert team.admitted("long")
    assert workload(team)["spec"]["priority"] == 10
    assert team.get("configmap", "campaign-long") is not None
    assert team.get("persistentvolumeclaim", f"{queue}-model-cache") is not None
    assert going()
    assert team.get("resourceflavor", f"{queue}-flavor") is not None
    for gone in (("localqueue", queue), ("serviceaccount", f"{queue}-apply")):
        assert team.get(*gone) is None
    assert team.get("workloadpriorityclass", f"{queue}-urgent") is None

    # A release that is installed before that gets the old queue, which still goes.
    team.tenant.run_helm("install", *chart)
    assert going()
    team.kubectl("delete", "job", "long", "--wait=false")
    eventually(lambda: team.get(*cluster_queue) is None, "the end of the queue")
    team.tenant.install({"queue": {"priorityClasses": classes}})
    team.tenant.write_kubeconfig(team.kubeconfig)
    team.delete_campaign("long")
    team.write_campaign("again")
    team.apply("--prune")
    eventually(lambda: team.admitted("again"), "the admission by the new queue")
