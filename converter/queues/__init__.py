"""Queue systems behind one small protocol; none of them imports another."""

from converter.model import Backend
from converter.queues.base import JobMetadata, QueueSystem
from converter.queues.kueue import Kueue

__all__ = ["AVAILABLE", "JobMetadata", "QueueSystem", "queue_for"]

AVAILABLE: dict[Backend, QueueSystem] = {Backend.KUEUE: Kueue()}


def queue_for(backend: Backend) -> QueueSystem:
    """The queue system of a backend. Raises KeyError for one that this release lacks."""
    return AVAILABLE[backend]
