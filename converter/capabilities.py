"""What each backend can do, for whoever must not import the queue systems themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from converter.model import Backend


@dataclass(frozen=True, slots=True)
class Capabilities:
    """What a backend can do; files that ask for more are refused.

    `kubernetes`: a campaign is a Job of a Kubernetes cluster, with its Secrets, claims and
    warm-ups; the commands that ask a cluster need it. `queue`: campaigns wait in a queue that has
    to be named. `partial_admission`: it starts with fewer pods than asked for (``min_window``).
    `flavors`: it knows kinds of nodes and their quota, so that apply can foresee what never fits.
    `position`: it tells the place in the queue. `execution_time`: it stops what has run for too
    long (``max_execution_seconds``). `reactivates`: apply can let what the queue has stopped run
    again (``reactivate``). `evicts`: a pause ends what runs; else it runs to its end, and nothing
    else starts. `live_window`: the window of what runs can be changed.
    """

    kubernetes: bool = True
    queue: bool = False
    partial_admission: bool = False
    flavors: bool = False
    position: bool = False
    execution_time: bool = False
    reactivates: bool = False
    evicts: bool = True
    live_window: bool = False


# Those that this release has.
CAPABILITIES: Final[Mapping[Backend, Capabilities]] = {
    Backend.KUEUE: Capabilities(
        queue=True,
        partial_admission=True,
        flavors=True,
        position=True,
        execution_time=True,
        reactivates=True,
    ),
    Backend.KOORD_QUEUE: Capabilities(queue=True, execution_time=True),
    Backend.NONE: Capabilities(),
    Backend.SLURM: Capabilities(kubernetes=False, evicts=False, live_window=True),
}
