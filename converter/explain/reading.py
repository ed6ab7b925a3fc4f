"""Reads what the rules need, and only what they need; what cannot be read is noted, not raised."""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from converter.capabilities import CAPABILITIES
from converter.cluster.client import Client
from converter.cluster.objects import Object, controller_uid, label, name, true_condition, uid
from converter.cluster.resources import EVENTS, JOBS, PODS
from converter.errors import ApiError, ClusterUnavailable, Forbidden
from converter.explain.created import event_time, lacks_pods
from converter.explain.pods import NODE_EVENTS
from converter.manifest import Role
from converter.model import Repo
from converter.names import CAMPAIGN_LABEL, ROLE_LABEL
from converter.observe.phase import Phase
from converter.observe.refusal import Refusal
from converter.observe.snapshot import Snapshot
from converter.observe.status import Status
from converter.reconcile.live import in_role
from converter.reconcile.queue_chain import QueueChain, read_chain
from converter.render.recipe import recipe_of

CONCURRENCY: Final = 8
# Those that wait for something, or failed: a pod whose init container waits is Pending.
_TROUBLED: Final = "status.phase!=Succeeded,status.phase!=Running"

T = TypeVar("T")


@dataclass(slots=True)
class _Unread:
    """What could not be read; several threads note it."""

    notes: list[str] = field(default_factory=list)

    def note(self, what: str, error: Exception) -> None:
        self.notes.append(f"{what}: {why_unread(error)}")


def why_unread(error: Exception) -> str:
    """What keeps objects of a kind from being listed, in few words where it is a right."""
    return "not permitted to read them" if isinstance(error, Forbidden) else str(error)


def read_for_explain(
    client: Client,
    repo: Repo,
    snapshot: Snapshot,
    statuses: Iterable[Status],
    *,
    campaigns: Collection[str] | None,
    refusals: bool = True,
) -> Snapshot:
    """The snapshot with what explains these campaigns, or all of them where `campaigns` is None.

    `repo` has its name. The queue is read where one waits, pods (those that are Pending or failed)
    where a Job counts such, events where a Job has fewer pods than it asks for or a pod does not
    start, and why apply does not create a campaign where one is missing or not as in git, which
    takes dry runs and is left out without `refusals`. Raises nothing for what may not be read: it
    is in `unread`.
    """
    asked = [each for each in statuses if campaigns is None or each.name in campaigns]
    jobs = _jobs_of({status.name for status in asked}, snapshot, repo)
    unread = _Unread(list(snapshot.unread))
    with ThreadPoolExecutor(max_workers=CONCURRENCY) as pool:
        chain = pool.submit(_read_chain, client, repo, asked)
        warmups = pool.submit(_read_warmups, client, repo, asked, unread)
        pods = pool.submit(_read_pods, client, repo, jobs, asked, unread)
        events = pool.submit(_read_events, client, repo, jobs, asked, unread)
        tried = pool.submit(_read_refusals, client, repo, jobs, asked if refusals else (), unread)
    found = warmups.result() or ()
    by_job = _by_controller(pods.result(), (*jobs, *found))
    live = snapshot.live
    everything = {**live.jobs, **{name(job): job for job in found}}
    return replace(
        snapshot,
        live=replace(live, jobs=everything),
        chain=chain.result() or snapshot.chain,
        pods=by_job,
        events=events.result(),
        refusals=tried.result(),
        unread=tuple(sorted(unread.notes)),
        warmups_unread=warmups.result() is None,
    )


def _jobs_of(campaigns: Collection[str], snapshot: Snapshot, repo: Repo) -> list[Object]:
    jobs = in_role(snapshot.live.jobs.values(), Role.CAMPAIGN, repo.settings.repository)
    return [job for job in jobs if label(job, CAMPAIGN_LABEL) in campaigns]


def _read_chain(client: Client, repo: Repo, asked: Sequence[Status]) -> QueueChain | None:
    waiting = [status for status in asked if _may_wait(status)]
    settings = repo.settings
    if not waiting or not CAPABILITIES[settings.backend].flavors:
        return None
    classes = {status.priority for status in waiting} - {""}
    # A part may wait while another runs; what is behind the queue label of all is read once.
    return read_chain(client, settings.namespace, settings.queue, classes, CONCURRENCY)


def _may_wait(status: Status) -> bool:
    return status.phase is Phase.WAITING or (status.parts > 1 and not status.phase.is_end)


def _read_warmups(
    client: Client, repo: Repo, asked: Sequence[Status], unread: _Unread
) -> tuple[Object, ...] | None:
    """None where they could not be read."""
    if not any(_is_behind_gate(status, repo) for status in asked):
        return ()
    selector = f"{ROLE_LABEL}={Role.WARMUP.value}"
    try:
        return client.list(JOBS, repo.settings.namespace, selector=selector)
    except (ApiError, ClusterUnavailable) as error:
        unread.note("warm-ups", error)
        return None


