"""Holds on the QueueUnit that Koord-Queue made for a Job: one update, as of a Workload.

The Job is touched afterwards, with an annotation that nobody reads: Koord-Queue looks at the Job of
a running QueueUnit only when the Job changes, and would go on running what is held.
"""

import copy
from datetime import UTC, datetime
from typing import Any

from converter.cluster.client import Client
from converter.cluster.objects import (
    Object,
    annotation,
    is_active,
    is_being_deleted,
    name,
    uid,
)
from converter.cluster.resources import JOBS, QUEUE_UNITS
from converter.errors import ApiError, ClusterUnavailable, Invalid, NotFound
from converter.holds.annotate import annotated, annotations
from converter.holds.deadline import Deadline
from converter.holds.errors import Rejected, Unsupported
from converter.holds.kinds import Subject
from converter.holds.mark import mark_of
from converter.holds.rules import Decision, State
from converter.koord_queue.unit import NO_ACTIVE, has_ended, owner_uid
from converter.names import (
    FIELD_MANAGER,
    NUDGED_ANNOTATION,
    PAUSED_ANNOTATION,
    SUSPEND_ANNOTATION,
)


def queue_unit_state(unit: Object, job: Object) -> State:
    """What a QueueUnit says; `job` is the Job that it was made for."""
    mark = mark_of(annotations(unit))
    inactive = not is_active(unit)
    by_git = bool(annotation(job, PAUSED_ANNOTATION))
    return State(
        mark=mark,
        stopped=inactive,
        stopped_by_other=inactive and mark is None and not by_git,
        ended=has_ended(unit),
        going=is_being_deleted(unit),
        paused_in_git=by_git or annotation(job, SUSPEND_ANNOTATION) == "true",
    )


def held_queue_unit(unit: Object, decision: Decision) -> dict[str, Any]:
    """The QueueUnit as a decision leaves it."""
    after = decision.after
    if after is None:
        raise ValueError("a decision that writes nothing leaves no object")
    body = copy.deepcopy(annotated(unit, after.mark, decision.entry))
    body["spec"] = {**(body.get("spec") or {}), "active": not after.stopped}
    return body


class QueueUnitStore:
    """The QueueUnit of one Job, which has the Job's name."""

    def __init__(self, client: Client, namespace: str, named: str) -> None:
        self._client = client
        self._namespace = namespace
        self._named = named
        self._unit: Object | None = None
        self._job: Object | None = None

    @property
    def target(self) -> str:
        """``QueueUnit/name``."""
        return f"{QUEUE_UNITS.kind}/{self._named}"

    @property
    def subject(self) -> Subject | None:
        """The Job."""
        return Subject(JOBS, self._job) if self._job is not None else None

    def read(self, deadline: Deadline) -> State:
        """The QueueUnit and its Job. Raises Rejected where the Job has none."""
        client = self._client.within(deadline)
        self._job = job = client.get(JOBS, self._namespace, self._named)
        try:
            unit = client.get(QUEUE_UNITS, self._namespace, self._named)
        except NotFound:
            unit = None
        # That of an earlier Job of the name stays until it is collected.
        if unit is None or owner_uid(unit) != uid(job):
            raise Rejected(
                f"Job/{self._named} has no QueueUnit, and without one there is nothing that "
                "Koord-Queue could hold: see `campaigns explain`"
            )
        self._unit = unit
        return queue_unit_state(unit, job)

    def write(self, decision: Decision, deadline: Deadline) -> None:
        """Update the QueueUnit that was read. Raises Conflict where it has changed.

        Raises Unsupported where the API server does not know ``spec.active`` and would drop it.
        """
        if self._unit is None or self._job is None:
            raise ValueError("nothing was read")
        body = held_queue_unit(self._unit, decision)
        client = self._client.within(deadline)
        try:
            answer = client.replace(QUEUE_UNITS, self._namespace, body)
        except Invalid as error:
            if "spec.active" not in error.message:
                raise
            raise Unsupported(NO_ACTIVE) from error
        if is_active(answer) is not body["spec"]["active"]:
            raise Unsupported(NO_ACTIVE)
        self._nudge(client)

    def _nudge(self, client: Client) -> None:
        """Whoever may not do it has placed the hold all the same: a list of holds says whether it
        is enforced.
        """
        if self._job is None:
            return
        now = {NUDGED_ANNOTATION: f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"}
        patch = {"metadata": {"annotations": now, "uid": uid(self._job)}}
        try:
            client.merge_patch(JOBS, self._namespace, name(self._job), patch, FIELD_MANAGER)
        except (ApiError, ClusterUnavailable):
            return
