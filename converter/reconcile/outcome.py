"""What happened in an apply, and the exit code that it makes."""

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
# A campaign of which this is true has something on the cluster that is as in git.
THROUGH = (*APPLIED, Fate.UNCHANGED, Fate.FINISHED, Fate.PAUSED, Fate.RESUMED)
NOT_AS_IN_GIT = (Fate.HELD_BACK, Fate.REFUSED)


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that happened. `target` is ``Kind/name`` or a campaign's name.

    `campaign` is the campaign that it happened to, empty where it was a pipeline.
    """

    fate: Fate
    target: str
    detail: str = ""
    campaign: str = ""

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
        return sum(event.fate in fates for event in self.events)

    def campaigns(self, *fates: Fate) -> frozenset[str]:
        """The campaigns that something with one of these fates happened to."""
        found = {event.campaign for event in self.events if event.fate in fates}
        return frozenset(found - {""})

    @property
    def exit_code(self) -> int:
        """1 when a pause is not enforced, a resume or a prune did not come through, or something
        was refused and no campaign came through; 3 when something was held back or refused; else 0.
        """
        nothing_came_through = not self.campaigns(*THROUGH)
        if self.count(*UNFINISHED) or (self.count(Fate.REFUSED) and nothing_came_through):
            return 1
        return 3 if self.count(*NOT_AS_IN_GIT) else 0

    def summary(self) -> str:
        """The last line: the number of campaigns of each fate, then what else went wrong.

        A campaign of which one object was applied and another is as it was counts as applied.
        """
        touched = self.campaigns(*APPLIED, *NOT_AS_IN_GIT)
        counts = {
            "applied": self.campaigns(*APPLIED),
            "unchanged": self.campaigns(Fate.UNCHANGED) - touched,
            "held back": self.campaigns(Fate.HELD_BACK),
            "refused": self.campaigns(Fate.REFUSED),
            "paused": self.campaigns(Fate.PAUSED) - self.campaigns(Fate.PAUSE_FAILED),
            "resumed": self.campaigns(Fate.RESUMED),
            "pruned": self.campaigns(Fate.PRUNED),
            "finished": self.campaigns(Fate.FINISHED),
        }
        said = [f"{len(campaigns)} {what}" for what, campaigns in counts.items()]
        if failed := self.campaigns(*UNFINISHED):
            said.append(f"{len(failed)} failed")
        faults = (*NOT_AS_IN_GIT, *UNFINISHED)
        if others := {e.target for e in self.events if e.fate in faults and not e.campaign}:
            said.append(f"{len(others)} pipeline(s) not as in git")
        return ", ".join(said)
