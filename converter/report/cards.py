"""One card a campaign, in the order in which they deserve to be looked at. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from converter.explain.cause import Cause
from converter.explain.facts import Facts
from converter.holds.mark import Mark
from converter.holds.words import named
from converter.observe.document import eta_at
from converter.observe.phase import DRIFTED, Phase
from converter.observe.status import Status
from converter.report.failed import failed_volumes
from converter.report.model import PHASES, Banner, Card
from converter.report.times import moment
from converter.times import minutes
from converter.wording import said

CAUSES: Final = 4
# What the card says anyway, by its phase and numbers.
_PLAIN: Final = frozenset({"running", "finished"})
# What comes to its end by itself, or is as git wants it: nobody has to do anything.
CALM: Final = frozenset(
    {
        *("running", "finished", "new", "starting", "pausing", "paused-in-git", "evicted"),
        *("next-in-queue", "queue-position", "queue-full", "preempted", "admission-check"),
        *("warmup-running", "warmup-ended"),
    }
)
# The card lists the failed volumes themselves.
_OF_VOLUMES: Final = frozenset({"failed", "partly-failed", "volumes-failed"})
_SMALLEST_SHARE: Final = 1.0

Causes = Mapping[str, tuple[Cause, ...]]


def cards(facts: Iterable[Facts], causes: Causes, now: datetime) -> tuple[Card, ...]:
    """What needs somebody first, by phase; of the same phase what has changed last comes first."""
    found = sorted(facts, key=lambda each: each.status.name)
    found.sort(key=lambda each: each.status.since, reverse=True)
    found.sort(key=lambda each: _attention(each.status, causes.get(each.status.name, ())))
    return tuple(_card(each, causes.get(each.status.name, ()), now) for each in found)


def _attention(status: Status, why: Sequence[Cause]) -> tuple[int, int]:
    """Its phase's rank; what runs or waits with a fault comes before what is only stopped."""
    place = status.place.in_cluster_queue if status.place else 0
    order = [str(phase) for phase in PHASES]
    rank = order.index(status.shown_phase)
    calm = not why or why[0].code in CALM
    if status.shown_phase in (Phase.RUNNING, Phase.WAITING) and not calm:
        return order.index(Phase.MISSING), 1
    return rank, place


def _card(facts: Facts, why: Sequence[Cause], now: datetime) -> Card:
    status = facts.status
    failures = failed_volumes(facts)
    done, failed = shares(status)
    return Card(
        name=status.name,
        phase=status.shown_phase,
        total=status.total,
        done=status.done,
        failed=status.failed,
        active=status.active,
        done_share=done,
        failed_share=failed,
        remaining=_remaining(status, now),
        banners=tuple(_banners(status, now)),
        causes=tuple(_told(why)),
        failures=failures,
        more_failed=max(status.failed - sum(each.number for each in failures), 0),
        facts=tuple(_facts(status, now)),
    )


def shares(status: Status) -> tuple[float, float]:
    """Of done and of failed; one failure among ten thousand can be seen."""
    if not status.total:
        return 0.0, 0.0
    failed = 100 * status.failed / status.total
    failed = max(failed, _SMALLEST_SHARE) if status.failed else 0.0
    done = min(100 * status.done / status.total, 100 - failed)
    return round(done, 2), round(failed, 2)


def _remaining(status: Status, now: datetime) -> str:
    eta = eta_at(status, now)
    if eta is None:
        return ""
    low, high = minutes(eta.low), minutes(eta.high)
    unit = high.rpartition(" ")[2]
    return f"about {minutes(eta.seconds)} left ({low.removesuffix(f' {unit}')} to {high})"


def _banners(status: Status, now: datetime) -> Iterator[Banner]:
    since = moment(status.since, now)
    if status.shown_phase == DRIFTED:
        yield Banner("drift", f"Not as git has it. On the cluster it is {status.phase}", since)
    elif status.phase is Phase.PAUSED:
        yield Banner("stop", str(status.phase), since)
    elif status.phase is Phase.PAUSING and not status.hold:
        yield Banner("stop", "To be paused, and not paused yet", since)
    if status.hold and not status.phase.is_end:
        yield _hold_banner(status, status.hold, now)


def _hold_banner(status: Status, mark: Mark, now: datetime) -> Banner:
    """Whose hold it is; why is among the causes."""
    by = f" of {said(mark.by)}" if mark.by else ""
    if status.phase is Phase.HELD:
        return Banner("stop", f"Held: {named(mark)}{by}", moment(mark.at, now))
    if status.phase is Phase.PAUSING:
        return Banner("stop", f"Being held: {named(mark)}{by}", moment(mark.at, now))
    return Banner("stop", f"Not stopped by {named(mark)}{by}", moment(mark.at, now))


def _told(why: Sequence[Cause]) -> Iterator[Cause]:
    for cause in why[:CAUSES]:
        if cause.code in _OF_VOLUMES:
            yield replace(cause, example="", details=())
        elif cause.code not in _PLAIN:
            yield cause


def _facts(status: Status, now: datetime) -> Iterator[tuple[str, str]]:
    if status.phase is Phase.WAITING:
        place = status.place
        yield "Place", str(place.in_cluster_queue) if place else "not known"
    if status.active:
        started = f", {status.ready} started" if status.ready < status.active else ""
        yield "Pods", f"{status.active}{started}"
    if status.parts > 1:
        yield "Jobs", str(status.parts)
    for word, value in (
        ("Priority", status.priority),
        ("Size", status.size),
        ("Flavor", ", ".join(status.admission.flavors)),
        ("Pipeline", status.pipeline),
    ):
        if value:
            yield word, value
    if created := moment(status.created, now):
        yield "Created", created.ago
    if finished := moment(status.finished, now):
        yield "Ended", finished.ago
