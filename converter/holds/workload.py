"""Holds on the Workload that Kueue made for a Job or TrainJob: one update, of nothing else.

Kueue evicts what runs when ``spec.active`` is false, suspends the job itself, and admits it anew
when the field is true again and its pods are gone.
"""

import copy
from collections.abc import Sequence
from typing import Any

from converter.cluster.client import Client
from converter.cluster.objects import (
    Object,
    annotation,
    controller_uid,
    is_active,
    is_being_deleted,
    name,
    true_condition,
    uid,
)
from converter.cluster.resources import WORKLOADS
from converter.errors import NotFound
from converter.holds.annotate import annotated, annotations
from converter.holds.deadline import Deadline
from converter.holds.errors import Rejected
from converter.holds.kinds import OWNERS, OwnerKind, Subject
from converter.holds.mark import mark_of
from converter.holds.rules import Decision, State
from converter.names import KUEUE_JOB_UID_LABEL, SUSPEND_ANNOTATION
from converter.reconcile.pause import kueue_deactivation


def workload_state(workload: Object, owner: Object | None) -> State:
    """What a Workload says; `owner` is the Job or TrainJob that it was made for, if it is there."""
    mark = mark_of(annotations(workload))
    paused = owner is not None and annotation(owner, SUSPEND_ANNOTATION) == "true"
    inactive = not is_active(workload)
    by_kueue = bool(kueue_deactivation(workload))
    return State(
        mark=mark,
        stopped=inactive,
        stopped_by_other=inactive and mark is None and (by_kueue or not paused),
        ended=true_condition(workload, "Finished") is not None,
        going=is_being_deleted(workload),
        paused_in_git=paused,
    )


def held_workload(workload: Object, decision: Decision) -> dict[str, Any]:
    """The Workload as a decision leaves it."""
    after = decision.after
    if after is None:
        raise ValueError("a decision that writes nothing leaves no object")
    body = copy.deepcopy(annotated(workload, after.mark, decision.entry))
    body["spec"]["active"] = not after.stopped
    return body


class WorkloadStore:
    """The Workload of one owner. With `owner_kind` None, `named` is the Workload itself."""

    def __init__(
        self, client: Client, namespace: str, owner_kind: OwnerKind | None, named: str
    ) -> None:
        self._client = client
        self._namespace = namespace
        self._owner_kind = owner_kind
        self._named = named
        self._workload: Object | None = None
        self._owner: Object | None = None

    @property
    def target(self) -> str:
        """``Workload/name``, or before it was read the object that it belongs to."""
        if self._workload is not None:
            return f"Workload/{name(self._workload)}"
        kind = WORKLOADS.kind if self._owner_kind is None else self._owner_kind.resource.kind
        return f"{kind}/{self._named}"

    @property
    def subject(self) -> Subject | None:
        """What people know it by: the owner that was asked for, or else the Workload."""
        if self._owner_kind is None:
            return Subject(WORKLOADS, self._workload) if self._workload is not None else None
        return Subject(self._owner_kind.resource, self._owner) if self._owner is not None else None

    def read(self, deadline: Deadline) -> State:
        """The Workload and its owner. Raises Rejected where the owner has no Workload."""
        client = self._client.within(deadline)
        if self._owner_kind is None:
            self._workload = client.get(WORKLOADS, self._namespace, self._named)
            return workload_state(self._workload, self._owner_of(client, self._workload))
        self._owner = owner = client.get(self._owner_kind.resource, self._namespace, self._named)
        selector = f"{KUEUE_JOB_UID_LABEL}={uid(owner)}"
        found = client.list(WORKLOADS, self._namespace, selector=selector)
        # Anybody can write the label; and one on its way out gives way to another.
        own = [each for each in found if controller_uid(each) == uid(owner)]
        staying = [each for each in own if not is_being_deleted(each)]
        if not staying:
            raise Rejected(
                f"{self._owner_kind.resource.kind}/{self._named} has no Workload, and without one "
                "there is nothing that Kueue could hold: see `campaigns explain`"
            )
        self._workload = _the_latest(staying)
        return workload_state(self._workload, owner)

    def write(self, decision: Decision, deadline: Deadline) -> None:
        """Update the Workload that was read. Raises Conflict where it has changed."""
        if self._workload is None:
            raise ValueError("nothing was read")
        body = held_workload(self._workload, decision)
        self._client.within(deadline).replace(WORKLOADS, self._namespace, body)

    def _owner_of(self, client: Client, workload: Object) -> Object | None:
        for reference in workload["metadata"].get("ownerReferences") or ():
            kind = OWNERS.get(str(reference.get("kind")))
            if reference.get("controller") is True and kind is not None:
                try:
                    owner = client.get(kind.resource, self._namespace, str(reference["name"]))
                except NotFound:
                    return None
                return owner if uid(owner) == reference["uid"] else None
        return None


def _the_latest(workloads: Sequence[Object]) -> Object:
    return max(workloads, key=lambda each: str(each["metadata"].get("creationTimestamp", "")))
