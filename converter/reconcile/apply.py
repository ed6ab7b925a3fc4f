"""One apply from end to end: the order in which things happen, and nothing else.

Load and validate come before this and need no cluster. From here on: the Lease, one read of the
live state, a plan, the records of what has ended, dry runs, pipelines, campaigns, pauses, prune.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import TracebackType

from converter.cluster import lease
from converter.cluster.client import Client
from converter.cluster.objects import Object, name
from converter.cluster.resources import JOBS
from converter.errors import ApiError, CampaignsError, ClusterUnavailable, LeaseLost, Refused
from converter.manifest import Manifest
from converter.model import Settings
from converter.queues.base import QueueSystem
from converter.reconcile.execute import Sender, Sent
from converter.reconcile.fence import Fence
from converter.reconcile.levers import lever_for
from converter.reconcile.live import Live, read_live, workloads_of
from converter.reconcile.outcome import NOT_AS_IN_GIT, Event, Fate, Outcome
from converter.reconcile.pause import Move
from converter.reconcile.plan import PauseWish, Plan, Target, Unit
from converter.reconcile.provenance import Provenance
from converter.reconcile.prune import (
    NO_CAMPAIGN,
    check_limit,
    left_over,
    live_campaigns,
    prune,
    with_holds,
)
from converter.reconcile.recording import write_records
from converter.reconcile.rehearsal import (
    Accepted,
    intend,
    tell,
    tell_of_held_back,
    try_out,
    without_refused,
)
from converter.reconcile.side_by_side import side_by_side
from converter.reconcile.sync import Sync, sync_pause
from converter.reconcile.units import Units, read_units
from converter.reconcile.verify import verify_pauses
from converter.wording import first_few


@dataclass(frozen=True, slots=True)
class Options:
    """How to apply. Waits are in seconds; `prune_limit` None stands for the built-in limit.

    With `all_or_nothing` a campaign that is held back or refused stops the whole apply before
    anything is sent. With `release_holds` a prune deletes what is on hold, too. Without a `fence`,
    commits are not compared.
    """

    repository: str
    identity: str
    provenance: Provenance
    prune: bool = False
    release_holds: bool = False
    allow_empty: bool = False
    prune_limit: int | None = None
    pause_wait: float = 10.0
    concurrency: int = 8
    all_or_nothing: bool = False
    fence: Fence | None = None


@dataclass(slots=True)
class Run:
    """One apply under way; everything it needs, and what has come of it."""

    client: Client
    settings: Settings
    queue: QueueSystem
    options: Options
    outcome: Outcome
    live: Live = field(default_factory=Live)
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

    Raises `Refused` or `LeaseHeld` before anything was changed, `LeaseLost` or `ClusterUnavailable`
    where the run stopped part-way (another apply finishes it), and `ApiError` when the live state
    may not be read.
    """
    if options.prune and not options.allow_empty and not any(m.campaign for m in manifests):
        raise Refused(NO_CAMPAIGN)

    def annotate(annotations: Mapping[str, str]) -> dict[str, str]:
        if options.fence is None:
            return dict(annotations)
        return options.fence.pass_through(
            annotations, lambda text: outcome.add(Event(Fate.NOTE, "commit", text))
        )

    with lease.held(client, settings.namespace, options.identity, annotate) as held:
        guarded = client.guarded_by(held.keep)
        _apply_held(Run(guarded, settings, queue, options, outcome), manifests)


def _apply_held(run: Run, manifests: Sequence[Manifest]) -> None:
    namespace, options, outcome = run.settings.namespace, run.options, run.outcome
    run.live = live = read_live(run.client, namespace, run.settings.backend)
    intent = intend(
        run.client,
        manifests,
        run.settings,
        run.queue,
        live,
        repository=options.repository,
        concurrency=options.concurrency,
    )
    intended = intent.plan
    if options.prune:
        if not options.release_holds:
            intended = intended.keeping_held()
        limit = options.prune_limit
        if limit is None:
            limit = run.settings.prune_limit
        check_limit(intended, live_campaigns(live, options.repository), limit)
    run.jobs.update(live.jobs)
    with _PausingAllTheSame(run, intended, live.workloads):
        outcome.extend(intent.unchecked)
        tell(intended, outcome)
        accepted = _try_out_all(run, intended) if options.all_or_nothing else None
        write_records(
            run.client,
            namespace,
            live,
            intended.unwanted if options.prune else (),
            outcome,
            repository=options.repository,
            concurrency=options.concurrency,
        )
        accepted = accepted or _try_out(run, intended)
        changed, unsent = _send(run, intended, accepted)
        wishes = [wish for wish in intended.pauses if not (wish.active and wish.job in unsent)]
        outcome.extend(lever_for(run.settings.backend).events(wishes, live.jobs, run.jobs))
        _sync(run, wishes, _workloads_now(run, live) if changed else live.workloads)
    if options.prune:
        targets = _still_unwanted(run, intended)
        prune(run.client, namespace, targets, outcome, concurrency=options.concurrency)
        return
    for gone in intended.uncancelled:
        detail = left_over(intended.hold_on(gone))
        outcome.add(Event(Fate.NOTE, f"campaign {gone}", detail, gone))


