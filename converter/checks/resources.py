"""What a pod asks for, and on which flavors it may land with how much quota.

Kueue compares a pod's node selector with a flavor's node labels only on keys that some flavor of
the ClusterQueue names (``flavorSelector`` in its pkg/scheduler/flavorassigner). All resources of a
pod are taken from one flavor. A resource that no flavor has a quota for is never admitted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from converter.layout import DEFAULT_SIZE
from converter.model import Flavor, Pipeline, Settings, Size
from converter.quantity import parse_quantity

GPU: Final = "nvidia.com/gpu"


@dataclass(frozen=True, slots=True)
class Room:
    """A quota that a pod may be admitted under. `flavor` is empty for the only one of a queue."""

    flavor: str
    quota: Mapping[str, str]

    def __str__(self) -> str:
        return f"the quota of flavor {self.flavor}" if self.flavor else "the quota"


@dataclass(frozen=True, slots=True)
class Shortage:
    """A number of pods of one size, and the resource of a quota that they do not fit into."""

    resource: str
    request: str
    pods: int
    room: Room

    def __str__(self) -> str:
        asked = self.request if self.pods == 1 else f"{self.pods} x {self.request}"
        quota = self.room.quota.get(self.resource)
        has = "has none" if quota is None else f"is {quota}"
        return f"{asked} {self.resource}, and {self.room} {has}"


def amount(text: str) -> Fraction | None:
    """The quantity, or None for what is none: another rule reports it."""
    try:
        return parse_quantity(text)
    except ValueError:
        return None


def size_of(pipeline: Pipeline, settings: Settings) -> Size | None:
    """The size of a pipeline's pods; None where its name is unknown, which is another rule's."""
    name = pipeline.size or settings.default_size
    return settings.sizes.get(name) if name else DEFAULT_SIZE


def requests_of(size: Size) -> Mapping[str, str]:
    """What one pod asks for, by resource."""
    requests = {"cpu": size.cpu, "memory": size.memory}
    return requests | ({GPU: str(size.gpu)} if size.gpu else {})


def rooms_for(size: Size, settings: Settings) -> tuple[Room, ...] | None:
    """Every quota a pod may be admitted under; None where converter.yaml does not know them all.

    There is no such quota where the pod's node selector fits no flavor.
    """
    if not settings.flavors:
        return (Room("", settings.quota),) if settings.quota else None
    own = next((f.node_labels for f in settings.flavors if f.name == size.flavor), {})
    rooms = tuple(
        Room(flavor.name, flavor.quota)
        for flavor in flavors_for({**settings.node_selector, **own}, settings.flavors)
    )
    return rooms if all(room.quota for room in rooms) else None


def flavors_for(selector: Mapping[str, str], flavors: Sequence[Flavor]) -> tuple[Flavor, ...]:
    """The flavors that Kueue may admit a pod with this node selector on, taints apart."""
    named = {key for flavor in flavors for key in flavor.node_labels}
    compared = {key: value for key, value in selector.items() if key in named}
    return tuple(
        flavor
        for flavor in flavors
        if all(flavor.node_labels.get(key) == value for key, value in compared.items())
    )


def largest_window(size: Size, room: Room) -> int | None:
    """How many pods fit into a quota at once; None where a quantity cannot be read."""
    fitting = [_fitting(resource, request, room) for resource, request in requests_of(size).items()]
    known = [count for count in fitting if count is not None]
    return min(known) if len(known) == len(fitting) else None


def shortages(size: Size, pods: int, room: Room) -> Iterator[Shortage]:
    """What a number of pods lacks in a quota."""
    for resource, request in requests_of(size).items():
        fitting = _fitting(resource, request, room)
        if fitting is not None and fitting < pods:
            yield Shortage(resource, request, pods, room)


def _fitting(resource: str, request: str, room: Room) -> int | None:
    asked = amount(request)
    quota = amount(room.quota.get(resource, "0"))
    return int(quota // asked) if asked and quota is not None else None
