"""The chart's values that converter.yaml determines."""

from collections.abc import Iterable, Mapping
from typing import Any

from converter.chart_values.merge import (
    CLASSES,
    DEFAULTS,
    FLAVORS,
    QUEUE_NAME,
    Values,
    at,
    by_name,
    entries,
    queue_place,
)
from converter.errors import Refused
from converter.model import Flavor, Settings
from converter.quantity import canonical_quantity


def written(settings: Settings, kept: Values) -> dict[str, Any]:
    """The values that converter.yaml determines; `kept` is what values files say so far.

    From those comes what converter.yaml does not know of a flavor or a priority class. Raises
    Refused where a flavor has a quota in neither.
    """
    queue: dict[str, Any] = {}
    result: dict[str, Any] = {"queue": queue}
    place = queue_place(settings, kept)
    if place == QUEUE_NAME:
        queue["name"] = settings.queue
    else:
        result["teams"] = [
            {**team, "queue": settings.queue} if ("teams", index, "queue") == place else team
            for index, team in enumerate(entries(kept, "teams"))
        ]
    queue |= _written_flavors(settings, kept)
    if settings.priority_classes:
        known = by_name(at(kept, CLASSES))
        queue["priorityClasses"] = [
            known.get(name, {"name": name, "create": False}) for name in settings.priority_classes
        ]
    if settings.data_pvc:
        result["modelCache"] = {"name": settings.data_pvc}
    if settings.runtime_class:
        result["runtimeClass"] = {"name": settings.runtime_class}
    if settings.allow_image_tags:
        result["security"] = {"allowImageTags": True}
    return result


def unvalued(settings: Settings, kept: Values) -> tuple[str, ...]:
    """The priority classes that `kept` says nothing of, so that their values are not known."""
    known = by_name(at(kept, CLASSES))
    return tuple(name for name in settings.priority_classes if name not in known)


def _written_flavors(settings: Settings, kept: Values) -> dict[str, Any]:
    known = by_name(at(kept, FLAVORS))
    if settings.flavors:
        quotas = (each.quota or _kept_quota(each, known) for each in settings.flavors)
        covered = sorted({resource for quota in quotas for resource in quota})
        flavors = [_written_flavor(each, covered, known) for each in settings.flavors]
        return {"flavors": flavors, **_no_limits_of_a_single_flavor(kept)}
    if not settings.quota:
        return {}
    quota = _quantities(settings.quota)
    if len(known) == 1:
        return {"flavors": [{**flavor, "quota": quota} for flavor in known.values()]}
    theirs = at(kept, ("queue", "quota"))
    known_resources = (
        *DEFAULTS["queue"]["quota"],
        *(theirs if isinstance(theirs, Mapping) else ()),
    )
    unwanted = [name for name in known_resources if name not in quota]
    single = {"quota": {**quota, **dict.fromkeys(unwanted)}}
    # The chart goes by the flavors, where there are such.
    return {"flavors": [], **single} if known else single


def _written_flavor(
    flavor: Flavor, covered: Iterable[str], known: Mapping[str, Values]
) -> dict[str, Any]:
    kept = known.get(flavor.name, {})
    if not flavor.quota and "quota" not in kept:
        raise Refused(
            f"flavor {flavor.name} has no quota in converter.yaml, and the chart needs one; "
            "nothing was written: write it there, or in a values file that --values names"
        )
    quota = _quantities(flavor.quota) if flavor.quota else dict(kept["quota"])
    # Of a resource that another flavor has, each has a quota.
    quota |= {resource: 0 for resource in covered if resource not in quota}
    ours = {
        "name": flavor.name,
        "nodeLabels": dict(flavor.node_labels),
        **(
            {"nodeTaints": [dict(each) for each in flavor.node_taints]}
            if flavor.node_taints
            else {}
        ),
        "quota": quota,
    }
    return ours | {key: kept[key] for key in kept if key not in (*ours, "nodeTaints")}


def _no_limits_of_a_single_flavor(kept: Values) -> dict[str, Any]:
    """The chart refuses them beside flavors; helm takes a mapping away key by key."""
    limits = {name: at(kept, ("queue", name)) for name in ("borrowingLimit", "lendingLimit")}
    return {
        name: dict.fromkeys(each)
        for name, each in limits.items()
        if isinstance(each, Mapping) and each
    }


def _kept_quota(flavor: Flavor, known: Mapping[str, Values]) -> Values:
    quota = known.get(flavor.name, {}).get("quota")
    return quota if isinstance(quota, Mapping) else {}


def _quantities(quota: Mapping[str, str]) -> dict[str, Any]:
    canonical = {resource: canonical_quantity(each) for resource, each in quota.items()}
    return {name: int(each) if each.isdecimal() else each for name, each in canonical.items()}