def _still_unwanted(run: Run, intended: Plan) -> Sequence[Target]:
    """What a prune deletes: a hold that was placed since the plan was made counts, too."""
    jobs = {target.name for target in intended.unwanted if target.kind == JOBS.kind}
    if run.options.release_holds or not jobs:
        return intended.unwanted
    now = replace(
        run.live,
        jobs={name(each): each for each in run.client.list(JOBS, run.settings.namespace)},
        workloads=_units(run),
    )
    kept = with_holds(intended, now).keeping_held()
    tell_of_held_back(kept.held_back[len(intended.held_back) :], run.outcome)
    return kept.unwanted


@dataclass(frozen=True, slots=True)
class _PausingAllTheSame:
    """A block after which every pause is synced, whatever fault ended it.

    Not where the Lease is lost or the run refuses to go on, since it may write no more then, and
    not where somebody stops it.
    """

    run: Run
    intended: Plan
    workloads: Units

    def __enter__(self) -> None:
        """Nothing to do yet."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if kind is None or not issubclass(kind, Exception):
            return
        if issubclass(kind, LeaseLost | Refused):
            return
        if not issubclass(kind, CampaignsError):
            # It may have been the report itself, into a pipe that nobody reads any more.
            self.run.outcome.report = lambda event: None
        pauses = [wish for wish in self.intended.pauses if not wish.active]
        _sync(self.run, pauses, self.workloads)


def _sync(run: Run, wishes: Sequence[PauseWish], workloads: Units) -> None:
    sync = Sync(
        run.client,
        run.settings.namespace,
        run.jobs,
        run.outcome,
        reactivate=run.settings.reactivate,
        concurrency=run.options.concurrency,
        backend=run.settings.backend,
    )
    sync_pause(sync, wishes, workloads, run.options.pause_wait)
    pauses = [wish for wish in wishes if not wish.active]
    verify_pauses(sync, pauses, workloads, run.options.pause_wait)


def _units(run: Run) -> Units:
    return read_units(run.client, run.settings.namespace, run.settings.backend)


def _workloads_now(run: Run, live: Live) -> Units:
    """The Workloads after the send; if they cannot be read, those of before must do for a pause."""
    try:
        return _units(run)
    except (ApiError, ClusterUnavailable):
        return live.workloads


def _try_out_all(run: Run, intended: Plan) -> Accepted:
    """The dry runs, none of which may be refused, as nothing may be held back. Raises Refused.

    No pause is enforced then either, so those that are not are named.
    """
    accepted = None if intended.held_back else _try_out(run, intended)
    wrong = {event.target for event in run.outcome.events if event.fate in NOT_AS_IN_GIT}
    if accepted is not None and not wrong:
        return accepted
    unenforced = {wish.campaign for wish in intended.pauses if _is_unenforced(run, wish)}
    pauses = f"; not paused: {first_few(sorted(unenforced))}" if unenforced else ""
    raise Refused(
        f"nothing was applied, since not all of it can be ({first_few(sorted(wrong))}){pauses}: "
        "correct that, or apply without --all-or-nothing"
    )


def _is_unenforced(run: Run, wish: PauseWish) -> bool:
    job = run.jobs.get(wish.job)
    workloads = workloads_of(job, run.live.workloads)
    lever = lever_for(run.settings.backend)
    decision = lever.decide(wish, job, workloads, reactivate=run.settings.reactivate)
    return not wish.active and decision.move is not Move.NOTHING


def _try_out(run: Run, intended: Plan) -> Accepted:
    return try_out(_sender(run), intended, run.outcome, run.options.concurrency)


def _send(run: Run, intended: Plan, accepted: Accepted) -> tuple[bool, set[str]]:
    """Send pipelines, then campaigns.

    Returns whether any campaign Job was sent, and the names of those that should have been and
    were not as they should: they may be paused, but not resumed.
    """
    sender = _sender(run)
    sent_pipelines = _sent(run, sender, accepted.pipelines)
    refused = {sent.unit.name for sent in sent_pipelines if sent.refused}
    ready = without_refused(accepted.campaigns, refused, run.outcome)
    unsent = {unit.name for unit in intended.campaigns} - {unit.name for unit in ready}
    results = _sent(run, sender, ready)
    unsent |= {sent.unit.name for sent in results if sent.refused}
    return any(sent.jobs for sent in results), unsent


def _sender(run: Run) -> Sender:
    return Sender(run.client, run.settings.namespace, run.queue, run.options.provenance)


def _sent(run: Run, sender: Sender, units: Sequence[Unit]) -> list[Sent]:
    results: list[Sent] = []

    def note(sent: Sent) -> None:
        results.append(sent)
        run.jobs.update(sent.jobs)
        run.outcome.extend(sent.events)

    side_by_side(sender.send, units, run.options.concurrency, note)
    return results
