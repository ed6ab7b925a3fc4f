"""Koord-Queue: ``spec.active`` of the Job's QueueUnit, and the Job's annotation for it.

The order of the writes matters. Koord-Queue copies an explicit annotation into the field whenever
it looks at the Job, and looks at the Job of a running QueueUnit only when the Job changes. So a
pause writes the annotation first, and a resume takes it away before it sets the field; an
annotation of "true" would undo what Koord-Queue itself has stopped. That git paused it is noted
beside it, until the resume is through.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from converter.cluster.client import Client
from converter.cluster.objects import (
    Object,
    annotation,
    is_active,
    is_being_deleted,
    is_suspended,
    job_end,
    name,
    uid,
    version,
)
from converter.cluster.resources import JOBS, QUEUE_UNITS
from converter.errors import CannotPause, Invalid
from converter.holds.words import named
from converter.koord_queue.unit import (
    NO_ACTIVE,
    execution_time,
    has_ended,
    is_being_preempted,
    is_spent,
    phase_of,
)
from converter.model import Backend
from converter.names import (
    BUDGET_SPENT_ANNOTATION,
    FIELD_MANAGER,
    KOORD_ACTIVE_ANNOTATION,
    PAUSED_ANNOTATION,
    SUSPEND_ANNOTATION,
)
from converter.queues.koord_queue import INACTIVE, PAUSED
from converter.reconcile.held import hold_on
from converter.reconcile.levers.kueue import noted
from converter.reconcile.outcome import Event, Fate
from converter.reconcile.pause import Decision, Move, kept
from converter.reconcile.plan import PauseWish
from converter.reconcile.units import read_units


class KoordQueueLever:
    """The lever of the Koord-Queue backend (`Lever`)."""

    def decide(
        self, wish: PauseWish, job: Object | None, found: Sequence[Object], *, reactivate: bool
    ) -> Decision:
        """Resume what git itself has paused, and nothing else.

        That is noted on the Job. Another inactive QueueUnit was stopped by its
        execution time or by somebody: started again, it would have its whole time again, at
        every apply. `reactivate` says nothing here.
        """
        if job is None or job_end(job) is not None or is_being_deleted(job):
            return Decision(Move.NOTHING)
        units = [unit for unit in found if not is_being_deleted(unit)]
        if any(map(has_ended, units)):
            return Decision(Move.NOTHING)
        mark = hold_on(job, units)
        if not wish.active:
            return _pause(job, units)
        if mark is not None:
            return Decision(Move.KEEP, reason=kept(mark, job, units, wish.campaign))
        return _resume(job, units, wish)

    def targets(self, job: Object | None, found: Sequence[Object]) -> Sequence[Object]:
        """The QueueUnit; without one, the Job, whose annotation is for the one that comes."""
        return found or (() if job is None else (job,))

    def named(self, job: Object, target: Object) -> str:
        """``Kind/name``."""
        kind = JOBS.kind if uid(target) == uid(job) else QUEUE_UNITS.kind
        return f"{kind}/{name(target)}"

    def foreseen(self, wish: PauseWish, job: Object, target: Object, decision: Decision) -> str:
        """The change of ``spec.active``."""
        if decision.move is Move.NOTE_IN_HOLD:
            return f"stays inactive when {decision.reason} is released"
        return f"spec.active: {str(not wish.active).lower()} -> {str(wish.active).lower()}"

    def write(
        self,
        client: Client,
        namespace: str,
        wish: PauseWish,
        job: Object,
        target: Object,
        decision: Decision,
    ) -> str:
        """Write the Job's annotation, then the field, and compare what came back.

        Raises CannotPause where the API server does not know the field, and would drop it.
        """
        if decision.move is Move.NOTE_IN_HOLD:
            client.merge_patch(QUEUE_UNITS, namespace, name(target), noted(target), FIELD_MANAGER)
            return f"stays inactive when {decision.reason} is released"
        if decision.move is Move.REMEMBER:
            _annotate(client, namespace, job, {BUDGET_SPENT_ANNOTATION: _written(client)})
            return ""
        if wish.active:
            return _write_resume(client, namespace, job, target)
        if not _is_noted(job):
            _annotate(client, namespace, job, PAUSED)
        if uid(target) == uid(job):
            return f"annotated with {KOORD_ACTIVE_ANNOTATION}: {INACTIVE}"
        _set_active(client, namespace, target, {"spec": {"active": False}}, active=False)
        return "active=false"

    def read_anew(
        self, client: Client, namespace: str, job: Object
    ) -> tuple[Object, Sequence[Object]]:
        """Both: the annotation is the Job's, and the field the QueueUnit's."""
        units = read_units(client, namespace, Backend.KOORD_QUEUE).get(uid(job), ())
        return client.get(JOBS, namespace, name(job)), units

    def holds(self, job: Object | None, found: Sequence[Object]) -> bool:
        """Whether the field says it, the Job is suspended and its pods are gone.

        A suspended Job without that is none: it keeps its quota, and nobody starts it again.
        """
        if job is None or job_end(job) is not None or is_being_deleted(job):
            return True
        units = [unit for unit in found if not is_being_deleted(unit)]
        if not units or any(map(is_active, units)):
            return any(map(has_ended, units))
        return is_suspended(job) and not (job.get("status") or {}).get("active")

    def events(
        self, wishes: Sequence[PauseWish], before: Mapping[str, Object], after: Mapping[str, Object]
    ) -> list[Event]:
        """Of Jobs that were created inactive; all else is a write of this lever."""
        return [
            Event(Fate.PAUSED, wish.job, "created inactive", wish.campaign)
            for wish in wishes
            if not wish.active and wish.job not in before and wish.job in after
        ]

    def no_unit(self, wait_seconds: float) -> str:
        """Without a QueueUnit there is no field to read back."""
        return (
            f"it has no QueueUnit after {wait_seconds:g} s, so whether the pause is enforced is "
            "not known: see whether Koord-Queue's controllers run, with their extension for "
            "batch/job, then apply again"
        )

    def unenforced(self, job: Object | None, found: Sequence[Object], wait_seconds: float) -> str:
        """Which part of Koord-Queue did not do its own, as far as that can be seen."""
        return f"{unenforced(job, found)} after {wait_seconds:g} s: apply again once that is mended"


def unenforced(job: Object | None, found: Sequence[Object]) -> str:
    """Why the pods of an inactive QueueUnit may run on. Feature gates cannot be read by the API."""
    if any(map(is_being_preempted, found)):
        return "it is being preempted, and Koord-Queue stops it when that is over; it has not yet,"
    if any(map(is_active, found)):
        return (
            "spec.active of its QueueUnit was set to true again by somebody else, so it is not "
            "paused"
        )
    if job is not None and is_suspended(job):
        return "its QueueUnit is inactive and its Job suspended, and its pods have not ended"
    phases = ", ".join(sorted({phase_of(unit) for unit in found})) or "unknown"
    return (
        f"its QueueUnit is inactive, and Koord-Queue has not stopped the Job (phase {phases}): it "
        "does so only with the feature gate QueueUnitActive on in koord-queue-controllers, and "
        "keeps from starting only what koord-queue has the gate for; its pods run on"
    )


def _pause(job: Object, units: Sequence[Object]) -> Decision:
    annotated = _is_noted(job)
    if not units:
        return Decision(Move.WAIT) if annotated else Decision(Move.PATCH, (name(job),))
    active = [name(unit) for unit in units if is_active(unit)]
    if active or not annotated:
        return Decision(Move.PATCH, tuple(active) or tuple(map(name, units)))
    mark = hold_on(job, units)
    if mark is not None and not mark.was_inactive and annotation(job, SUSPEND_ANNOTATION) != "true":
        return Decision(Move.NOTE_IN_HOLD, tuple(map(name, units)), named(mark))
    return Decision(Move.NOTHING)


def _resume(job: Object, units: Sequence[Object], wish: PauseWish) -> Decision:
    by_git = bool(annotation(job, PAUSED_ANNOTATION))
    inactive = [unit for unit in units if not is_active(unit)]
    if by_git:
        if any(map(is_being_preempted, inactive)):
            return Decision(
                Move.KEEP,
                reason="stays inactive: Koord-Queue is preempting it; apply again when that is "
                "over",
            )
        return Decision(Move.PATCH, tuple(map(name, units)) or (name(job),))
    if not inactive:
        return Decision(Move.NOTHING)
    again = (
        f"to have it run again, write suspend: true in campaigns/{wish.campaign}.yaml and apply, "
        "then take it out and apply"
    )
    if is_spent(job, inactive):
        spent = execution_time(job, inactive).limit
        noted_already = bool(annotation(job, BUDGET_SPENT_ANNOTATION))
        return Decision(
            Move.KEEP if noted_already else Move.REMEMBER,
            reason=f"stays inactive: its execution time of {spent} s is over; {again}, which gives "
            "it the whole time once more",
        )
    return Decision(
        Move.KEEP,
        reason="stays inactive: somebody set spec.active of its QueueUnit to false, or its "
        f"execution time is over; {again}",
    )


def _write_resume(client: Client, namespace: str, job: Object, target: Object) -> str:
    """Koord-Queue's annotation goes first; that git paused it is forgotten when all is done."""
    is_unit = uid(target) != uid(job)
    was_spent = is_unit and is_spent(job, (target,))
    _annotate(client, namespace, job, {KOORD_ACTIVE_ANNOTATION: None})
    if is_unit:
        patch = {"metadata": {"resourceVersion": version(target)}, "spec": {"active": True}}
        _set_active(client, namespace, target, patch, active=True)
    _annotate(client, namespace, job, {PAUSED_ANNOTATION: None, BUDGET_SPENT_ANNOTATION: None})
    if not is_unit:
        return "its annotation was taken away"
    fresh = ", with its whole execution time once more" if was_spent else ""
    return f"active=true{fresh}"


def _set_active(
    client: Client, namespace: str, unit: Object, patch: dict[str, Any], *, active: bool
) -> None:
    try:
        answer = client.merge_patch(QUEUE_UNITS, namespace, name(unit), patch, FIELD_MANAGER)
    except Invalid as error:
        if "spec.active" not in error.message:
            raise
        raise CannotPause(NO_ACTIVE) from error
    if is_active(answer) is not active:
        raise CannotPause(NO_ACTIVE)


def _written(client: Client) -> str:
    return client.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def _is_noted(job: Object) -> bool:
    return all(annotation(job, key) == value for key, value in PAUSED.items())


def _annotate(
    client: Client, namespace: str, job: Object, annotations: Mapping[str, str | None]
) -> None:
    patch = {"metadata": {"annotations": annotations, "uid": uid(job)}}
    client.merge_patch(JOBS, namespace, name(job), patch, FIELD_MANAGER)
