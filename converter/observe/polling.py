"""Statuses read anew each time they are asked for: for who may list and not watch."""

import time

from converter.capabilities import CAPABILITIES
from converter.cluster.client import Client
from converter.model import Repo
from converter.observe.status import Status, statuses
from converter.observe.waiting import API_SERVER, API_SERVERS_PACE
from converter.observe.wanted import wanted_of
from converter.reconcile.live import read_for_status


class Polling:
    """The campaigns of a repository and those that it left on the cluster."""

    server = API_SERVER
    pace = API_SERVERS_PACE

    def __init__(self, client: Client, repo: Repo) -> None:
        self._client = client
        self._settings = repo.settings
        self._wanted = wanted_of(repo)
        self.places_unread = (
            "without a watch the places in the queue are not read"
            if CAPABILITIES[repo.settings.backend].position
            else ""
        )

    def read(self) -> list[Status]:
        """Raises `ApiError` and `ClusterUnavailable`."""
        live = read_for_status(self._client, self._settings.namespace, self._settings.backend)
        return statuses(self._wanted, live, self._settings.repository, now=self._client.now())

    def wait(self, seconds: float) -> None:
        """There is something new only when somebody asks."""
        time.sleep(seconds)
