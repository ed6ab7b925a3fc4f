"""Who owns which field of a live object, read from ``metadata.managedFields``.

The format is FieldsV1 of structured-merge-diff: ``f:<name>`` a member, ``k:<json>`` a list item by
its keys, ``v:<json>`` a set item by value, ``.`` the node itself
(https://kubernetes.io/docs/reference/using-api/server-side-apply/#field-management).
Objects and fields are plain decoded JSON here; nothing is changed in place.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

Fields = Mapping[str, Any]
Path = tuple[str, ...]

# Server-side apply keeps no owner for these, so they are never part of a comparison.
IDENTITY = ("apiVersion", "kind")
IDENTITY_METADATA = ("name", "namespace")

# Never atomic, so owned as a leaf they were applied empty: what is in them came from an admission
# webhook or the server itself, which leave no owner.
MAPS_OF_MEMBERS = ("labels", "annotations")


def applied_fields(live: Mapping[str, Any], manager: str) -> Fields:
    """What `manager` owns by server-side apply; empty when it never applied the object."""
    for entry in _entries(live):
        if entry.get("manager") == manager and entry.get("operation") == "Apply":
            return entry.get("fieldsV1") or {}
    return {}


def owners(live: Mapping[str, Any], path: Path) -> frozenset[tuple[str, str]]:
    """Every (manager, operation) that owns the field at `path`, for example ("spec", "suspend").

    Operations are ``Apply`` and ``Update``: one program can own a field both ways, and the field
    stays for as long as either remains.
    """
    return frozenset(
        (entry.get("manager", ""), entry.get("operation", ""))
        for entry in _entries(live)
        if _has(entry.get("fieldsV1") or {}, path)
    )


def extract(live: Any, fields: Fields) -> Any:
    """The part of `live` that `fields` names, in the order of `live`."""
    # Most fields are leaves, and an apply asks for each of them twice.
    if not fields:
        return live
    if len(fields) == 1 and "." in fields:
        # A lone "." owns an empty container.
        return type(live)() if isinstance(live, (dict, list)) else live
    if isinstance(live, dict):
        return _members(live, fields)
    if isinstance(live, list):
        return list(_items(live, fields))
    return live


def _members(live: dict[str, Any], fields: Fields) -> dict[str, Any]:
    found = {}
    for key, value in live.items():
        owned = fields.get(f"f:{key}")
        if owned is not None:
            found[key] = extract(value, owned) if owned else value
    return found


def _items(live: list[Any], fields: Fields) -> Iterator[Any]:
    """The items that are named, found by the values of their keys rather than one by one."""
    named: dict[tuple[str, ...], dict[tuple[Any, ...], Fields]] = {}
    for selector, owned in fields.items():
        names, values = _selector(selector)
        if values:
            named.setdefault(names, {})[values] = owned
    for item in live:
        for names, by_values in named.items():
            owned = by_values.get(_values(item, names))
            if owned is not None:
                yield extract(item, owned)
                break


@lru_cache(maxsize=4096)
def _selector(text: str) -> tuple[tuple[str, ...], tuple[Any, ...]]:
    """The names and values of an item's keys; a set's item is its own value and has no names.

    Decoded once: the same few are on every Job.
    """
    kind, _, encoded = text.partition(":")
    if kind == "k":
        keys: dict[str, Any] = json.loads(encoded)
        return tuple(keys), tuple(keys.values())
    return (), (json.loads(encoded),) if kind == "v" else ()


def _values(item: Any, names: tuple[str, ...]) -> tuple[Any, ...]:
    """Empty, which nothing is named by, where an item has no such values."""
    if names:
        return tuple(item.get(name) for name in names) if isinstance(item, dict) else ()
    return () if isinstance(item, (dict, list)) else (item,)


def without_managers(
    body: Mapping[str, Any],
    live: Mapping[str, Any],
    is_controller: Callable[[str], bool],
    kept: Fields,
) -> dict[str, Any]:
    """`body` without what controllers have taken over: fields theirs and not in `kept`."""
    result = dict(body)
    for entry in _entries(live):
        if is_controller(entry.get("manager", "")):
            result = without_fields(result, entry.get("fieldsV1") or {}, kept)
    return result


def without_fields(body: Mapping[str, Any], fields: Fields, kept: Fields) -> dict[str, Any]:
    """`body` without the leaves that `fields` names and `kept` does not."""
    result: dict[str, Any] = {}
    for key, value in body.items():
        theirs = fields.get(f"f:{key}")
        ours = kept.get(f"f:{key}")
        if theirs is None:
            result[key] = value
        elif _is_leaf(theirs):
            if ours is not None:
                result[key] = value
        elif isinstance(value, Mapping):
            result[key] = without_fields(value, theirs, ours or {})
        else:
            result[key] = value
    return result


def matches(live: Mapping[str, Any], body: Mapping[str, Any], manager: str) -> bool:
    """Whether applying `body` as `manager` would change nothing.

    True when the fields that the manager owns, with the values they have now, are just those of
    `body`: then no value differs, none was taken away and none is missing.
    """
    fields = applied_fields(live, manager)
    if not fields:
        return False
    others = [
        entry.get("fieldsV1") or {} for entry in _entries(live) if entry.get("manager") != manager
    ]
    owned = extract(_without_others(live, fields, others), fields)
    wanted = _without_identity(body)
    # The second one is slow, and rarely needed.
    return bool(owned == wanted or _significant(owned) == _significant(wanted))


def _without_others(live: Any, fields: Fields, others: Sequence[Fields]) -> Any:
    """`live` without the members of maps that `fields` owns as a leaf and others own by member.

    A leaf is the whole value of an atomic map (a node selector), which nobody owns by member, or
    an empty map of members (labels that were all taken away), of which only the others' are left.
    """
    if not isinstance(live, Mapping):
        return live
    result = {}
    for key, value in live.items():
        ours = fields.get(f"f:{key}")
        theirs = [other[f"f:{key}"] for other in others if f"f:{key}" in other]
        if ours is None or not isinstance(value, Mapping):
            result[key] = value
        elif _is_leaf(ours):
            by_member = {name for other in theirs for name in other}
            free = {k: v for k, v in value.items() if f"f:{k}" not in by_member}
            result[key] = {} if key in MAPS_OF_MEMBERS else free
        else:
            result[key] = _without_others(value, ours, theirs)
    return result


def _without_identity(body: Mapping[str, Any]) -> dict[str, Any]:
    result = {key: value for key, value in body.items() if key not in IDENTITY}
    result["metadata"] = {
        key: value for key, value in body["metadata"].items() if key not in IDENTITY_METADATA
    }
    return result


def _significant(value: Any) -> Any:
    """`value` without empty members, which an API server drops when it stores an object."""
    if isinstance(value, Mapping):
        members = ((key, _significant(member)) for key, member in value.items())
        return {key: member for key, member in members if member not in (None, "", {}, [])}
    if isinstance(value, list | tuple):
        return [_significant(item) for item in value]
    return value


def _entries(live: Mapping[str, Any]) -> Iterable[Mapping[str, Any]]:
    # Entries of a subresource (status, scale) say nothing about what an apply may change.
    entries = live.get("metadata", {}).get("managedFields") or ()
    return (entry for entry in entries if not entry.get("subresource"))


def _has(fields: Fields, path: Path) -> bool:
    for name in path:
        if f"f:{name}" not in fields:
            return False
        fields = fields[f"f:{name}"]
    return True


def _is_leaf(fields: Fields) -> bool:
    return not any(key != "." for key in fields)
