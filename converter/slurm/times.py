"""A hold's instance as a start time that never comes, and back.

Epochs are seconds since 1970 in UTC; nothing here asks for the zone of this machine. Slurm reads
and prints texts in the zone of whoever runs its tools, so those have to run with ``TZ=UTC``; a
text with a zone in it is refused.
"""

import re
from datetime import datetime, timedelta
from typing import Final

from converter.slurm.errors import InvalidTime

# Ten years of 365.25 days: no job waits that long for another reason.
BASE_SECONDS: Final = 315_576_000
# Of the instances.
LEAST: Final = 1
MOST: Final = 2**32 - 1
# What Slurm puts between two tries of a job. One that starts earlier may fail before it has begun,
# its credential revoked as that of the try before: in the first second or two (22.05.8), and for
# longer where the clocks of controller and node differ.
REQUEUE_SECONDS: Final = 121
# 9999-12-31T23:59:59, after which Slurm takes no time.
LAST_EPOCH: Final = 253_402_300_799

_EPOCH: Final = datetime(1970, 1, 1)
_TEXT: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}")


def encode(submit_epoch: int, instance: int) -> str:
    """The ``StartTime`` that is this hold of a job with this submit time: YYYY-MM-DDTHH:MM:SS, UTC.

    Raises InvalidTime for what is no instance, and for a submit time that no job has.
    """
    if type(instance) is not int or not LEAST <= instance <= MOST:
        raise InvalidTime(f"{instance} is no instance: write a number from {LEAST} to {MOST}")
    if submit_epoch <= 0:
        raise InvalidTime(f"{submit_epoch} is no time at which a job was submitted")
    return text_of(submit_epoch + BASE_SECONDS + instance)


def start_of_lifted(submit_epoch: int | None, restarts: int, host_epoch: int) -> str:
    """The ``StartTime`` that lifts a hold: now, or when Slurm itself would have it start again.

    The submit time of a job that was requeued is when that happened.
    """
    if not restarts or submit_epoch is None or host_epoch >= submit_epoch + REQUEUE_SECONDS:
        return "now"
    return text_of(submit_epoch + REQUEUE_SECONDS)


def decode(eligible_epoch: int | None, submit_epoch: int | None) -> int | None:
    """The instance that an eligible time says for this submit time; None where it says none."""
    if eligible_epoch is None or submit_epoch is None:
        return None
    instance = eligible_epoch - submit_epoch - BASE_SECONDS
    return instance if LEAST <= instance <= MOST else None


def is_years_away(eligible_epoch: int | None, submit_epoch: int | None) -> bool:
    """Whether a job waits for years, by a hold or by what is left of one."""
    if eligible_epoch is None or submit_epoch is None:
        return False
    return 2 * (eligible_epoch - submit_epoch) > BASE_SECONDS


def is_far_start(eligible_epoch: int | None, submit_epoch: int | None) -> bool:
    """Whether a job waits for years without a hold that says so.

    That is what is left of a hold whose job was requeued: the start stays and the submit time
    moves, so that a small instance comes to lie below the base.
    """
    unsaid = decode(eligible_epoch, submit_epoch) is None
    return unsaid and is_years_away(eligible_epoch, submit_epoch)


def text_of(epoch: int) -> str:
    """An epoch as Slurm takes it under ``TZ=UTC``. Raises InvalidTime outside 1970 to 9999."""
    if not 0 <= epoch <= LAST_EPOCH:
        raise InvalidTime(f"{epoch} is no time that Slurm takes: it ends with the year 9999")
    return (_EPOCH + timedelta(seconds=epoch)).isoformat()


def epoch_of(text: str) -> int:
    """The epoch of such a text. Raises InvalidTime for any other text, one with a zone too."""
    try:
        if _TEXT.fullmatch(text) is None:
            raise ValueError
        since = datetime.fromisoformat(text) - _EPOCH
    except ValueError:
        raise InvalidTime(f"{text!r} is no time of the form YYYY-MM-DDTHH:MM:SS") from None
    return since.days * 86_400 + since.seconds
