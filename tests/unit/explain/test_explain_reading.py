"""What is read to explain a campaign: no more than it takes, and what may not be read is noted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from unit.cluster.api_server import Answer, ApiServer, Request, failure, serve
from unit.explain.scene import Scene, has_ended, pod, refused, repository, runs, waits
from unit.reconcile.live_objects import Object
from unit.reconcile.queue_objects import cluster_queue, flavor, group, local_queue

from converter.explain.reading import read_for_explain
from converter.model import Warmup
from converter.observe.phase import Phase
from converter.observe.refusal import Refusal
from converter.observe.snapshot import Snapshot
from converter.observe.status import Status, statuses
from converter.observe.wanted import wanted_of

WARM = repository(warmup=Warmup(("fill",)), data_pvc="models")
QUOTA = {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "8"}
QUEUE: dict[str, Object] = {
    "localqueues/gpu": local_queue(),
    "clusterqueues/gpu-cq": cluster_queue(group({"a100": QUOTA})),
    "resourceflavors/a100": flavor("a100", {"gpu": "a100"}),
}
OF_ONE = "gitops-campaigns.io/campaign=letters"
WARMUPS = "gitops-campaigns.io/role=warmup"
TROUBLED = "status.phase!=Succeeded,status.phase!=Running"


@dataclass
class Cluster:
    """Answers with `lists` by plural, and with what `refuses` says of a request."""

    lists: dict[str, list[Object]] = field(default_factory=dict)
    refuses: Callable[[Request], Answer | None] = lambda request: None

    def __call__(self, request: Request) -> Answer:
        if (answer := self.refuses(request)) is not None:
            return answer
        if request.method == "PATCH":
            return Answer(201, request.body)
        of = "/".join(request.path.split("/")[-2:])
        if of in QUEUE:
            return Answer(200, QUEUE[of])
        items = self.lists.get(request.path.rpartition("/")[2], [])
        return Answer(200, {"metadata": {}, "items": items})


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


@pytest.fixture
def api(cluster: Cluster) -> Iterator[ApiServer]:
    with serve(cluster) as served:
        yield served


def read(api: ApiServer, scene: Scene, campaigns: tuple[str, ...] | None = None) -> Snapshot:
    snapshot = replace(scene.facts().snapshot, chain=None)
    found = statuses(wanted_of(scene.repo), snapshot.live, scene.repo.settings.repository)
    return read_for_explain(api.client(), scene.repo, snapshot, found, campaigns=campaigns)


def read_beside_another(api: ApiServer, scene: Scene, campaigns: tuple[str, ...] | None) -> None:
    """With a second campaign, of which there is nothing to read."""
    snapshot = replace(scene.facts().snapshot, chain=None)
    found = statuses(wanted_of(scene.repo), snapshot.live, scene.repo.settings.repository)
    found.append(Status("maps", Phase.FINISHED, 3))
    read_for_explain(api.client(), scene.repo, snapshot, found, campaigns=campaigns)


def asked(api: ApiServer) -> set[tuple[str, ...]]:
    return {
        (
            request.path.rpartition("/")[2],
            *(request.query.get(key, "") for key in ("labelSelector", "fieldSelector")),
        )
        for request in api.requests
    }


CHAIN = {("gpu", "", ""), ("gpu-cq", "", ""), ("a100", "", "")}
PODS = ("pods", OF_ONE, TROUBLED)
WARNINGS = ("events", "", "involvedObject.kind=Pod,type=Warning")
NODES = {
    ("events", "", f"involvedObject.kind=Pod,reason={reason}")
    for reason in ("FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox")
}
CREATES = ("events", "", "involvedObject.kind=Job,reason=FailedCreate")


@pytest.mark.parametrize(
    ("scene", "requests"),
    [
        (waits(), CHAIN),
        (runs(), set()),
        (runs(status={"active": 2, "ready": 1}), {PODS, WARNINGS}),
        (runs(status={"active": 1, "ready": 1}), {CREATES}),
        (runs(status={"active": 2, "ready": 2, "failed": 1}), {PODS}),
        (has_ended("Complete", {"completedIndexes": "0-3", "failed": 2}), set()),
        (has_ended("Failed", {"completedIndexes": "0-2", "failed": 1}), {PODS}),
        (
            runs(WARM, status={"active": 2, "ready": 0}),
            {PODS, WARNINGS, ("pods", WARMUPS, TROUBLED), ("jobs", WARMUPS, "")},
        ),
        (runs(WARM), {("jobs", WARMUPS, "")}),
    ],
)
def test_no_more_is_asked_than_it_takes(
    api: ApiServer, scene: Scene, requests: set[tuple[str, ...]]
) -> None:
    read(api, scene)
    assert asked(api) == requests


@pytest.mark.parametrize(
    ("campaigns", "events"),
    [(("letters",), {WARNINGS}), (("letters", "maps"), NODES), (None, NODES)],
    ids=["one", "all by name", "all"],
)
def test_of_one_campaign_every_warning_is_of_interest(
    api: ApiServer, campaigns: tuple[str, ...] | None, events: set[tuple[str, ...]]
) -> None:
    read_beside_another(api, runs(status={"active": 2, "ready": 1}), campaigns)
    assert asked(api) == {PODS, *events}


def test_nothing_is_asked_for_others(api: ApiServer) -> None:
    read(api, waits(), campaigns=("maps",))
    assert api.requests == []


def owned(made: Object, job: str) -> Object:
    owner = {"controller": True, "uid": f"uid-{job}"}
    return {**made, "metadata": {**made["metadata"], "ownerReferences": [owner]}}


def test_pods_are_those_that_the_job_controls(api: ApiServer, cluster: Cluster) -> None:
    ours, theirs = owned(pod("a"), "letters"), owned(pod("b"), "somebody-else")
    cluster.lists["pods"] = [ours, theirs, pod("c")]
    found = read(api, runs(status={"active": 2, "ready": 0}))
    assert {
        job: [each["metadata"]["name"] for each in pods] for job, pods in found.pods.items()
    } == {"letters": ["a"]}


def test_the_last_event_comes_last(api: ApiServer, cluster: Cluster) -> None:
    times = ("2026-01-01T02:00:00Z", "2026-01-01T01:00:00Z")
    about = {"name": "letters"}
    cluster.lists["events"] = [{"involvedObject": about, "lastTimestamp": at} for at in times]
    found = read(api, runs(status={"active": 1, "ready": 1}))
    assert [each["lastTimestamp"] for each in found.events["letters"]] == list(reversed(times))


def forbidden(kind: str) -> Callable[[Request], Answer | None]:
    def refuse(request: Request) -> Answer | None:
        return failure(403, "Forbidden") if request.path.endswith(kind) else None

    return refuse


@pytest.mark.parametrize(
    ("kind", "scene", "note"),
    [
        ("/pods", runs(status={"active": 2, "ready": 1}), "pods: not permitted to read them"),
        ("/events", runs(status={"active": 1}), "events: not permitted to read them"),
        ("/jobs", runs(WARM), "warm-ups: not permitted to read them"),
        ("/configmaps", Scene(), "what apply would do: not permitted to read them"),
    ],
)
def test_what_may_not_be_read_is_noted(
    api: ApiServer, cluster: Cluster, kind: str, scene: Scene, note: str
) -> None:
    cluster.refuses = forbidden(kind)
    assert read(api, scene).unread == (note,)


def test_a_part_of_the_queue_that_may_not_be_read_is_unknown(
    api: ApiServer, cluster: Cluster
) -> None:
    cluster.refuses = forbidden("gpu-cq")
    chain = read(api, waits()).chain
    assert chain is not None
    assert chain.unknown == ("not permitted to read ClusterQueue gpu-cq",)


def patched(status: int, message: str, reason: str = "Forbidden") -> Any:
    def refuse(request: Request) -> Answer | None:
        return failure(status, reason, message) if request.method == "PATCH" else None

    return refuse


NOT_PERMITTED = 'jobs "letters" is forbidden: User "v" cannot patch resource "jobs" in API group ""'


@pytest.mark.parametrize(
    ("answer", "refusals"),
    [
        (lambda request: None, {"letters": None}),
        (
            patched(403, "denied request: no cost centre"),
            {"letters": refused("Forbidden: denied request: no cost centre")},
        ),
        (patched(403, NOT_PERMITTED), {}),
    ],
    ids=["accepted", "refused", "may not try"],
)
def test_what_is_missing_is_tried_out(
    api: ApiServer, cluster: Cluster, answer: Any, refusals: dict[str, Refusal | None]
) -> None:
    cluster.refuses = answer
    assert read(api, Scene()).refusals == refusals
    sent = [request for request in api.requests if request.method != "GET"]
    assert sent
    assert all(request.query.get("dryRun") == "All" for request in sent)


def test_what_apply_would_hold_back_is_not_tried_out(api: ApiServer, cluster: Cluster) -> None:
    def stopped(request: Request) -> Answer | None:
        queue = local_queue(stopPolicy="Hold")
        return Answer(200, queue) if request.path.endswith("localqueues/gpu") else None

    cluster.refuses = stopped
    (refusal,) = read(api, Scene()).refusals.values()
    assert str(refusal).startswith("apply holds it back: LocalQueue gpu is stopped")
    assert {request.method for request in api.requests} == {"GET"}


def test_what_git_has_otherwise_is_not_tried_out(api: ApiServer, cluster: Cluster) -> None:
    """apply's plan alone says what keeps it from being sent."""
    scene = replace(runs(), repo=repository(window=1))
    cluster.lists.update(jobs=list(scene.jobs), workloads=list(scene.workloads))
    (refusal,) = read(api, scene).refusals.values()
    assert str(refusal).startswith("apply holds it back: ")
    assert {request.method for request in api.requests} == {"GET"}
