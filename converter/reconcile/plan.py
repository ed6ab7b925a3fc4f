"""What an apply is going to do, as a value: `plan(manifests, live, ...) -> Plan`.

Pure. Nothing here sends a request, so that every rule is a table test; `execute` carries a plan
out.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from converter.cluster.fields import matches
from converter.cluster.objects import (
    Object,
    annotation,
    is_ours,
    job_end,
    label,
    name,
    true_condition,
    uid,
)
from converter.manifest import Manifest, Role
from converter.model import EMPTY
from converter.names import (
    CAMPAIGN_LABEL,
    FIELD_MANAGER,
    JOB_UID_ANNOTATION,
    PIPELINE_LABEL,
    RECIPE_ANNOTATION,
    ROLE_LABEL,
)
from converter.queues.base import QueueSystem
from converter.reconcile import rules
from converter.reconcile.live import Live, by_campaign
from converter.reconcile.provenance import with_provenance_of
from converter.reconcile.settled import settled_job, settled_volumes


class Verb(StrEnum):
    """What happens to one object; the value is the word that a report prints."""

    CREATE = "created"
    UPDATE = "configured"
    REPLACE = "replaced"
    UNCHANGED = "unchanged"


@dataclass(frozen=True, slots=True)
class Step:
    """One object: what happens to it and, unless it is unchanged, what is sent.

    `handoff` is applied first, as the hand-off manager. `live_uid` is the uid of the object that
    is live now, empty where there is none.
    """

    manifest: Manifest
    verb: Verb
    body: Object
    handoff: Object | None = None
    live_uid: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """Objects that are sent in order; the first refusal stops the rest of the unit.

    `name` is a pipeline's id, or the name of a campaign's Job.
    """

    name: str
    pipeline: str
    steps: tuple[Step, ...]
    campaign: str = ""


@dataclass(frozen=True, slots=True)
class HeldBack:
    """A pipeline or campaign of which nothing is sent, and why."""

    name: str
    kind: str
    reason: str


@dataclass(frozen=True, slots=True)
class PauseWish:
    """What git says of one campaign Job: whether its Workload may be active."""

    job: str
    campaign: str
    active: bool


@dataclass(frozen=True, slots=True)
class OutOfReach:
    """A Job that git wants paused but that somebody else made, and who that is."""

    job: str
    campaign: str
    reason: str


@dataclass(frozen=True, slots=True)
class Target:
    """One live object to delete; only the object with this uid is meant.

    `campaign` is the campaign that it belongs to, empty for a pipeline's.
    """

    kind: str
    name: str
    uid: str
    campaign: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """Everything one apply does, in the order in which it does it.

    `finished` names campaigns that have ended and are left alone. `out_of_reach` are Jobs that git
    wants paused and that are not ours to pause. `unwanted` is what this render did not produce:
    deleted with prune, reported without.
    """

    pipelines: tuple[Unit, ...] = ()
    campaigns: tuple[Unit, ...] = ()
    held_back: tuple[HeldBack, ...] = ()
    finished: tuple[str, ...] = ()
    pauses: tuple[PauseWish, ...] = ()
    out_of_reach: tuple[OutOfReach, ...] = ()
    unwanted: tuple[Target, ...] = ()

    @property
    def unwanted_campaigns(self) -> tuple[str, ...]:
        """The campaigns that a prune would remove, those with nothing left but a record too."""
        return tuple(sorted({target.campaign for target in self.unwanted} - {""}))

    @property
    def uncancelled(self) -> tuple[str, ...]:
        """The campaigns that have a Job though git no longer has them."""
        names = {target.campaign for target in self.unwanted if target.kind == "Job"}
        return tuple(sorted(names - {""}))


def plan(
    manifests: Sequence[Manifest],
    live: Live,
    queue: QueueSystem,
    repository: str,
    objections: Mapping[str, str] = EMPTY,
) -> Plan:
    """Compare what was rendered with what is live and decide about every object.

    `repository` is this repository's name as it stands in the rendered annotations. A fault of one
    campaign holds back that campaign alone, a fault of a pipeline that pipeline and its campaigns.
    `objections` says of campaigns that are to be admitted why they never could be.
    """
    draft = _Draft()
    present = by_campaign(live, repository)
    for pipeline, objects in _grouped(manifests, lambda m: "" if m.campaign else m.pipeline):
        reason = rules.hold_back_pipeline(objects, live, repository)
        if reason:
            draft.hold_back("pipeline", pipeline, reason)
            draft.held_pipelines.add(pipeline)
        else:
            steps = tuple(_step(manifest, live) for manifest in objects)
            draft.pipelines.append(Unit(pipeline, pipeline, steps))
    for campaign, objects in _grouped(manifests, lambda m: m.campaign):
        found = present.get(campaign, [])
        objection = objections.get(campaign, "")
        _plan_campaign(draft, campaign, _parts(objects), live, queue, repository, found, objection)
    return Plan(
        pipelines=tuple(draft.pipelines),
        campaigns=tuple(draft.campaigns),
        held_back=tuple(draft.held_back),
        finished=tuple(draft.finished),
        pauses=tuple(draft.pauses),
        out_of_reach=tuple(draft.out_of_reach),
        unwanted=tuple(_unwanted(manifests, live, repository, present)),
    )


@dataclass(slots=True)
class _Draft:
    pipelines: list[Unit] = field(default_factory=list)
    campaigns: list[Unit] = field(default_factory=list)
    held_back: list[HeldBack] = field(default_factory=list)
    finished: list[str] = field(default_factory=list)
    pauses: list[PauseWish] = field(default_factory=list)
    out_of_reach: list[OutOfReach] = field(default_factory=list)
    held_pipelines: set[str] = field(default_factory=set)

    def hold_back(self, kind: str, name: str, reason: str) -> None:
        self.held_back.append(HeldBack(name, kind, reason))


def _plan_campaign(
    draft: _Draft,
    campaign: str,
    parts: Sequence[rules.Part],
    live: Live,
    queue: QueueSystem,
    repository: str,
    present: Sequence[Object],
    objection: str,
) -> None:
    reason = rules.hold_back_campaign(parts, live, repository, present)
    pipeline = parts[0].job.pipeline
    if not reason and pipeline in draft.held_pipelines:
        reason = f"its pipeline {pipeline} is held back"
    reason = reason or objection
    suspended = parts[0].job.suspended
    # A pause holds for what runs, whatever else is wrong; a resume waits until nothing is.
    if suspended or not reason:
        jobs = _jobs_to_sync(parts, live, repository, present)
        draft.pauses.extend(PauseWish(job, campaign, not suspended) for job in jobs)
    if suspended:
        draft.out_of_reach.extend(
            OutOfReach(job, campaign, why)
            for job, why in rules.out_of_reach(parts, live, repository)
        )
    if reason:
        draft.hold_back("campaign", campaign, reason)
        return
    open_parts = [part for part in parts if not rules.is_finished(part, live)]
    if not open_parts:
        draft.finished.append(campaign)
    draft.campaigns.extend(_campaign_unit(part, live, queue) for part in open_parts)


def _jobs_to_sync(
    parts: Sequence[rules.Part], live: Live, repository: str, present: Sequence[Object]
) -> list[str]:
    """The campaign's Jobs by label and by name: either may have been edited on the cluster."""
    labelled = {name(each) for each in present if label(each, ROLE_LABEL) == Role.CAMPAIGN}
    found = {part.job.name: live.jobs.get(part.job.name) for part in parts}
    ours = {job for job, body in found.items() if body is None or is_ours(body, repository)}
    return sorted(labelled | ours)


