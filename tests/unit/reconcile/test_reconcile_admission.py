"""Which Jobs are checked against the queue, and what is wrong with a queue (apply.md 5)."""

from typing import Any

import pytest
from unit.cluster.api_server import Answer, ApiServer, Request, failure
from unit.reconcile.applies import ACTIVE, PAUSED, applying, details, refuse, with_running
from unit.reconcile.live_objects import (
    SETTINGS,
    Object,
    applied,
    campaign,
    ended,
    evicted,
    job,
    pipeline,
    queued,
    running,
    state,
    workload,
)
from unit.reconcile.namespace_store import Namespace
from unit.reconcile.plans import live_campaign
from unit.reconcile.queue_objects import chain, cluster_queue, inactive, local_queue

from converter.manifest import Manifest
from converter.names import KUEUE_PRIORITY_LABEL
from converter.reconcile.admission import class_objection, waiting_jobs
from converter.reconcile.live import Live
from converter.reconcile.objection import cluster_queue_objection, queue_objection
from converter.reconcile.outcome import Fate
from converter.reconcile.queue_chain import Missing, QueueChain, Read, Unknown

UNKNOWN = Unknown("not permitted")
NO_QUEUE = "there is no LocalQueue gpu in namespace batch"


def live_and(live_job: Object, **conditions: Any) -> Live:
    return state(*live_campaign(live_job), workloads=(workload(live_job, **conditions),))


def named(operator: str, *values: str, key: str = "kubernetes.io/metadata.name") -> dict[str, Any]:
    expression = {"key": key, "operator": operator, "values": list(values)}
    return {"matchExpressions": [expression]}


@pytest.mark.parametrize(
    ("manifests", "live", "checked"),
    [
        (campaign(), state(), True),
        (campaign(suspended=True), state(), False),
        (campaign(), state(*live_campaign(queued(job()))), True),
        (campaign(), live_and(queued(job())), True),
        (campaign(), live_and(queued(job()), QuotaReserved="Admitted"), False),
        (campaign(), live_and(evicted(job())), True),
        (campaign(suspended=True), live_and(queued(job())), False),
        (campaign(), live_and(running(job()), QuotaReserved="x", Admitted="x"), False),
        (campaign(), state(*live_campaign(running(job()))), False),
        (campaign(), state(*live_campaign(ended(job()))), False),
        (campaign(), state(*live_campaign(applied(job(suspended=True)))), True),
    ],
    ids=[
        "new",
        "new and paused",
        "no Workload yet",
        "queued",
        "has quota",
        "evicted",
        "paused in the queue",
        "admitted",
        "running",
        "finished",
        "resuming",
    ],
)
def test_what_starts_resumes_or_waits_is_checked(
    manifests: list[Manifest], live: Live, checked: bool
) -> None:
    assert bool(waiting_jobs(manifests, live)) is checked


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (chain(queue=Missing()), NO_QUEUE),
        (chain(queue=UNKNOWN), ""),
        (chain(queue=local_queue(stopPolicy="Hold")), "LocalQueue gpu is stopped"),
        (chain(queue=local_queue(stopPolicy="HoldAndDrain")), "(stopPolicy HoldAndDrain)"),
        (chain(cluster_queue(), queue=local_queue(stopPolicy="None")), ""),
        (chain(Missing()), "LocalQueue gpu leads to ClusterQueue gpu-cq, which does not exist"),
        (chain(UNKNOWN), ""),
        (
            chain(UNKNOWN, queue=inactive(local_queue(), "ClusterQueueIsInactive", "Can't submit")),
            "LocalQueue gpu is not active (ClusterQueueIsInactive: Can't submit)",
        ),
        # It repeats what the ClusterQueue said before.
        (chain(cluster_queue(), queue=inactive(local_queue(), "ClusterQueueIsInactive", "")), ""),
        (chain(cluster_queue(stopPolicy="Hold")), "ClusterQueue gpu-cq is stopped"),
        (
            chain(inactive(cluster_queue(), "FlavorNotFound", "Can't admit new workloads.")),
            "ClusterQueue gpu-cq is not active (FlavorNotFound: Can't admit new workloads)",
        ),
        (chain(inactive(cluster_queue(), "Stopped", "is stopped", seen=0)), ""),
        (chain({**cluster_queue(), "status": None}, queue={**local_queue(), "status": None}), ""),
        (chain(UNKNOWN, queue={**local_queue(), "status": None}), ""),
        (chain(cluster_queue(namespaceSelector=None)), "takes nothing from namespace batch"),
        (chain(cluster_queue(namespaceSelector={"matchLabels": {"team": "a"}})), ""),
        (
            chain(
                cluster_queue(
                    namespaceSelector={"matchLabels": {"kubernetes.io/metadata.name": "other"}}
                )
            ),
            "takes nothing from namespace batch",
        ),
        (chain(cluster_queue(namespaceSelector=named("In", "maps", "batch"))), ""),
        (chain(cluster_queue(namespaceSelector=named("In", "maps"))), "takes nothing from"),
        (chain(cluster_queue(namespaceSelector=named("NotIn", "maps"))), ""),
        (chain(cluster_queue(namespaceSelector=named("NotIn", "batch"))), "takes nothing from"),
        (chain(cluster_queue(namespaceSelector=named("Exists"))), ""),
        (chain(cluster_queue(namespaceSelector=named("DoesNotExist"))), "takes nothing from"),
        (chain(cluster_queue(namespaceSelector=named("In", "a", key="team"))), ""),
        (chain(cluster_queue()), ""),
    ],
)
def test_a_queue_that_admits_nothing_is_an_objection(found: QueueChain, said: str) -> None:
    reason = str(queue_objection(found, SETTINGS.namespace) or "")
    assert bool(reason) is bool(said)
    assert said in reason


