"""Queue systems behind one small protocol; none of them imports another."""

from converter.model import Backend
from converter.queues.base import JobMetadata, QueueSystem
from converter.queues.koord_queue import KoordQueue
from converter.queues.kueue import Kueue
from converter.queues.plain import Plain

__all__ = ["AVAILABLE", "JobMetadata", "QueueSystem", "queue_for"]

_SYSTEMS: tuple[QueueSystem, ...] = (Kueue(), KoordQueue(), Plain())
AVAILABLE: dict[Backend, QueueSystem] = {each.backend: each for each in _SYSTEMS}


def queue_for(backend: Backend) -> QueueSystem:
    """The queue system of a backend. Raises KeyError for one that this release lacks."""
    return AVAILABLE[backend]
