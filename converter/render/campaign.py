"""The objects of one campaign: for each part a ConfigMap of its volumes and an Indexed Job."""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from converter.layout import GATE_MARGIN
from converter.manifest import Manifest, Role
from converter.model import Campaign, Settings
from converter.names import (
    IMAGE_ANNOTATION,
    INPUTS_ANNOTATION,
    SUSPEND_ANNOTATION,
    VOLUMES_ANNOTATION,
    WINDOW_ANNOTATION,
    campaign_configmap,
)
from converter.queues import queue_for
from converter.render.environment import campaign_environment, literal
from converter.render.inputs import inputs_digest, volumes_digest
from converter.render.metadata import object_labels, object_metadata
from converter.render.pod import (
    campaign_mounts,
    data_mount,
    resource_requirements,
    scheduling,
    volume_mounts_of,
    volumes_of,
)
from converter.render.recipe import Recipe
from converter.render.templates import render_template
from converter.resources import manifest_template
from converter.split import Part, split
from converter.volumes import volumes_data


def campaign_manifests(
    campaign: Campaign, recipe: Recipe, settings: Settings
) -> Iterator[Manifest]:
    """Of each part the ConfigMap first: the Job's pods mount it."""
    for part in split(campaign, settings):
        volumes = _configmap(part, campaign, recipe, settings)
        yield Manifest(Role.VOLUMES, volumes, recipe.pipeline, campaign.name)
        job = _job(part, campaign, recipe, settings)
        yield Manifest(
            Role.CAMPAIGN, job, recipe.pipeline, campaign.name, campaign.suspend, recipe.size
        )


def _configmap(
    part: Part, campaign: Campaign, recipe: Recipe, settings: Settings
) -> dict[str, Any]:
    labels = object_labels(Role.VOLUMES, campaign.pipeline, campaign.name)
    annotations = {VOLUMES_ANNOTATION: volumes_digest(part.volumes), IMAGE_ANNOTATION: recipe.image}
    return render_template(
        "campaign-configmap.yaml.j2",
        metadata=object_metadata(campaign_configmap(part.job), settings, labels, annotations),
        data=volumes_data(part.volumes, settings),
    )


def _job(part: Part, campaign: Campaign, recipe: Recipe, settings: Settings) -> dict[str, Any]:
    mounts = campaign_mounts(part.job, recipe, settings)
    queue = queue_for(settings.backend)
    return render_template(
        "campaign-job.yaml.j2",
        metadata=_job_metadata(part, campaign, recipe, settings),
        suspended=queue.starts_suspended(campaign),
        completions=len(part.volumes),
        parallelism=part.window,
        backoff_limit_per_index=settings.backoff_limit_per_index,
        ttl_seconds_after_finished=recipe.ttl_seconds_after_finished,
        max_seconds=recipe.max_seconds,
        pod_labels=_sorted(object_labels(Role.CAMPAIGN, recipe.pipeline, campaign.name)),
        scheduling=scheduling(recipe, settings, queue.pod_priority_class(campaign)),
        volumes=volumes_of(mounts),
        image=recipe.image,
        gate=_gate(recipe, settings),
        command=_shell("launcher", *recipe.command, *recipe.args),
        env=campaign_environment(campaign, recipe, settings),
        resources=resource_requirements(recipe.resources),
        volume_mounts=volume_mounts_of(mounts),
    )


def _job_metadata(
    part: Part, campaign: Campaign, recipe: Recipe, settings: Settings
) -> dict[str, Any]:
    queued = queue_for(settings.backend).job_metadata(
        _with_useful_minimum(campaign, min(part.window, len(part.volumes))),
        settings,
        recipe.max_execution_seconds,
    )
    annotations = {
        **queued.annotations,
        INPUTS_ANNOTATION: inputs_digest(part, recipe, settings),
        WINDOW_ANNOTATION: str(part.window),
    }
    if campaign.suspend:
        annotations[SUSPEND_ANNOTATION] = "true"
    labels = object_labels(Role.CAMPAIGN, recipe.pipeline, campaign.name)
    return object_metadata(part.job, settings, {**labels, **queued.labels}, annotations)


def _with_useful_minimum(campaign: Campaign, pods: int) -> Campaign:
    """Without a `min_window` that leaves no choice: Kueue refuses one that is not below `pods`."""
    if campaign.min_window is None or campaign.min_window < pods:
        return campaign
    return replace(campaign, min_window=None)


def _gate(recipe: Recipe, settings: Settings) -> dict[str, Any] | None:
    """The init container that waits for the warm-up."""
    if recipe.warmup is None:
        return None
    seconds = min(settings.warmup_wait_seconds, max(recipe.max_seconds - GATE_MARGIN, 0))
    return {
        "command": _shell("warmup-wait", str(seconds)),
        "pipeline": recipe.pipeline,
        "volume_mounts": volume_mounts_of([data_mount(recipe, settings)]),
    }


def _shell(script: str, *arguments: str) -> list[str]:
    """The script ``<script>.sh`` with its arguments, none of which the shell reads as text."""
    text = manifest_template(f"{script}.sh")
    return [literal(word) for word in ("/bin/sh", "-c", text, script, *arguments)]


def _sorted(labels: dict[str, str]) -> dict[str, str]:
    return dict(sorted(labels.items()))
