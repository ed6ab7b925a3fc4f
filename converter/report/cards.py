"""One card a campaign, in the order in which they deserve to be looked at. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from converter.explain.cause import Cause
from converter.holds.mark import Mark
from converter.holds.words import named
from converter.observe.document import eta_at
from converter.observe.phase import DRIFTED, Phase
from converter.observe.status import Status
from converter.report.model import KUBERNETES, PHASES, Banner, Card, Failures, Words
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
        *("warmup-running", "warmup-ended", "ending"),
    }
)
# The card lists the failed volumes themselves.
_OF_VOLUMES: Final = frozenset({"failed", "partly-failed", "volumes-failed", "failed-volumes"})
_SMALLEST_SHARE: Final = 1.0

Causes = Mapping[str, tuple[Cause, ...]]


def cards(
    found: Iterable[tuple[Status, tuple[Failures, ...]]],
    causes: Causes,
    now: datetime,
    words: Words = KUBERNETES,
) -> tuple[Card, ...]:
    """What needs somebody first, by phase; of the same phase what has changed last comes first.

    `found` has each campaign with its failed volumes.
    """
    ordered = sorted(found, key=lambda each: each[0].name)
    ordered.sort(key=lambda each: each[0].since, reverse=True)
    ordered.sort(key=lambda each: _attention(each[0], causes.get(each[0].name, ())))
    return tuple(
        _card(status, failures, causes.get(status.name, ()), now, words)
        for status, failures in ordered
    )


def _attention(status: Status, why: Sequence[Cause]) -> tuple[int, int]:
    """Its phase's rank; what runs or waits with a fault comes before what is only stopped."""
    place = status.place.in_cluster_queue if status.place else 0
    order = [str(phase) for phase in PHASES]
    rank = order.index(status.shown_phase)
    if status.shown_phase in (Phase.RUNNING, Phase.WAITING) and not _is_calm(why):
        return order.index(Phase.MISSING), 1
    return rank, place


def _is_calm(why: Sequence[Cause]) -> bool:
    """Whether nobody has to do anything. Slurm's reasons have a remedy where somebody has."""
    if not why:
        return True
    return why[0].code in CALM or (why[0].code == "waits" and not why[0].remedy)


def _card(
    status: Status,
    failures: tuple[Failures, ...],
    why: Sequence[Cause],
    now: datetime,
    words: Words,
) -> Card:
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
        banners=tuple(_banners(status, now, words)),
        causes=tuple(_told(why)),
        failures=failures,
        more_failed=max(status.failed - sum(each.number for each in failures), 0),
        facts=tuple(_facts(status, now, words)),
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


def _banners(status: Status, now: datetime, words: Words) -> Iterator[Banner]:
    since = moment(status.since, now)
    if status.shown_phase == DRIFTED:
        where = words.place[:1].upper() + words.place[1:]
        yield Banner("drift", f"Not as git has it. {where} it is {status.phase}", since)
    elif status.phase is Phase.PAUSED:
        yield Banner("stop", str(status.phase), since)
    elif status.phase is Phase.PAUSING and not status.hold:
        yield Banner("stop", "To be paused, and not paused yet", since)
    if status.hold and not status.phase.is_end:
        yield _hold_banner(status, status.hold, now, words)


def _hold_banner(status: Status, mark: Mark, now: datetime, words: Words) -> Banner:
    """Whose hold it is; why is among the causes."""
    by = f" of {said(mark.by)}" if mark.by else ""
    if status.phase is Phase.HELD:
        return Banner("stop", f"Held: {named(mark)}{by}", moment(mark.at, now))
    if status.phase is Phase.PAUSING:
        return Banner("stop", f"Being held: {named(mark)}{by}", moment(mark.at, now))
    return Banner("stop", words.running.format(hold=f"{named(mark)}{by}"), moment(mark.at, now))


def _told(why: Sequence[Cause]) -> Iterator[Cause]:
    for cause in why[:CAUSES]:
        if cause.code in _OF_VOLUMES:
            yield replace(cause, example="", details=())
        elif cause.code not in _PLAIN:
            yield cause


def _facts(status: Status, now: datetime, words: Words) -> Iterator[tuple[str, str]]:
    if status.phase is Phase.WAITING:
        place = str(status.place.in_cluster_queue) if status.place else words.unplaced
        yield from (("Place", place),) if place else ()
    if status.active:
        started = f", {status.ready} started" if status.ready < status.active else ""
        yield f"{words.worker.capitalize()}s", f"{status.active}{started}"
    if status.parts > 1:
        yield words.jobs, str(status.parts)
    for word, value in (
        ("Priority", status.priority),
        ("Size", status.size),
        (words.queue, status.queue if words.queue else ""),
        ("Flavor", ", ".join(status.admission.flavors)),
        ("Pipeline", status.pipeline),
    ):
        if value:
            yield word, value
    if created := moment(status.created, now):
        yield "Created", created.ago
    if finished := moment(status.finished, now):
        yield "Ended", finished.ago
