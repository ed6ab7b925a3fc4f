"""Pods that are there and do not start: no node, no image, no volume, no Secret."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from converter.cluster.objects import Object, is_being_deleted, name
from converter.explain.cause import Cause
from converter.explain.text import counted
from converter.wording import said, spelt_labels

_IMAGE: Final = ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull")
# The reasons with which a node says that it cannot start a pod.
NODE_EVENTS: Final = ("FailedMount", "FailedAttachVolume", "FailedCreatePodSandBox")
_CONFIG: Final = ("CreateContainerConfigError", "CreateContainerError", "RunContainerError")
# What else the scheduler tells, about preemption of pods, is nothing that a campaign can change.
_PREEMPTION: Final = re.compile(r"\s*(?:no new claims|preemption:).*\Z", re.DOTALL)

_CLAIM: Final = re.compile(r'persistentvolumeclaim "(?P<name>[^"]+)" not found')

# What the scheduler's message has in it (its plugins' ErrReason), and what to change then.
_VOLUMES: Final = (
    (
        "PersistentVolumeClaims",
        "the platform team has to see why no volume is bound to the claim (storage class, access "
        "mode, size)",
    ),
    (
        "volume node affinity conflict",
        "the claim's volume is on a node that its pods may not run on: correct node_selector or "
        "flavors in converter.yaml, or data_pvc",
    ),
)
_PLACES: Final = (
    (
        "affinity/selector",
        "node_selector or flavors in converter.yaml have to be labels of a node",
    ),
    (
        "untolerated taint",
        "tolerations in converter.yaml have to name the taints of those nodes",
    ),
    ("were unschedulable", "the platform team has to uncordon nodes"),
)


@dataclass(frozen=True, slots=True)
class Whose:
    """Whose pods they are, in a sentence, where their image is written, and how they find room."""

    pods: str
    image_file: str
    less: str
    events: Mapping[str, Sequence[Object]]


@dataclass(frozen=True, slots=True)
class _Hindrance:
    """Why one pod does not start. The sentence has ``N pods`` between `before` and `after`."""

    code: str
    before: str
    after: str
    remedy: str
    details: tuple[str, ...] = ()


def not_started(pods: Iterable[Object], whose: Whose) -> Iterator[Cause]:
    """A cause for each reason why pods are Pending, the one that most of them have first."""
    found: dict[tuple[str, str, str], list[_Hindrance]] = {}
    for pod in pods:
        if (pod.get("status") or {}).get("phase") == "Pending" and not is_being_deleted(pod):
            hindrance = _hindrance(pod, whose)
            if hindrance is not None:
                kind = (hindrance.code, hindrance.before, hindrance.after)
                found.setdefault(kind, []).append(hindrance)
    for same in sorted(found.values(), key=len, reverse=True):
        first = same[0]
        sentence = f"{first.before}{counted(len(same), whose.pods)}{first.after}"
        yield Cause(first.code, sentence, first.remedy, first.details)


def container_statuses(pod: Object) -> Iterator[Object]:
    """Of init containers, then of containers."""
    status = pod.get("status") or {}
    yield from status.get("initContainerStatuses") or ()
    yield from status.get("containerStatuses") or ()


def _hindrance(pod: Object, whose: Whose) -> _Hindrance | None:
    for condition in (pod.get("status") or {}).get("conditions") or ():
        if condition.get("type") == "PodScheduled" and condition.get("status") == "False":
            if condition.get("reason") == "SchedulingGated":
                return _Hindrance("scheduling-gate", "a scheduling gate keeps ", "", "")
            return _without_node(pod, str(condition.get("message") or ""), whose)
    for container in container_statuses(pod):
        waiting = (container.get("state") or {}).get("waiting") or {}
        reason = waiting.get("reason")
        if reason in _IMAGE:
            return _without_image(pod, container, waiting, whose)
        if reason in _CONFIG:
            return _Hindrance(
                "container-config",
                "",
                f" cannot start ({reason}): {said(waiting.get('message'))}",
                "have what is named there created in the namespace, or correct secrets in "
                "converter.yaml",
            )
    return _without_mount(pod, whose.events.get(name(pod), ()))


def _without_node(pod: Object, message: str, whose: Whose) -> _Hindrance:
    plain = said(_PREEMPTION.sub("", message)).removesuffix(".")
    if claim := _CLAIM.search(plain):
        return _Hindrance(
            "volume-claim",
            f"there is no PersistentVolumeClaim {claim['name']} for ",
            "",
            "have it created in the namespace, or correct data_pvc in converter.yaml",
        )
    for words, remedy in _VOLUMES:
        if words in plain:
            return _Hindrance("volume-claim", "no node takes ", f": {plain}", remedy)
    remedy = "; ".join(remedy for words, remedy in _PLACES if words in plain)
    # The scheduler looks at room last: such a node has the right labels and taints.
    if "Insufficient" in plain:
        remedy = f"the nodes have less room than the quota promises: {whose.less}"
    selector = pod["spec"].get("nodeSelector") or {}
    return _Hindrance(
        "unschedulable",
        "no node takes ",
        f": {plain}",
        remedy,
        (f"node selector {spelt_labels(selector)}",) if selector else (),
    )


def _without_image(
    pod: Object, container: Object, waiting: Mapping[str, object], whose: Whose
) -> _Hindrance:
    image = said(container.get("image")) or _image(pod, str(container.get("name")))
    says = said(waiting.get("message"))
    return _Hindrance(
        "image",
        "",
        f" cannot get the image {image}",
        f"correct image in {whose.image_file} (a live campaign keeps the image it was applied "
        "with: name the new pipeline file in a new campaign), or have the image pushed or the "
        "nodes allowed to pull it",
        (f"{waiting.get('reason')}: {says}",) if says else (),
    )


def _image(pod: Object, container: str) -> str:
    containers: Sequence[Object] = (
        *(pod["spec"].get("initContainers") or ()),
        *pod["spec"]["containers"],
    )
    found = (each.get("image") for each in containers if each.get("name") == container)
    return said(next(found, ""))


def _without_mount(pod: Object, events: Sequence[Object]) -> _Hindrance | None:
    """A volume that the kubelet cannot mount: only an event says so."""
    failed = [event for event in events if event.get("reason") in NODE_EVENTS]
    if not failed:
        return None
    message = _without_names(said(failed[-1].get("message")))
    if failed[-1].get("reason") == "FailedCreatePodSandBox":
        remedy = "the platform team has to see what is wrong with the node"
        return _Hindrance("sandbox", "a node cannot make a sandbox for ", f": {message}", remedy)
    return _Hindrance(
        "volume-mount",
        "",
        f" cannot mount a volume: {message}",
        "have the Secret, ConfigMap or claim that is named there created in the namespace, or "
        "correct secrets, s3_secret or data_pvc in converter.yaml",
    )


def _without_names(message: str) -> str:
    """Without the namespace that the kubelet puts before a name."""
    return re.sub(r'"[-a-z0-9.]+/([-a-z0-9.]+)"', r'"\1"', message)
