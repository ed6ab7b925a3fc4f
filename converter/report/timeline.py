"""When campaigns were queued, admitted, evicted and ended, as far as it is still known. Pure.

A Workload says of each condition when it changed last: of several evictions only the last one's
time is known, and none once it was admitted again (then only how many there were).
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Final

from converter.cluster.objects import Object, job_end, true_condition
from converter.explain.facts import Facts
from converter.explain.text import counted, listed
from converter.observe.admission import admission_of
from converter.observe.phase import Phase
from converter.report.model import Event, Lane, Mark, Span, Tick, Timeline, phase_words
from converter.report.times import moment_at
from converter.times import instant, minutes
from converter.wording import said

LANES: Final = 40
EVENTS: Final = 60
TICKS: Final = 6
MARKS: Final = ("admitted", "evicted")
_STOPPED: Final = (Phase.PAUSED, Phase.HELD, Phase.PAUSING)
_MINUTE, _HOUR, _DAY = 60, 3_600, 86_400
_STEPS: Final = (
    *(_MINUTE, 5 * _MINUTE, 15 * _MINUTE, _HOUR, 3 * _HOUR, 6 * _HOUR, 12 * _HOUR),
    *(_DAY, 2 * _DAY, 7 * _DAY, 14 * _DAY, 28 * _DAY, 91 * _DAY, 364 * _DAY),
)


@dataclass(slots=True)
class History:
    """One campaign: what happened when, of which kind, and in which state it was when."""

    campaign: str
    events: list[tuple[datetime, str, str]] = field(default_factory=list)
    spans: list[tuple[datetime, datetime, str]] = field(default_factory=list)

    def note(self, at: datetime | None, kind: str, what: str) -> None:
        """Something happened, if it is known when."""
        if at is not None:
            self.events.append((at, kind, what))

    def was(self, start: datetime | None, end: datetime | None, kind: str) -> None:
        """It was waiting, running or stopped, if it is known from when to when."""
        if start is not None and end is not None and start < end:
            self.spans.append((start, end, kind))

    @property
    def last(self) -> datetime:
        """When something happened last."""
        return max(at for at, _, _ in self.events)

    @property
    def first(self) -> datetime:
        """When something happened first."""
        return min(at for at, _, _ in self.events)


def timeline_of(facts: Iterable[Facts], now: datetime) -> Timeline:
    """What Kueue and the Jobs still tell of each campaign."""
    return told((_history(each, now) for each in facts), now, MARKS)


def told(histories: Iterable[History], now: datetime, marks: tuple[str, ...] = ()) -> Timeline:
    """The campaigns to which something happened last, drawn from the one that was created first.

    Events of the kinds `marks` are drawn too.
    """
    found = [history for history in histories if history.events]
    if not found:
        return Timeline()
    found.sort(key=lambda each: (each.last, each.campaign), reverse=True)
    drawn = sorted(found[:LANES], key=lambda each: (each.first, each.campaign))
    events = sorted(
        ((at, each.campaign, kind, what) for each in found for at, kind, what in each.events),
        reverse=True,
    )
    axis = _Axis(drawn[0].first, now)
    return Timeline(
        ticks=tuple(axis.ticks()),
        lanes=tuple(axis.lane(each, marks) for each in drawn),
        more_lanes=len(found) - len(drawn),
        events=tuple(Event(moment_at(at, now), *rest) for at, *rest in events[:EVENTS]),
        more_events=max(len(events) - EVENTS, 0),
        marks=marks,
    )


def _history(facts: Facts, now: datetime) -> History:
    history = History(facts.status.name)
    for part in facts.parts():
        alone = len(facts.jobs) == 1
        _of_job(
            history, part.job, part.workloads, part.status.phase, "" if alone else part.name, now
        )
    if not facts.jobs:
        started, ended = instant(facts.status.created), instant(facts.status.finished)
        history.note(started, "created", "started")
        history.note(ended, "ended", f"ended: {phase_words(facts.status.phase).lower()}")
        history.was(started, ended, "running")
    return history


def _of_job(
    history: History,
    job: Object,
    workloads: Sequence[Object],
    phase: Phase,
    part: str,
    now: datetime,
) -> None:
    of = f"{part}: " if part else ""
    created = instant(str(job["metadata"].get("creationTimestamp") or ""))
    end = job_end(job)
    ended = _time(end) if end else None
    history.note(created, "created", f"{of}queued")
    history.note(ended, "ended", f"{of}ended: {phase_words(phase).lower()}")
    idle = "stopped" if phase in _STOPPED else "waiting"
    if not workloads:
        started = instant(str((job.get("status") or {}).get("startTime") or ""))
        history.was(created, started or ended or now, idle)
        history.was(started, ended or now, "running")
        return
    for workload in workloads:
        _of_workload(history, workload, created, ended, idle, of, now)


def _of_workload(
    history: History,
    workload: Object,
    created: datetime | None,
    ended: datetime | None,
    idle: str,
    of: str,
    now: datetime,
) -> None:
    status = workload.get("status") or {}
    evicted = true_condition(workload, "Evicted")
    admission = admission_of((workload,))
    past = admission.past_seconds
    since = instant(admission.since)
    stopped_at = _time(evicted) if evicted else None
    if since:
        before = f", after {minutes(past)} of running before" if past else ""
        on = f" on {listed(admission.flavors)}" if admission.flavors else ""
        history.note(since, "admitted", f"{of}admitted{on}{before}{_evictions(status)}")
        history.was(created, since, "waiting")
        history.was(since, stopped_at or ended or now, "running")
    if stopped_at:
        reason = said((evicted or {}).get("reason")) or "no reason"
        history.note(stopped_at, "evicted", f"{of}evicted: {reason}{_evictions(status)}")
        if not since:
            # When it ran is not said, but for how long: most often it was once, and until then.
            ran = max(stopped_at - timedelta(seconds=past), created or stopped_at)
            history.was(created, ran, "waiting")
            history.was(ran, stopped_at, "running")
        history.was(stopped_at, ended or now, idle)
    elif not since:
        history.was(created, ended or now, idle)


def _evictions(status: Object) -> str:
    found = (status.get("schedulingStats") or {}).get("evictions") or ()
    number = sum(int(each.get("count") or 0) for each in found)
    return f"; evicted {counted(number, 'time')} so far" if number > 1 else ""


def _time(condition: Object) -> datetime | None:
    return instant(str(condition.get("lastTransitionTime") or ""))


@dataclass(frozen=True, slots=True)
class _Axis:
    """Time from left to right."""

    start: datetime
    end: datetime

    @property
    def _seconds(self) -> float:
        return max((self.end - self.start).total_seconds(), 1.0)

    def percent(self, at: datetime) -> float:
        """Where a moment is."""
        share = (at - self.start).total_seconds() / self._seconds
        return round(100 * min(max(share, 0.0), 1.0), 2)

    def lane(self, history: History, kinds: tuple[str, ...]) -> Lane:
        """What is drawn of a campaign."""
        spans = (
            Span(kind, self.percent(start), round(self.percent(end) - self.percent(start), 2))
            for start, end, kind in history.spans
        )
        marks = (
            Mark(kind, self.percent(at)) for at, kind, _ in sorted(history.events) if kind in kinds
        )
        return Lane(history.campaign, tuple(spans), tuple(marks))

    def ticks(self) -> Iterator[Tick]:
        """At round times, a few of them."""
        step = next((each for each in _STEPS if self._seconds / each <= TICKS), _STEPS[-1])
        spelling = "%H:%M" if step < _DAY else "%d %b" if step < _STEPS[-1] else "%Y"
        first = -(-int(self.start.timestamp()) // step) * step
        for second in range(first, int(self.end.timestamp()) + 1, step):
            at = datetime.fromtimestamp(second, self.end.tzinfo)
            yield Tick(self.percent(at), at.strftime(spelling))
