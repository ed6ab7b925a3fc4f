"""Where one Job is, read as each backend has it."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from converter.cluster.objects import Object
from converter.model import Backend
from converter.observe.job_phase import JobPhase, job_phase
from converter.observe.koord_phase import koord_phase
from converter.observe.plain_phase import plain_phase

# Of a Job that has not ended, what the queue made for it, its pods (those that end included), and
# the API server's time where that is known.
ReadPhase = Callable[[Object, Sequence[Object], int, datetime | None], JobPhase]


def _kueue(job: Object, found: Sequence[Object], pods: int, now: datetime | None) -> JobPhase:
    return job_phase(job, found, pods)


def _plain(job: Object, found: Sequence[Object], pods: int, now: datetime | None) -> JobPhase:
    return plain_phase(job, pods)


PHASES: Final[Mapping[Backend, ReadPhase]] = {
    Backend.KUEUE: _kueue,
    Backend.KOORD_QUEUE: koord_phase,
    Backend.NONE: _plain,
}
