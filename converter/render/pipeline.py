"""The objects of one pipeline: the ConfigMap of its steps and, with a warm-up, a Job."""

from collections.abc import Iterator
from typing import Any

from converter.manifest import Manifest, Role
from converter.model import Settings, Warmup
from converter.names import RECIPE_ANNOTATION, pipeline_configmap, warmup_job
from converter.render.environment import literal, warmup_environment
from converter.render.metadata import object_labels, object_metadata
from converter.render.pod import scheduling, volume_mounts_of, volumes_of, warmup_mounts
from converter.render.recipe import Recipe, steps_document
from converter.render.templates import render_template
from converter.resources import manifest_template


def pipeline_manifests(recipe: Recipe, settings: Settings) -> Iterator[Manifest]:
    """The ConfigMap first: the warm-up's pod mounts it."""
    yield Manifest(Role.PIPELINE, _configmap(recipe, settings), recipe.pipeline)
    if recipe.warmup is not None:
        body = _warmup_job(recipe, recipe.warmup, settings)
        yield Manifest(Role.WARMUP, body, recipe.pipeline)


def _configmap(recipe: Recipe, settings: Settings) -> dict[str, Any]:
    return render_template(
        "pipeline-configmap.yaml.j2",
        metadata=object_metadata(
            pipeline_configmap(recipe.pipeline),
            settings,
            object_labels(Role.PIPELINE, recipe.pipeline),
            {RECIPE_ANNOTATION: recipe.sha256},
        ),
        document=steps_document(recipe),
    )


def _warmup_job(recipe: Recipe, warmup: Warmup, settings: Settings) -> dict[str, Any]:
    mounts = warmup_mounts(recipe, settings)
    labels = object_labels(Role.WARMUP, recipe.pipeline)
    command = (*warmup.command, *warmup.args)
    script = manifest_template("warmup.sh")
    return render_template(
        "warmup-job.yaml.j2",
        metadata=object_metadata(warmup_job(recipe.pipeline), settings, labels, {}),
        pod_labels=dict(sorted(labels.items())),
        # apply makes the Job anew when this differs.
        pod_annotations={RECIPE_ANNOTATION: recipe.warmup_sha256},
        scheduling=scheduling(recipe, settings),
        volumes=volumes_of(mounts),
        image=recipe.image,
        command=[literal(text) for text in ("/bin/sh", "-c", script, "warmup", *command)],
        env=warmup_environment(recipe, settings),
        volume_mounts=volume_mounts_of(mounts),
    )
