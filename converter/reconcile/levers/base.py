"""What pauses a campaign's Job: the object that it is done on, and what is written there."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from converter.cluster.client import Client
from converter.cluster.objects import Object
from converter.reconcile.outcome import Event
from converter.reconcile.pause import Decision
from converter.reconcile.plan import PauseWish
from converter.reconcile.units import Units


class Lever(Protocol):
    """The pauses and resumes of one backend. What reads and writes raises like `Client`.

    A Job's `found` are the objects that the queue made for it: Workloads, QueueUnits, or none.
    """

    def decide(
        self, wish: PauseWish, job: Object | None, found: Sequence[Object], *, reactivate: bool
    ) -> Decision:
        """Compare what git wants with what is there. Pure."""
        ...

    def targets(self, job: Object | None, found: Sequence[Object]) -> Sequence[Object]:
        """The objects that a decision names. Pure."""
        ...

    def named(self, job: Object, target: Object) -> str:
        """One of these objects as ``Kind/name``. Pure."""
        ...

    def foreseen(self, wish: PauseWish, job: Object, target: Object, decision: Decision) -> str:
        """What `write` would do, in words for a diff. Pure."""
        ...

    def write(
        self,
        client: Client,
        namespace: str,
        wish: PauseWish,
        job: Object,
        target: Object,
        decision: Decision,
    ) -> str:
        """Carry a decision out on one of its objects, and say what was done.

        Raises Conflict where it has changed in the meantime and the write was bound to that, and
        `CannotPause` where the cluster has no pauses.
        """
        ...

    def remind(self, client: Client, namespace: str, job: Object) -> None:
        """Have the queue look again at a Job whose pause an earlier apply wrote."""
        ...

    def read_anew(
        self, client: Client, namespace: str, job: Object
    ) -> tuple[Object, Sequence[Object]]:
        """A Job and what the queue made for it, as far as a decision about it hangs on them."""
        ...

    def holds(self, job: Object | None, found: Sequence[Object]) -> bool:
        """Whether a Job is paused and stays so. Pure."""
        ...

    def events(
        self, wishes: Sequence[PauseWish], before: Mapping[str, Object], after: Mapping[str, Object]
    ) -> list[Event]:
        """The pauses and resumes that the applied Jobs themselves were. Pure."""
        ...

    def no_unit(self, wait_seconds: float) -> str:
        """What is said of a paused Job for which nothing has come that could be paused."""
        ...

    def unenforced(self, job: Object | None, found: Sequence[Object], wait_seconds: float) -> str:
        """What is said of a pause that was written and is not carried out."""
        ...


__all__ = ["Lever", "Units"]
