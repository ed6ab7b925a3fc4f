"""Why a hold or a release was not carried out, each with what is in force."""

from converter.errors import CampaignsError


class HoldError(CampaignsError):
    """A call that changed nothing. `in_force` is the instance of the hold that was read, if any."""

    def __init__(self, message: str, *, in_force: int | None = None) -> None:
        super().__init__(message)
        self.in_force = in_force


class InvalidCall(HoldError):
    """The call makes no sense: no deadline, or an instance that is none. Nothing was sent."""


class Rejected(HoldError):
    """The call came too late, or the object is in no state for it. Nothing was written."""


class DeadlinePassed(Rejected):
    """The deadline passed before the next request; nothing was sent after it."""


class StaleHold(Rejected):
    """Another hold than the call's is in force, or none where the call's should be."""


class PodsRemain(Rejected):
    """Pods of the object have not ended, so that a start now would run beside them."""


class Unsupported(HoldError):
    """This cluster, or this identity, cannot place and lift holds; the message says why."""


class TooManyConflicts(HoldError):
    """Others wrote the object at every try. Nothing was written; the call may be made again."""


class OutcomeUnknown(HoldError):
    """A write was sent and not answered: it may come into force until `call_bound` has passed."""
