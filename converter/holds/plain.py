"""Holds on a Job or TrainJob that no queue system manages: its own ``spec.suspend``.

Such an object is created suspended, at its start gate, and opened once. A release starts it again
only when it was opened and none of its pods is left, so that no volume runs twice at a time.
"""

import copy
from collections.abc import Mapping
from typing import Any

from converter.cluster.client import Client
from converter.cluster.objects import Object, annotation, is_being_deleted, is_suspended
from converter.cluster.resources import PODS
from converter.holds.annotate import annotated, annotations
from converter.holds.deadline import Deadline
from converter.holds.kinds import OwnerKind, Subject
from converter.holds.mark import mark_of
from converter.holds.rules import Decision, State
from converter.names import OPENED_ANNOTATION, STARTS_ANNOTATION, SUSPEND_ANNOTATION


def plain_state(live: Object, kind: OwnerKind, pods_remain: int) -> State:
    """What an object without a queue says.

    One that was started, and is suspended though neither a hold nor the annotation of git's pause
    says so, was stopped by somebody, or by apply for a campaign that is held back and whose
    annotation could not be sent.
    """
    mark = mark_of(annotations(live))
    opened = annotation(live, OPENED_ANNOTATION) == "true"
    paused_in_git = annotation(live, SUSPEND_ANNOTATION) == "true"
    return State(
        mark=mark,
        stopped=is_suspended(live),
        stopped_by_other=is_suspended(live) and opened and mark is None and not paused_in_git,
        queued=False,
        opened=opened,
        ended=kind.has_ended(live),
        going=is_being_deleted(live),
        paused_in_git=paused_in_git,
        pods_remain=pods_remain,
    )


def remains(pod: Mapping[str, Any]) -> bool:
    """Whether a pod may still run: one that is in no final phase, or still terminating.

    A pod that has Succeeded or Failed runs nothing any more, however long it is kept.
    """
    ended = (pod.get("status") or {}).get("phase") in ("Succeeded", "Failed")
    return not ended or is_being_deleted(pod)


def starts_of(live: Object) -> int:
    """How often the object was started; what is no number counts as none."""
    written = annotation(live, STARTS_ANNOTATION)
    return int(written) if written.isascii() and written.isdigit() else 0


def held_object(live: Object, decision: Decision) -> dict[str, Any]:
    """The object as a decision leaves it, in one update."""
    after = decision.after
    if after is None:
        raise ValueError("a decision that writes nothing leaves no object")
    others = {OPENED_ANNOTATION: "true"} if after.opened else {}
    if decision.starts:
        others[STARTS_ANNOTATION] = str(starts_of(live) + 1)
    body = copy.deepcopy(annotated(live, after.mark, decision.entry, **others))
    body["spec"]["suspend"] = after.stopped
    return body


class PlainStore:
    """One Job or TrainJob."""

    def __init__(self, client: Client, namespace: str, kind: OwnerKind, named: str) -> None:
        self._client = client
        self._namespace = namespace
        self._kind = kind
        self._named = named
        self._live: Object | None = None

    @property
    def target(self) -> str:
        """``Job/name`` or ``TrainJob/name``."""
        return f"{self._kind.resource.kind}/{self._named}"

    @property
    def subject(self) -> Subject | None:
        """The object that was read."""
        return Subject(self._kind.resource, self._live) if self._live is not None else None

    def read(self, deadline: Deadline) -> State:
        """The object and, after it, its pods: none is made once it was seen suspended."""
        client = self._client.within(deadline)
        self._live = client.get(self._kind.resource, self._namespace, self._named)
        selector = f"{self._kind.pods_label}={self._named}"
        pods = client.list(PODS, self._namespace, selector=selector)
        return plain_state(self._live, self._kind, sum(map(remains, pods)))

    def write(self, decision: Decision, deadline: Deadline) -> None:
        """Update the object that was read. Raises Conflict where it has changed."""
        if self._live is None:
            raise ValueError("nothing was read")
        body = held_object(self._live, decision)
        self._client.within(deadline).replace(self._kind.resource, self._namespace, body)
