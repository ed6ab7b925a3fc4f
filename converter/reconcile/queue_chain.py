"""The way of a campaign into the cluster: LocalQueue, ClusterQueue, ResourceFlavors and priorities.

Each object is read by its name, since the apply identity may list none of them, and so the number
of requests does not depend on the number of campaigns.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from converter.cluster.client import Client
from converter.cluster.objects import Object
from converter.cluster.resources import (
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    POD_PRIORITY_CLASSES,
    PRIORITY_CLASSES,
    RESOURCE_FLAVORS,
    Resource,
)
from converter.errors import ApiError, ClusterUnavailable, Forbidden, NotFound
from converter.model import EMPTY
from converter.reconcile.side_by_side import side_by_side


@dataclass(frozen=True, slots=True)
class Missing:
    """There is no such object."""


@dataclass(frozen=True, slots=True)
class Unknown:
    """Whether there is such an object could not be read, and why."""

    why: str


Read = Object | Missing | Unknown
_Wanted = tuple[Resource, str]


@dataclass(frozen=True, slots=True)
class QueueChain:
    """What was read. `flavors` are those that the ClusterQueue names, `classes` by their names.

    `cluster_queue` is None, and `flavors` is empty, where what names them was not read.
    """

    queue: str
    local_queue: Read
    cluster_queue: Read | None = None
    flavors: Mapping[str, Read] = field(default_factory=lambda: EMPTY)
    classes: Mapping[str, Read] = field(default_factory=lambda: EMPTY)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Of each object that is unknown, why."""
        chain = (self.local_queue, self.cluster_queue)
        read = (*chain, *self.flavors.values(), *self.classes.values())
        return tuple(each.why for each in read if isinstance(each, Unknown))


def read_chain(
    client: Client, namespace: str, queue: str, classes: Iterable[str], concurrency: int
) -> QueueChain:
    """Read a LocalQueue, what is behind it, and the WorkloadPriorityClasses of these names.

    No answer of the API server is an error here: what cannot be read is unknown, so that it does
    not keep a pause from being enforced.
    """
    reader = _Reader(client, namespace, concurrency)
    found = reader.read(
        (LOCAL_QUEUES, queue), *((PRIORITY_CLASSES, each) for each in sorted(classes))
    )
    local_queue = found.pop((LOCAL_QUEUES, queue))
    named = {name: read for (_, name), read in found.items()}
    if not isinstance(local_queue, Mapping):
        return QueueChain(queue, local_queue, classes=named)
    wanted = (CLUSTER_QUEUES, cluster_queue_name(local_queue))
    cluster_queue = reader.read(wanted)[wanted]
    if not isinstance(cluster_queue, Mapping):
        return QueueChain(queue, local_queue, cluster_queue, classes=named)
    flavors = reader.read(*((RESOURCE_FLAVORS, each) for each in flavor_names(cluster_queue)))
    by_name = {name: read for (_, name), read in flavors.items()}
    return QueueChain(queue, local_queue, cluster_queue, by_name, named)


def read_pod_classes(
    client: Client, classes: Iterable[str], concurrency: int
) -> Mapping[str, Read]:
    """The PriorityClasses of these names, as `read_chain` reads those of Kueue."""
    wanted = ((POD_PRIORITY_CLASSES, each) for each in sorted(classes))
    found = _Reader(client, "", concurrency).read(*wanted)
    return {name: read for (_, name), read in found.items()}


def cluster_queue_name(local_queue: Object) -> str:
    """The ClusterQueue that a LocalQueue leads to."""
    return str(local_queue["spec"]["clusterQueue"])


def flavor_names(cluster_queue: Object) -> tuple[str, ...]:
    """The ResourceFlavors of a ClusterQueue, each once, in the order in which Kueue tries them."""
    groups = cluster_queue["spec"].get("resourceGroups") or ()
    return tuple(dict.fromkeys(str(f["name"]) for group in groups for f in group["flavors"]))


@dataclass(frozen=True, slots=True)
class _Reader:
    client: Client
    namespace: str
    concurrency: int

    def read(self, *wanted: _Wanted) -> dict[_Wanted, Read]:
        """All of these, in the order in which they are given."""
        found: dict[_Wanted, Read] = {}
        side_by_side(self._get, wanted, self.concurrency, lambda each: found.update([each]))
        return {each: found[each] for each in wanted}

    def _get(self, wanted: _Wanted) -> tuple[_Wanted, Read]:
        resource, name = wanted
        try:
            return wanted, self.client.get(resource, self.namespace, name)
        except NotFound:
            return wanted, Missing()
        except Forbidden:
            return wanted, Unknown(f"not permitted to read {resource.kind} {name}")
        except (ApiError, ClusterUnavailable) as error:
            return wanted, Unknown(str(error))
