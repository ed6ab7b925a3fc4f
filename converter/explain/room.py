"""What a pod set needs beside what each flavor of the ClusterQueue has, in use and free. Pure."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from converter.cluster.objects import Object, name
from converter.quantity import parse_quantity
from converter.quota import Limit, Requests, Room, largest_window, spelt_units, units
from converter.reconcile.landing import Fit, Group, PodSet

_NONE: Final = Limit("0")


@dataclass(frozen=True, slots=True)
class Use:
    """A room and how much of each resource of it is in use, in units of `quota.units`."""

    room: Room
    used: Mapping[str, int]

    @property
    def free(self) -> Room:
        """What is left of it; without a limit nobody knows how much there is to borrow."""
        return Room(self.room.of, {each: self._left(each) for each in self.room.quota})

    @property
    def own(self) -> Room:
        """What is left without borrowing."""
        return Room(
            self.room.of, {each: Limit(self._left(each).nominal) for each in self.room.quota}
        )

    def lines(self, requests: Requests, pods: int) -> Iterator[str]:
        """A line for each resource that the pods need."""
        for resource, request in requests.items():
            asked = units(resource, parse_quantity(request))
            limit = self.room.quota.get(resource, _NONE)
            each = f"{pods} x {request}" if pods > 1 else request
            total = f" = {spelt_units(resource, pods * asked)}" if pods > 1 else ""
            left = self._left(resource)
            short = left.borrowing is not None and pods * asked > sum(
                units(resource, parse_quantity(part)) for part in (left.nominal, left.borrowing)
            )
            yield (
                f"{self.room.of}: {resource}: needs {each}{total}; quota {limit}, in use "
                f"{spelt_units(resource, self.used.get(resource, 0))}, free {left}"
                + (" (too little)" if short else "")
            )

    def _left(self, resource: str) -> Limit:
        limit = self.room.quota.get(resource, _NONE)
        nominal = units(resource, parse_quantity(limit.nominal))
        left = nominal - self.used.get(resource, 0)
        borrowing = limit.borrowing
        if borrowing is not None:
            borrowing = _spelt(resource, units(resource, parse_quantity(borrowing)) + min(0, left))
        return Limit(_spelt(resource, left), borrowing)


def _spelt(resource: str, number: int) -> str:
    """A quantity, which is not below nothing."""
    return spelt_units(resource, number) if number > 0 else "0"


def uses(group: Group, cluster_queue: Object) -> tuple[Use, ...]:
    """The rooms of a group with what is in use of them (``status.flavorsReservation``)."""
    reserved = (cluster_queue.get("status") or {}).get("flavorsReservation") or ()
    used = {
        f"flavor {flavor['name']} in ClusterQueue {name(cluster_queue)}": {
            str(each["name"]): units(str(each["name"]), parse_quantity(str(each["total"])))
            for each in flavor.get("resources") or ()
        }
        for flavor in reserved
    }
    return tuple(Use(room, used.get(room.of, {})) for room in group.rooms)


def most_free(group: Group, cluster_queue: Object) -> Fit | None:
    """The room with the most pods' worth free; None where one has no limit that is known."""
    found = []
    for use in uses(group, cluster_queue):
        pods = largest_window(group.requests, use.free)
        if pods is None:
            return None
        found.append(Fit(pods, group.requests, use.free))
    return max(found, key=lambda fit: fit.pods, default=None)


def has_to_borrow(group: Group, pods: int, cluster_queue: Object) -> bool:
    """Whether none of the rooms has so many pods' worth of its own free."""
    fitting = (largest_window(group.requests, use.own) for use in uses(group, cluster_queue))
    return not any(fit is None or fit >= pods for fit in fitting)


def table(groups: Iterable[Group], pods: PodSet, cluster_queue: Object) -> tuple[str, ...]:
    """Each resource against each flavor that the pods may land on."""
    lines = [
        line
        for group in groups
        for use in uses(group, cluster_queue)
        for line in use.lines(group.requests, pods.least)
    ]
    return tuple(dict.fromkeys(lines))
