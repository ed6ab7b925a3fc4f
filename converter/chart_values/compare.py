"""The chart's values compared with converter.yaml, which says some of them again.

What converter.yaml does not say is the chart's own, and not compared.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from converter.chart_values.merge import (
    CLASSES,
    FLAVORS,
    QUEUE_NAME,
    Place,
    Values,
    at,
    by_name,
    entries,
    queue_place,
    spelt,
)
from converter.checks.resources import amount
from converter.model import Flavor, Settings
from converter.taints import spelt_taint
from converter.wording import spelt_labels


@dataclass(frozen=True, slots=True)
class Difference:
    """Values that are not those of converter.yaml: where, what is wrong and what to change."""

    place: Place
    message: str
    remedy: str


def differences(settings: Settings, values: Values) -> Iterator[Difference]:
    """Where `values`, with the chart's defaults, are not what converter.yaml says."""
    yield from _queue_difference(settings, values)
    yield from _flavor_differences(settings, values)
    yield from _class_differences(settings.priority_classes, by_name(at(values, CLASSES)))
    for member, key, wanted in (
        ("modelCache", "data_pvc", settings.data_pvc),
        ("runtimeClass", "runtime_class", settings.runtime_class),
    ):
        found = _created(values.get(member))
        if wanted and found is not None and found != wanted:
            yield _different((member, "name"), found, key, wanted)
    if settings.allow_image_tags and not at(values, ("security", "allowImageTags")):
        yield _different(("security", "allowImageTags"), "false", "allow_image_tags", "true")


def _queue_difference(settings: Settings, values: Values) -> Iterator[Difference]:
    place = queue_place(settings, values)
    index = place[1]
    team = entries(values, "teams")[index] if isinstance(index, int) else {}
    found = str(team.get("queue") or at(values, QUEUE_NAME) or "")
    if team and not team.get("queue") and found != settings.queue:
        name = found or "the release's name"
        yield Difference(
            place,
            f"{spelt(place)} is empty, which stands for queue.name ({name}), and queue is "
            f"{settings.queue} in converter.yaml",
            f"write {settings.queue} here",
        )
        return
    if not found:
        yield Difference(
            place,
            "queue.name is empty, which stands for the release's name, and queue is "
            f"{settings.queue} in converter.yaml",
            f"write {settings.queue} here",
        )
    elif found != settings.queue:
        yield _different(place, found, "queue", settings.queue)


def _flavor_differences(settings: Settings, values: Values) -> Iterator[Difference]:
    theirs = entries(values, *map(str, FLAVORS))
    if settings.flavors:
        yield from _list_differences(settings.flavors, [str(each.get("name")) for each in theirs])
        found = {str(each.get("name")): (index, each) for index, each in enumerate(theirs)}
        for number, flavor in enumerate(settings.flavors):
            if flavor.name in found:
                index, each = found[flavor.name]
                yield from _inner_differences(flavor, f"flavors[{number}]", index, each)
    elif settings.quota and len(theirs) > 1:
        names = ", ".join(str(each.get("name")) for each in theirs)
        yield Difference(
            FLAVORS,
            f"queue.flavors has {names}, and converter.yaml has the quota of a single flavor",
            "write these flavors in converter.yaml in place of its quota",
        )
    elif settings.quota:
        place: Place = (*FLAVORS, 0, "quota") if theirs else ("queue", "quota")
        quota = theirs[0].get("quota") if theirs else at(values, place)
        yield from _quota_differences(settings.quota, "quota", quota, place)


def _list_differences(ours: Sequence[Flavor], theirs: Sequence[str]) -> Iterator[Difference]:
    """Flavors that only one of the two has; with the same ones, another order."""
    names = [flavor.name for flavor in ours]
    missing = [name for name in names if name not in theirs]
    extra = [name for name in theirs if name not in names]
    for name in missing:
        yield Difference(
            FLAVORS,
            f"queue.flavors has no flavor {name}, and flavors in converter.yaml has",
            "add it here, or take it out of converter.yaml",
        )
    for name in extra:
        yield Difference(
            (*FLAVORS, theirs.index(name), "name"),
            f"queue.flavors has flavor {name}, and flavors in converter.yaml has not",
            "add it to converter.yaml, or take it out here",
        )
    if not missing and not extra and names != list(theirs):
        yield Difference(
            FLAVORS,
            f"queue.flavors has the order {', '.join(theirs)}, and flavors in converter.yaml has "
            f"{', '.join(names)}",
            "write them in the same order, in which Kueue tries them",
        )


def _inner_differences(flavor: Flavor, key: str, index: int, found: Values) -> Iterator[Difference]:
    found_labels = found.get("nodeLabels")
    labels = found_labels if isinstance(found_labels, Mapping) else {}
    if labels != flavor.node_labels:
        place: Place = (*FLAVORS, index, "nodeLabels")
        yield _different(
            place, spelt_labels(labels), f"{key}.nodeLabels", spelt_labels(flavor.node_labels)
        )
    taints = _taints(found.get("nodeTaints") or ())
    wanted = _taints(flavor.node_taints)
    if taints != wanted:
        place = (*FLAVORS, index, "nodeTaints")
        yield _different(place, taints or "none", f"{key}.nodeTaints", wanted or "none")
    if flavor.quota:
        place = (*FLAVORS, index, "quota")
        yield from _quota_differences(flavor.quota, f"{key}.quota", found.get("quota"), place)


def _quota_differences(
    ours: Mapping[str, str], key: str, theirs: Any, place: Place
) -> Iterator[Difference]:
    """What one of the two has no quota of is compared as 0: Kueue admits nothing of either."""
    found = theirs if isinstance(theirs, Mapping) else {}
    for resource in dict.fromkeys((*ours, *found)):
        have = str(found.get(resource, 0))
        want = ours.get(resource, "0")
        if amount(have) != amount(want):
            yield _different((*place, resource), have, f"{key}.{resource}", want)


def _class_differences(ours: Sequence[str], theirs: Mapping[str, Any]) -> Iterator[Difference]:
    for name in ours:
        if name not in theirs:
            yield Difference(
                CLASSES,
                f"queue.priorityClasses has no {name}, and priority_classes in converter.yaml has",
                "add it here with its value, or with create: false if it exists, or take it out "
                "of converter.yaml",
            )
    for index, name in enumerate(theirs):
        if name not in ours:
            yield Difference(
                (*CLASSES, index, "name"),
                f"queue.priorityClasses has {name}, and priority_classes in converter.yaml has not",
                "add it to converter.yaml, or take it out here",
            )


def _created(values: Any) -> str | None:
    """The name of the object that the chart is to make; None where it makes none."""
    settings = values if isinstance(values, Mapping) else {}
    if not settings.get("create"):
        return None
    return str(settings.get("name") or settings.get("handler") or "")


def _different(place: Place, found: str, key: str, wanted: str) -> Difference:
    have = found or "empty"
    return Difference(
        place,
        f"{spelt(place)} is {have}, and {key} is {wanted} in converter.yaml",
        f"write {wanted} here, or correct converter.yaml",
    )


def _taints(taints: Iterable[Any]) -> str:
    """As kubectl spells them, in one order: that of the list means nothing."""
    known = (each for each in taints if isinstance(each, Mapping))
    return ", ".join(sorted(spelt_taint({"key": "", "effect": "", **each}) for each in known))
