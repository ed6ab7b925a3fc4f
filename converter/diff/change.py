"""What an apply would do, one change at a time, and what that comes to."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Action(StrEnum):
    """What an apply would do; the value is the word that is printed."""

    CREATE = "create"
    CHANGE = "change"
    REPLACE = "replace"
    PAUSE = "pause"
    RESUME = "resume"
    PRUNE = "prune"
    HELD_BACK = "held back"
    REFUSED = "refused"
    NOT_PAUSED = "not paused"
    STAYS = "stays"
    FINISHED = "finished"
    NOTE = "note"

    @property
    def differs(self) -> bool:
        """Whether git and the cluster differ in this, so that an apply has something to do.

        What an apply reports without a fault (its exit code is 0) is no difference.
        """
        return self not in _SAME


_SAME: Final = (Action.STAYS, Action.FINISHED, Action.NOTE)
EQUAL: Final = 0
DIFFERENT: Final = 2


@dataclass(frozen=True, slots=True)
class Change:
    """One thing that an apply would do, or would not and why.

    `target` is ``Kind/name``, or ``campaign NAME``. `campaign` is empty for what belongs to a
    pipeline. `diff` has the lines of a unified diff, without their ends.
    """

    action: Action
    target: str
    detail: str = ""
    campaign: str = ""
    diff: tuple[str, ...] = ()

    def __str__(self) -> str:
        return f"{self.action}: {self.target}" + (f": {self.detail}" if self.detail else "")


@dataclass(frozen=True, slots=True)
class Comparison:
    """All of it, what belongs to pipelines first, then campaign by campaign."""

    changes: Sequence[Change]

    @property
    def exit_code(self) -> int:
        """2 where git and the cluster differ, else 0."""
        return DIFFERENT if any(each.action.differs for each in self.changes) else EQUAL

    @property
    def counts(self) -> dict[Action, int]:
        """The number of campaigns by action, each once; what is of none counts by itself."""
        return {
            action: len({c.campaign or c.target for c in self.changes if c.action is action})
            for action in Action
        }

    def summary(self) -> str:
        """The last line, with the counts that are not 0."""
        counts = self.counts
        said = [
            f"{count} {_PHRASES.get(action, f'to {action}')}"
            for action, count in counts.items()
            if count and action is not Action.NOTE
        ]
        listed = f": {', '.join(said)}" if said else ""
        return f"{'differences' if self.exit_code else 'no differences'}{listed}"


_PHRASES: Final = {
    Action.HELD_BACK: "held back",
    Action.REFUSED: "refused",
    Action.NOT_PAUSED: "not paused",
    Action.STAYS: "no longer in git",
    Action.FINISHED: "finished",
}