def _campaign_unit(part: rules.Part, live: Live, queue: QueueSystem) -> Unit:
    """The Job before its ConfigMap, so that a ConfigMap proves that its Job was created.

    Without that proof a Job that ran for weeks and was reaped before any record was written could
    not be told from one that never existed, and would run again.
    """
    live_job = live.jobs.get(part.job.name)
    body = part.job.body if live_job is None else settled_job(part.job.body, live_job)
    prepared = queue.prepare(body, live_job)
    job_step = _compare(part.job, prepared.body, live_job, prepared.handoff)
    live_volumes = live.configmaps.get(part.volumes.name)
    volumes = with_provenance_of(settled_volumes(part.volumes.body, live_volumes), live_volumes)
    volumes_step = _compare(part.volumes, volumes, live_volumes)
    if live_job and live_volumes and annotation(live_volumes, JOB_UID_ANNOTATION) != uid(live_job):
        volumes_step = Step(part.volumes, Verb.UPDATE, volumes, live_uid=uid(live_volumes))
    return Unit(part.job.name, part.job.pipeline, (job_step, volumes_step), part.job.campaign)


def _step(manifest: Manifest, live: Live) -> Step:
    present = live.find(manifest.kind, manifest.name)
    if manifest.role is Role.WARMUP and present is not None:
        return _warmup_step(manifest, present)
    return _compare(manifest, manifest.body, present)


