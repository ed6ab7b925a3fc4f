"""How every command that only looks begins."""

from converter.cluster.client import Client
from converter.model import Repo
from converter.observe.snapshot import Snapshot, read_snapshot
from converter.observe.status import Status, statuses
from converter.observe.wanted import wanted_of


def look(client: Client, repo: Repo) -> tuple[Snapshot, list[Status]]:
    """What is known at this moment, and one status a campaign, by name. `repo` has its name.

    Raises `ApiError` and `ClusterUnavailable` where Jobs, records or Workloads cannot be listed.
    """
    settings = repo.settings
    snapshot = read_snapshot(client, settings)
    places = snapshot.places.found
    return snapshot, statuses(
        wanted_of(repo), snapshot.live, settings.repository, places, snapshot.now
    )
