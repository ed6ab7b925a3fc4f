"""One object as people compare it: what no file and no person has written is left out. Pure."""

from collections.abc import Iterator, Mapping
from difflib import unified_diff
from typing import Any, Final

from converter.cluster.fields import applied_fields, extract
from converter.cluster.objects import Object
from converter.manifest import Manifest
from converter.names import FIELD_MANAGER
from converter.reconcile.provenance import ANNOTATIONS as PROVENANCE
from converter.render.text import yaml_text

# What the API server writes into the metadata of every object.
SERVERS: Final = (
    "creationTimestamp",
    "deletionGracePeriodSeconds",
    "deletionTimestamp",
    "generation",
    "managedFields",
    "resourceVersion",
    "selfLink",
    "uid",
)
NOWHERE: Final = "/dev/null"
# Stands for a tab, of which libyaml would make an escape in one long line of a list of volumes.
_TAB: Final = "\ue009"


def created(manifest: Manifest, body: Object) -> tuple[str, ...]:
    """The diff of an object that is not there yet, as it would be sent.

    Without the server's defaults, of which a Job has dozens.
    """
    lines = _lines(body, manifest)
    head = (f"--- {NOWHERE}", f"+++ git/{manifest.target}", f"@@ -0,0 +1,{len(lines)} @@")
    return (*head, *(f"+{line}" for line in lines))


def changed(manifest: Manifest, live: Object, answered: Object) -> tuple[str, ...]:
    """The diff of a live object and the API server's answer to a dry run of its apply.

    Both come from the server, so its defaults are on both sides.
    """
    return tuple(_diff(live, answered, manifest))


def replaced(manifest: Manifest, live: Object, body: Object) -> tuple[str, ...]:
    """The diff of what was applied before and what is to be, of an object to be made anew.

    Its name is still taken, so no dry run can tell how the server would complete it.
    """
    applied: Object = extract(live, applied_fields(live, FIELD_MANAGER))
    metadata = {key: live["metadata"].get(key) for key in ("name", "namespace")}
    before = {**applied, "metadata": {**applied.get("metadata", {}), **metadata}}
    return tuple(_diff(before, body, manifest))


def without_noise(found: Object, manifest: Manifest) -> dict[str, Any]:
    """The object as people write it, its keys in one order.

    An item of a LIST does not say its kind, so that is the manifest's.
    """
    metadata = {k: v for k, v in found["metadata"].items() if k not in SERVERS}
    annotations = metadata.pop("annotations", None) or {}
    if kept := {k: v for k, v in annotations.items() if k not in PROVENANCE}:
        metadata["annotations"] = kept
    kind = {key: manifest.body[key] for key in ("apiVersion", "kind")}
    members = {key: value for key, value in found.items() if key != "status"}
    ordered: dict[str, Any] = _ordered({**members, **kind, "metadata": metadata})
    return ordered


def _diff(before: Object, after: Object, manifest: Manifest) -> Iterator[str]:
    old, new = (_lines(each, manifest) for each in (before, after))
    names = (f"live/{manifest.target}", f"git/{manifest.target}")
    return unified_diff(old, new, *names, lineterm="")


def _lines(found: Object, manifest: Manifest) -> list[str]:
    return yaml_text(without_noise(found, manifest)).replace(_TAB, "\t").splitlines()


def _ordered(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _ordered(value[key]) for key in sorted(value)}
    if isinstance(value, list | tuple):
        return [_ordered(item) for item in value]
    if isinstance(value, str) and "\n" in value:
        return value.replace("\t", _TAB)
    return value
