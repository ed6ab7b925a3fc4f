"""Everything that is known of a repository's campaigns at one moment.

A LIST a kind, whatever the number of campaigns, all at once. What only a campaign that waits or
has pods is asked for is read only where there is such a one.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain

from converter.cluster.client import Client
from converter.cluster.objects import Object, is_active, true_condition
from converter.model import EMPTY, Backend, Settings
from converter.observe.places import Places, read_places
from converter.observe.refusal import Refusal
from converter.reconcile.live import Live, read_for_status
from converter.reconcile.queue_chain import QueueChain


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What was read. `now` is the API server's time.

    `live` has the Jobs of campaigns and warm-ups, the records and the Workloads. `chain` is None
    where it was not asked for. `pods` are the Pending and the failed, by their Job's name, and
    `events` those of Jobs, Workloads and pods by the name of what they are about; `refusals` says
    of campaigns that are not on the cluster why an apply would not put them there, and is None of
    one that nothing keeps from it. `unread` says what could not be read, and why: each reader of a
    part says what that keeps it from saying; `warmups_unread`, that warm-up Jobs are among that.
    """

    now: datetime
    live: Live
    places: Places
    chain: QueueChain | None = None
    pods: Mapping[str, tuple[Object, ...]] = field(default_factory=lambda: EMPTY)
    events: Mapping[str, tuple[Object, ...]] = field(default_factory=lambda: EMPTY)
    refusals: Mapping[str, Refusal | None] = field(default_factory=lambda: EMPTY)
    unread: tuple[str, ...] = ()
    warmups_unread: bool = False


def read_snapshot(client: Client, settings: Settings) -> Snapshot:
    """Jobs, records, Workloads, and the places of those that wait, where one does.

    Raises `ApiError` where one of the first three may not be listed.
    """
    live = read_for_status(client, settings.namespace, settings.backend)
    places = Places({})
    if settings.backend is Backend.KUEUE and any(
        map(_waits, chain.from_iterable(live.workloads.values()))
    ):
        places = read_places(client, settings.namespace, settings.queue)
    return Snapshot(client.now(), live, places)


def _waits(workload: Object) -> bool:
    return is_active(workload) and not true_condition(workload, "QuotaReserved", "Finished")
