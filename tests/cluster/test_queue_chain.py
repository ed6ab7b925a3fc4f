"""A campaign that Kueue could never admit is held back, with the reason; and Kueue agrees."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from cluster.team import SLOW, Object, Team, eventually
from conftest import TeamFactory

from converter.cli.repository import load_valid
from converter.render import render

QUEUE_KINDS = ("localqueues", "clusterqueues", "resourceflavors", "workloadpriorityclasses")
_numbers = itertools.count(1)


def sized(cpu: str = "100m", memory: str = "64Mi", gpu: int = 0, **more: Any) -> dict[str, Any]:
    """converter.yaml with this one size."""
    size = {"cpu": cpu, "memory": memory, "gpu": gpu, "workdir": "8Mi", **more}
    return {"sizes": {"s": size}, "default_size": "s"}


def flavors(**quotas: dict[str, Any]) -> list[dict[str, Any]]:
    """Flavors that differ in their label `pool`."""
    return [{"name": n, "nodeLabels": {"pool": n}, "quota": q} for n, q in quotas.items()]


def gets(team: Team, mark: int) -> list[tuple[str, str]]:
    """The queue objects that an apply read, in one order."""
    asked = [(e.resource, e.name) for e in team.requests(mark) if e.verb == "get"]
    return sorted(each for each in asked if each[0] in QUEUE_KINDS)


def held_back(team: Team, campaign: str) -> str:
    """The reason in an apply that has to hold this campaign back."""
    done = team.apply(code=3)
    said = [line for line in done.text.splitlines() if line.startswith("held back: ")]
    (line,) = [line for line in said if line.startswith(f"held back: campaign {campaign} ")]
    return line


@dataclass(frozen=True)
class Case:
    """A queue, a size, and the largest window of it that the queue admits; `says` is the limit."""

    largest: int
    says: str
    queue: dict[str, Any]
    settings: dict[str, Any] = field(default_factory=sized)
    partial: bool = False

    def window(self, number: int) -> dict[str, Any]:
        return {"window": 6, "min_window": number} if self.partial else {"window": number}


def one(cpu: object = 8, memory: str = "8Gi", gpu: int = 8) -> dict[str, Any]:
    return {"quota": {"cpu": cpu, "memory": memory, "nvidia.com/gpu": gpu}}


def two(first: tuple[object, str, int], last: tuple[object, str, int]) -> dict[str, Any]:
    quotas = (one(*each)["quota"] for each in (first, last))
    return {"flavors": flavors(**dict(zip(("a", "b"), quotas, strict=True)))}


CASES = {
    "cpu": Case(3, "4 x 300m cpu", one(cpu=1), sized(cpu="300m")),
    "memory": Case(3, "4 x 128Mi memory", one(memory="500Mi"), sized(memory="128Mi")),
    "gpu": Case(2, "3 x 1 nvidia.com/gpu", one(gpu=2), sized(gpu=1)),
    "last of two": Case(
        3, "4 x 300m cpu", two(("200m", "8Gi", 0), (1, "8Gi", 0)), sized(cpu="300m")
    ),
    "each short of another": Case(
        2, "3 x 1 nvidia.com/gpu", two(("150m", "8Gi", 9), (8, "8Gi", 2)), sized(gpu=1)
    ),
    "memory of two": Case(
        4, "5 x 128Mi memory", two((8, "256Mi", 0), (8, "513Mi", 0)), sized(memory="128Mi")
    ),
    "partial": Case(3, "4 x 300m cpu", one(cpu=1), sized(cpu="300m"), partial=True),
    "partial of two": Case(
        2, "3 x 1 nvidia.com/gpu", two((8, "8Gi", 1), (8, "8Gi", 2)), sized(gpu=1), partial=True
    ),
}


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_kueue_admits_the_largest_window_that_is_told_and_not_one_more(
    new_team: TeamFactory, case: Case
) -> None:
    team = new_team({"queue": own_flavors(case.queue)})
    team.write_settings(**case.settings)
    team.write_pipeline(script=SLOW)
    team.write_campaign("one", 9, **case.window(case.largest + 1))
    said = held_back(team, "one")
    assert case.says in said
    member = "min_window" if case.partial else "window"
    assert f"write {member}: {case.largest} " in said
    assert team.get("job", "one") is None

    with sent_unchecked(team, "one"):
        eventually(lambda: "insufficient quota" in pending(team, "one"), "Kueue's own objection")
        assert not team.admitted("one")

    team.write_campaign("one", 9, **case.window(case.largest))
    team.apply()
    eventually(lambda: team.admitted("one"), "an admission")
    assert team.job("one")["spec"]["parallelism"] == case.largest


def test_a_size_that_fits_no_quota_is_held_back(new_team: TeamFactory) -> None:
    team = new_team({"queue": one(cpu=1, gpu=1)})
    team.write_settings(**sized(gpu=2))
    team.write_pipeline()
    team.write_campaign("one", 9)
    assert (
        f"one of its pods needs 2 nvidia.com/gpu, and the quota of flavor {team.tenant.queue}"
        f"-flavor in ClusterQueue {team.tenant.queue}-cq is 1, so it would be queued for ever: "
        "ask for less in size s in converter.yaml, or have the quota raised"
    ) in held_back(team, "one")
    with sent_unchecked(team, "one"):
        eventually(lambda: "insufficient quota" in pending(team, "one"), "Kueue's own objection")


def test_a_resource_without_a_quota_is_held_back(new_team: TeamFactory) -> None:
    team = new_team()
    covered = {"coveredResources": ["cpu", "memory"]}
    found = team.get("clusterqueue", f"{team.tenant.queue}-cq")
    assert found is not None
    (group,) = found["spec"]["resourceGroups"]
    (only,) = group["flavors"]
    resources = [each for each in only["resources"] if each["name"] != "nvidia.com/gpu"]
    group = {**covered, "flavors": [{**only, "resources": resources}]}
    patch_queue(team, "clusterqueue", resourceGroups=[group])
    team.write_settings(**sized(gpu=1))
    team.write_pipeline()
    team.write_campaign("one")
    assert "its pods ask for nvidia.com/gpu, of which ClusterQueue" in held_back(team, "one")
    with sent_unchecked(team, "one"):
        eventually(lambda: "unavailable in ClusterQueue" in pending(team, "one"), "an objection")


def test_a_priority_class_that_does_not_exist_is_held_back(new_team: TeamFactory) -> None:
    name = "not-in-this-cluster"
    team = new_team({"queue": {"priorityClasses": [{"name": name, "create": False}]}})
    team.write_settings(priority_classes=[name])
    team.write_pipeline(script=SLOW)
    team.write_campaign("urgent", priority=name)
    team.write_campaign("other")
    assert f"there is no WorkloadPriorityClass {name} in the cluster" in held_back(team, "urgent")
    eventually(lambda: team.admitted("other"), "the other campaign's admission")
    assert team.get("job", "urgent") is None
    created = {
        "apiVersion": "kueue.x-k8s.io/v1beta2",
        "kind": "WorkloadPriorityClass",
        "metadata": {"name": name},
        "value": 10,
    }
    team.cluster.kubectl.apply([created])
    try:
        team.apply()
        eventually(lambda: team.admitted("urgent"), "its admission")
    finally:
        team.kubectl("delete", "workloadpriorityclass", name)


def test_without_a_local_queue_a_campaign_is_held_back_and_a_pause_is_enforced(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("running")
    team.apply()
    eventually(lambda: team.pods("running"), "a pod")
    team.kubectl("delete", "localqueue", team.tenant.queue, "--wait=false")
    team.write_campaign("new")
    queue = team.tenant.queue
    said = f"there is no LocalQueue {queue} in namespace {team.namespace}: have it created"
    assert said in held_back(team, "new")
    team.write_campaign("running", suspend=True)
    held_back(team, "new")
    eventually(lambda: not team.pods("running"), "the pause")
    assert team.get("job", "new") is None


@pytest.mark.parametrize(("kind", "suffix"), [("localqueue", ""), ("clusterqueue", "-cq")])
def test_in_a_stopped_queue_what_waits_is_reported_and_what_runs_is_left_alone(
    new_team: TeamFactory, kind: str, suffix: str
) -> None:
    team = new_team({"queue": one(cpu="100m")})
    team.write_pipeline(script=SLOW)
    team.write_campaign("running")
    team.apply()
    eventually(lambda: team.admitted("running"), "an admission")
    team.write_campaign("waiting")
    team.apply()
    eventually(lambda: team.workload("waiting"), "a place in the queue")
    patch_queue(team, kind, suffix=suffix, stopPolicy="Hold")
    team.write_campaign("new")
    said = f"Queue {team.tenant.queue}{suffix} is stopped and admits nothing (stopPolicy Hold)"
    for campaign in ("new", "waiting"):
        assert said in held_back(team, campaign)
    assert "campaign running" not in team.apply(code=3).text
    assert team.admitted("running")
    patch_queue(team, kind, suffix=suffix, stopPolicy="None")
    eventually(lambda: "created: Job/new" in team.run("apply", ".").text, "the queue open again")


@pytest.mark.parametrize(
    ("theirs", "says"),
    [
        ({"name": "{a}", "nodeLabels": {"gpu": "h100"}}, "has node labels {gpu: h100}"),
        ({"name": "{a}-2", "nodeLabels": {"gpu": "a100"}}, "has no flavor of that name (it has"),
    ],
    ids=["labels", "name"],
)
def test_a_flavor_that_is_another_one_in_the_cluster_is_held_back(
    new_team: TeamFactory, theirs: Object, says: str
) -> None:
    name = own_name("a100")
    real = {**theirs, "name": theirs["name"].format(a=name), **one()}
    team = new_team({"queue": {"flavors": [real]}})
    ours = {"name": name, "nodeLabels": {"gpu": "a100"}, **one()}
    team.write_settings(**sized(flavor=name), flavors=[ours])
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    said = held_back(team, "one")
    assert f"size s names flavor {name}, {{gpu: a100}} in converter.yaml" in said
    assert says in said
    assert team.get("job", "one") is None


def test_an_identity_that_may_not_read_the_queue_is_warned_and_sends(team: Team) -> None:
    team.write_settings(**sized(cpu="3"))
    team.write_pipeline(script=SLOW)
    team.write_campaign("one", 9, window=2)
    team.write_campaign("two", 9, window=2)
    held_back(team, "one")
    account = f"{team.namespace}:{team.tenant.queue}-apply"
    team.kubectl("delete", "clusterrolebinding", account)
    warning = (
        f"note: LocalQueue {team.tenant.queue}: not permitted to read ClusterQueue "
        f"{team.tenant.queue}-cq: campaigns go out unchecked"
    )

    def let_through() -> bool:
        done = team.run("apply", ".")
        return done.code == 0 and done.text.count(warning) == 1

    eventually(let_through, "the binding gone for the API server too")
    for campaign in ("one", "two"):
        assert team.get("job", campaign) is not None


def test_a_queue_that_is_misspelt_is_one_that_the_identity_may_not_read(team: Team) -> None:
    # Without this the policies refuse it.
    team.tenant.install({"security": {"policies": {"queues": ["nosuch"]}}})
    team.write_settings(queue="nosuch")
    team.write_pipeline()
    team.write_campaign("one")
    said = "note: LocalQueue nosuch: not permitted to read LocalQueue nosuch: campaigns go out"

    def is_applied() -> bool:
        # The API server takes a moment to hear of a policy's change.
        done = team.run("apply", ".")
        assert said in done.text
        return done.code == 0

    eventually(is_applied, "the policy that lets it")


def test_the_queue_is_read_once_for_any_number_of_campaigns_and_not_for_a_no_op(
    new_team: TeamFactory,
) -> None:
    team = new_team({"queue": {"quota": {"cpu": 8, "memory": "8Gi", "nvidia.com/gpu": 0}}})
    chain = [
        ("clusterqueues", f"{team.tenant.queue}-cq"),
        ("localqueues", team.tenant.queue),
        ("resourceflavors", f"{team.tenant.queue}-flavor"),
    ]
    team.write_pipeline(script=SLOW)
    team.write_pipeline("short")
    team.write_campaign("paused", suspend=True)
    team.write_campaign("finished", pipeline="short")
    assert reads_of(team) == chain
    for n in range(12):
        team.write_campaign(f"c{n:02}")
    assert reads_of(team) == chain
    names = [f"c{n:02}" for n in range(12)]
    eventually(lambda: all(map(team.admitted, names)), "all admissions")
    eventually(lambda: team.ended("finished"), "the short one's end")
    assert reads_of(team) == []


def reads_of(team: Team) -> list[tuple[str, str]]:
    mark = team.cluster.audit_mark()
    team.apply()
    return gets(team, mark)


def own_flavors(queue: dict[str, Any]) -> dict[str, Any]:
    """Flavors are the cluster's, so that each test needs names of its own."""
    if "flavors" not in queue:
        return queue
    return {"flavors": [{**each, "name": own_name(each["name"])} for each in queue["flavors"]]}


def own_name(name: str) -> str:
    return f"{name}-{os.getpid()}-{next(_numbers)}"


@contextmanager
def sent_unchecked(team: Team, campaign: str) -> Iterator[None]:
    """The campaign's Job as apply would have created it, for Kueue to judge."""
    (job,) = [
        each.body
        for each in render(load_valid(team.repo))
        if each.campaign == campaign and each.kind == "Job"
    ]
    team.cluster.kubectl.apply([job])
    eventually(lambda: team.workload(campaign), "a Workload")
    try:
        yield
    finally:
        team.kubectl("delete", "job", campaign)


def pending(team: Team, campaign: str) -> str:
    """What Kueue says of a Workload that it has not given quota."""
    workload = team.workload(campaign) or {}
    conditions = workload.get("status", {}).get("conditions", [])
    return " ".join(c["message"] for c in conditions if c["type"] == "QuotaReserved")


def patch_queue(team: Team, kind: str, *, suffix: str = "-cq", **spec: Any) -> None:
    patch = json.dumps({"spec": spec})
    name = f"{team.tenant.queue}{suffix}"
    team.kubectl("patch", kind, name, "--type=merge", f"--patch={patch}")
