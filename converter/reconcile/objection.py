"""What keeps everything in a queue from being admitted: pure readings of the queue objects.

What could not be read gives no objection.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from converter.cluster.objects import Object, name
from converter.reconcile.queue_chain import Missing, QueueChain, cluster_queue_name

# The only label of a namespace that is known without reading it.
NAMESPACE_NAME: Final = "kubernetes.io/metadata.name"
INACTIVE: Final = "queue-inactive"
STOPPED: Final = "queue-stopped"


@dataclass(frozen=True, slots=True)
class Objection:
    """Why Kueue could never admit a campaign, and what to change.

    `code` is a stable name of the kind. `what` and `remedy` are clauses without an end.
    """

    code: str
    what: str
    remedy: str

    def __str__(self) -> str:
        return f"{self.what}: {self.remedy}"


def queue_objection(chain: QueueChain, namespace: str) -> Objection | None:
    """A LocalQueue or ClusterQueue that is missing, stopped, inactive or not for the namespace."""
    local_queue, cluster_queue = chain.local_queue, chain.cluster_queue
    if isinstance(local_queue, Missing):
        return _missing(f"there is no LocalQueue {chain.queue} in namespace {namespace}")
    if not isinstance(local_queue, Mapping):
        return None
    if found := _stopped(local_queue):
        return found
    if isinstance(cluster_queue, Missing):
        leads_to = cluster_queue_name(local_queue)
        return _missing(
            f"LocalQueue {chain.queue} leads to ClusterQueue {leads_to}, which does not exist"
        )
    if not isinstance(cluster_queue, Mapping):
        # The LocalQueue's condition repeats the ClusterQueue's, some time later.
        return _inactive(local_queue)
    return _stopped(cluster_queue) or _closed(cluster_queue, namespace) or _inactive(cluster_queue)


def cluster_queue_objection(cluster_queue: Object) -> Objection | None:
    """A ClusterQueue that admits nothing at all, whatever namespace it is from."""
    return _stopped(cluster_queue) or _inactive(cluster_queue)


def takes(cluster_queue: Object, namespace: str) -> bool:
    """Whether a ClusterQueue is for a namespace, as far as the name of that decides.

    A selector that is absent takes no namespace, one without labels takes every one.
    """
    selector = cluster_queue["spec"].get("namespaceSelector")
    if selector is None:
        return False
    named = (selector.get("matchLabels") or {}).get(NAMESPACE_NAME, namespace)
    expressions = selector.get("matchExpressions") or ()
    return named == namespace and all(
        _matches(each, namespace) for each in expressions if each["key"] == NAMESPACE_NAME
    )


def _matches(expression: Object, value: str) -> bool:
    """Whether the value of a label that is there meets an expression about it."""
    listed = value in (expression.get("values") or ())
    return {"In": listed, "NotIn": not listed, "Exists": True}.get(expression["operator"], False)


def _missing(what: str) -> Objection:
    return Objection("queue-missing", what, "have it created, or correct queue in converter.yaml")


def _stopped(queue: Object) -> Objection | None:
    policy = queue["spec"].get("stopPolicy") or "None"
    if policy == "None":
        return None
    return Objection(
        STOPPED,
        f"{queue['kind']} {name(queue)} is stopped and admits nothing (stopPolicy {policy})",
        "have stopPolicy set to None, and apply again",
    )


def _closed(cluster_queue: Object, namespace: str) -> Objection | None:
    if takes(cluster_queue, namespace):
        return None
    return Objection(
        "queue-closed",
        f"ClusterQueue {name(cluster_queue)} takes nothing from namespace {namespace}",
        "have the namespace added to its namespaceSelector",
    )


def _inactive(queue: Object) -> Objection | None:
    """What Kueue says of a queue, unless it has not seen the last change of it yet."""
    generation = queue["metadata"].get("generation", 0)
    for condition in (queue.get("status") or {}).get("conditions") or ():
        seen = condition.get("observedGeneration", generation) >= generation
        if condition.get("type") == "Active" and condition.get("status") == "False" and seen:
            says = (str(condition.get(key) or "") for key in ("reason", "message"))
            return Objection(
                INACTIVE,
                f"{queue['kind']} {name(queue)} is not active "
                f"({': '.join(filter(None, says)).rstrip('.')})",
                "have it repaired, and apply again",
            )
    return None
