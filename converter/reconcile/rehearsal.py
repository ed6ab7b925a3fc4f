"""What an apply decides and tries out before it writes: `campaigns diff` goes this far, too."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from converter.capabilities import CAPABILITIES
from converter.cluster.client import Client
from converter.manifest import Manifest
from converter.model import Backend, Settings
from converter.queues.base import QueueSystem
from converter.queues.suspended import pod_priority_class_of
from converter.reconcile.admission import Waiting, objections, waiting_jobs
from converter.reconcile.execute import Sender, Sent
from converter.reconcile.live import Live
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.plan import HeldBack, Plan, Unit
from converter.reconcile.planner import plan
from converter.reconcile.queue_chain import Missing, Unknown, read_chain, read_pod_classes
from converter.reconcile.side_by_side import side_by_side
from converter.reconcile.undeclared import undeclared


@dataclass(frozen=True, slots=True)
class Intent:
    """A plan, and what to say of the part of the queue that could not be read for it."""

    plan: Plan
    unchecked: Sequence[Event]


@dataclass(frozen=True, slots=True)
class Accepted:
    """The units whose dry runs the API server accepted."""

    pipelines: Sequence[Unit]
    campaigns: Sequence[Unit]


def intend(
    client: Client,
    manifests: Sequence[Manifest],
    settings: Settings,
    queue: QueueSystem,
    live: Live,
    *,
    repository: str,
    concurrency: int,
) -> Intent:
    """The plan of an apply. The queue is asked only where a campaign is to be admitted."""
    found, unchecked = _objections(client, manifests, settings, live, concurrency)
    return Intent(plan(manifests, live, queue, repository, found), unchecked)


def tell(intended: Plan, outcome: Outcome) -> None:
    """Note what the plan alone says."""
    tell_of_held_back(intended.held_back, outcome)
    for beyond in intended.out_of_reach:
        outcome.add(Event(Fate.PAUSE_FAILED, beyond.job, beyond.reason, beyond.campaign))
    for finished in intended.finished:
        outcome.add(Event(Fate.FINISHED, f"campaign {finished}", campaign=finished))


def tell_of_held_back(found: Iterable[HeldBack], outcome: Outcome) -> None:
    """Note what is held back."""
    for held in found:
        campaign = held.name if held.kind == "campaign" else ""
        outcome.add(Event(Fate.HELD_BACK, f"{held.kind} {held.name}", held.reason, campaign))


def try_out(sender: Sender, intended: Plan, outcome: Outcome, concurrency: int) -> Accepted:
    """Dry-run all that would change; what is refused or held back is noted."""
    campaigns = _accepted(sender, intended.campaigns, outcome, concurrency)
    pipelines = _accepted(sender, intended.pipelines, outcome, concurrency)
    refused = {unit.name for unit in intended.pipelines} - {unit.name for unit in pipelines}
    return Accepted(pipelines, without_refused(campaigns, refused, outcome))


def without_refused(campaigns: Sequence[Unit], pipelines: set[str], outcome: Outcome) -> list[Unit]:
    """The campaigns that run with none of these pipelines; the others are held back."""
    stopped = {unit.campaign: unit.pipeline for unit in campaigns if unit.pipeline in pipelines}
    for campaign, pipeline in stopped.items():
        reason = f"its pipeline {pipeline} was refused"
        outcome.add(Event(Fate.HELD_BACK, f"campaign {campaign}", reason, campaign))
    return [unit for unit in campaigns if unit.pipeline not in pipelines]


def _objections(
    client: Client,
    manifests: Sequence[Manifest],
    settings: Settings,
    live: Live,
    concurrency: int,
) -> tuple[Mapping[str, str], list[Event]]:
    """Why campaigns could never be admitted, and what to say of what could not be read for that."""
    waiting = waiting_jobs(manifests, live)
    if not CAPABILITIES[settings.backend].flavors:
        found, notes = _without_a_class(client, waiting, concurrency)
        if settings.backend is Backend.KOORD_QUEUE:
            undone, unread = undeclared(client, manifests, live)
            found |= undone
            if unread:
                notes.append(Event(Fate.NOTE, "Koord-Queue", f"{unread}: apply goes on"))
        return found, notes
    if not waiting:
        return {}, []
    classes = {each.priority_class for each in waiting} - {""}
    chain = read_chain(client, settings.namespace, settings.queue, classes, concurrency)
    detail = f"{', '.join(chain.unknown)}: campaigns go out unchecked"
    notes = [Event(Fate.NOTE, f"LocalQueue {settings.queue}", detail)] if chain.unknown else []
    return objections(waiting, chain, settings), notes


def _without_a_class(
    client: Client, waiting: Sequence[Waiting], concurrency: int
) -> tuple[dict[str, str], list[Event]]:
    """Campaigns of a PriorityClass that is not there: the API server takes none of their pods."""
    named = {each.job.campaign: pod_priority_class_of(each.job.body) for each in waiting}
    read = read_pod_classes(client, set(named.values()) - {""}, concurrency)
    found = {
        campaign: f"there is no PriorityClass {each} in the cluster, and no pod of it can be made: "
        "have it created, or write another priority"
        for campaign, each in named.items()
        if isinstance(read.get(each), Missing)
    }
    unread = [each.why for each in read.values() if isinstance(each, Unknown)]
    detail = f"{', '.join(unread)}: campaigns go out unchecked"
    return found, [Event(Fate.NOTE, "PriorityClasses", detail)] if unread else []


def _accepted(
    sender: Sender, units: Sequence[Unit], outcome: Outcome, concurrency: int
) -> list[Unit]:
    """The units that a dry run accepts; what is wrong with the others is in the outcome."""
    accepted: list[Unit] = []

    def note(tried: Sent) -> None:
        outcome.extend(tried.events)
        if not tried.refused:
            accepted.append(tried.unit)

    side_by_side(sender.try_out, units, concurrency, note)
    return accepted
