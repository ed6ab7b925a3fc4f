"""When a campaign will have ended, by the rate at which its volumes came to an end so far.

Volumes end one after another at a rate that is taken as constant, so that their number in a time is
a Poisson count: of n that ended the rate is known to about 1/sqrt(n), and when the m that are left
have ended to about sqrt(1/n + 1/m). A campaign that changes its window or node type goes on at
another rate, which shows only in the long run.
"""

from dataclasses import dataclass
from math import exp, sqrt
from typing import Final

# With fewer the answer would be anything from half to never.
FEWEST: Final = 3


@dataclass(frozen=True, slots=True)
class Eta:
    """How long it will still take, in seconds, and the bounds for about two cases of three."""

    seconds: int
    low: int
    high: int


def eta_of(ended: int, left: int, running_seconds: float) -> Eta | None:
    """The time for the volumes that are left. `ended` are done and failed, in `running_seconds`.

    None where too few have ended to tell, or none is left.
    """
    if ended < FEWEST or left <= 0 or running_seconds <= 0:
        return None
    seconds = running_seconds * left / ended
    # Of a ratio: as many times more as less.
    factor = exp(sqrt(1 / ended + 1 / left))
    return Eta(round(seconds), round(seconds / factor), round(seconds * factor))
