"""One apply from end to end: the order in which things happen, and nothing else.

Load and validate come before this and need no cluster. From here on: the Lease, one read of the
live state, a plan, the records of what has ended, dry runs, pipelines, campaigns, pauses, prune.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from converter.cluster import lease
from converter.cluster.client import Client
from converter.cluster.objects import is_ours, label, name
from converter.cluster.resources import CONFIGMAPS, JOBS
from converter.errors import ApiError, ClusterUnavailable, Refused
from converter.manifest import Manifest, Role
from converter.model import Settings
from converter.names import CAMPAIGN_LABEL, FIELD_MANAGER, ROLE_LABEL
from converter.queues.base import Object, QueueSystem
from converter.reconcile.execute import Sender, Sent, side_by_side
from converter.reconcile.live import Live, read_live, read_workloads
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.pause import Workloads, queue_events, sync_pause
from converter.reconcile.plan import PauseWish, Plan, Target, Unit, plan
from converter.reconcile.provenance import Provenance
from converter.reconcile.prune import check_limit, prune
from converter.reconcile.record import records_to_write


@dataclass(frozen=True, slots=True)
class Options:
    """How to apply. Waits are in seconds; `prune_limit` None stands for the built-in limit."""

    repository: str
    identity: str
    provenance: Provenance
    prune: bool = False
    allow_empty: bool = False
    prune_limit: int | None = None
    pause_wait: float = 10.0
    concurrency: int = 8


@dataclass(slots=True)
class Run:
    """One apply under way; everything it needs, and what has come of it."""

    client: Client
    settings: Settings
    queue: QueueSystem
    options: Options
    outcome: Outcome
    jobs: dict[str, Object] = field(default_factory=dict)


def apply(
    client: Client,
    manifests: Sequence[Manifest],
    settings: Settings,
    queue: QueueSystem,
    options: Options,
    outcome: Outcome,
) -> None:
    """Make the namespace agree with `manifests`; what happened is in `outcome`.

    Raises `Refused` or `LeaseHeld` before anything was sent, `LeaseLost` or `ClusterUnavailable`
    where the run stopped part-way (another apply finishes it), and `ApiError` when the live state
    may not be read.
    """
    if options.prune and not options.allow_empty and not any(m.campaign for m in manifests):
        raise Refused(
            "there is no campaign in the repository, so --prune would cancel everything; nothing "
            "was sent: pass --allow-empty if that is meant"
        )
    with lease.held(client, settings.namespace, options.identity) as held:
        guarded = client.guarded_by(held.keep)
        _apply_held(Run(guarded, settings, queue, options, outcome), manifests)


def _apply_held(run: Run, manifests: Sequence[Manifest]) -> None:
    namespace, options, outcome = run.settings.namespace, run.options, run.outcome
    live = read_live(run.client, namespace)
    intended = plan(manifests, live, run.queue, options.repository)
    if options.prune:
        limit = options.prune_limit
        if limit is None:
            limit = run.settings.prune_limit
        check_limit(intended, _live_campaigns(live, options.repository), limit)
    for held in intended.held_back:
        outcome.add(Event(Fate.HELD_BACK, f"{held.kind} {held.name}", held.reason))
    for finished in intended.finished:
        outcome.add(Event(Fate.FINISHED, f"campaign {finished}"))
    run.jobs.update(live.jobs)
    try:
        _write_records(run, live, intended.unwanted if options.prune else ())
        changed, unsent = _send(run, intended)
    except ClusterUnavailable:
        # One request without an answer must not keep any campaign from being paused.
        _sync(run, [wish for wish in intended.pauses if not wish.active], live.workloads)
        raise
    wishes = [wish for wish in intended.pauses if not (wish.active and wish.job in unsent)]
    outcome.extend(queue_events(wishes, live.jobs, run.jobs))
    _sync(run, wishes, _workloads_now(run, live) if changed else live.workloads)
    if options.prune:
        prune(run.client, namespace, intended.unwanted, outcome, concurrency=options.concurrency)
    elif cancelled := intended.unwanted_campaigns:
        detail = "still on the cluster though not in git: apply with --prune to cancel"
        outcome.extend(Event(Fate.NOTE, f"campaign {gone}", detail) for gone in cancelled)


def _sync(run: Run, wishes: Sequence[PauseWish], workloads: Workloads) -> None:
    sync_pause(
        run.client,
        run.settings.namespace,
        wishes,
        run.jobs,
        workloads,
        run.outcome,
        reactivate=run.settings.reactivate,
        wait_seconds=run.options.pause_wait,
        concurrency=run.options.concurrency,
    )


def _workloads_now(run: Run, live: Live) -> Workloads:
    """The Workloads after the send; if they cannot be read, those of before must do for a pause."""
    try:
        return read_workloads(run.client, run.settings.namespace)
    except (ApiError, ClusterUnavailable):
        return live.workloads


def _send(run: Run, intended: Plan) -> tuple[bool, set[str]]:
    """Send pipelines, then campaigns.

    Returns whether any campaign Job was sent, and the names of those that should have been and
    were not as they should: they may be paused, but not resumed.
    """
    options, outcome = run.options, run.outcome
    sender = Sender(run.client, run.settings.namespace, run.queue, options.provenance)
    campaigns = _accepted(run, sender, intended.campaigns)
    pipelines = _accepted(run, sender, intended.pipelines)
    refused = {unit.name for unit in intended.pipelines} - {unit.name for unit in pipelines}
    for sent in side_by_side(sender.send, pipelines, options.concurrency):
        _note(outcome, [sent])
        if sent.refused:
            refused.add(sent.unit.name)
    ready = [unit for unit in campaigns if unit.pipeline not in refused]
    stopped = {unit.campaign: unit.pipeline for unit in campaigns if unit.pipeline in refused}
    for campaign, pipeline in stopped.items():
        reason = f"its pipeline {pipeline} was refused"
        outcome.add(Event(Fate.HELD_BACK, f"campaign {campaign}", reason))
    changed = False
    unsent = {unit.name for unit in intended.campaigns} - {unit.name for unit in ready}
    for sent in side_by_side(sender.send, ready, options.concurrency):
        _note(outcome, [sent])
        if sent.refused:
            unsent.add(sent.unit.name)
        run.jobs.update(sent.jobs)
        changed = changed or bool(sent.jobs)
    return changed, unsent


def _accepted(run: Run, sender: Sender, units: Sequence[Unit]) -> list[Unit]:
    """The units that a dry run accepts; what is wrong with the others is in the outcome."""
    tried = list(side_by_side(sender.try_out, units, run.options.concurrency))
    _note(run.outcome, tried)
    return [sent.unit for sent in tried if not sent.refused]


def _note(outcome: Outcome, results: Iterable[Sent]) -> None:
    for sent in results:
        outcome.extend(sent.events)


def _write_records(run: Run, live: Live, pruned: Iterable[Target]) -> None:
    """Before anything is applied: what has ended is written down while its Job still says so.

    A Job that this run prunes takes its record with it, so none is written.
    """
    doomed = {target.name for target in pruned if target.kind == JOBS.kind}

    def write(body: Object) -> Event:
        named = f"ConfigMap/{body['metadata']['name']}"
        try:
            run.client.apply(
                CONFIGMAPS, run.settings.namespace, body, manager=FIELD_MANAGER, force=True
            )
        except ApiError as error:
            return Event(Fate.REFUSED, named, f"{error.reason}: {error.message}")
        return Event(Fate.RECORDED, named, body["data"]["phase"])

    kept = {job: body for job, body in live.jobs.items() if job not in doomed}
    records = records_to_write(replace(live, jobs=kept), run.options.repository)
    run.outcome.extend(side_by_side(write, records, run.options.concurrency))


def _live_campaigns(live: Live, repository: str) -> int:
    jobs: Mapping[str, Object] = live.jobs
    return len(
        {
            label(job, CAMPAIGN_LABEL) or name(job)
            for job in jobs.values()
            if is_ours(job, repository) and label(job, ROLE_LABEL) == Role.CAMPAIGN
        }
    )
