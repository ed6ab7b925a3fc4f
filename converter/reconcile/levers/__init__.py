"""How campaigns are paused and resumed on the cluster: one module a backend, of one protocol."""

from converter.model import Backend
from converter.reconcile.levers.base import Lever
from converter.reconcile.levers.koord_queue import KoordQueueLever
from converter.reconcile.levers.kueue import KueueLever
from converter.reconcile.levers.plain import PlainLever

__all__ = ["Lever", "lever_for"]

_LEVERS: dict[Backend, Lever] = {
    Backend.KUEUE: KueueLever(),
    Backend.KOORD_QUEUE: KoordQueueLever(),
    Backend.NONE: PlainLever(),
}


def lever_for(backend: Backend) -> Lever:
    """The lever of a backend. Raises KeyError for one that this release lacks."""
    return _LEVERS[backend]
