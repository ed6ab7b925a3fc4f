"""Decides what an apply does: `plan(manifests, live, ...) -> Plan`.

Pure. Nothing here sends a request, so that every rule is a table test.
"""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence

from converter.cluster.fields import matches
from converter.cluster.objects import (
    Object,
    annotation,
    is_ours,
    job_end,
    label,
    name,
    uid,
)
from converter.manifest import Manifest, Role
from converter.model import EMPTY
from converter.names import (
    CAMPAIGN_LABEL,
    FIELD_MANAGER,
    JOB_UID_ANNOTATION,
    PIPELINE_LABEL,
    ROLE_LABEL,
)
from converter.queues.base import QueueSystem
from converter.reconcile import rules, warmup
from converter.reconcile.claims import Claims
from converter.reconcile.live import Live, by_campaign
from converter.reconcile.plan import (
    HeldBack,
    OutOfReach,
    PauseWish,
    Plan,
    Step,
    Target,
    Unit,
    Verb,
)
from converter.reconcile.provenance import with_provenance_of
from converter.reconcile.prune import hold_in_words, with_holds
from converter.reconcile.settled import settled_job, settled_volumes


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
    planner = _Planner(manifests, live, queue, repository, objections)
    for pipeline, objects in _grouped(manifests, lambda m: "" if m.campaign else m.pipeline):
        planner.pipeline(pipeline, objects)
    for campaign, objects in _grouped(manifests, lambda m: m.campaign):
        planner.campaign(campaign, _parts(objects))
    intended = Plan(
        pipelines=tuple(planner.pipelines),
        campaigns=tuple(planner.campaigns),
        held_back=tuple(planner.held_back),
        finished=tuple(planner.finished),
        pauses=tuple(planner.pauses),
        out_of_reach=tuple(planner.out_of_reach),
        unwanted=tuple(_unwanted(manifests, live, repository, planner.present)),
    )
    return with_holds(intended, live)


class _Planner:
    """A plan in the making: what is known, and what has been decided so far."""

    def __init__(
        self,
        manifests: Sequence[Manifest],
        live: Live,
        queue: QueueSystem,
        repository: str,
        objections: Mapping[str, str],
    ) -> None:
        self.live = live
        self.queue = queue
        self.repository = repository
        self.objections = objections
        self.present = by_campaign(live, repository)
        self.jobs = {each.name for each in manifests if each.role is Role.CAMPAIGN}
        volumes = {each.name: each for each in manifests if each.role is Role.VOLUMES}
        self.claims = Claims(live, repository, volumes)
        self.pipelines: list[Unit] = []
        self.campaigns: list[Unit] = []
        self.held_back: list[HeldBack] = []
        self.finished: list[str] = []
        self.pauses: list[PauseWish] = []
        self.out_of_reach: list[OutOfReach] = []
        self.held_pipelines: set[str] = set()

    def pipeline(self, pipeline: str, objects: Sequence[Manifest]) -> None:
        """Decide about the objects of one pipeline."""
        reason = rules.hold_back_pipeline(objects, self.live, self.repository)
        if reason:
            self.held_back.append(HeldBack(pipeline, "pipeline", reason))
            self.held_pipelines.add(pipeline)
            return
        steps = tuple(_step(manifest, self.live) for manifest in objects)
        self.pipelines.append(Unit(pipeline, pipeline, steps))

    def campaign(self, campaign: str, parts: Sequence[rules.Part]) -> None:
        """Decide about one campaign."""
        reason = self._objection(campaign, parts)
        suspended = parts[0].job.suspended
        # A pause holds for what runs, whatever else is wrong; a resume waits until nothing is.
        if suspended or not reason:
            jobs = self._jobs_to_sync(campaign, parts)
            self.pauses.extend(PauseWish(job, campaign, not suspended) for job in jobs)
        if suspended:
            self.out_of_reach.extend(
                OutOfReach(job, campaign, why)
                for job, why in rules.out_of_reach(parts, self.live, self.repository)
            )
        if reason:
            self.held_back.append(HeldBack(campaign, "campaign", reason))
            return
        unfinished = self._unfinished(parts)
        if not unfinished:
            self.finished.append(campaign)
        self.campaigns.extend(_campaign_unit(part, self.live, self.queue) for part in unfinished)

    def _objection(self, campaign: str, parts: Sequence[rules.Part]) -> str:
        """The first reason to hold a campaign back; only what goes out lays claim to volumes."""
        present = self.present.get(campaign, [])
        pipeline = parts[0].job.pipeline
        if reason := rules.hold_back_campaign(parts, self.live, self.repository, present):
            return reason
        unfinished = self._unfinished(parts)
        if unfinished and pipeline in self.held_pipelines:
            return f"its pipeline {pipeline} is held back"
        if reason := self.objections.get(campaign, ""):
            return reason
        # The volumes of a Job that is there are its own, once its ConfigMap says so.
        new = [
            part.volumes
            for part in unfinished
            if part.job.name not in self.live.jobs or part.volumes.name not in self.live.configmaps
        ]
        return self.claims.objection(campaign, new)

    def _unfinished(self, parts: Sequence[rules.Part]) -> list[rules.Part]:
        return [part for part in parts if not rules.is_finished(part, self.live)]

    def _jobs_to_sync(self, campaign: str, parts: Sequence[rules.Part]) -> list[str]:
        """The campaign's Jobs by label and by name: either may have been edited on the cluster.

        A Job that has another campaign's name is that campaign's, whatever its label says.
        """
        present = self.present.get(campaign, ())
        labelled = {name(each) for each in present if label(each, ROLE_LABEL) == Role.CAMPAIGN}
        found = {part.job.name: self.live.jobs.get(part.job.name) for part in parts}
        ours = {
            job for job, body in found.items() if body is None or is_ours(body, self.repository)
        }
        return sorted((labelled - self.jobs) | ours)


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
        return _warmup_step(manifest, present, live)
    return _compare(manifest, manifest.body, present)


def _warmup_step(manifest: Manifest, present: Object, live: Live) -> Step:
    note = warmup.hindrance(manifest.body, present)
    if warmup.is_outdated(manifest.body, present):
        hold = hold_in_words(present, live)
        if not hold:
            return Step(manifest, Verb.REPLACE, manifest.body, live_uid=uid(present))
        note = f"it is not made anew: {hold}"
    return Step(manifest, Verb.UNCHANGED, manifest.body, live_uid=uid(present), note=note)


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
                of = (label(found, CAMPAIGN_LABEL), label(found, PIPELINE_LABEL))
                yield Target(kind, object_name, uid(found), *of)


def _belongs_to(present: Object, campaigns: Container[str], pipelines: Container[str]) -> bool:
    """Whether an object is of a campaign that is in git, or of a pipeline that such a one runs.

    A campaign whose files changed in a way that holds it back runs on as it was applied, and its
    record is all that keeps one that has finished from running again.
    """
    if campaign := label(present, CAMPAIGN_LABEL):
        return campaign in campaigns
    return label(present, PIPELINE_LABEL) in pipelines