def _warmup_step(manifest: Manifest, present: Object) -> Step:
    """A warm-up whose recipe changed, or that failed, is made anew unless it is running.

    A Job's template is immutable, and one that failed never runs again by itself.
    """
    same_recipe = _recipe(manifest.body) == _recipe(present)
    failed = true_condition(present, "Failed") is not None
    running = job_end(present) is None and bool((present.get("status") or {}).get("active"))
    if running or (same_recipe and not failed):
        return Step(manifest, Verb.UNCHANGED, manifest.body, live_uid=uid(present))
    return Step(manifest, Verb.REPLACE, manifest.body, live_uid=uid(present))


def _recipe(job: Object) -> str:
    template: Mapping[str, Any] = job["spec"]["template"]
    return annotation(template, RECIPE_ANNOTATION)


def _compare(
    manifest: Manifest, body: Object, present: Object | None, handoff: Object | None = None
) -> Step:
    if present is None:
        return Step(manifest, Verb.CREATE, body)
    same = handoff is None and matches(present, body, FIELD_MANAGER)
    verb = Verb.UNCHANGED if same else Verb.UPDATE
    return Step(manifest, verb, body, handoff, uid(present))


def _parts(manifests: Sequence[Manifest]) -> list[rules.Part]:
    volumes = [manifest for manifest in manifests if manifest.role is Role.VOLUMES]
    jobs = [manifest for manifest in manifests if manifest.role is Role.CAMPAIGN]
    return [rules.Part(job, configmap) for job, configmap in zip(jobs, volumes, strict=True)]


def _grouped(
    manifests: Sequence[Manifest], key: Callable[[Manifest], str]
) -> Iterator[tuple[str, tuple[Manifest, ...]]]:
    groups: dict[str, list[Manifest]] = {}
    for manifest in manifests:
        if name := key(manifest):
            groups.setdefault(name, []).append(manifest)
    for name, members in groups.items():
        yield name, tuple(members)


def _unwanted(
    manifests: Sequence[Manifest],
    live: Live,
    repository: str,
    present: Mapping[str, Sequence[Object]],
) -> Iterator[Target]:
    wanted = {(manifest.kind, manifest.name) for manifest in manifests}
    kept = {manifest.campaign for manifest in manifests if manifest.campaign}
    in_use = {
        label(job, PIPELINE_LABEL)
        for campaign in kept
        for job in present.get(campaign, ())
        if label(job, ROLE_LABEL) == Role.CAMPAIGN and job_end(job) is None
    }
    for kind, objects in (("Job", live.jobs), ("ConfigMap", live.configmaps)):
        for object_name, found in objects.items():
            if _belongs_to(found, kept, in_use):
                continue
            if (kind, object_name) not in wanted and is_ours(found, repository):
                yield Target(kind, object_name, uid(found), label(found, CAMPAIGN_LABEL))


def _belongs_to(present: Object, campaigns: Container[str], pipelines: Container[str]) -> bool:
    """Whether an object is of a campaign that is in git, or of a pipeline that such a one runs.

    A campaign whose files changed in a way that holds it back runs on as it was applied, and its
    record is all that keeps one that has finished from running again.
    """
    if campaign := label(present, CAMPAIGN_LABEL):
        return campaign in campaigns
    return label(present, PIPELINE_LABEL) in pipelines
