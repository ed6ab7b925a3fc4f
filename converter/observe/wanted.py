"""What git says of a campaign, as far as it can be seen on the Job that an apply made of it.

Nothing is rendered for it: digests and numbers say whether a Job is still the one that git wants.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from converter.cluster.objects import Object, annotation, label
from converter.model import Campaign, Repo
from converter.names import (
    INPUTS_ANNOTATION,
    KUEUE_MIN_PARALLELISM_ANNOTATION,
    PIPELINE_LABEL,
    SUSPEND_ANNOTATION,
    WINDOW_ANNOTATION,
)
from converter.queues import QueueSystem
from converter.render.inputs import inputs_digest
from converter.render.recipe import Recipe, recipe_of
from converter.split import split

NOT_PAUSED = "git pauses it, and no apply has"
NOT_RESUMED = "git lets it run, and no apply has resumed it"


@dataclass(frozen=True, slots=True)
class WantedPart:
    """One Job or job array: how many volumes it has, the digest of all that its pods or tasks are
    made from, and how many of them run at once.
    """

    volumes: int
    inputs: str
    window: int


@dataclass(frozen=True, slots=True)
class Wanted:
    """One campaign, `parts` by the name of their Job."""

    parts: Mapping[str, WantedPart]
    pipeline: str
    size: str
    queue: str
    priority: str
    suspended: bool

    @property
    def total(self) -> int:
        """The number of its volumes."""
        return sum(part.volumes for part in self.parts.values())


def wanted_of(repo: Repo) -> dict[str, Wanted]:
    """Every campaign of a repository, by name."""
    recipes = {
        pipeline.id: recipe_of(pipeline, repo.settings) for pipeline in repo.pipelines.values()
    }
    return {
        campaign.name: _wanted(campaign, recipes[campaign.pipeline], repo)
        for campaign in repo.campaigns.values()
    }


def _wanted(campaign: Campaign, recipe: Recipe, repo: Repo) -> Wanted:
    settings = repo.settings
    parts = {
        part.job: WantedPart(len(part.volumes), inputs_digest(part, recipe, settings), part.window)
        for part in split(campaign, settings)
    }
    return Wanted(
        parts=parts,
        pipeline=campaign.pipeline,
        size=recipe.size,
        queue=settings.queue,
        priority=campaign.priority,
        suspended=campaign.suspend,
    )


def drift(wanted: Wanted, job_name: str, job: Object, system: QueueSystem) -> str:
    """In which way a Job that has not ended is not as git has it; empty where it is."""
    part = wanted.parts.get(job_name)
    if part is None:
        return "git has other volumes than those it runs"
    if (pipeline := label(job, PIPELINE_LABEL)) != wanted.pipeline:
        return f"it runs pipeline {pipeline}, and git says {wanted.pipeline}"
    if (volumes := int(job["spec"].get("completions") or 0)) != part.volumes:
        return f"it has {volumes} volumes, and git has {part.volumes}"
    if annotation(job, INPUTS_ANNOTATION) != part.inputs:
        return "its volumes, pipeline, size or settings changed in git after it was applied"
    paused = annotation(job, SUSPEND_ANNOTATION) == "true"
    if paused is not wanted.suspended:
        return NOT_PAUSED if wanted.suspended else NOT_RESUMED
    if (window := annotation(job, WINDOW_ANNOTATION)) != str(part.window):
        return f"its window is {window}, and git says {part.window}"
    if (pods := _pods_at_once(job, part.window)) != part.window:
        return f"its Job's parallelism is {pods}, and git says window {part.window}"
    if (priority := system.priority_of(job)) != wanted.priority:
        return f"its priority is {priority or 'none'}, and git says {wanted.priority or 'none'}"
    queue = system.queue_of(job)
    if queue not in ("", wanted.queue):
        return f"it is in queue {queue}, and git says {wanted.queue}"
    return ""


def _pods_at_once(job: Object, wanted: int) -> int:
    """What an edit by hand changed as well; with a minimum the number is Kueue's."""
    if annotation(job, KUEUE_MIN_PARALLELISM_ANNOTATION):
        return wanted
    return int(job["spec"].get("parallelism") or 0)
