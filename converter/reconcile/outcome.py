"""What happened in an apply, and the exit code that it makes."""

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from enum import StrEnum


class Fate(StrEnum):
    """What became of one object or campaign; the value is the word that is printed."""

    CREATED = "created"
    CONFIGURED = "configured"
    REPLACED = "replaced"
    UNCHANGED = "unchanged"
    FINISHED = "finished"
    RECORDED = "recorded"
    HELD_BACK = "held back"
    REFUSED = "refused"
    PAUSED = "paused"
    RESUMED = "resumed"
    PAUSE_FAILED = "not paused"
    RESUME_FAILED = "not resumed"
    PRUNED = "pruned"
    PRUNE_FAILED = "not pruned"
    NOTE = "note"


APPLIED = (Fate.CREATED, Fate.CONFIGURED, Fate.REPLACED)
# The run stopped part-way, or a pause does not hold: the next apply has something to finish.
UNFINISHED = (Fate.PAUSE_FAILED, Fate.RESUME_FAILED, Fate.PRUNE_FAILED)
NOT_AS_IN_GIT = (Fate.HELD_BACK, Fate.REFUSED)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `target` is ``Kind/name`` or a campaign's name."""

    fate: Fate
    target: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.fate}: {self.target}" + (f": {self.detail}" if self.detail else "")


Report = Callable[[Event], None]


@dataclass(slots=True)
class Outcome:
    """Every event of one apply, in order. `report` is called with each as it comes."""

    report: Report
    events: list[Event] = field(default_factory=list)

    def add(self, event: Event) -> None:
        """Note an event and report it."""
        self.events.append(event)
        self.report(event)

    def extend(self, events: Iterable[Event]) -> None:
        """Note several events."""
        for event in events:
            self.add(event)

    def count(self, *fates: Fate) -> int:
        """How many events have one of these fates."""
        counted = Counter(event.fate for event in self.events)
        return sum(counted[fate] for fate in fates)

    @property
    def exit_code(self) -> int:
        """1 when a pause is not enforced, a resume or a prune did not come through or nothing at
        all did, 3 when something was held back or refused, else 0.
        """
        through = self.count(*APPLIED, Fate.UNCHANGED, Fate.FINISHED)
        if self.count(*UNFINISHED) or (self.count(Fate.REFUSED) and not through):
            return 1
        return 3 if self.count(*NOT_AS_IN_GIT) else 0

    def summary(self) -> str:
        """The last line: how many of each."""
        counts = {
            "applied": self.count(*APPLIED),
            "unchanged": self.count(Fate.UNCHANGED),
            "held back": self.count(Fate.HELD_BACK),
            "refused": self.count(Fate.REFUSED),
            "paused": self.count(Fate.PAUSED),
            "resumed": self.count(Fate.RESUMED),
            "pruned": self.count(Fate.PRUNED),
            "finished": self.count(Fate.FINISHED),
        }
        if failed := self.count(*UNFINISHED):
            counts["failed"] = failed
        return ", ".join(f"{number} {what}" for what, number in counts.items())
