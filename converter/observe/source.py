"""Where statuses come from: watches where they are permitted, else asking again and again."""

from collections.abc import Callable, Sequence
from typing import Protocol

from converter.cluster.client import Client
from converter.errors import ApiError, ClusterUnavailable, Forbidden
from converter.model import Repo
from converter.observe.polling import Polling
from converter.observe.status import Status
from converter.observe.waiting import Pace
from converter.observe.watching import Watching


class Source(Protocol):
    """The campaigns of a repository and those that it left on the cluster, as they change.

    `places_unread` says why the last statuses have no places in the queue; empty where they do.
    `server` is who is asked, and `pace` how often.
    """

    places_unread: str
    server: str
    pace: Pace

    def read(self) -> Sequence[Status]:
        """The statuses after the next change. Raises `ApiError` and `ClusterUnavailable`."""
        ...

    def wait(self, seconds: float) -> None:
        """Come back when there may be something new, after so many seconds at the latest."""
        ...


def source_of(client: Client, repo: Repo, note: Callable[[str], object], *, places: bool) -> Source:
    """Watches, if they can be set up now. What keeps them from it is told by the first read of the
    other source, where it keeps from that too. Without `places` no place in the queue is asked for.
    """
    watching = Watching(client, repo, places=places)
    try:
        watching.start()
    except (ApiError, ClusterUnavailable) as error:
        if isinstance(error, Forbidden) and error.verb == "watch":
            note(f"{error}; asking every few seconds instead")
        return Polling(client, repo)
    return watching
