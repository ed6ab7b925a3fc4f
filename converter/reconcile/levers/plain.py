"""No queue: ``spec.suspend`` of the Job itself, which apply opens, suspends and resumes."""

from collections.abc import Mapping, Sequence

from converter.cluster.client import Client
from converter.cluster.objects import (
    Object,
    annotation,
    is_being_deleted,
    is_suspended,
    job_end,
    name,
    uid,
    version,
)
from converter.cluster.resources import JOBS
from converter.holds.annotate import annotations
from converter.holds.mark import mark_of
from converter.holds.plain import starts_of
from converter.holds.words import named
from converter.names import (
    FIELD_MANAGER,
    OPENED_ANNOTATION,
    STARTS_ANNOTATION,
    SUSPEND_ANNOTATION,
)
from converter.reconcile.levers.kueue import noted
from converter.reconcile.outcome import Event, Fate
from converter.reconcile.pause import Decision, Move, kept
from converter.reconcile.plan import PauseWish
from converter.reconcile.units import the_same


class PlainLever:
    """The lever of the backend `none` (`Lever`)."""

    def decide(
        self, wish: PauseWish, job: Object | None, found: Sequence[Object], *, reactivate: bool
    ) -> Decision:
        """A Job is as git wants it, unless it is held: then it stays stopped, and is not opened.

        Where git's pause could not be sent, as for a campaign that is held back, it is noted in a
        hold, whose release would else start the Job.
        """
        if job is None or job_end(job) is not None or is_being_deleted(job):
            return Decision(Move.NOTHING)
        mark = mark_of(annotations(job))
        if wish.active and mark is not None:
            return Decision(Move.KEEP, reason=kept(mark, job, (), wish.campaign))
        if is_suspended(job) is wish.active:
            return Decision(Move.PATCH, (name(job),))
        unnoted = mark is not None and not mark.was_inactive
        if mark is not None and unnoted and annotation(job, SUSPEND_ANNOTATION) != "true":
            return Decision(Move.NOTE_IN_HOLD, (name(job),), named(mark))
        return Decision(Move.NOTHING)

    def targets(self, job: Object | None, found: Sequence[Object]) -> Sequence[Object]:
        """The Job itself."""
        return () if job is None else (job,)

    def named(self, job: Object, target: Object) -> str:
        """``Kind/name``."""
        return f"Job/{name(target)}"

    def foreseen(self, wish: PauseWish, job: Object, target: Object, decision: Decision) -> str:
        """The change of ``spec.suspend``."""
        if decision.move is Move.NOTE_IN_HOLD:
            return f"stays suspended when {decision.reason} is released"
        return f"spec.suspend: {str(wish.active).lower()} -> {str(not wish.active).lower()}"

    def write(
        self,
        client: Client,
        namespace: str,
        wish: PauseWish,
        job: Object,
        target: Object,
        decision: Decision,
    ) -> str:
        """Suspend the Job whatever it is; start it only as it was read, since it may be held now.

        Pods of an earlier start may still be ending: the Job's controller replaces none before it
        has ended (``podReplacementPolicy: Failed``, which goes with a podFailurePolicy).
        """
        if decision.move is Move.NOTE_IN_HOLD:
            client.merge_patch(JOBS, namespace, name(target), noted(target), FIELD_MANAGER)
            return f"stays suspended when {decision.reason} is released"
        if not wish.active:
            stopped = {"metadata": {"uid": uid(target)}, "spec": {"suspend": True}}
            client.merge_patch(JOBS, namespace, name(target), stopped, FIELD_MANAGER)
            return "suspended"
        starts = starts_of(target) + 1
        opened = {OPENED_ANNOTATION: "true", STARTS_ANNOTATION: str(starts)}
        metadata = {"resourceVersion": version(target), "annotations": opened}
        patch = {"metadata": metadata, "spec": {"suspend": False}}
        client.merge_patch(JOBS, namespace, name(target), patch, FIELD_MANAGER)
        return "started" if starts == 1 else f"started again (start {starts})"

    def remind(self, client: Client, namespace: str, job: Object) -> None:
        """Nothing: there is no queue."""

    def read_anew(
        self, client: Client, namespace: str, job: Object
    ) -> tuple[Object, Sequence[Object]]:
        """The Job."""
        return the_same(job, client.get(JOBS, namespace, name(job))), ()

    def holds(self, job: Object | None, found: Sequence[Object]) -> bool:
        """A suspended Job has no pods but those that end."""
        return job is None or job_end(job) is not None or is_being_deleted(job) or is_suspended(job)

    def events(
        self, wishes: Sequence[PauseWish], before: Mapping[str, Object], after: Mapping[str, Object]
    ) -> list[Event]:
        """Of Jobs that were created paused; all else is a write of this lever."""
        return [
            Event(Fate.PAUSED, wish.job, "created suspended, at its start gate", wish.campaign)
            for wish in wishes
            if not wish.active and wish.job not in before and wish.job in after
        ]

    def no_unit(self, wait_seconds: float) -> str:
        """Never said: there is nothing to wait for."""
        return f"it could not be suspended in {wait_seconds:g} s: apply again"

    def unenforced(self, job: Object | None, found: Sequence[Object], wait_seconds: float) -> str:
        """Somebody has started it again."""
        return (
            f"somebody started it again while it was paused, for {wait_seconds:g} s: see which "
            "controller writes spec.suspend of the Job, then apply again"
        )
