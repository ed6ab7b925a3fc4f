"""Koord-Queue: whether it is there, and whether its QueueUnits have what is used of them.

Which of its feature gates are on cannot be read from the API. A Deployment's arguments are a hint
at most; what a pause comes to is what `campaigns apply` waits for.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from converter.cluster.objects import Object
from converter.doctor.finding import Check, Finding, Group
from converter.koord_queue.definition import spec_fields
from converter.reconcile.queue_chain import Missing, Read, Unknown

_API: Final = Check(Group.KOORD_QUEUE, "koord-queue-api")
_FIELDS: Final = Check(Group.KOORD_QUEUE, "koord-queue-fields")
_GATES: Final = Check(Group.KOORD_QUEUE, "koord-queue-gates")
_BESIDE: Final = Check(Group.KOORD_QUEUE, "kueue-beside")
_QUEUE: Final = Check(Group.KOORD_QUEUE, "koord-queue")

GATE: Final = "QueueUnitActive"
# Both binaries have to have it: the queue for what waits, the controllers for what runs. Their
# Deployments have several names, so that they are told apart by the command.
QUEUE_BINARY: Final = "koord-queue"
CONTROLLERS_BINARY: Final = "koord-queue-controllers"
_GATE_ON: Final = re.compile(rf"(?:^|[,=]){GATE}=(?:true|1)(?:,|$)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KoordQueueFacts:
    """What was read: the OpenAPI document of its group, the Deployments and the Queue of
    converter.yaml's quota in its namespace, and Kueue's API group.
    """

    schema: Read
    deployments: tuple[Object, ...] | Unknown
    queue: Read
    kueue: Read


def koord_queue_findings(facts: KoordQueueFacts, quota: str) -> Iterator[Finding]:
    """Everything about its installation; only that it is missing where it is."""
    if isinstance(facts.schema, Missing):
        yield _API.fault(
            "the cluster serves no QueueUnits (scheduling.x-k8s.io/v1alpha1)",
            "have Koord-Queue installed, or write another backend in converter.yaml",
        )
        return
    if isinstance(facts.schema, Unknown):
        yield _API.unknown(
            f"whether QueueUnits are served is not known: {facts.schema.why}", "ask for discovery"
        )
    else:
        yield _API.ok("QueueUnits are served (scheduling.x-k8s.io/v1alpha1)")
        yield fields_finding(spec_fields(facts.schema))
    yield gates_finding(facts.deployments)
    yield queue_finding(facts.queue, quota)
    yield kueue_finding(facts.kueue)


def fields_finding(fields: frozenset[str]) -> Finding:
    """Whether a pause can be written at all."""
    upgrade = (
        "have the CustomResourceDefinition queueunits.scheduling.x-k8s.io of a Koord-Queue later "
        "than v1.8.0 applied"
    )
    if "active" not in fields:
        return _FIELDS.fault(
            "QueueUnits have no spec.active, so nothing can be paused or held", upgrade
        )
    if "maximumExecutionTimeSeconds" not in fields:
        return _FIELDS.warning(
            "QueueUnits have no spec.maximumExecutionTimeSeconds: max_execution_seconds is refused",
            upgrade,
        )
    return _FIELDS.ok("QueueUnits have spec.active and spec.maximumExecutionTimeSeconds")


def gates_finding(deployments: tuple[Object, ...] | Unknown) -> Finding:
    """A hint at the feature gates; what is not in an argument may be on by default one day."""
    ask = (
        f"ask who runs Koord-Queue whether the feature gate {GATE} is on in {QUEUE_BINARY} and in "
        f"{CONTROLLERS_BINARY}: without the first what is paused may start, without the other what "
        "runs is not stopped"
    )
    if isinstance(deployments, Unknown):
        return _GATES.unknown(f"its feature gates are not known: {deployments.why}", ask)
    binaries = {QUEUE_BINARY: "", CONTROLLERS_BINARY: ""}
    for words in map(_words, _containers(deployments)):
        binary = words[0].rpartition("/")[2] if words else ""
        # One without it is enough: which of several is the one that counts is not known.
        if binary in binaries and binaries[binary] != "not named":
            binaries[binary] = "on" if any(map(_GATE_ON.search, words)) else "not named"
    if all(found == "on" for found in binaries.values()):
        return _GATES.ok(f"{GATE} is among the arguments of both of its Deployments")
    said = ", ".join(f"{each}: {found or 'not found'}" for each, found in binaries.items())
    return _GATES.unknown(f"{GATE} in the arguments of its Deployments: {said}", ask)


def queue_finding(queue: Read, quota: str) -> Finding:
    """The Queue that belongs to the quota."""
    if isinstance(queue, Missing):
        return _QUEUE.fault(
            f"there is no Queue {quota} in the namespace koord-queue: nothing would be scheduled",
            f"correct queue in converter.yaml, or have an ElasticQuota {quota} made",
        )
    if isinstance(queue, Unknown):
        return _QUEUE.unknown(
            f"whether there is a Queue {quota} is not known: {queue.why}",
            "have get on queues.scheduling.x-k8s.io granted in the namespace koord-queue",
        )
    return _QUEUE.ok(f"there is a Queue {quota}")


def kueue_finding(kueue: Read) -> Finding:
    """Both take up Jobs that are created suspended."""
    if isinstance(kueue, Mapping):
        return _BESIDE.warning(
            "Kueue is installed too: where it manages Jobs without a queue label, both would start "
            "and stop the same Jobs",
            "have this namespace left out of Kueue's managedJobsNamespaceSelector",
        )
    return _BESIDE.ok("Kueue is not installed beside it")


def _containers(deployments: tuple[Object, ...]) -> Iterator[Mapping[str, Any]]:
    for each in deployments:
        yield from each["spec"]["template"]["spec"].get("containers") or ()


def _words(container: Mapping[str, Any]) -> list[str]:
    return [str(word) for key in ("command", "args") for word in container.get(key) or ()]
