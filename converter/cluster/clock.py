"""An API server's time, which judges Leases and ages: clocks of CI machines are off."""

from contextlib import suppress
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from time import monotonic

from converter.errors import ClusterUnavailable


class ServerClock:
    """The server's time, carried forward by this machine's monotonic clock."""

    def __init__(self) -> None:
        self._seen: tuple[datetime, float] | None = None

    def observe(self, header: str | None) -> None:
        """Note the Date header of an answer; what is no date is passed over."""
        if not header:
            return
        with suppress(ValueError):
            self._seen = (parsedate_to_datetime(header).astimezone(UTC), monotonic())

    def now(self) -> datetime:
        """The time now, in UTC. Raises ClusterUnavailable when no date has been observed."""
        if self._seen is None:
            raise ClusterUnavailable(
                "the API server's clock is not known: its answers have no Date header"
            )
        server, at = self._seen
        return server + timedelta(seconds=monotonic() - at)
