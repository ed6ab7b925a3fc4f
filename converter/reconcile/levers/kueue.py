"""Kueue: ``spec.active`` of the Job's Workload."""

from collections.abc import Mapping, Sequence

from converter.cluster.client import Client
from converter.cluster.objects import Object, label, name, uid, version
from converter.cluster.resources import WORKLOADS
from converter.model import Backend
from converter.names import FIELD_MANAGER, KUEUE_QUEUE_LABEL, WAS_INACTIVE_ANNOTATION
from converter.reconcile.outcome import Event
from converter.reconcile.pause import Decision, Move, decide, holds, queue_events
from converter.reconcile.plan import PauseWish
from converter.reconcile.units import read_units


class KueueLever:
    """The lever of the Kueue backend (`Lever`)."""

    def decide(
        self, wish: PauseWish, job: Object | None, found: Sequence[Object], *, reactivate: bool
    ) -> Decision:
        """See `converter.reconcile.pause`."""
        return decide(wish, job, found, reactivate=reactivate)

    def targets(self, job: Object | None, found: Sequence[Object]) -> Sequence[Object]:
        """The Workloads."""
        return found

    def named(self, job: Object, target: Object) -> str:
        """``Kind/name``."""
        return f"Workload/{name(target)}"

    def foreseen(self, wish: PauseWish, job: Object, target: Object, decision: Decision) -> str:
        """The change of ``spec.active``, or what happens beside that."""
        if decision.move is Move.RENEW:
            return f"is made anew, since Kueue had deactivated it ({decision.reason})"
        if decision.move is Move.NOTE_IN_HOLD:
            return f"stays inactive when {decision.reason} is released"
        if not wish.active:
            return "spec.active: true -> false"
        moved = _moved_to(job, target)
        was = target["spec"].get("queueName")
        moves = f", spec.queueName: {was} -> {moved}" if moved else ""
        return f"spec.active: false -> true{moves}"

    def write(
        self,
        client: Client,
        namespace: str,
        wish: PauseWish,
        job: Object,
        target: Object,
        decision: Decision,
    ) -> str:
        """Patch the Workload; one that Kueue has given up is deleted, and Kueue makes another."""
        if decision.move is Move.RENEW:
            client.delete(
                WORKLOADS, namespace, name(target), uid=uid(target), version=version(target)
            )
            return f"made anew, since Kueue had deactivated it ({decision.reason})"
        if decision.move is Move.NOTE_IN_HOLD:
            client.merge_patch(WORKLOADS, namespace, name(target), noted(target), FIELD_MANAGER)
            return f"stays inactive when {decision.reason} is released"
        patch, moved = _activation(wish, job, target)
        client.merge_patch(WORKLOADS, namespace, name(target), patch, FIELD_MANAGER)
        moved = f", moved to LocalQueue {moved}" if moved else ""
        return f"active={str(wish.active).lower()}{moved}"

    def remind(self, client: Client, namespace: str, job: Object) -> None:
        """Nothing: Kueue follows its Workloads."""

    def read_anew(
        self, client: Client, namespace: str, job: Object
    ) -> tuple[Object, Sequence[Object]]:
        """The Workloads: nothing that is decided by of the Job changes under an apply."""
        return job, read_units(client, namespace, Backend.KUEUE).get(uid(job), ())

    def holds(self, job: Object | None, found: Sequence[Object]) -> bool:
        """See `converter.reconcile.pause`."""
        return holds(job, found)

    def events(
        self, wishes: Sequence[PauseWish], before: Mapping[str, Object], after: Mapping[str, Object]
    ) -> list[Event]:
        """Of Jobs that were paused outside the queue, and of their way into it."""
        return queue_events(wishes, before, after)

    def no_unit(self, wait_seconds: float) -> str:
        """Without a Workload nothing is paused."""
        return (
            f"it has no Workload after {wait_seconds:g} s, so the pause is not enforced: see "
            "whether Kueue runs, then apply again"
        )

    def unenforced(self, job: Object | None, found: Sequence[Object], wait_seconds: float) -> str:
        """Kueue has to suspend the Job."""
        return (
            "its Workload is inactive, but Kueue has not suspended the Job after "
            f"{wait_seconds:g} s, so its pods may run on: see whether Kueue and its webhooks run, "
            "then apply again"
        )


def noted(held: Object) -> dict[str, object]:
    """The patch that has a hold's release leave an object inactive; bound to what was read."""
    annotations = {WAS_INACTIVE_ANNOTATION: "true"}
    return {"metadata": {"resourceVersion": version(held), "annotations": annotations}}


def _activation(wish: PauseWish, job: Object, workload: Object) -> tuple[dict[str, object], str]:
    """The patch, and the LocalQueue that it moves the Workload to; empty where it stays.

    A resume is bound to the Workload that was read, because a hold may have been put on it since.
    A pause is not: it holds for whatever runs.
    """
    spec: dict[str, object] = {"active": wish.active}
    if not wish.active:
        return {"spec": spec}, ""
    moved = _moved_to(job, workload)
    if moved:
        spec["queueName"] = moved
    return {"spec": spec, "metadata": {"resourceVersion": version(workload)}}, moved


def _moved_to(job: Object, workload: Object) -> str:
    """Kueue does not follow the Job's queue while inactive, and would go on with the old one."""
    queue = label(job, KUEUE_QUEUE_LABEL)
    return queue if queue and queue != workload["spec"].get("queueName", queue) else ""
