"""Kueue's arithmetic of quota, whether the quota is read from converter.yaml or from a cluster.

Kueue compares a pod's node selector with a flavor's node labels only on keys that some flavor of
the resource group names (``flavorSelector`` in its pkg/scheduler/flavorassigner). All resources of
a group are taken from one flavor. A resource that no flavor has a quota for is never admitted.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import ceil
from typing import Final

from converter.model import Flavor
from converter.quantity import canonical_quantity, parse_quantity

CPU: Final = "cpu"
GPU: Final = "nvidia.com/gpu"

# What one pod asks for: a quantity by resource.
Requests = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of one resource may be used at once.

    `borrowing` comes from the cohort on top of `nominal`; None where it has no known end.
    """

    nominal: str
    borrowing: str | None = "0"

    def __str__(self) -> str:
        lent = self.borrowing is not None and parse_quantity(self.borrowing)
        return f"{self.nominal}, with {self.borrowing} to borrow" if lent else self.nominal


@dataclass(frozen=True, slots=True)
class Room:
    """A quota that a pod may be admitted under.

    `of` says in a message whose it is, for example ``flavor a100``; empty for a queue's only one.
    """

    of: str
    quota: Mapping[str, Limit]

    def __str__(self) -> str:
        return f"the quota of {self.of}" if self.of else "the quota"


@dataclass(frozen=True, slots=True)
class Shortage:
    """A number of equal pods, and the resource of a quota that they do not fit into."""

    resource: str
    request: str
    pods: int
    room: Room

    def __str__(self) -> str:
        asked = self.request if self.pods == 1 else f"{self.pods} x {self.request}"
        quota = self.room.quota.get(self.resource)
        has = "has none" if quota is None else f"is {quota}"
        return f"{asked} {self.resource}, and {self.room} {has}"


def units(resource: str, quantity: Fraction) -> int:
    """A quantity as Kueue counts it (``ResourceValue`` in its pkg/resources).

    It counts thousandths of a cpu, and whole units of all else; what is smaller is rounded up.
    """
    return ceil(quantity * 1000) if resource == CPU else ceil(quantity)


def spelt_units(resource: str, number: int) -> str:
    """What `units` counts, as a quantity."""
    if resource == CPU:
        return canonical_quantity(f"{number}m")
    if number % 1024 == 0:
        return canonical_quantity(f"{number // 1024}Ki")
    return canonical_quantity(str(number))


def flavors_for(selector: Mapping[str, str], flavors: Sequence[Flavor]) -> tuple[Flavor, ...]:
    """The flavors that Kueue may admit a pod with this node selector on, taints apart."""
    named = {key for flavor in flavors for key in flavor.node_labels}
    compared = {key: value for key, value in selector.items() if key in named}
    return tuple(
        flavor
        for flavor in flavors
        if all(flavor.node_labels.get(key) == value for key, value in compared.items())
    )


def largest_window(requests: Requests, room: Room) -> int | None:
    """How many pods fit into a quota at once; None where nothing that is known limits them.

    Raises ValueError, as `shortages` does, for what is not a quantity.
    """
    fitting = (_fitting(resource, request, room) for resource, request in requests.items())
    return min((count for count in fitting if count is not None), default=None)


def shortages(requests: Requests, pods: int, room: Room) -> Iterator[Shortage]:
    """What a number of pods lacks in a quota."""
    for resource, request in requests.items():
        fitting = _fitting(resource, request, room)
        if fitting is not None and fitting < pods:
            yield Shortage(resource, request, pods, room)


def _fitting(resource: str, request: str, room: Room) -> int | None:
    limit = room.quota.get(resource, Limit("0"))
    if limit.borrowing is None:
        return None
    asked = units(resource, parse_quantity(request))
    if asked == 0:
        return None
    quota = sum(units(resource, parse_quantity(each)) for each in (limit.nominal, limit.borrowing))
    return quota // asked
