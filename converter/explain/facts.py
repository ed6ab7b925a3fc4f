"""What is known of one campaign, for the rules to look at."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from converter.cluster.objects import Object, annotation, is_being_deleted, label, name, uid
from converter.manifest import Role
from converter.model import EMPTY, Campaign, Pipeline, Repo, Settings
from converter.names import CAMPAIGN_LABEL, INPUTS_ANNOTATION
from converter.observe.snapshot import Snapshot
from converter.observe.status import Status, of_job
from converter.reconcile.live import in_role, workloads_of
from converter.reconcile.queue_chain import QueueChain
from converter.reconcile.record import Record
from converter.render.inputs import inputs_digest
from converter.render.recipe import recipe_of
from converter.split import split


@dataclass(frozen=True, slots=True)
class Facts:
    """`campaign` and `pipeline` are None for what is on the cluster only. `jobs` are its Jobs by
    name, `workloads` all of theirs, those on their way out included, and `records` how Jobs that
    are gone have ended, by the Job's name. `owners` are the Jobs of all campaigns, by their uid and
    by the names of their Workloads.
    """

    status: Status
    settings: Settings
    snapshot: Snapshot
    campaign: Campaign | None = None
    pipeline: Pipeline | None = None
    jobs: tuple[Object, ...] = ()
    workloads: tuple[Object, ...] = ()
    records: Mapping[str, Record] = field(default_factory=lambda: EMPTY)
    owners: Mapping[str, Object] = field(default_factory=lambda: EMPTY)

    @property
    def file(self) -> str:
        """The campaign's file."""
        return f"campaigns/{self.status.name}.yaml"

    @property
    def pipeline_file(self) -> str:
        """The file of the pipeline that it runs, or would run."""
        return f"pipelines/{self.status.pipeline}.yaml"

    @property
    def size(self) -> str:
        """The size of its pods, as people find it in the files."""
        if self.status.size:
            return f"size {self.status.size} in converter.yaml"
        return f"a size that {self.pipeline_file} names"

    def parts(self) -> tuple["Part", ...]:
        """A part for each of its Jobs."""
        return tuple(_part(job, self) for job in self.jobs)

    def volume_ids(self, job: Object) -> tuple[str, ...]:
        """The volumes of a Job by index, from git; none where git no longer says what it runs."""
        if self.campaign is None or self.pipeline is None:
            return ()
        recipe = recipe_of(self.pipeline, self.settings)
        for part in split(self.campaign, self.settings):
            if part.job == name(job):
                same = annotation(job, INPUTS_ANNOTATION) == inputs_digest(
                    part, recipe, self.settings
                )
                return tuple(volume.id for volume in part.volumes) if same else ()
        return ()


@dataclass(frozen=True, slots=True)
class Part:
    """One Job of a campaign: its own status, its Workloads but for those on their way out, and its
    pods that have not succeeded.
    """

    facts: Facts
    job: Object
    status: Status
    workloads: tuple[Object, ...]
    pods: tuple[Object, ...]

    @property
    def name(self) -> str:
        """The Job's name."""
        return name(self.job)

    @property
    def chain(self) -> QueueChain | None:
        """What was read of the queue that it is in; git may name another one by now."""
        chain = self.facts.snapshot.chain
        return chain if chain and chain.queue == self.status.queue else None


def facts_of(repo: Repo, snapshot: Snapshot, found: Iterable[Status]) -> dict[str, Facts]:
    """The facts of each status, by campaign. `repo` has its name."""
    jobs = _jobs_by_campaign(snapshot, repo.settings.repository)
    records = _records_by_campaign(snapshot, repo.settings.repository)
    owners = _owners(snapshot)
    return {
        status.name: Facts(
            status=status,
            settings=repo.settings,
            snapshot=snapshot,
            campaign=repo.campaigns.get(status.name),
            pipeline=repo.pipelines.get(status.pipeline),
            jobs=jobs.get(status.name, ()),
            workloads=tuple(
                workload
                for job in jobs.get(status.name, ())
                for workload in workloads_of(job, snapshot.live.workloads)
            ),
            records=records.get(status.name, EMPTY),
            owners=owners,
        )
        for status in found
    }


def _part(job: Object, facts: Facts) -> Part:
    snapshot = facts.snapshot
    found = workloads_of(job, snapshot.live.workloads)
    return Part(
        facts=facts,
        job=job,
        status=of_job(job, found, snapshot.places.found, facts.settings.backend, snapshot.now),
        workloads=tuple(workload for workload in found if not is_being_deleted(workload)),
        pods=snapshot.pods.get(name(job), ()),
    )


def _jobs_by_campaign(snapshot: Snapshot, repository: str) -> Mapping[str, tuple[Object, ...]]:
    found: dict[str, tuple[Object, ...]] = {}
    jobs = in_role(snapshot.live.jobs.values(), Role.CAMPAIGN, repository)
    for job in sorted(jobs, key=_by_length):
        campaign = label(job, CAMPAIGN_LABEL)
        found[campaign] = (*found.get(campaign, ()), job)
    return found


def _owners(snapshot: Snapshot) -> Mapping[str, Object]:
    found = {uid(job): job for job in snapshot.live.jobs.values()}
    for job_uid, workloads in snapshot.live.workloads.items():
        if job_uid in found:
            found.update((name(workload), found[job_uid]) for workload in workloads)
    return found


def _by_length(job: Object) -> tuple[int, str]:
    """Part 2 before part 10."""
    return len(name(job)), name(job)


def _records_by_campaign(snapshot: Snapshot, repository: str) -> dict[str, dict[str, Record]]:
    found: dict[str, dict[str, Record]] = {}
    for configmap in in_role(snapshot.live.configmaps.values(), Role.STATUS, repository):
        job = name(configmap).removeprefix("campaign-").removesuffix("-status")
        try:
            record = Record.from_data(configmap.get("data") or {})
        except ValueError:
            # apply names a record that cannot be read.
            continue
        found.setdefault(label(configmap, CAMPAIGN_LABEL), {})[job] = record
    return found
