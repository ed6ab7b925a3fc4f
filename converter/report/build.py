"""The model of a page, of what was read. Pure."""

from collections import Counter
from collections.abc import Iterator, Mapping

from converter.explain.facts import Facts
from converter.model import Settings
from converter.observe.snapshot import Snapshot
from converter.report.cards import Causes, cards
from converter.report.failed import failed_volumes
from converter.report.model import PHASES, About, Model
from converter.report.queue import queue_of
from converter.report.quotas import quota_of
from converter.report.timeline import timeline_of
from converter.report.times import moment_at


def model_of(
    about: About,
    settings: Settings,
    snapshot: Snapshot,
    facts: Mapping[str, Facts],
    causes: Causes,
) -> Model:
    """`facts` and `causes` are by campaign; `settings` have the repository's name."""
    counts = Counter(each.status.shown_phase for each in facts.values())
    return Model(
        about=about,
        now=moment_at(about.now, about.now),
        counts=tuple((str(phase), counts[str(phase)]) for phase in PHASES),
        cards=cards(
            ((each.status, failed_volumes(each)) for each in facts.values()), causes, about.now
        ),
        queues=(queue_of(snapshot, settings),),
        quota=quota_of(snapshot.chain),
        timeline=timeline_of(facts.values(), about.now),
        unread=tuple(dict.fromkeys(_unread(snapshot))),
    )


def _unread(snapshot: Snapshot) -> Iterator[str]:
    yield from snapshot.unread
    if snapshot.places.unread:
        yield f"places in the queue: {snapshot.places.unread}"
    if snapshot.chain is not None:
        yield from (f"queue: {why}" for why in snapshot.chain.unknown)
