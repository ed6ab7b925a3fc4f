"""Campaigns that wait because the queue itself does not work, or does not know them."""

from collections.abc import Iterator, Mapping
from datetime import datetime

from converter.cluster.objects import Object, name
from converter.explain.cause import Cause
from converter.explain.facts import Part
from converter.explain.text import minutes, said
from converter.observe.phase import Phase
from converter.reconcile.admission import NAMESPACE_NAME
from converter.reconcile.queue_chain import Missing, QueueChain, Unknown, cluster_queue_name

# A Workload comes within a second of its Job.
WORKLOAD_SECONDS = 15.0


def queue_trouble(part: Part) -> Iterator[Cause]:
    """A LocalQueue or ClusterQueue that is missing, stopped or inactive."""
    chain = part.facts.snapshot.chain
    if part.status.phase is not Phase.WAITING or chain is None:
        return
    if cause := _of_chain(chain, part.facts.settings.namespace):
        yield cause


def unqueued(part: Part) -> Iterator[Cause]:
    """A Job that Kueue has made no Workload for."""
    if part.status.phase is not Phase.WAITING or part.workloads:
        return
    chain, wanted = part.facts.snapshot.chain, part.status.priority
    read = chain.classes.get(wanted) if chain and wanted else None
    if isinstance(read, Missing):
        yield Cause(
            "priority-class-missing",
            f"there is no WorkloadPriorityClass {wanted} on the cluster, so Kueue makes no "
            "Workload for its Job",
            f"have WorkloadPriorityClass {wanted} created, or write another priority in "
            f"{part.facts.file}",
        )
        return
    since = part.status.created
    waited = _seconds_since(part, since)
    if waited < WORKLOAD_SECONDS:
        yield Cause("new", f"its Job was created {minutes(waited)} ago and is about to be queued")
        return
    if isinstance(read, Unknown):
        yield Cause(
            "no-workload",
            f"Kueue has made no Workload for its Job since {since}; most likely there is no "
            f"WorkloadPriorityClass {wanted}, which could not be read",
            f"ask the platform team for WorkloadPriorityClass {wanted}, or write another priority "
            f"in {part.facts.file}",
        )
        return
    yield Cause(
        "no-workload",
        f"Kueue has made no Workload for its Job since {since}",
        "the platform team has to look after Kueue: its controller does not work, or refuses the "
        "Job (its log says why)",
    )


def _of_chain(chain: QueueChain, namespace: str) -> Cause | None:
    local_queue, cluster_queue = chain.local_queue, chain.cluster_queue
    if isinstance(local_queue, Missing):
        return Cause(
            "queue-missing",
            f"there is no LocalQueue {chain.queue} in namespace {namespace}",
            "have it created, or correct queue in converter.yaml",
        )
    if not isinstance(local_queue, Mapping):
        return None
    if cause := _stopped(local_queue):
        return cause
    if isinstance(cluster_queue, Missing):
        return Cause(
            "queue-missing",
            f"LocalQueue {chain.queue} leads to ClusterQueue {cluster_queue_name(local_queue)}, "
            "which does not exist",
            "have it created, or correct queue in converter.yaml",
        )
    if isinstance(cluster_queue, Mapping):
        return (
            _stopped(cluster_queue) or _closed(cluster_queue, namespace) or _inactive(cluster_queue)
        )
    return _inactive(local_queue)


def _stopped(queue: Object) -> Cause | None:
    policy = queue["spec"].get("stopPolicy") or "None"
    if policy == "None":
        return None
    return Cause(
        "queue-stopped",
        f"{queue['kind']} {name(queue)} is stopped and admits nothing (stopPolicy {policy})",
        "wait until the platform team starts it again (stopPolicy: None)",
    )


def _closed(cluster_queue: Object, namespace: str) -> Cause | None:
    """A selector that is absent takes no namespace, one without labels takes every one."""
    selector = cluster_queue["spec"].get("namespaceSelector")
    labels = {} if selector is None else selector.get("matchLabels") or {}
    if selector is not None and labels.get(NAMESPACE_NAME, namespace) == namespace:
        return None
    return Cause(
        "queue-closed",
        f"ClusterQueue {name(cluster_queue)} takes nothing from namespace {namespace}",
        "have the namespace added to its namespaceSelector",
    )


def _inactive(queue: Object) -> Cause | None:
    generation = queue["metadata"].get("generation", 0)
    for condition in (queue.get("status") or {}).get("conditions") or ():
        seen = condition.get("observedGeneration", generation) >= generation
        if condition.get("type") == "Active" and condition.get("status") == "False" and seen:
            return Cause(
                "queue-inactive",
                f"{queue['kind']} {name(queue)} is not active ({condition.get('reason')}): "
                f"{said(condition.get('message'))}",
                "the platform team has to repair the queue",
            )
    return None


def _seconds_since(part: Part, time: str) -> float:
    if not time:
        return 0
    return (part.facts.snapshot.now - datetime.fromisoformat(time)).total_seconds()
