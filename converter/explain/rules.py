"""Every cause of what a campaign does, in order: the first is what is to be changed first. Pure."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain
from typing import Final

from converter.explain import koord_queue, plain
from converter.explain.absent import absent, decides, drifted
from converter.explain.cause import Cause
from converter.explain.created import not_created
from converter.explain.facts import Facts, Part
from converter.explain.gate import behind_warmup
from converter.explain.others import behind, evicted
from converter.explain.pods import Whose, not_started
from converter.explain.queue import queue_trouble, unqueued
from converter.explain.stopped import deactivated, held, paused_by_hand, paused_in_git, unenforced
from converter.explain.text import listed
from converter.explain.volumes import ended, failing, running
from converter.explain.waiting import being_admitted, without_room
from converter.model import Backend
from converter.observe.phase import Phase
from converter.wording import said

# What needs no reason in a table that shows the phase and the numbers.
_PLAIN: Final = frozenset({"running", "finished"})
_SHORT: Final = 160

_Rule = Callable[[Part], Iterator[Cause]]


def causes(facts: Facts) -> tuple[Cause, ...]:
    """Why a campaign is where it is; there is one at least."""
    return tuple(_in_order(facts))


def first_sentence(facts: Facts) -> str:
    """The first cause in few words, for a table; empty where the phase says it all."""
    first = next(_in_order(facts))
    return "" if first.code in _PLAIN else said(first.sentence, _SHORT)


def pending_pods(part: Part) -> Iterator[Cause]:
    """Pods of a running Job that do not start."""
    if part.status.phase is Phase.RUNNING:
        facts = part.facts
        less = f"wait for other pods to end, ask for less in {facts.size}, or have nodes added"
        whose = Whose("pod", facts.pipeline_file, less, facts.snapshot.events)
        yield from not_started(part.pods, whose)


_STOPPED_OR_QUEUED: Final[tuple[_Rule, ...]] = (
    held,
    paused_in_git,
    deactivated,
    paused_by_hand,
    queue_trouble,
    unqueued,
    evicted,
    without_room,
    behind,
    being_admitted,
)
_KOORD_QUEUE: Final[tuple[_Rule, ...]] = (
    held,
    paused_in_git,
    koord_queue.time_over,
    koord_queue.stopped_by_somebody,
    koord_queue.without_unit,
    koord_queue.waiting,
)
_PLAIN_JOBS: Final[tuple[_Rule, ...]] = (held, paused_in_git, plain.not_running)
# What is wanted and not carried out, and why what does not run does not.
_OF_BACKEND: Final[Mapping[Backend, tuple[_Rule, tuple[_Rule, ...]]]] = {
    Backend.KUEUE: (unenforced, _STOPPED_OR_QUEUED),
    Backend.KOORD_QUEUE: (koord_queue.unenforced, _KOORD_QUEUE),
    Backend.NONE: (plain.unenforced, _PLAIN_JOBS),
}
_ADMITTED: Final[tuple[_Rule, ...]] = (
    not_created,
    pending_pods,
    behind_warmup,
    failing,
    running,
    koord_queue.time_left,
)


def _in_order(facts: Facts) -> Iterator[Cause]:
    """One after the other, so that who wants the first does not pay for all."""
    first = decides(facts.status.drift)
    wanted, resting = _OF_BACKEND[facts.settings.backend]
    parts = [part for part in facts.parts() if not part.status.phase.is_end]
    rules = (
        absent(facts),
        _of_parts((wanted,), parts, facts),
        drifted(facts) if first else (),
        ended(facts),
        _of_parts(resting, parts, facts),
        () if first else drifted(facts),
        _of_parts(_ADMITTED, parts, facts),
    )
    none = True
    for cause in chain.from_iterable(rules):
        none = False
        yield cause
    if none:
        yield Cause("unknown", _unknown(facts))


def _of_parts(rules: Sequence[_Rule], parts: Sequence[Part], facts: Facts) -> Iterator[Cause]:
    """Rule by rule, and what holds of some parts only with their names."""
    for rule in rules:
        by_cause: dict[Cause, list[str]] = {}
        for part in parts:
            for cause in rule(part):
                by_cause.setdefault(cause, []).append(part.name)
        for cause, names in by_cause.items():
            yield cause if _is_whole(names, facts) else _of_some(cause, names)


def _is_whole(names: Sequence[str], facts: Facts) -> bool:
    return len(names) == max(len(facts.jobs), facts.status.parts)


def _of_some(cause: Cause, names: Sequence[str]) -> Cause:
    return replace(cause, what=f"{listed(names)}: {cause.what}")


def _unknown(facts: Facts) -> str:
    detail = f": {facts.status.detail}" if facts.status.detail else ""
    return f"it is {facts.status.phase}{detail}, and nothing more is known"
