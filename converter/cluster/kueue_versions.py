"""Which version of Kueue's API a server has: v1beta2, or v1beta1 where there is no v1beta2.

Everybody else asks for v1beta2 and gets it, so the usual server is asked nothing more. Of what is
read and written here the versions differ in two names (apis/kueue/v1beta1 in Kueue 0.17.0).
"""

import re
from collections.abc import Callable, Mapping
from typing import Any, Final

from converter.errors import CampaignsError, NotFound

WANTED: Final = "v1beta2"
EARLIER: Final = "v1beta1"
_PATH: Final = re.compile(
    rf"(?P<group>/apis/(?:visibility\.)?kueue\.x-k8s\.io)/{WANTED}(?P<rest>/.*)"
)
_PLURAL: Final = re.compile(r"/(?:namespaces/[^/]+/)?(?P<plural>[a-z]+)")
# By kind: the member that a name is in, that name in v1beta1, and what it is in v1beta2.
_RENAMED: Final = {
    "ClusterQueue": ("spec", "cohort", "cohortName"),
    # Kueue's own spelling.
    "Workload": (
        "status",
        "accumulatedPastExexcutionTimeSeconds",
        "accumulatedPastExecutionTimeSeconds",
    ),
}

Object = dict[str, Any]


class KueueVersions:
    """What is known of one server; `discover` gives its answer at a path. Safe in threads."""

    def __init__(self, discover: Callable[[str], Object]) -> None:
        self._discover = discover
        # By group, what v1beta1 has; and what of it is not in v1beta2.
        self._earlier: dict[str, frozenset[str]] = {}
        self._earlier_only: set[tuple[str, str]] = set()

    def asking(self, discover: Callable[[str], Object]) -> "KueueVersions":
        """What is known so far, of which more is asked by `discover`."""
        other = KueueVersions(discover)
        other._earlier.update(self._earlier)
        other._earlier_only.update(self._earlier_only)
        return other

    def path(self, path: str) -> str:
        """A path in the version that the server has, as far as that is known."""
        found = _PATH.fullmatch(path)
        if found is None or _resource(found) not in self._earlier_only:
            return path
        return f"{found['group']}/{EARLIER}{found['rest']}"

    def is_another(self, path: str, error: NotFound) -> bool:
        """Whether `path` now stands for another one than that which failed with `error`.

        A 404 that is about an object says so; one without a Status is about the path. The server is
        then asked what it has in v1beta1, once for each group.
        """
        found = _PATH.fullmatch(path)
        if found is None or error.reason == "NotFound":
            return False
        group, plural = _resource(found)
        if group not in self._earlier:
            self._earlier[group] = self._resources(f"{group}/{EARLIER}")
        if plural not in self._earlier[group]:
            return False
        self._earlier_only.add((group, plural))
        return True

    def _resources(self, path: str) -> frozenset[str]:
        try:
            return served_resources(self._discover(path))
        except CampaignsError:
            return frozenset()


def _resource(path: re.Match[str]) -> tuple[str, str]:
    plural = _PLURAL.match(path["rest"])
    return path["group"], plural["plural"] if plural else ""


def served_versions(api_group: Mapping[str, Any]) -> tuple[str, ...]:
    """The versions of an APIGroup, as a server describes it at ``/apis/<group>``."""
    return tuple(str(each["version"]) for each in api_group.get("versions") or ())


def served_resources(api_resources: Mapping[str, Any]) -> frozenset[str]:
    """The plurals of an APIResourceList, as a server describes a version of a group."""
    return frozenset(str(each["name"]) for each in api_resources.get("resources") or ())


def as_wanted(document: Object) -> Object:
    """An object in v1beta1, or a list of such objects, with the names of v1beta2."""
    if document.get("apiVersion") != f"kueue.x-k8s.io/{EARLIER}":
        return document
    if "items" in document:
        return {**document, "items": [as_wanted(each) for each in document["items"] or ()]}
    member, earlier, wanted = _RENAMED.get(str(document.get("kind")), ("", "", ""))
    within = document.get(member) or {}
    if earlier not in within:
        return document
    kept = {name: value for name, value in within.items() if name != earlier}
    return {**document, member: {**kept, wanted: within[earlier]}}
