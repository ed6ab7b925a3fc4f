"""Why a campaign does not run, each reason made for real, and what status and explain say of it.

One namespace and one ClusterQueue: each flavor has a quota of its own, so that what happens on one
of them does not matter on another. No node has the labels of most, so that what is admitted on them
costs nothing. What is told is in docs/situations.md.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from cluster.holding import hold
from cluster.situations import Row, check, explained, row
from cluster.team import SLOW, Object, Team, condition, eventually
from cluster.test_deactivation import SECONDS_LABEL
from cluster.test_warmups import CLAIM, WARMUP, Cache, cache, fits
from conftest import TeamFactory

__all__ = ["cache"]

HOST = "kubernetes.io/hostname"
# Names of the whole cluster; the tests of another process have others.
MINE = f"sit{os.getpid()}"
POD = {"cpu": "50m", "memory": "24Mi", "gpu": 0, "workdir": "4Mi"}
# For each flavor the node that it stands for and its quota of pods, and of GPUs.
FLAVORS: Mapping[str, tuple[str, int, int]] = {
    "real": ("real-1", 20, 1),
    "fake": ("kwok-gpu", 20, 0),
    "free": ("no-such-node", 20, 0),
    "full": ("none-full", 1, 0),
    "cut": ("none-cut", 2, 0),
    "turned": ("none-turned", 1, 0),
    "urgent": ("none-urgent", 1, 0),
    "long": ("none-long", 1, 0),
    "other": ("none-other", 1, 0),
}
CLASSES = ("high", "gone")
GROUP = "gitops-campaigns.io/campaign"


def quota(pods: int, gpus: int) -> dict[str, object]:
    return {"cpu": f"{50 * pods}m", "memory": f"{24 * pods}Mi", "nvidia.com/gpu": gpus}


def flavors() -> list[dict[str, object]]:
    """As the chart and converter.yaml both have them."""
    return [
        {"name": f"{MINE}-{name}", "nodeLabels": {HOST: node}, "quota": quota(pods, gpus)}
        for name, (node, pods, gpus) in FLAVORS.items()
    ]


@pytest.fixture
def team(new_team: TeamFactory) -> Team:
    classes = [{"name": f"{MINE}-{name}", "value": 1000} for name in CLASSES]
    queue = {"flavors": flavors(), "priorityClasses": classes}
    return new_team({"queue": queue, "viewer": {"enabled": True}})


@dataclass(frozen=True)
class Site:
    """The team with more repositories of the same namespace, and its two identities."""

    main: Team
    warm: Team
    claimless: Team
    viewer: Path

    @property
    def queue(self) -> str:
        """The ClusterQueue."""
        return f"{self.main.tenant.queue}-cq"

    @property
    def names(self) -> Mapping[str, str]:
        """What is another name in each run, and what it is called in the document."""
        return {f"{MINE}-": "", MINE: "cost-centre", self.main.namespace: "team"}

    def seen_by(self, campaign: str) -> Path:
        """The kubeconfig with which it is looked at."""
        return self.main.kubeconfig if campaign in AS_APPLY else self.viewer

    def patch(self, kind: str, name: str, patch: object, how: str = "merge") -> None:
        self.main.kubectl("patch", kind, name, f"--type={how}", f"--patch={json.dumps(patch)}")

    def patch_workload(self, job: str, patch: object) -> None:
        workload = self.main.workload(job)
        assert workload is not None
        self.patch("workload", workload["metadata"]["name"], patch)

    def pending(self, job: str, text: str) -> Callable[[], object]:
        """Whether a pod of a Job has this in its status."""
        return lambda: any(text in json.dumps(pod["status"]) for pod in self.main.pods(job))


def write_settings(team: Team, repository: str, **settings: object) -> None:
    sizes: dict[str, object] = {name: {**POD, "flavor": f"{MINE}-{name}"} for name in FLAVORS}
    sizes["large"] = {**POD, "cpu": "100m", "flavor": f"{MINE}-cut"}
    sizes["huge"] = {**POD, "cpu": "64", "flavor": f"{MINE}-cut"}
    sizes["gpu"] = {**POD, "gpu": 1, "flavor": f"{MINE}-real"}
    ours = flavors()
    ours[-1] = {**ours[-1], "nodeLabels": {HOST: "another-name"}}
    listed = [{key: flavor[key] for key in ("name", "nodeLabels")} for flavor in ours]
    team.write_settings(
        repository=repository,
        sizes=sizes,
        default_size="real",
        flavors=listed,
        priority_classes=[f"{MINE}-{name}" for name in (*CLASSES, "ghost")],
        **settings,
    )


@pytest.fixture
def site(team: Team, cache: Cache) -> Iterator[Site]:
    viewer = team.repo.parent / "viewer"
    team.tenant.write_kubeconfig(viewer, account=f"{team.tenant.queue}-viewer")
    claimless, warm = (replace(team, repo=team.repo.parent / name) for name in ("no", "warm"))
    # Those that are tried again still are when the slowest machine comes to look.
    write_settings(team, "tests", backoff_limit_per_index=6)
    fake = {"key": "kwok.x-k8s.io/node", "operator": "Exists", "effect": "NoSchedule"}
    write_settings(warm, "warm", data_pvc=CLAIM, tolerations=[fake])
    write_settings(claimless, "claimless", data_pvc="not-there")
    policy = refusing_policy(team.namespace)
    limit = {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {"name": "no-gpus", "namespace": team.namespace},
        "spec": {"hard": {"requests.nvidia.com/gpu": "0"}},
    }
    team.cluster.kubectl.apply([*policy, limit])
    team.kubectl("delete", "workloadpriorityclass", f"{MINE}-gone")
    preempt = {"spec": {"preemption": {"withinClusterQueue": "LowerPriority"}}}
    made = Site(team, warm, claimless, viewer)
    made.patch("clusterqueue", made.queue, preempt)
    yield made
    for each in policy:
        team.kubectl("delete", str(each["kind"]), MINE)


def refusing_policy(namespace: str) -> list[dict[str, object]]:
    """No Job of campaign `refused`, and no pod of campaign `no-pods`."""
    api = "admissionregistration.k8s.io/v1"
    of = f"object.metadata.?labels[?'{GROUP}'].orValue('')"
    rules = [
        {"apiGroups": [group], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": [kind]}
        for group, kind in (("batch", "jobs"), ("", "pods"))
    ]
    here = {"matchLabels": {"kubernetes.io/metadata.name": namespace}}
    test = f"{of} != (request.resource.resource == 'jobs' ? 'refused' : 'no-pods')"
    spec = {
        "failurePolicy": "Fail",
        "matchConstraints": {"namespaceSelector": here, "resourceRules": rules},
        "validations": [{"expression": test, "message": "campaigns need a cost centre"}],
    }
    binding = {"policyName": MINE, "validationActions": ["Deny"]}
    return [
        {"apiVersion": api, "kind": kind, "metadata": {"name": MINE}, "spec": each}
        for kind, each in (
            ("ValidatingAdmissionPolicy", spec),
            ("ValidatingAdmissionPolicyBinding", binding),
        )
    ]


def write_first(site: Site) -> None:
    """What has to be there before the others come into the queue."""
    team = site.main
    for name in (*FLAVORS, "large", "huge", "gpu"):
        team.write_pipeline(name, SLOW, size=name)
    team.write_pipeline("short", "true", ttl_seconds_after_finished=12)
    team.write_pipeline("no-image", SLOW, image="gitops-campaigns.local/nothing:none")
    team.write_pipeline("retried", "echo no connection >&2; exit 3")
    team.write_pipeline(
        "given-up", f'[ "$VOLUME_ID" = v1 ] && {{ echo torn >&2; exit 13; }}; {SLOW}'
    )
    team.write_pipeline("partly", '[ "$VOLUME_ID" != v1 ] || { echo torn page >&2; exit 13; }')
    team.write_pipeline("greedy", "tail /dev/zero")
    for flavor in ("full", "turned", "other"):
        team.write_campaign(f"first-{flavor}", pipeline=flavor)
    team.write_campaign("first-cut", 2, pipeline="cut", window=2)
    team.write_campaign("lowly", pipeline="urgent")
    team.write_campaign("taint", pipeline="fake")
    for name in ("paused", "by-hand", "edited", "forgotten"):
        team.write_campaign(name, pipeline="free")
    team.write_campaign("expired", pipeline="free", suspend=True)
    team.write_campaign("too-large", pipeline="huge")
    team.write_campaign("too-wide", 20, pipeline="cut", window=20)
    team.write_campaign("class-gone", pipeline="free", priority=f"{MINE}-gone")
    team.write_campaign("class-unknown", pipeline="free", priority=f"{MINE}-ghost")
    team.write_campaign("no-gpu", pipeline="gpu")
    for name in ("no-pods", "refused"):
        team.write_campaign(name, pipeline="real")
    team.write_campaign("reaped", pipeline="short")
    for name in ("no-image", "retried", "greedy"):
        team.write_campaign(name, pipeline=name)
    for name in ("given-up", "partly"):
        team.write_campaign(name, ["v1", f"{name}-2"], pipeline=name)


def write_others(site: Site) -> None:
    """What finds the queue as the first ones left it."""
    team = site.main
    for name in ("full", "held", "turned"):
        team.write_campaign(name, pipeline="full" if name == "held" else name)
    team.write_campaign("wide", 2, pipeline="cut", window=2)
    team.write_campaign("large", pipeline="large")
    team.write_campaign("paused", pipeline="free", suspend=True)
    team.write_campaign("expired", pipeline="free")
    team.write_campaign("hurried", pipeline="urgent", priority=f"{MINE}-high")


def write_elsewhere(site: Site) -> None:
    """Other repositories: a data volume is a setting of a whole repository."""
    command = ["/bin/sh", "-euc", "echo no such model >&2; exit 13"]
    site.warm.write_pipeline("work", "true", warmup={"command": command})
    site.warm.write_campaign("behind", pipeline="work")
    site.warm.write_pipeline("nowhere", SLOW, size="free")
    site.warm.write_campaign("astray", pipeline="nowhere")
    site.claimless.write_pipeline("plain", SLOW)
    site.claimless.write_campaign("no-claim", pipeline="plain")
    site.claimless.write_pipeline("parts", SLOW, size="long")
    site.claimless.write_campaign("split", 10_001, pipeline="parts", window=1)


def change_the_cluster(site: Site) -> None:
    """What others do to campaigns that are there."""
    hold(site.main, "held", 7, by="ops@example.org", reason="a node is being repaired")
    site.patch_workload("by-hand", {"spec": {"active": False}})
    group = "/spec/resourceGroups/0"
    queue = json.loads(site.main.kubectl("get", "clusterqueue", site.queue, "--output=json"))
    names = [each["name"] for each in queue["spec"]["resourceGroups"][0]["flavors"]]
    cut = f"{group}/flavors/{names.index(f'{MINE}-cut')}/resources/0"
    half = [{"op": "replace", "path": f"{cut}/nominalQuota", "value": "50m"}]
    site.patch("clusterqueue", site.queue, half, "json")
    turned = {"spec": {"nodeLabels": {HOST: "renamed"}}}
    site.patch("resourceflavor", f"{MINE}-turned", turned)


def change_git(site: Site) -> None:
    team = site.main
    team.write_campaign("edited", pipeline="free", window=1)
    team.delete_campaign("forgotten")
    team.write_campaign("fresh", pipeline="free")


# The situation, the campaign, its phase and the code of the first cause.
SITUATIONS: tuple[tuple[str, str, str, str], ...] = (
    ("priority class is gone", "class-gone", "Missing", "held-back"),
    ("priority class is unknown", "class-unknown", "Waiting", "no-workload"),
    ("size is too large", "too-large", "Missing", "held-back"),
    ("size is too large since the quota was cut", "large", "Waiting", "never-fits"),
    ("window is too wide", "too-wide", "Missing", "held-back"),
    ("window is too wide since the quota was cut", "wide", "Waiting", "never-fits"),
    ("queue is full", "full", "Waiting", "queue-full"),
    ("flavor has other labels than converter.yaml", "first-other", "Missing", "held-back"),
    ("flavor's labels were changed", "turned", "Waiting", "no-flavor"),
    ("nodes have a taint", "taint", "Running", "unschedulable"),
    ("image is missing", "no-image", "Running", "image"),
    ("namespace's quota is used up", "no-gpu", "Running", "namespace-quota"),
    ("pods are refused by a policy", "no-pods", "Running", "refused-by-policy"),
    ("Job is refused by a policy", "refused", "Missing", "refused-by-policy"),
    ("held", "held", "Held", "held"),
    ("paused in git", "paused", "Paused", "paused-in-git"),
    ("paused by hand", "by-hand", "Paused", "paused-by-hand"),
    ("deactivated by Kueue", "expired", "Paused", "deactivated"),
    ("preempted by a higher priority", "lowly", "Waiting", "preempted"),
    ("a volume is tried again", "retried", "Running", "volumes-retried"),
    ("out of memory", "greedy", "Running", "volumes-retried"),
    ("a volume failed for good, others run", "given-up", "Running", "volumes-failed"),
    ("ended with failed volumes", "partly", "PartlyFailed", "partly-failed"),
    ("finished and reaped", "reaped", "Finished", "finished"),
    ("merged and not applied", "edited", "Drifted", "drifted"),
    ("new and not applied", "fresh", "Missing", "not-applied"),
    ("not in git any more", "forgotten", "Drifted", "not-in-git"),
)
# A viewer cannot try out what apply would be told.
AS_APPLY = ("refused", "fresh")
# What status has no words for: the phase and the numbers say it.
UNTOLD = ("running", "finished")
SAME = 30
CLAIMLESS = (
    ("volume claim is missing", "no-claim", "Running", "volume-claim"),
    ("campaign of two Jobs, one of which waits", "split", "Running", "queue-full"),
)


def test_each_situation_is_told_by_its_cause(site: Site) -> None:
    team = site.main
    write_first(site)
    team.apply(code=3)
    team.kubectl("label", "job", "expired", f"{SECONDS_LABEL}=1")
    write_others(site)
    write_elsewhere(site)
    site.claimless.apply()
    eventually(lambda: team.ended("reaped", "partly"), "the end of those that end")
    team.apply(code=3)
    site.warm.apply()
    eventually(lambda: team.workload("held") and team.workload("by-hand"), "Workloads")
    change_the_cluster(site)
    change_git(site)
    settle(site)

    rows = list(told(site, team, SITUATIONS))
    rows += told(site, site.claimless, CLAIMLESS)
    rows += warmups(site)
    site.patch("clusterqueue", site.queue, {"spec": {"stopPolicy": "Hold"}})
    rows += told(site, team, (("queue is stopped", "full", "Waiting", "queue-stopped"),))
    check(rows)


def settle(site: Site) -> None:
    """Until everything is where it stays."""
    team = site.main
    seen = {
        "no-image": ("no-image", "ImagePull"),
        "retried": ("retried", '"Failed"'),
        "given-up": ("given-up", '"exitCode": 13'),
        "greedy": ("greedy", '"Failed"'),
        "taint": ("taint", "taint"),
        "astray": ("astray", "selector"),
        "no-claim": ("no-claim", "persistentvolumeclaim"),
    }
    for what, (job, text) in seen.items():
        eventually(site.pending(job, text), what)
    eventually(lambda: team.get("job", "reaped") is None, "the end of its time to live")
    eventually(lambda: phase_of(team, "expired") == "Paused", "Kueue's deactivation")
    eventually(lambda: phase_of(team, "paused") == "Paused", "the pause")
    eventually(lambda: condition(team.workload("lowly"), "Preempted"), "the preemption")


def phase_of(team: Team, name: str) -> object:
    return team.status()[name]["phase"]


def status(team: Team, kubeconfig: Path) -> dict[str, Object]:
    """By campaign."""
    done = team.run("status", ".", "--format=json", kubeconfig=kubeconfig)
    return {each["name"]: each for each in json.loads(done.stdout)["campaigns"]}


def told(site: Site, team: Team, situations: Iterable[tuple[str, str, str, str]]) -> Iterator[Row]:
    """What status and explain say of each, both as the viewer, or as who may try things out."""
    asked = tuple(situations)
    statuses = {who: status(team, who) for who in {site.seen_by(name) for _, name, *_ in asked}}
    wrong = []
    for situation, name, phase, code in asked:
        who = site.seen_by(name)
        found = explained(team, name, who)
        shown, first = statuses[who][name], found["causes"][0]
        seen = (shown["phase"], found["phase"], first["code"])
        # Numbers further on in the sentence may have changed between the two.
        told_alike = shown["detail"][:SAME] == first["sentence"][:SAME] or code in UNTOLD
        if seen != (phase, phase, code) or not told_alike:
            wrong.append((name, seen, shown["detail"], first["sentence"]))
        yield row(situation, phase, found, site.names)
    assert not wrong


def warmups(site: Site) -> Iterator[Row]:
    """A warm-up asks for more than the node has, and fails when it is made smaller."""
    team = site.warm
    eventually(lambda: team.job_status(WARMUP).get("active"), "the warm-up's pod")
    eventually(site.pending(WARMUP, "Insufficient"), "no room for it")
    eventually(site.pending("behind", '"running"'), "a pod at the gate")
    first = (
        ("no node has the labels", "astray", "Running", "unschedulable"),
        ("warm-up has no node", "behind", "Running", "warmup-not-started"),
    )
    yield from told(site, team, first)
    eventually(fits(team, lambda: condition(team.job(WARMUP), "Failed")), "the warm-up's failure")
    yield from told(site, team, (("warm-up failed", "behind", "Running", "warmup-failed"),))
