"""What becomes of a plan, given what a dry run of it came to. Pure."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from converter.cluster.objects import Object, name
from converter.diff import objects
from converter.diff.change import Action, Change
from converter.manifest import Role
from converter.model import Backend
from converter.queues import queue_for
from converter.reconcile.levers import lever_for
from converter.reconcile.live import Live, workloads_of
from converter.reconcile.outcome import Event, Fate
from converter.reconcile.pause import Decision, Move
from converter.reconcile.plan import PauseWish, Plan, Step, Unit, Verb
from converter.reconcile.prune import left_over
from converter.reconcile.rehearsal import Accepted

# The events of a rehearsal; nothing has been sent yet.
_ACTIONS: Final[Mapping[Fate, Action]] = {
    Fate.HELD_BACK: Action.HELD_BACK,
    Fate.REFUSED: Action.REFUSED,
    Fate.PAUSE_FAILED: Action.NOT_PAUSED,
    Fate.FINISHED: Action.FINISHED,
    Fate.NOTE: Action.NOTE,
    Fate.PAUSED: Action.PAUSE,
    Fate.RESUMED: Action.RESUME,
}
UNSEEN: Final = "nothing that is shown here differs, but apply sends it"


@dataclass(frozen=True, slots=True)
class Rehearsed:
    """A dry run of a plan. `answers` are the API server's, and by ``Kind/name`` like `live_now`.

    `live_now` has the objects that had changed by the time of their dry run.
    """

    plan: Plan
    live: Live
    accepted: Accepted
    events: Sequence[Event]
    answers: Mapping[str, Object]
    live_now: Mapping[str, Object]


def changes(rehearsed: Rehearsed, *, prune: bool, reactivate: bool) -> tuple[Change, ...]:
    """Every change, what belongs to pipelines first, then campaign by campaign."""
    found = (
        *_of_objects(rehearsed),
        *_of_events(rehearsed.events),
        *_of_pauses(rehearsed, reactivate=reactivate),
        *_of_unwanted(rehearsed.plan, prune=prune),
    )
    return tuple(sorted(found, key=lambda change: change.campaign))


def _of_objects(rehearsed: Rehearsed) -> Iterator[Change]:
    """What is sent. Of a unit that is refused or held back nothing is, and its event says so."""
    accepted: tuple[Unit, ...] = (*rehearsed.accepted.pipelines, *rehearsed.accepted.campaigns)
    for unit in accepted:
        for step in unit.steps:
            if step.verb is not Verb.UNCHANGED:
                yield _of_step(step, unit.campaign, rehearsed)
            elif step.note:
                yield Change(Action.NOTE, step.manifest.target, step.note, unit.campaign)


def _of_step(step: Step, campaign: str, rehearsed: Rehearsed) -> Change:
    manifest, target = step.manifest, step.manifest.target
    live = rehearsed.live_now.get(target) or rehearsed.live.find(manifest.kind, manifest.name)
    if live is None:
        diff = objects.created(manifest, step.body)
        return Change(Action.CREATE, target, campaign=campaign, diff=diff)
    if step.verb is Verb.REPLACE:
        diff = objects.replaced(manifest, live, step.body)
        detail = "" if diff else "it failed or is being deleted, and is made anew as it was"
        return Change(Action.REPLACE, target, detail, campaign, diff)
    diff = objects.changed(manifest, live, rehearsed.answers[target])
    return Change(Action.CHANGE, target, "" if diff else UNSEEN, campaign, diff)


def _of_events(events: Iterable[Event]) -> Iterator[Change]:
    for event in events:
        yield Change(_ACTIONS[event.fate], event.target, event.detail, event.campaign)


def _of_pauses(rehearsed: Rehearsed, *, reactivate: bool) -> Iterator[Change]:
    """As after the send: a campaign that is not sent may be paused, but not resumed."""
    sent = {unit.name for unit in rehearsed.accepted.campaigns}
    unsent = {unit.name for unit in rehearsed.plan.campaigns} - sent
    wishes = [each for each in rehearsed.plan.pauses if not (each.active and each.job in unsent)]
    before = rehearsed.live.jobs
    after = {**before, **dict(_jobs_after(rehearsed))}
    lever = lever_for(rehearsed.live.backend)
    yield from _of_events(lever.events(wishes, before, after))
    for wish in wishes:
        job = after.get(wish.job) if wish.job in before else None
        found = workloads_of(job, rehearsed.live.workloads)
        decision = lever.decide(wish, job, found, reactivate=reactivate)
        yield from _of_decision(rehearsed.live.backend, wish, job, found, decision)


def _of_decision(
    backend: Backend,
    wish: PauseWish,
    job: Object | None,
    found: Sequence[Object],
    decision: Decision,
) -> Iterator[Change]:
    action, lever = Action.RESUME if wish.active else Action.PAUSE, lever_for(backend)
    match decision.move:
        case Move.KEEP | Move.REMEMBER:
            yield Change(Action.NOTE, wish.job, decision.reason, wish.campaign)
        case Move.WAIT:
            queue = queue_for(backend)
            detail = (
                f"{queue.title} has made no {queue.unit_kind} for it yet, and apply waits for one "
                "to pause"
            )
            yield Change(action, wish.job, detail, wish.campaign)
        case Move.PATCH | Move.RENEW | Move.NOTE_IN_HOLD:
            for target in lever.targets(job, found):
                if job is not None and name(target) in decision.workloads:
                    what = lever.named(job, target)
                    detail = f"{what} {lever.foreseen(wish, job, target, decision)}"
                    yield Change(action, wish.job, detail, wish.campaign)


def _jobs_after(rehearsed: Rehearsed) -> Iterator[tuple[str, Object]]:
    """The campaigns' Jobs as the dry runs answered them, those that are sent."""
    for unit in rehearsed.accepted.campaigns:
        for step in unit.steps:
            if step.manifest.role is Role.CAMPAIGN and step.manifest.target in rehearsed.answers:
                yield step.manifest.name, rehearsed.answers[step.manifest.target]


def _of_unwanted(plan: Plan, *, prune: bool) -> Iterator[Change]:
    if not prune:
        for gone in plan.uncancelled:
            said = left_over(plan.hold_on(gone))
            yield Change(Action.STAYS, f"campaign {gone}", said, gone)
        return
    for kind in ("Job", "ConfigMap"):
        for target in plan.unwanted:
            if target.kind == kind:
                released = f"is released with it, though {target.hold}" if target.hold else ""
                yield Change(Action.PRUNE, f"{kind}/{target.name}", released, target.campaign)