def _is_behind_gate(status: Status, repo: Repo) -> bool:
    pipeline = repo.pipelines.get(status.pipeline)
    running = status.phase is Phase.RUNNING and status.active > 0
    return bool(pipeline and running and recipe_of(pipeline, repo.settings).warmup)


def _read_pods(
    client: Client, repo: Repo, jobs: Sequence[Object], asked: Sequence[Status], unread: _Unread
) -> tuple[Object, ...]:
    """Of Jobs with pods that have not started or failed, and of warm-ups that are waited for."""
    names = sorted({label(job, CAMPAIGN_LABEL) for job in jobs if _has_troubled_pods(job)})
    if not names:
        return ()
    # A selector of many names is longer than a URL may be.
    selectors = [f"{CAMPAIGN_LABEL}={names[0]}" if len(names) == 1 else CAMPAIGN_LABEL]
    if any(_is_behind_gate(status, repo) for status in asked):
        selectors.append(f"{ROLE_LABEL}={Role.WARMUP.value}")
    found: list[Object] = []
    for selector in selectors:
        try:
            found.extend(
                client.list(PODS, repo.settings.namespace, selector=selector, fields=_TROUBLED)
            )
        except (ApiError, ClusterUnavailable) as error:
            unread.note("pods", error)
            break
    return tuple(found)


def _has_troubled_pods(job: Object) -> bool:
    """By what the Job's status counts; one that has ended well has failed pods of retries only."""
    status = job.get("status") or {}
    if true_condition(job, "Complete"):
        return False
    not_ready = int(status.get("active") or 0) > int(status.get("ready") or 0)
    return not_ready or bool(status.get("failed"))


def _by_controller(
    pods: Iterable[Object], jobs: Iterable[Object]
) -> Mapping[str, tuple[Object, ...]]:
    """Labels can be written by anybody; a Job's own pods name it as their controller."""
    names = {uid(job): name(job) for job in jobs}
    found: dict[str, tuple[Object, ...]] = {}
    for pod in pods:
        if job := names.get(controller_uid(pod)):
            found[job] = (*found.get(job, ()), pod)
    return found


def _read_events(
    client: Client,
    repo: Repo,
    jobs: Sequence[Object],
    asked: Sequence[Status],
    unread: _Unread,
) -> Mapping[str, tuple[Object, ...]]:
    """By the name of what they are about, the last one last.

    All Warnings of pods are many where many campaigns are asked for.
    """
    running = {status.name for status in asked if status.phase is Phase.RUNNING}
    refused = [job for job in jobs if label(job, CAMPAIGN_LABEL) in running and lacks_pods(job)]
    starting = [
        status for status in asked if status.name in running and status.ready < status.active
    ]
    # A field selector has no "or".
    warnings = [f"reason={each}" for each in NODE_EVENTS] if len(asked) > 1 else ["type=Warning"]
    kinds = [
        *(["involvedObject.kind=Job,reason=FailedCreate"] if refused else []),
        *(f"involvedObject.kind=Pod,{each}" for each in (warnings if starting else ())),
    ]
    found: list[Object] = []
    for fields in kinds:
        try:
            found.extend(client.list(EVENTS, repo.settings.namespace, fields=fields))
        except (ApiError, ClusterUnavailable) as error:
            unread.note("events", error)
            break
    by_name: dict[str, tuple[Object, ...]] = {}
    for event in sorted(found, key=event_time):
        about = str((event.get("involvedObject") or {}).get("name") or "")
        by_name[about] = (*by_name.get(about, ()), event)
    return by_name


def _read_refusals(
    client: Client, repo: Repo, jobs: Sequence[Object], asked: Sequence[Status], unread: _Unread
) -> Mapping[str, Refusal | None]:
    """Of campaigns that are not on the cluster, or not as git has them."""
    known = [status for status in asked if status.name in repo.campaigns]
    there = Counter(label(job, CAMPAIGN_LABEL) for job in jobs)
    missing = {status.name for status in known if _lacks_jobs(status, there[status.name])}
    drifted = {status.name for status in known if status.drift and not status.phase.is_end}
    if not missing | drifted:
        return {}
    # Imported where it is needed: it renders, which a look at what is as git has it never does.
    from converter.explain.refusals import read_refusals

    try:
        return read_refusals(client, repo, missing | drifted, missing, CONCURRENCY)
    except (ApiError, ClusterUnavailable) as error:
        unread.note("what apply would do", error)
        return {}


def _lacks_jobs(status: Status, there: int) -> bool:
    """All of them, or those of some parts, which may have ended and been reaped as well."""
    if status.phase is Phase.MISSING:
        return True
    return status.parts > there and not status.phase.is_end
