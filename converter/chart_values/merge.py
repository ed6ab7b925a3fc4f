"""Values as helm merges them, and where in them the things stand that converter.yaml says too."""

from collections.abc import Iterable, Mapping
from typing import Any, Final

from converter.model import Settings

Values = Mapping[str, Any]
Place = tuple[str | int, ...]

# Those of the chart's values.yaml that count here; a test compares the two.
DEFAULTS: Final[Values] = {
    "queue": {
        "name": "",
        "quota": {"cpu": 4, "memory": "8Gi", "nvidia.com/gpu": 1},
        "flavors": [],
        "priorityClasses": [],
    },
    "teams": [],
    "modelCache": {"create": False, "name": ""},
    "runtimeClass": {"create": False, "name": "", "handler": ""},
    "security": {"allowImageTags": False},
}
QUEUE_NAME: Final[Place] = ("queue", "name")
FLAVORS: Final[Place] = ("queue", "flavors")
CLASSES: Final[Place] = ("queue", "priorityClasses")


def merged(documents: Iterable[Values]) -> dict[str, Any]:
    """What several values files say together, as helm takes them: of two values the later one.

    Mappings are merged key by key, lists are not; null stays, since it takes a default away.
    """
    result: dict[str, Any] = {}
    for document in documents:
        result = _over(result, document)
    return result


def with_defaults(values: Values, defaults: Values = DEFAULTS) -> dict[str, Any]:
    """The values that the chart gets: its defaults where `values` has none, and null for none."""
    result = {key: value for key, value in values.items() if value is not None}
    for key, default in defaults.items():
        if key not in values:
            result[key] = default
        elif isinstance(default, Mapping) and isinstance(values[key], Mapping):
            result[key] = with_defaults(values[key], default)
    return result


def spelt(place: Place) -> str:
    """A place as helm's --set spells it: ``queue.flavors[0].quota``."""
    return "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in place)[1:]


def at(values: Values, place: Place) -> Any:
    """What `values` have in a place; None where they have nothing."""
    found: Any = values
    for step in place:
        found = found.get(step) if isinstance(found, Mapping) else None
    return found


def entries(values: Values, *place: str) -> list[dict[str, Any]]:
    """The mappings of a list; what is none of them helm refuses."""
    found = at(values, place)
    return [each for each in found if isinstance(each, dict)] if isinstance(found, list) else []


def by_name(entries: Any) -> dict[str, dict[str, Any]]:
    """The mappings of a list by their `name`, in their order."""
    listed = entries if isinstance(entries, list) else ()
    return {str(each.get("name")): each for each in listed if isinstance(each, dict)}


def queue_place(settings: Settings, values: Values) -> Place:
    """Where the values name the LocalQueue of converter.yaml's namespace.

    A team without a queue of its own has that of `queue.name`, where this is the right one.
    """
    for index, team in enumerate(entries(values, "teams")):
        named = team.get("queue") or at(values, QUEUE_NAME) != settings.queue
        if team.get("namespace") == settings.namespace and named:
            return ("teams", index, "queue")
    return QUEUE_NAME


def _over(one: Values, other: Values) -> dict[str, Any]:
    result = dict(one)
    for key, value in other.items():
        below = result.get(key)
        both = isinstance(value, Mapping) and isinstance(below, Mapping)
        result[key] = _over(below or {}, value) if both else value
    return result
