"""The way of a campaign into the cluster: queue, flavors, quota and priority classes."""

from collections.abc import Iterator, Mapping
from typing import Final

from converter.checks.resources import amount, requests_of
from converter.cluster.objects import Object, name
from converter.doctor.finding import Check, Finding, Group
from converter.layout import DEFAULT_SIZE
from converter.model import Flavor, Settings, Size
from converter.quota import shortages
from converter.reconcile.admission import class_objection, flavor_objection
from converter.reconcile.landing import (
    PodSet,
    landings,
    node_labels,
    tightest,
    uncovered,
)
from converter.reconcile.objection import queue_objection
from converter.reconcile.queue_chain import QueueChain, Unknown
from converter.taints import spelt_taint
from converter.wording import spelt_labels

_QUEUE: Final = Check(Group.QUEUE, "queue")
_FLAVOR: Final = Check(Group.QUEUE, "flavor")
_QUOTA: Final = Check(Group.QUEUE, "quota")
_SIZE: Final = Check(Group.QUEUE, "size")
_CLASS: Final = Check(Group.QUEUE, "priority-class")
# The chart's identities may read its own queue objects, and are refused any other, also one that is
# not there.
_ASK: Final = "correct its name in converter.yaml, or have `get` on it granted"


def queue_findings(chain: QueueChain, settings: Settings) -> Iterator[Finding]:
    """Everything about the queue that converter.yaml names."""
    yield queue_finding(chain, settings)
    for flavor in settings.flavors:
        yield flavor_finding(flavor, chain, settings)
    yield from quota_findings(chain, settings)
    for size in settings.sizes.values() or (DEFAULT_SIZE,):
        yield from size_findings(size, chain, settings)
    for priority_class in settings.priority_classes:
        yield class_finding(priority_class, chain)


def queue_finding(chain: QueueChain, settings: Settings) -> Finding:
    """The LocalQueue and its ClusterQueue, whether they are there, active and for the namespace."""
    if objection := queue_objection(chain, settings.namespace):
        return _QUEUE.fault(objection.what, objection.remedy)
    unknown = [
        each.why for each in (chain.local_queue, chain.cluster_queue) if isinstance(each, Unknown)
    ]
    if unknown:
        return _QUEUE.unknown(f"LocalQueue {chain.queue}: {'; '.join(unknown)}", _ASK)
    flavors = ", ".join(chain.flavors) or "none"
    leads_to = name(chain.cluster_queue) if isinstance(chain.cluster_queue, Mapping) else "?"
    return _QUEUE.ok(
        f"LocalQueue {chain.queue} leads to ClusterQueue {leads_to}, which is active "
        f"(flavors: {flavors})"
    )


def flavor_finding(flavor: Flavor, chain: QueueChain, settings: Settings) -> Finding:
    """A flavor of converter.yaml beside the one of that name on the cluster."""
    for size in settings.sizes.values():
        if size.flavor == flavor.name and (
            objection := flavor_objection(size.name, chain, settings)
        ):
            return _FLAVOR.fault(objection.what, objection.remedy)
    theirs = chain.flavors.get(flavor.name)
    if not isinstance(chain.cluster_queue, Mapping) or isinstance(theirs, Unknown):
        why = theirs.why if isinstance(theirs, Unknown) else "the ClusterQueue was not read"
        return _FLAVOR.unknown(f"flavor {flavor.name}: {why}", _ASK)
    if not isinstance(theirs, Mapping):
        return _FLAVOR.warning(
            f"flavor {flavor.name} of converter.yaml is none of ClusterQueue "
            f"{name(chain.cluster_queue)}",
            "take it out of flavors in converter.yaml, or have it added to the ClusterQueue",
        )
    same = "write the same in flavors of converter.yaml and in the ResourceFlavor"
    if node_labels(theirs) != flavor.node_labels:
        return _FLAVOR.warning(
            f"flavor {flavor.name} is {spelt_labels(flavor.node_labels)} in converter.yaml and "
            f"{spelt_labels(node_labels(theirs))} on the cluster",
            same,
        )
    there, ours = _taints(theirs), {spelt_taint(taint) for taint in flavor.node_taints}
    if there != ours:
        return _FLAVOR.warning(
            f"flavor {flavor.name} has the taints {_listed(ours)} in converter.yaml and "
            f"{_listed(there)} on the cluster",
            same,
        )
    return _FLAVOR.ok(f"flavor {flavor.name} is the same on the cluster")


