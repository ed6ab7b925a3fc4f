"""What a campaign says and what its pods are made from, each as one digest.

The API server lets nobody change the pods of a live Job. apply compares this digest with the one on
the live Job: the same one means that the files still say what the Job was made from, whatever a
newer release would render; another one means that the files have moved on without the Job.

Left out is what may change on a live Job (suspend, window, priority, time to live, queue), and what
only this program decides, such as its scripts and security contexts.
"""

from collections.abc import Iterable
from typing import Any

from converter.model import Settings, Volume
from converter.render.digest import digest
from converter.render.recipe import Recipe
from converter.render.sbatch import nodes_of
from converter.split import Part
from converter.volumes import sources_of


def inputs_digest(part: Part, recipe: Recipe, settings: Settings) -> str:
    """sha256, in hex, of what the files say about the pods of one part."""
    return digest(
        recipe=recipe.sha256,
        # Names the directory of the cache that the pods wait for; empty without a warm-up.
        warmup=recipe.warmup_sha256,
        volumes=[(volume.id, sources_of(volume, settings)) for volume in part.volumes],
        volume_env={volume.id: volume.env for volume in part.volumes if volume.env},
        env=recipe.env,
        resources=_resources(recipe),
        node_selector=recipe.node_selector,
        tolerations=settings.tolerations,
        runtime_class=settings.runtime_class,
        max_seconds=recipe.max_seconds,
        backoff_limit_per_index=settings.backoff_limit_per_index,
        warmup_wait_seconds=settings.warmup_wait_seconds if recipe.warmup else None,
        data_pvc=settings.data_pvc,
        secrets=settings.secrets,
        s3_secret=settings.s3_secret,
        results_url=settings.results_url,
        manifest_max_bytes=settings.manifest_max_bytes,
        fetch_max_bytes=settings.fetch_max_bytes,
        image_cache=settings.image_cache,
        slurm=_slurm(recipe, settings),
    )


def volumes_digest(volumes: Iterable[Volume]) -> str:
    """sha256, in hex, of a list of volumes as the campaign's file has it.

    Neither a release that writes ``volumes.txt`` in another way nor another ``source_template``
    makes it a different list.
    """
    return digest(
        volumes=[
            [volume.id, volume.kind.value, volume.source, list(volume.images), dict(volume.env)]
            for volume in volumes
        ]
    )


def _slurm(recipe: Recipe, settings: Settings) -> dict[str, Any] | None:
    """Where jobs run and what in; left out of the digest with any other backend."""
    slurm = settings.slurm
    if slurm is None:
        return None
    nodes = nodes_of(recipe, settings, slurm)
    return {
        "container": slurm.container,
        "directory": slurm.directory,
        "partition": nodes.partition,
        "constraint": nodes.constraint,
        "account": slurm.account,
    }


def _resources(recipe: Recipe) -> dict[str, Any]:
    """By name, so that the digest does not hang on how `Resources` is written."""
    resources = recipe.resources
    return {
        "cpu": resources.cpu,
        "memory_request": resources.memory_request,
        "memory_limit": resources.memory_limit,
        "gpu": resources.gpu,
        "workdir": resources.workdir,
    }
