"""On which flavors of a ClusterQueue a campaign's pods may land, and how many of them fit there.

Follows Kueue 0.17.0 (pkg/scheduler/flavorassigner, pkg/workload/resources.go) as far as the objects
of the cluster tell: a pod set is admitted as a whole, or with its minimum; each resource group of
the ClusterQueue gives all that it covers from one of its flavors, independently of other groups.
What is in use at the moment does not matter here, but only what could ever be free.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final

from converter.cluster.objects import Object, annotation, name
from converter.model import Flavor
from converter.names import KUEUE_MIN_PARALLELISM_ANNOTATION
from converter.quantity import parse_quantity
from converter.quota import Limit, Requests, Room, flavors_for, largest_window, spelt_units, units
from converter.reconcile.queue_chain import Read
from converter.taints import repels, spelt_taint
from converter.wording import spelt_labels

# A resource that a ClusterQueue may cover like any other; each pod is one of it.
PODS: Final = "pods"


@dataclass(frozen=True, slots=True)
class PodSet:
    """The pods of one Job as Kueue queues them: how many at least, and what each is like."""

    least: int
    requests: Requests
    node_selector: Mapping[str, str]
    tolerations: Sequence[Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class Fit:
    """How many of the pods fit into a room, by these of their requests."""

    pods: int
    requests: Requests
    room: Room


@dataclass(frozen=True, slots=True)
class Group:
    """What one resource group has for a pod set.

    `requests` are those that the group covers, `rooms` those of the flavors that the pods may land
    on; `refusals` say of each other flavor why they may not.
    """

    requests: Requests
    rooms: tuple[Room, ...]
    refusals: tuple[str, ...]

    @property
    def best(self) -> Fit | None:
        """The room that takes the most pods; None where one has no limit that is known."""
        fits = []
        for room in self.rooms:
            pods = largest_window(self.requests, room)
            if pods is None:
                return None
            fits.append(Fit(pods, self.requests, room))
        return max(fits, key=lambda fit: fit.pods, default=None)


def tightest(groups: Iterable[Group]) -> Fit | None:
    """The group that takes the fewest pods, at its best; None where none is known to limit them."""
    bests = (group.best for group in groups)
    return min((fit for fit in bests if fit), key=lambda fit: fit.pods, default=None)


def pod_set(job: Object, live: Object | None) -> PodSet:
    """The pod set of a rendered Job; `live` is the same Job on the cluster, if it is there.

    Indexes that are done need no pod any more: Kueue takes them off (ReclaimablePods).
    """
    spec = job["spec"]
    pods = min(int(spec["parallelism"]), int(spec["completions"]))
    partial = annotation(job, KUEUE_MIN_PARALLELISM_ANNOTATION)
    done = int(((live or {}).get("status") or {}).get("succeeded", 0))
    pod = spec["template"]["spec"]
    return PodSet(
        least=min(int(partial) if partial else pods, pods, int(spec["completions"]) - done),
        requests=pod_requests(pod),
        node_selector=pod.get("nodeSelector") or {},
        tolerations=pod.get("tolerations") or (),
    )


def pod_requests(pod: Mapping[str, Any]) -> Requests:
    """What Kueue counts for a pod: its containers together, or an init container that asks for
    more. A limit without a request counts as one.
    """
    total: dict[str, Fraction] = {}
    for container in pod["containers"]:
        for resource, asked in _asked(container).items():
            total[resource] = total.get(resource, Fraction()) + asked
    for container in pod.get("initContainers") or ():
        for resource, asked in _asked(container).items():
            total[resource] = max(total.get(resource, Fraction()), asked)
    counted = {resource: units(resource, asked) for resource, asked in total.items()}
    return {each: spelt_units(each, number) for each, number in counted.items() if number}


def uncovered(pods: PodSet, cluster_queue: Object) -> tuple[str, ...]:
    """The resources that the pods ask for and the ClusterQueue has no quota of."""
    covered = {each for group in _groups(cluster_queue) for each in group["coveredResources"]}
    return tuple(resource for resource in pods.requests if resource not in covered)


def landings(pods: PodSet, cluster_queue: Object, flavors: Mapping[str, Read]) -> Iterator[Group]:
    """What each resource group that the pods need something of has for them."""
    for group in _groups(cluster_queue):
        asked = {**pods.requests, PODS: "1"}
        requests = {each: asked[each] for each in group["coveredResources"] if each in asked}
        if requests:
            yield _landing(pods, requests, cluster_queue, group, flavors)


def _landing(
    pods: PodSet,
    requests: Requests,
    cluster_queue: Object,
    group: Object,
    flavors: Mapping[str, Read],
) -> Group:
    reads = (flavors[each["name"]] for each in group["flavors"])
    known = [Flavor(name(read), node_labels(read)) for read in reads if isinstance(read, Mapping)]
    fitting = {flavor.name for flavor in flavors_for(pods.node_selector, known)}
    rooms, refusals = [], []
    for quotas in group["flavors"]:
        why = _refusal(pods, flavors[quotas["name"]], fitting)
        if why:
            refusals.append(why)
        else:
            rooms.append(_room(quotas, cluster_queue))
    return Group(requests, tuple(rooms), tuple(refusals))


def _refusal(pods: PodSet, flavor: Read, fitting: set[str]) -> str:
    """Why the pods may not land on a flavor; one that could not be read gets the benefit of it."""
    if not isinstance(flavor, Mapping):
        return ""
    spec = flavor.get("spec") or {}
    if name(flavor) not in fitting:
        return f"{name(flavor)} has node labels {spelt_labels(node_labels(flavor))}"
    tolerations = (*pods.tolerations, *(spec.get("tolerations") or ()))
    for taint in spec.get("nodeTaints") or ():
        if repels(taint, tolerations):
            return f"{name(flavor)} has the taint {spelt_taint(taint)}, which they do not tolerate"
    return ""


def node_labels(flavor: Object) -> Mapping[str, str]:
    """The node labels of a ResourceFlavor."""
    return (flavor.get("spec") or {}).get("nodeLabels") or {}


def _room(quotas: Object, cluster_queue: Object) -> Room:
    lends = bool(cluster_queue["spec"].get("cohortName"))
    of = f"flavor {quotas['name']} in ClusterQueue {name(cluster_queue)}"
    return Room(of, {str(each["name"]): _limit(each, lends) for each in quotas["resources"]})


def _limit(quota: Object, lends: bool) -> Limit:
    """What a cohort has to lend is not known, so no more than a borrowingLimit is a limit."""
    borrowing = quota.get("borrowingLimit") if lends else "0"
    return Limit(str(quota["nominalQuota"]), None if borrowing is None else str(borrowing))


def _asked(container: Mapping[str, Any]) -> dict[str, Fraction]:
    resources = container.get("resources") or {}
    asked = {**(resources.get("limits") or {}), **(resources.get("requests") or {})}
    return {resource: parse_quantity(str(quantity)) for resource, quantity in asked.items()}


def _groups(cluster_queue: Object) -> Sequence[Object]:
    return cluster_queue["spec"].get("resourceGroups") or ()
