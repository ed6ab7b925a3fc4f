"""Statuses that follow the cluster by watch: told of each change, whatever else happens.

A thread a kind lists once and watches from there. Where the API server goes away, a watch goes on
from the last change that was heard of; what it has forgotten by then (410) is listed anew.
"""

import queue
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from converter.cluster.client import Client
from converter.cluster.objects import Object
from converter.cluster.resources import CONFIGMAPS, JOBS, Resource
from converter.errors import ApiError, ClusterUnavailable, Forbidden
from converter.manifest import Role
from converter.model import Backend, Repo
from converter.names import ROLE_LABEL
from converter.observe.mirror import Mirror
from converter.observe.phase import Phase
from converter.observe.places import read_places
from converter.observe.status import Status
from converter.observe.waiting import API_SERVER, API_SERVERS_PACE
from converter.observe.wanted import wanted_of
from converter.reconcile.units import listed_units

WATCHED: Final = (
    (JOBS, f"{ROLE_LABEL}={Role.CAMPAIGN.value}"),
    (CONFIGMAPS, f"{ROLE_LABEL}={Role.STATUS.value}"),
)
SHORTEST_PAUSE_SECONDS: Final = 0.5
LONGEST_PAUSE_SECONDS: Final = 4.0
SHORTEST_WATCH_SECONDS: Final = 1.0
GRACE_SECONDS: Final = 30.0
# The places in the queue cannot be watched.
PLACES_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class _Change:
    resource: Resource
    found: Object
    gone: bool


@dataclass(frozen=True, slots=True)
class _Listed:
    resource: Resource
    objects: tuple[Object, ...]


_News = _Change | _Listed | None
_Events = Iterator[dict[str, Any]]


class Watching:
    """Statuses as they change. Use it from one thread, and `start` it first."""

    server = API_SERVER
    pace = API_SERVERS_PACE

    def __init__(self, client: Client, repo: Repo, *, places: bool) -> None:
        settings = repo.settings
        self._client = client
        self._namespace = settings.namespace
        self._queue = settings.queue
        self._backend = settings.backend
        self._asks_places = places and settings.backend is Backend.KUEUE
        self._mirror = Mirror(
            wanted_of(repo), settings.repository, settings.backend, now=client.now
        )
        # What is None only wakes up who waits.
        self._news: queue.SimpleQueue[_News] = queue.SimpleQueue()
        self._next: _News = None
        self._troubled = False
        self._unanswered_at = float("-inf")
        self._troubles: dict[str, ApiError | ClusterUnavailable] = {}
        self._places_at = float("-inf")
        self.places_unread = ""

    def start(self) -> None:
        """Read everything once, and watch from there. Raises `ApiError` and `ClusterUnavailable`.

        It is an `ApiError` too where watching is not permitted.
        """
        threads = []
        units = listed_units(self._backend)
        for resource, selector in (*WATCHED, *([units] if units else [])):
            listing = self._client.listing(resource, self._namespace, selector=selector)
            self._mirror.listed(resource, listing.items)
            events = self._watch(resource, selector, listing.version)
            arguments = (resource, selector, listing.version, events)
            threads.append(threading.Thread(target=self._follow, args=arguments, daemon=True))
        for thread in threads:
            thread.start()

    def read(self) -> Sequence[Status]:
        """The statuses after the next change, or as they are where there was none.

        Raises what keeps the watches from going on, once all changes before have been told. They
        go on as soon as they can.
        """
        if self._next is None:
            self.wait(0)
        news, self._next = self._next, None
        if isinstance(news, _Change):
            self._mirror.changed(news.resource, news.found, gone=news.gone)
        elif isinstance(news, _Listed):
            self._mirror.listed(news.resource, news.objects)
        elif troubles := tuple(self._troubles.values()):
            self._troubled = True
            raise troubles[0]
        self._troubled = False
        return self._placed(self._mirror.statuses())

    def wait(self, seconds: float) -> None:
        """Come back when there is news, after so many seconds at the latest."""
        until = time.monotonic() + min(seconds, PLACES_SECONDS)
        while self._next is None:
            try:
                self._next = self._news.get(timeout=max(0.0, until - time.monotonic()))
            except queue.Empty:
                return
            # That a second watch has come upon the trouble of the first is no news.
            if self._next is None and not (self._troubled and self._troubles):
                return

    def _placed(self, found: Sequence[Status]) -> Sequence[Status]:
        if not self._asks_places:
            return found
        waits = any(status.phase is Phase.WAITING for status in found)
        if not waits or time.monotonic() < self._places_at + PLACES_SECONDS:
            return found
        places = read_places(self._client, self._namespace, self._queue)
        self._places_at = time.monotonic()
        self.places_unread = places.unread
        self._mirror.place(places.found)
        return self._mirror.statuses()

    def _follow(self, resource: Resource, selector: str, version: str, events: _Events) -> None:
        """What a thread does for as long as the program runs."""
        pause = SHORTEST_PAUSE_SECONDS
        while True:
            try:
                began = time.monotonic()
                for event in events:
                    version = str(event["object"]["metadata"]["resourceVersion"])
                    if event["type"] != "BOOKMARK":
                        gone = event["type"] == "DELETED"
                        self._news.put(_Change(resource, event["object"], gone))
                if time.monotonic() < began + SHORTEST_WATCH_SECONDS:
                    # A proxy that takes no long answers must not be asked in a loop.
                    time.sleep(SHORTEST_WATCH_SECONDS)
                if not version:
                    listing = self._client.listing(resource, self._namespace, selector=selector)
                    version = listing.version
                    self._news.put(_Listed(resource, listing.items))
                events = self._watch(resource, selector, version)
                self._went(resource, None)
                pause = SHORTEST_PAUSE_SECONDS
            except (ApiError, ClusterUnavailable) as error:
                events = iter(())
                if isinstance(error, ApiError) and error.status == 410:
                    version = ""
                    continue
                self._went(resource, error)
                time.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_SECONDS)

    def _watch(self, resource: Resource, selector: str, version: str) -> _Events:
        return self._client.watch(resource, self._namespace, version, selector=selector)

    def _has_just_started(self) -> bool:
        """An API server then knows no roles yet, and refuses what it is going to allow."""
        return time.monotonic() < self._unanswered_at + GRACE_SECONDS

    def _went(self, resource: Resource, error: ApiError | ClusterUnavailable | None) -> None:
        """Who waits is woken up when trouble begins and when it ends, not each time in between."""
        known = self._troubles.get(resource.plural)
        if isinstance(error, ClusterUnavailable):
            self._unanswered_at = time.monotonic()
        elif isinstance(error, Forbidden) and self._has_just_started():
            return
        if error is None:
            self._troubles.pop(resource.plural, None)
        else:
            self._troubles[resource.plural] = error
        if (known is None) is not (error is None):
            self._news.put(None)
