"""Where Workloads stand in the queue: what Kueue's visibility API says.

https://kueue.sigs.k8s.io/docs/tasks/manage/monitor_pending_workloads/pending_workloads_on_demand/
Kueue counts from 0, people from 1. The API serves no list of what has quota.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from converter.cluster.client import Client
from converter.cluster.objects import Object, name
from converter.cluster.resources import LOCAL_QUEUES_VISIBLE
from converter.errors import ApiError, ClusterUnavailable, Forbidden, NotFound

# As many as Kueue tells where nothing else is asked for.
PAGE: Final = 1000


@dataclass(frozen=True, slots=True)
class Place:
    """The place of one Workload, counted from 1: 1 is tried next.

    `line` are the Workloads of the same LocalQueue in order, one tuple for all that stand in it.
    """

    in_local_queue: int
    in_cluster_queue: int
    priority: int
    line: tuple[str, ...] = ()

    @property
    def ahead(self) -> tuple[str, ...]:
        """The Workloads of the same LocalQueue that stand before it."""
        return self.line[: self.in_local_queue - 1]

    @property
    def others(self) -> int:
        """How many of other LocalQueues are before it; who they are is not told."""
        return self.in_cluster_queue - self.in_local_queue


@dataclass(frozen=True, slots=True)
class Places:
    """By the Workload's name. `unread` says why they could not be read; empty where they were."""

    found: Mapping[str, Place]
    unread: str = ""


def read_places(client: Client, namespace: str, queue: str) -> Places:
    """Ask Kueue for the order of a LocalQueue. No answer of the API server is an error here."""
    try:
        items = tuple(_pending(client, namespace, queue))
    except Forbidden:
        return Places({}, "not permitted to read the places in the queue")
    except NotFound:
        return Places({}, f"Kueue's visibility API has no LocalQueue {queue}, or is not served")
    except (ApiError, ClusterUnavailable) as error:
        return Places({}, str(error))
    return Places(places_of(items))


def _pending(client: Client, namespace: str, queue: str) -> Iterator[Object]:
    """Page by page; what changes its place between two of them may come twice, or not at all."""
    offset, known = 0, set[str]()
    while True:
        answer = client.get(
            LOCAL_QUEUES_VISIBLE,
            namespace,
            queue,
            subresource="pendingworkloads",
            limit=str(PAGE),
            offset=str(offset),
        )
        page = answer.get("items") or ()
        fresh = [item for item in page if name(item) not in known]
        yield from fresh
        known.update(map(name, fresh))
        offset += len(page)
        # A server that takes no offset would begin again for ever.
        if len(page) < PAGE or not fresh:
            return


def places_of(items: Sequence[Object]) -> dict[str, Place]:
    """The places of what one LocalQueue has pending."""
    ordered = sorted(items, key=lambda item: int(item["positionInLocalQueue"]))
    line = tuple(name(item) for item in ordered)
    return {
        name(item): Place(
            in_local_queue=number + 1,
            in_cluster_queue=int(item["positionInClusterQueue"]) + 1,
            priority=int(item["priority"]),
            line=line,
        )
        for number, item in enumerate(ordered)
    }
