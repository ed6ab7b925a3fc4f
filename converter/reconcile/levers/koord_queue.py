"""Koord-Queue: ``spec.active`` of the Job's QueueUnit, and the Job's annotation for it.

The order of the writes matters. Koord-Queue copies an explicit annotation into the field whenever
it looks at the Job, and looks at the Job of a running QueueUnit only when the Job changes. So a
pause writes the annotation first, and a resume takes it away before it sets the field; an
annotation of "true" would undo what Koord-Queue itself has stopped. That git paused it is noted
beside it, until the resume is through.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

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
from converter.errors import CannotPause, Conflict, Invalid
from converter.koord_queue.definition import read_spec_fields
from converter.koord_queue.unit import (
    NO_ACTIVE,
    execution_time,
    has_ended,
    is_admitted,
    is_being_preempted,
    is_spent,
    is_stuck,
    phase_of,
)
from converter.model import Backend
from converter.names import (
    BUDGET_SPENT_ANNOTATION,
    FIELD_MANAGER,
    KOORD_ACTIVE_ANNOTATION,
    NUDGED_ANNOTATION,
    PAUSED_ANNOTATION,
)
from converter.queues.koord_queue import INACTIVE, PAUSED
from converter.reconcile.held import hold_on
from converter.reconcile.outcome import Event, Fate
from converter.reconcile.pause import Decision, Move, kept
from converter.reconcile.plan import PauseWish
from converter.reconcile.units import read_units, the_same

# What nobody can read, and a pause of one that waits hangs on.
KEPT_BY_GATE: Final = "koord-queue keeps to that only with its feature gate QueueUnitActive"

# What a Job loses when git's resume is through.
RESUMED: Final = {
    KOORD_ACTIVE_ANNOTATION: None,
    PAUSED_ANNOTATION: None,
    BUDGET_SPENT_ANNOTATION: None,
}


class KoordQueueLever:
    """The lever of the Koord-Queue backend (`Lever`)."""

    def decide(
        self, wish: PauseWish, job: Object | None, found: Sequence[Object], *, reactivate: bool
    ) -> Decision:
        """Resume what git itself has paused, and nothing else.

        That is noted on the Job. Another inactive QueueUnit was stopped by its
        execution time or by somebody: started again, it would have its whole time again, at
        every apply. `reactivate` says nothing here. Under a hold the note alone goes, so that the
        release makes the QueueUnit active; as long as it is there, a release leaves it as it is.
        """
        if job is None or job_end(job) is not None or is_being_deleted(job):
            return Decision(Move.NOTHING)
        units = [unit for unit in found if not is_being_deleted(unit)]
        if any(map(has_ended, units)):
            return Decision(Move.NOTHING)
        if not wish.active:
            return _pause(job, units)
        mark = hold_on(job, units)
        if mark is not None:
            move = Move.REMEMBER if _is_paused_by_git(job) else Move.KEEP
            return Decision(move, reason=kept(mark, job, units, wish.campaign))
        return _resume(job, units, wish)

    def targets(self, job: Object | None, found: Sequence[Object]) -> Sequence[Object]:
        """The QueueUnit; without one, the Job, whose annotation is for the one that comes."""
        staying = tuple(unit for unit in found if not is_being_deleted(unit))
        return staying or (() if job is None else (job,))

    def named(self, job: Object, target: Object) -> str:
        """``Kind/name``."""
        kind = JOBS.kind if uid(target) == uid(job) else QUEUE_UNITS.kind
        return f"{kind}/{name(target)}"

    def foreseen(self, wish: PauseWish, job: Object, target: Object, decision: Decision) -> str:
        """The change of ``spec.active``, or of what is noted on the Job beside that."""
        if uid(target) == uid(job):
            is_said = f"{KOORD_ACTIVE_ANNOTATION}: {INACTIVE}"
            return f"without {is_said}" if wish.active else f"annotated with {is_said}"
        if is_active(target) is wish.active:
            return f"is {'active' if wish.active else 'inactive'} already, and stays so for git"
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
        if decision.move is Move.REMEMBER:
            spent = None if annotation(job, BUDGET_SPENT_ANNOTATION) else _written(client)
            by_git = _is_paused_by_git(job)
            noted_now = RESUMED if by_git else {BUDGET_SPENT_ANNOTATION: spent}
            _annotate(client, namespace, job, noted_now, version=version(job))
            return ""
        if wish.active:
            return _write_resume(client, namespace, job, target)
        off = {"spec": {"active": False}}
        if not _is_noted(job):
            # Without the field, the annotation would keep Koord-Queue from ever starting the Job.
            if uid(target) != uid(job):
                _set_active(client, namespace, target, off, active=False, dry_run=True)
            elif "active" not in read_spec_fields(client):
                raise CannotPause(NO_ACTIVE)
            _annotate(client, namespace, job, PAUSED)
        kept = f"; {KEPT_BY_GATE}" if is_suspended(job) else ""
        if uid(target) == uid(job):
            return f"annotated with {KOORD_ACTIVE_ANNOTATION}: {INACTIVE}{kept}"
        _set_active(client, namespace, target, off, active=False)
        self.remind(client, namespace, job)
        return f"active=false{kept}"

    def remind(self, client: Client, namespace: str, job: Object) -> None:
        """Koord-Queue looks at the Job of a running QueueUnit only when the Job changes.

        One that was not noted before its pause has just been annotated, which is a change.
        """
        if _is_noted(job) and not is_suspended(job):
            _annotate(client, namespace, job, {NUDGED_ANNOTATION: _written(client)})

    def read_anew(
        self, client: Client, namespace: str, job: Object
    ) -> tuple[Object, Sequence[Object]]:
        """Both: the annotation is the Job's, and the field the QueueUnit's."""
        units = read_units(client, namespace, Backend.KOORD_QUEUE).get(uid(job), ())
        return the_same(job, client.get(JOBS, namespace, name(job))), units

    def holds(self, job: Object | None, found: Sequence[Object]) -> bool:
        """Whether the field says it, the Job is suspended and its pods are gone.

        A suspended Job without that is none: it keeps its quota, and nobody starts it again. One
        that has been admitted is started next by controllers that do not look at the field.
        """
        if job is None or job_end(job) is not None or is_being_deleted(job):
            return True
        units = [unit for unit in found if not is_being_deleted(unit)]
        if not units or any(map(is_active, units)):
            return any(map(has_ended, units))
        ended = not (job.get("status") or {}).get("active")
        return is_suspended(job) and ended and not any(map(is_admitted, units))

    def events(
        self, wishes: Sequence[PauseWish], before: Mapping[str, Object], after: Mapping[str, Object]
    ) -> list[Event]:
        """Of Jobs that were created inactive; all else is a write of this lever."""
        return [
            Event(Fate.PAUSED, wish.job, f"created inactive; {KEPT_BY_GATE}", wish.campaign)
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
        if all(map(is_being_deleted, found)):
            return self.no_unit(wait_seconds)
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
    phases = ", ".join(sorted({phase_of(unit) for unit in found})) or "unknown"
    if job is not None and is_suspended(job):
        if any(map(is_admitted, found)):
            return (
                f"its QueueUnit is inactive and admitted all the same (phase {phases}), so its Job "
                "is about to start: only with the feature gate QueueUnitActive on in koord-queue "
                "and in koord-queue-controllers is it taken back, which it was not"
            )
        return "its QueueUnit is inactive and its Job suspended, and its pods have not ended"
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
    return Decision(Move.NOTHING)


def _resume(job: Object, units: Sequence[Object], wish: PauseWish) -> Decision:
    inactive = [unit for unit in units if not is_active(unit)]
    if _is_paused_by_git(job):
        if not units and not annotation(job, KOORD_ACTIVE_ANNOTATION):
            # The note stays: a QueueUnit that was made from the old annotation may come yet.
            return Decision(Move.NOTHING)
        if any(map(is_being_preempted, inactive)):
            return Decision(
                Move.KEEP,
                reason="stays inactive: Koord-Queue is preempting it; apply again when that is "
                "over",
            )
        return Decision(Move.PATCH, tuple(map(name, units)) or (name(job),))
    if not inactive:
        # Somebody has made it active again, so it has its whole time once more.
        outdated = units and annotation(job, BUDGET_SPENT_ANNOTATION)
        return Decision(Move.REMEMBER if outdated else Move.NOTHING)
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
    _annotate(client, namespace, job, {KOORD_ACTIVE_ANNOTATION: None})
    if uid(target) == uid(job):
        # One that was made in the meantime may be inactive, and would stay so for ever.
        if uid(job) in read_units(client, namespace, Backend.KOORD_QUEUE):
            made = "its QueueUnit was made in the meantime"
            raise Conflict("patch", f"{JOBS.kind}/{name(job)}", 409, "Conflict", made)
        return "its annotation was taken away"
    was_spent = is_spent(job, (target,))
    patch = {"metadata": {"resourceVersion": version(target)}, "spec": {"active": True}}
    is_counted = is_stuck(_set_active(client, namespace, target, patch, active=True), job)
    _annotate(client, namespace, job, RESUMED)
    fresh = ", with its whole execution time once more" if was_spent else ""
    stuck = (
        "; Koord-Queue still counts it as admitted and may never start it: see `campaigns explain`"
        if is_counted
        else ""
    )
    return f"active=true{fresh}{stuck}"


def _set_active(
    client: Client,
    namespace: str,
    unit: Object,
    patch: dict[str, Any],
    *,
    active: bool,
    dry_run: bool = False,
) -> Object:
    try:
        answer = client.merge_patch(
            QUEUE_UNITS, namespace, name(unit), patch, FIELD_MANAGER, dry_run=dry_run
        )
    except Invalid as error:
        if "spec.active" not in error.message:
            raise
        raise CannotPause(NO_ACTIVE) from error
    if is_active(answer) is not active:
        raise CannotPause(NO_ACTIVE)
    return answer


def _is_paused_by_git(job: Object) -> bool:
    return bool(annotation(job, PAUSED_ANNOTATION))


def _written(client: Client) -> str:
    return client.now().strftime("%Y-%m-%dT%H:%M:%SZ")


def _is_noted(job: Object) -> bool:
    return all(annotation(job, key) == value for key, value in PAUSED.items())


def _annotate(
    client: Client,
    namespace: str,
    job: Object,
    annotations: Mapping[str, str | None],
    version: str | None = None,
) -> None:
    """Of the same Job, and with `version` only as it was read. Raises Conflict otherwise."""
    metadata: dict[str, Any] = {"annotations": annotations, "uid": uid(job)}
    if version is not None:
        metadata["resourceVersion"] = version
    patch = {"metadata": metadata}
    client.merge_patch(JOBS, namespace, name(job), patch, FIELD_MANAGER)
