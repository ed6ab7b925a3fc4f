"""What a page shows, as plain values. Nothing here is markup: the template escapes every text."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from converter.explain.cause import Cause
from converter.observe.phase import DRIFTED, Phase

# In the order of attention: the first is what somebody has to look at first.
PHASES: Final = (
    Phase.FAILED,
    Phase.PARTLY_FAILED,
    DRIFTED,
    Phase.MISSING,
    Phase.PAUSING,
    Phase.HELD,
    Phase.PAUSED,
    Phase.WAITING,
    Phase.RUNNING,
    Phase.FINISHED,
)
_WORDS: Final = {str(Phase.PARTLY_FAILED): "Partly failed"}


def phase_words(phase: str) -> str:
    """A phase as people read it."""
    return _WORDS.get(phase, phase)


@dataclass(frozen=True, slots=True)
class Words:
    """What a backend calls things.

    `worker` works on a volume, `jobs` are what a campaign is made of, `queue` is what it names to
    be queued, empty where that is not shown. `unplaced` is the place of what waits and has none,
    empty where none is expected. `clock` tells the times. `running` is what a hold does to
    what runs, `past` says what of the past is not known.
    """

    worker: str = "pod"
    jobs: str = "Jobs"
    queue: str = ""
    place: str = "on the cluster"
    unplaced: str = "not known"
    clock: str = "the API server's"
    running: str = "Not stopped by {hold}"
    past: str = "Kueue keeps the time of the last eviction only"


KUBERNETES: Final = Words()


@dataclass(frozen=True, slots=True)
class About:
    """Where the page comes from. `commit` is empty outside git; `now` is the cluster's time."""

    repository: str
    commit: str
    version: str
    now: datetime


@dataclass(frozen=True, slots=True)
class Moment:
    """A time: for machines (RFC 3339), for people, and how long ago it was."""

    iso: str
    text: str
    ago: str


@dataclass(frozen=True, slots=True)
class Banner:
    """What keeps a campaign from being what git says, or from running: `kind` is drift or stop."""

    kind: str
    text: str
    since: Moment | None = None


@dataclass(frozen=True, slots=True)
class Failures:
    """Volumes that failed in the same way, the first of them by name.

    `how` is empty where nothing is known but that they failed.
    """

    number: int
    how: str
    ids: tuple[str, ...]

    @property
    def more(self) -> int:
        """How many are not named."""
        return self.number - len(self.ids)


@dataclass(frozen=True, slots=True)
class Card:
    """One campaign. `facts` are pairs of a word and a value; what is not known is not among them.

    `done_share` and `failed_share` are parts of the bar in percent. `failures` are the failed
    volumes, and `more_failed` how many are not among them.
    """

    name: str
    phase: str
    total: int
    done: int
    failed: int
    active: int
    done_share: float
    failed_share: float
    remaining: str
    banners: tuple[Banner, ...]
    causes: tuple[Cause, ...]
    failures: tuple[Failures, ...]
    more_failed: int
    facts: tuple[tuple[str, str], ...]

    @property
    def left(self) -> int:
        """Volumes that have not ended."""
        return max(self.total - self.done - self.failed, 0)

    @property
    def words(self) -> str:
        """Its phase, for people."""
        return phase_words(self.phase)


@dataclass(frozen=True, slots=True)
class QueueRow:
    """What stands at a place of a queue, or at several where it is not told who is there.

    `campaign` is empty for what is none of this repository's.
    """

    place: str
    campaign: str
    who: str
    priority: str = ""


@dataclass(frozen=True, slots=True)
class Queue:
    """A queue in order. `unread` says in words why the order is not known."""

    kind: str
    name: str
    rows: tuple[QueueRow, ...] = ()
    more: int = 0
    unread: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """One resource of one flavor. Amounts are spelt; shares are parts of the bar in percent.

    The bar is as long as the nominal quota or, where more is in use, as what is in use:
    `nominal_share` is where the nominal quota ends in it.
    """

    resource: str
    nominal: str
    used: str
    borrowed: str
    free: str
    used_share: float
    borrowed_share: float
    nominal_share: float


@dataclass(frozen=True, slots=True)
class FlavorUsage:
    """What a ClusterQueue has of one flavor; `lends` says what more it may borrow."""

    flavor: str
    usages: tuple[Usage, ...]
    lends: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Quota:
    """The quota of a ClusterQueue. `unread` says why it is not known; `state` is a fault of it.

    Not `exists`: the backend has none, and the page has no section for it.
    """

    cluster_queue: str = ""
    flavors: tuple[FlavorUsage, ...] = ()
    state: str = ""
    unread: str = ""
    exists: bool = True


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to a campaign.

    `kind` is admitted, evicted, stopped, created or ended.
    """

    at: Moment
    campaign: str
    kind: str
    what: str


@dataclass(frozen=True, slots=True)
class Span:
    """A part of a lane in percent of the chart; `kind` is waiting, running or stopped."""

    kind: str
    start: float
    width: float


@dataclass(frozen=True, slots=True)
class Mark:
    """A moment on a lane, in percent of the chart."""

    kind: str
    at: float


@dataclass(frozen=True, slots=True)
class Lane:
    """One campaign in the chart."""

    campaign: str
    spans: tuple[Span, ...]
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True)
class Tick:
    """A line across the chart, in percent, and what is written at it."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Timeline:
    """The lanes that are drawn and the events that are listed, and how many of each are not.

    `marks` are the kinds of events that lanes have.
    """

    ticks: tuple[Tick, ...] = ()
    lanes: tuple[Lane, ...] = ()
    more_lanes: int = 0
    events: tuple[Event, ...] = ()
    more_events: int = 0
    marks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Model:
    """Everything that a page shows. `counts` has each phase, `unread` what could not be read.

    `queues` are those that campaigns wait in; there may be none.
    """

    about: About
    now: Moment
    counts: tuple[tuple[str, int], ...]
    cards: tuple[Card, ...]
    queues: tuple[Queue, ...]
    quota: Quota
    timeline: Timeline
    unread: tuple[str, ...] = ()
    words: Words = KUBERNETES
