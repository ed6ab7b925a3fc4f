"""The time a call has, by a clock that nobody sets."""

import math
import time
from collections.abc import Callable
from dataclasses import dataclass

from converter.holds.errors import DeadlinePassed, InvalidCall

# What an API server takes at most from its own timeout to the commit of what it was at.
MARGIN_SECONDS = 5.0


@dataclass(frozen=True, slots=True)
class Deadline:
    """A moment of a monotonic clock, in seconds; made where the call comes in."""

    at: float
    clock: Callable[[], float] = time.monotonic

    @property
    def rest(self) -> float:
        """Seconds that are left; not negative."""
        return max(0.0, self.at - self.clock())

    def check(self, what: str) -> None:
        """Raise DeadlinePassed where there is no time to send `what`."""
        if self.rest <= 0:
            raise DeadlinePassed(f"the deadline passed before the request to {what} was sent")


def deadline_in(seconds: float | None, clock: Callable[[], float] = time.monotonic) -> Deadline:
    """The deadline so many seconds from now.

    Raises InvalidCall where there is none, and DeadlinePassed where it has passed already.
    """
    if seconds is None or math.isnan(seconds) or math.isinf(seconds):
        raise InvalidCall("a hold or a release needs a deadline, such as 30s")
    deadline = Deadline(clock() + seconds, clock)
    deadline.check("read the object")
    return deadline


def call_bound(apiserver_request_timeout: float) -> float:
    """Seconds after its deadline in which a request of a call may still come into force.

    A request on the wire commits until the API server's own timeout (``--request-timeout``), which
    `apiserver_request_timeout` of converter.yaml repeats. A caller places a newer instance when
    every earlier call has ended, or when its deadline and this bound have passed.
    """
    return apiserver_request_timeout + MARGIN_SECONDS
