"""Where a campaign is."""

from enum import StrEnum


class Phase(StrEnum):
    """Where a campaign is. The order is that of attention: the first of its parts' counts."""

    PAUSING = "Pausing"
    RUNNING = "Running"
    HELD = "Held"
    PAUSED = "Paused"
    WAITING = "Waiting"
    MISSING = "Missing"
    FAILED = "Failed"
    PARTLY_FAILED = "PartlyFailed"
    FINISHED = "Finished"

    @property
    def is_end(self) -> bool:
        """Whether nothing more will happen."""
        return self in (Phase.FAILED, Phase.PARTLY_FAILED, Phase.FINISHED)

    @property
    def rests(self) -> bool:
        """Whether nothing more happens by itself: it has ended, or somebody stopped it."""
        return self.is_end or self in (Phase.PAUSED, Phase.HELD, Phase.MISSING)


# What is shown of a campaign that has not ended and is not as git has it. It stands beside the
# phase on the cluster, which says what goes on all the same.
DRIFTED = "Drifted"