def quota_findings(chain: QueueChain, settings: Settings) -> Iterator[Finding]:
    """Where validate would judge by another quota than Kueue; nothing that is not written down."""
    if not isinstance(chain.cluster_queue, Mapping):
        return
    theirs = _nominal(chain.cluster_queue)
    ours = {flavor.name: flavor.quota for flavor in settings.flavors if flavor.quota}
    if settings.quota and len(theirs) == 1:
        ours = {next(iter(theirs)): settings.quota}
    for flavor, quota in ours.items():
        if flavor in theirs:
            yield _quota_finding(flavor, quota, theirs[flavor])


def size_findings(size: Size, chain: QueueChain, settings: Settings) -> Iterator[Finding]:
    """Whether one pod of a size fits; nothing where the ClusterQueue is not known."""
    cluster_queue = chain.cluster_queue
    if not isinstance(cluster_queue, Mapping):
        return
    spelt = f"size {size.name}" if size.name else "the built-in size"
    remedy = f"correct {spelt} in converter.yaml, or have the ClusterQueue corrected"
    pods = _one_pod(size, settings)
    if without := uncovered(pods, cluster_queue):
        found = f"{spelt} asks for {', '.join(without)}, of which ClusterQueue "
        yield _SIZE.fault(f"{found}{name(cluster_queue)} has no quota", remedy)
        return
    groups = tuple(landings(pods, cluster_queue, chain.flavors))
    for group in groups:
        if not group.rooms:
            yield _SIZE.fault(
                f"pods of {spelt}, with node selector {spelt_labels(pods.node_selector)}, may land "
                f"on no flavor ({'; '.join(group.refusals)})",
                "correct node_selector, tolerations or flavors in converter.yaml",
            )
            return
    fit = tightest(groups)
    if fit is not None and not fit.pods:
        shortage = next(shortages(fit.requests, 1, fit.room))
        yield _SIZE.fault(f"a pod of {spelt} needs {shortage}", remedy)
        return
    yield _SIZE.ok(f"{spelt}: {'any number of' if fit is None else fit.pods} pods fit at once")


def class_finding(priority_class: str, chain: QueueChain) -> Finding:
    """A priority class of converter.yaml."""
    read = chain.classes.get(priority_class)
    if isinstance(read, Unknown):
        # The chart lets its identities read those classes that its values name, and no other.
        return _CLASS.unknown(
            f"WorkloadPriorityClass {priority_class}: {read.why}",
            "name it in queue.priorityClasses of the chart (create: false if it exists), or take "
            "it out of priority_classes in converter.yaml",
        )
    if objection := class_objection(priority_class, chain):
        remedy = "have it created, or take it out of priority_classes in converter.yaml"
        return _CLASS.fault(objection.what, remedy)
    return _CLASS.ok(f"WorkloadPriorityClass {priority_class} exists")


def _one_pod(size: Size, settings: Settings) -> PodSet:
    labels = next((f.node_labels for f in settings.flavors if f.name == size.flavor), {})
    return PodSet(
        least=1,
        requests=requests_of(size),
        node_selector={**settings.node_selector, **labels},
        tolerations=settings.tolerations,
    )


def _quota_finding(flavor: str, ours: Mapping[str, str], theirs: Mapping[str, str]) -> Finding:
    differing = [
        f"{resource} {ours.get(resource, 'none')} and {theirs.get(resource, 'none')}"
        for resource in dict.fromkeys((*ours, *theirs))
        # Kueue admits nothing of a resource without a quota, as with one of 0.
        if amount(ours.get(resource, "0")) != amount(theirs.get(resource, "0"))
    ]
    if not differing:
        return _QUOTA.ok(f"the quota of flavor {flavor} is that of converter.yaml")
    return _QUOTA.warning(
        f"the quota of flavor {flavor} differs, in converter.yaml and on the cluster: "
        f"{'; '.join(differing)}",
        "write the ClusterQueue's quota in converter.yaml: validate judges windows by it",
    )


def _nominal(cluster_queue: Object) -> dict[str, dict[str, str]]:
    """By flavor and resource; a flavor may be in several resource groups."""
    found: dict[str, dict[str, str]] = {}
    for group in cluster_queue["spec"].get("resourceGroups") or ():
        for flavor in group["flavors"]:
            quota = {str(r["name"]): str(r["nominalQuota"]) for r in flavor["resources"]}
            found.setdefault(str(flavor["name"]), {}).update(quota)
    return found


def _taints(flavor: Object) -> set[str]:
    return {spelt_taint(taint) for taint in (flavor.get("spec") or {}).get("nodeTaints") or ()}


def _listed(words: set[str]) -> str:
    return ", ".join(sorted(words)) or "none"
