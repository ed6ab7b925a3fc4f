"""What a pod of converter.yaml asks for, and under which of its quotas it may be admitted."""

from collections.abc import Mapping
from fractions import Fraction

from converter.layout import DEFAULT_SIZE
from converter.model import Pipeline, Settings, Size
from converter.quantity import parse_quantity
from converter.quota import CPU, GPU, Limit, Requests, Room, flavors_for


def size_of(pipeline: Pipeline, settings: Settings) -> Size | None:
    """The size of a pipeline's pods; None where its name is unknown, which is another rule's."""
    name = pipeline.size or settings.default_size
    return settings.sizes.get(name) if name else DEFAULT_SIZE


def requests_of(size: Size) -> Requests:
    """What one pod asks for, by resource."""
    requests = {CPU: size.cpu, "memory": size.memory}
    return requests | ({GPU: str(size.gpu)} if size.gpu else {})


def rooms_for(size: Size, settings: Settings) -> tuple[Room, ...] | None:
    """Every quota a pod may be admitted under; None where converter.yaml does not know them all.

    There is no such quota where the pod's node selector fits no flavor. A quantity that cannot be
    read is another rule's, and counts as not known.
    """
    if any(amount(request) is None for request in requests_of(size).values()):
        return None
    if not settings.flavors:
        return (Room("", _limits(settings.quota)),) if _is_known(settings.quota) else None
    own = next((f.node_labels for f in settings.flavors if f.name == size.flavor), {})
    flavors = flavors_for({**settings.node_selector, **own}, settings.flavors)
    if not all(_is_known(flavor.quota) for flavor in flavors):
        return None
    return tuple(Room(f"flavor {flavor.name}", _limits(flavor.quota)) for flavor in flavors)


def amount(text: str) -> Fraction | None:
    """The quantity, or None for what is none: another rule reports it."""
    try:
        return parse_quantity(text)
    except ValueError:
        return None


def _is_known(quota: Mapping[str, str]) -> bool:
    return bool(quota) and all(amount(quantity) is not None for quantity in quota.values())


def _limits(quota: Mapping[str, str]) -> dict[str, Limit]:
    return {resource: Limit(quantity) for resource, quantity in quota.items()}