@pytest.mark.parametrize(
    ("queue", "code", "remedy"),
    [
        (cluster_queue(stopPolicy="Hold"), "queue-stopped", "have stopPolicy set to None"),
        (inactive(cluster_queue(), "FlavorNotFound", "no a"), "queue-inactive", "repaired"),
        (cluster_queue(namespaceSelector=None), "", ""),
    ],
)
def test_a_cluster_queue_that_admits_nothing_from_anywhere(
    queue: Object, code: str, remedy: str
) -> None:
    found = cluster_queue_objection(queue)
    assert (found.code if found else "") == code
    assert remedy in (found.remedy if found else "")


@pytest.mark.parametrize(
    ("priority", "read", "objects"),
    [
        ("high", Missing(), True),
        ("high", UNKNOWN, False),
        ("high", {"kind": "WorkloadPriorityClass"}, False),
        ("", Missing(), False),
    ],
)
def test_a_priority_class_that_is_missing_is_an_objection(
    priority: str, read: Read, objects: bool
) -> None:
    reason = str(class_objection(priority, chain(cluster_queue(), high=read)) or "")
    assert ("there is no WorkloadPriorityClass high" in reason) is objects


def queue_reads(api: ApiServer) -> list[str]:
    kinds = ("localqueues", "clusterqueues", "resourceflavors", "workloadpriorityclasses")
    paths = [request.path.split("/") for request in api.requests]
    return sorted("/".join(path[-2:]) for path in paths if path[-2] in kinds)


CHAIN = ["clusterqueues/gpu-cq", "localqueues/gpu", "resourceflavors/any"]


def prioritised(*names: str) -> list[Manifest]:
    manifests = [pipeline()]
    for name in names:
        volumes, of = campaign(name)
        of.body["metadata"]["labels"][KUEUE_PRIORITY_LABEL] = "high"
        manifests += [volumes, of]
    return manifests


def test_each_queue_object_is_read_once(api: ApiServer, namespace: Namespace) -> None:
    namespace.queues["workloadpriorityclasses/high"] = {"kind": "WorkloadPriorityClass"}
    outcome = applying(api, prioritised("one", "two", "three"))
    assert outcome.exit_code == 0
    assert queue_reads(api) == [*CHAIN, "workloadpriorityclasses/high"]


def start_paused(namespace: Namespace) -> list[Manifest]:
    del namespace
    return PAUSED


def start_running(namespace: Namespace) -> list[Manifest]:
    with_running(namespace)
    return ACTIVE


@pytest.mark.parametrize("start", [start_paused, start_running])
def test_the_queue_is_not_asked_where_nothing_is_to_be_admitted(
    api: ApiServer, namespace: Namespace, start: Any
) -> None:
    del namespace.queues["localqueues/gpu"]
    assert applying(api, start(namespace)).exit_code == 0
    assert queue_reads(api) == []


def test_an_objection_holds_back_that_campaign_alone(api: ApiServer, namespace: Namespace) -> None:
    outcome = applying(api, [*prioritised("urgent"), *campaign("other")])
    ((target, detail),) = details(outcome, Fate.HELD_BACK)
    assert target == "campaign urgent"
    assert "there is no WorkloadPriorityClass high" in detail
    assert outcome.exit_code == 3
    assert set(namespace.objects["jobs"]) == {"other"}


def test_a_queued_campaign_that_can_never_be_admitted_is_reported_and_others_are_paused(
    api: ApiServer, namespace: Namespace
) -> None:
    with_running(namespace, "paused")
    waiting = queued(job())
    namespace.add(*live_campaign(waiting), workload(waiting))
    del namespace.queues["localqueues/gpu"]
    outcome = applying(api, [*ACTIVE, *campaign("paused", suspended=True)])
    ((target, detail),) = details(outcome, Fate.HELD_BACK)
    assert target == "campaign scan"
    assert NO_QUEUE in detail
    assert outcome.exit_code == 3
    assert namespace.objects["workloads"]["job-paused"]["spec"]["active"] is False


def broken(request: Request) -> Answer | None:
    return failure(400, "BadRequest", "gone") if "/clusterqueues/" in request.path else None


@pytest.mark.parametrize(
    ("refuses", "why"),
    [
        (refuse("GET", "/clusterqueues/gpu-cq"), "not permitted to read ClusterQueue gpu-cq"),
        (refuse("GET", "/localqueues/gpu"), "not permitted to read LocalQueue gpu"),
        (refuse("GET", "/resourceflavors/any"), "not permitted to read ResourceFlavor any"),
        (broken, "read ClusterQueue/gpu-cq: 400 BadRequest: gone"),
    ],
)
def test_what_cannot_be_read_is_said_once_and_campaigns_go_out(
    api: ApiServer, namespace: Namespace, refuses: Any, why: str
) -> None:
    namespace.refuses = refuses
    outcome = applying(api, [*ACTIVE, *campaign("two")])
    assert details(outcome, Fate.NOTE) == [("LocalQueue gpu", f"{why}: campaigns go out unchecked")]
    assert outcome.exit_code == 0
    assert set(namespace.objects["jobs"]) == {"scan", "two"}
