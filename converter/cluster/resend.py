"""When a request to an API server is sent again, and what is asked before."""

from collections.abc import Callable
from typing import Any, Self

from urllib3.response import BaseHTTPResponse
from urllib3.util import Retry

ATTEMPTS_AFTER_FIRST = 4
RETRY_STATUS = (429, 500, 502, 503, 504)
LONGEST_WAIT_SECONDS = 30.0


class GuardedRetry(Retry):
    """Retries that ask `check` again before each one: a Lease can be lost in between.

    A server's Retry-After is kept to, up to 30 s.
    """

    check: Callable[[], None] | None = None

    def new(self, **changes: Any) -> Self:
        """The retries that are left after one."""
        following = super().new(**changes)
        following.check = self.check
        return following

    def is_retry(self, method: str, status_code: int, has_retry_after: bool = False) -> bool:
        """Also a 403 after a try without an answer.

        An API server that has just started knows no roles yet, and refuses what it will allow.
        """
        unanswered = any(past.error is not None for past in self.history)
        again = super().is_retry(method, status_code, has_retry_after)
        return again or (status_code == 403 and unanswered)

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """The server's Retry-After in seconds, cut."""
        asked = super().get_retry_after(response)
        return None if asked is None else min(asked, LONGEST_WAIT_SECONDS)

    def sleep(self, response: BaseHTTPResponse | None = None) -> None:
        """Wait before the next try, and ask `check`, which raises where there must be none."""
        super().sleep(response)
        if self.check is not None:
            self.check()


def retries(check: Callable[[], None] | None) -> Retry:
    """Retries of any request, since each may be sent twice.

    Server-side apply, merge patches and deletes with a uid are idempotent; creates and replaces
    fail on the second try with a conflict.
    """
    made = GuardedRetry(
        total=ATTEMPTS_AFTER_FIRST,
        backoff_factor=0.5,
        backoff_max=8,
        status_forcelist=RETRY_STATUS,
        allowed_methods=None,
        raise_on_status=False,
    )
    made.check = check
    return made
