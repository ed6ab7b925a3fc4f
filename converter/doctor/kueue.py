"""Kueue: whether it is there, in which versions, and with all that is used of it."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from converter.cluster.kueue_versions import (
    EARLIER,
    WANTED,
    served_resources,
    served_versions,
)
from converter.cluster.objects import Object
from converter.cluster.resources import (
    CLUSTER_QUEUES,
    LOCAL_QUEUES,
    PRIORITY_CLASSES,
    RESOURCE_FLAVORS,
    WORKLOADS,
)
from converter.doctor.api_server import parse_version
from converter.doctor.finding import Check, Finding, Group
from converter.reconcile.queue_chain import Missing, Read, Unknown

USED: Final = (WORKLOADS, LOCAL_QUEUES, CLUSTER_QUEUES, RESOURCE_FLAVORS, PRIORITY_CLASSES)
TRIED: Final = (0, 17)
# The first that serves v1beta2 (its CHANGELOG-0.15).
FIRST_WANTED: Final = "0.15"
_INSTALL: Final = "have Kueue installed (https://kueue.sigs.k8s.io/docs/installation)"
_UPGRADE: Final = f"have Kueue upgraded to {FIRST_WANTED} or later"
_IMAGE_TAG: Final = re.compile(r":(?P<tag>v?\d[^:/@]*)(?:@.*)?\Z")
# The container's name in Kueue's own manifests and chart, and an image that is kept elsewhere.
_CONTAINER: Final = "manager"
_IS_KUEUE: Final = re.compile(r"kueue(?::[^/]*)?(?:@.*)?\Z")

_API: Final = Check(Group.KUEUE, "kueue-api")
_KINDS: Final = Check(Group.KUEUE, "kueue-kinds")
_VERSION: Final = Check(Group.KUEUE, "kueue-version")
_VISIBILITY: Final = Check(Group.KUEUE, "kueue-visibility")


@dataclass(frozen=True, slots=True)
class KueueFacts:
    """What was read of Kueue.

    `group` is the APIGroup, `wanted` and `earlier` the APIResourceLists of its v1beta2 and v1beta1,
    `deployment` its controller's, and `visibility` the APIResourceList of its visibility API.
    """

    group: Read
    wanted: Read
    earlier: Read
    deployment: Read
    visibility: Read


def kueue_findings(facts: KueueFacts) -> tuple[Finding, ...]:
    """Everything about Kueue's installation; only that it is missing where it is."""
    api = api_finding(facts.group)
    if isinstance(facts.group, Missing):
        return (api,)
    return (
        api,
        kinds_finding(facts.wanted, facts.earlier),
        release_finding(facts.deployment),
        visibility_finding(facts.visibility),
    )


def api_finding(group: Read) -> Finding:
    """Which versions of Kueue's API are served."""
    if isinstance(group, Missing):
        return _API.fault("the cluster has no API group kueue.x-k8s.io", _INSTALL)
    if isinstance(group, Unknown):
        return _API.unknown(f"its API group cannot be read: {group.why}", "ask for discovery")
    served = served_versions(group)
    spelt = ", ".join(served) or "no version"
    if WANTED in served or EARLIER in served:
        return _API.ok(f"kueue.x-k8s.io is served in {spelt}")
    return _API.fault(f"kueue.x-k8s.io is served in {spelt}, not in {WANTED}", _UPGRADE)


def kinds_finding(wanted: Read, earlier: Read) -> Finding:
    """Whether each kind that is used is served, in one version or the other."""
    unread = [each.why for each in (wanted, earlier) if isinstance(each, Unknown)]
    in_wanted, in_earlier = _resources(wanted), _resources(earlier)
    missing = [each.kind for each in USED if each.plural not in in_wanted | in_earlier]
    if missing and unread:
        return _KINDS.unknown(f"its kinds cannot be read: {unread[0]}", "ask for discovery")
    if missing:
        return _KINDS.fault(
            f"the cluster does not serve {', '.join(missing)}",
            "have the CustomResourceDefinitions of Kueue's release applied",
        )
    outdated = [each.kind for each in USED if each.plural not in in_wanted]
    if outdated:
        return _KINDS.warning(
            f"{', '.join(outdated)}: served in {EARLIER} alone, which is used", _UPGRADE
        )
    return _KINDS.ok(f"{', '.join(each.kind for each in USED)}: served in {WANTED}")


def _resources(read: Read) -> frozenset[str]:
    return served_resources(read) if isinstance(read, Mapping) else frozenset()


def release_finding(deployment: Read) -> Finding:
    """The version in the image of Kueue's controller, where its Deployment may be read."""
    if not isinstance(deployment, Mapping):
        why = (
            f"not read: {deployment.why}"
            if isinstance(deployment, Unknown)
            else "there is no Deployment kueue-controller-manager in namespace kueue-system"
        )
        return _VERSION.unknown(
            f"Kueue's version is not known ({why})", "ask who runs Kueue; 0.17 was tried"
        )
    image = _image(deployment)
    found = _IMAGE_TAG.search(image)
    version = parse_version(found["tag"]) if found else None
    if found is None or version is None:
        shown = image or "none"
        return _VERSION.unknown(f"Kueue's image names no version: {shown}", "ask who runs Kueue")
    if version < TRIED:
        return _VERSION.warning(
            f"Kueue {found['tag']} is older than 0.17, which was tried", "have Kueue upgraded"
        )
    return _VERSION.ok(f"Kueue {found['tag']}")


def _image(deployment: Object) -> str:
    """The image of Kueue itself, beside which there may be a proxy; empty where none is its own."""
    containers = deployment["spec"]["template"]["spec"].get("containers") or ()
    images = [(str(each.get("name", "")), str(each.get("image", ""))) for each in containers]
    called = [image for container, image in images if container == _CONTAINER]
    own = [image for _, image in images if _IS_KUEUE.search(image)]
    return next(iter(called + own), "")


def visibility_finding(visibility: Read) -> Finding:
    """Without Kueue's visibility API nobody knows a campaign's place in the queue."""
    without = "so status and explain cannot tell a campaign's place in the queue"
    if isinstance(visibility, Missing):
        return _VISIBILITY.warning(
            f"the visibility API is not served, {without}",
            "have Kueue's APIService visibility.kueue.x-k8s.io applied",
        )
    if isinstance(visibility, Unknown):
        return _VISIBILITY.warning(
            f"the visibility API does not answer, {without}: {visibility.why}",
            "have the APIService visibility.kueue.x-k8s.io and Kueue's controller looked at",
        )
    return _VISIBILITY.ok("the visibility API is served")
