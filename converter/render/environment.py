"""The environment of the pods, and of the tasks in Slurm.

A value reaches the process as the file spells it: nothing is expanded, neither by Kubernetes nor
by a shell.
"""

import re
from collections.abc import Mapping
from typing import Any, Final

from converter.layout import CONFIG_PATH, DATA_PATH, S3_PATH, WORK_PATH
from converter.model import Campaign, Settings
from converter.render.recipe import Recipe

# The start of a ``$(NAME)`` or of the ``$$`` that escapes one.
_REFERENCE: Final = re.compile(r"\$(?=[$(])")
_STEPS_PATH: Final = f"{CONFIG_PATH}/pipeline.yaml"

# A value, or the ``valueFrom`` that it is read from.
_Source = str | Mapping[str, Any]


def literal(text: str) -> str:
    """`text` so that Kubernetes hands it on unchanged.

    In ``command``, ``args`` and ``env`` Kubernetes replaces ``$(NAME)`` and takes ``$$`` for ``$``
    (k8s.io/kubernetes third_party/forked/golang/expansion). Shell text is full of both, and the
    other backends replace nothing.
    """
    return _REFERENCE.sub("$$", text)


def campaign_environment(
    campaign: Campaign, recipe: Recipe, settings: Settings
) -> list[dict[str, Any]]:
    """``env`` of the container that processes a volume; the launcher adds the volume's own."""
    defaults: dict[str, _Source] = {**_places(recipe)}
    if recipe.warmup is not None:
        # The cache is read-only here, and looking for newer models would fail late and slowly.
        defaults["HF_HUB_OFFLINE"] = "1"
    defaults |= _results(settings) | _s3(settings)
    return _entries(
        defaults,
        recipe.env,
        _identity(recipe, _STEPS_PATH),
        {
            "CAMPAIGN": campaign.name,
            "BACKOFF_LIMIT_PER_INDEX": str(settings.backoff_limit_per_index),
            "INDEX_FAILURE_COUNT": _annotation("batch.kubernetes.io/job-index-failure-count"),
        },
    )


def task_environment(
    campaign: Campaign, recipe: Recipe, settings: Settings, steps_path: str
) -> dict[str, str]:
    """The environment of a task in Slurm; its script adds the volume's own and where it may write.

    `steps_path` is the file with the pipeline's steps.
    """
    merged = {
        **_results(settings),
        **recipe.env,
        **_identity(recipe, steps_path),
        "CAMPAIGN": campaign.name,
        "BACKOFF_LIMIT_PER_INDEX": str(settings.backoff_limit_per_index),
    }
    return dict(sorted(merged.items()))


def warmup_environment(recipe: Recipe, settings: Settings) -> list[dict[str, Any]]:
    """``env`` of the container that fills the model cache."""
    # It asks for no GPU, but a runtime class may show it all that the node has.
    defaults: dict[str, _Source] = {**_places(recipe), "CUDA_VISIBLE_DEVICES": ""}
    if settings.hf_token_secret:
        defaults["HF_TOKEN"] = _secret_key(settings.hf_token_secret, "token")
    return _entries(defaults, recipe.env, _identity(recipe, _STEPS_PATH))


def _entries(*layers: Mapping[str, _Source]) -> list[dict[str, Any]]:
    merged = {name: source for layer in layers for name, source in layer.items()}
    return [_entry(name, merged[name]) for name in sorted(merged)]


def _entry(name: str, source: _Source) -> dict[str, Any]:
    if not isinstance(source, str):
        return {"name": name, "valueFrom": source}
    # An API server stores an empty value as none at all.
    return {"name": name, "value": literal(source)} if source else {"name": name}


def _identity(recipe: Recipe, steps_path: str) -> dict[str, str]:
    return {
        "IMAGE_DIGEST": recipe.image,
        "PIPELINE_ID": recipe.pipeline,
        "PIPELINE_PATH": steps_path,
    }


def _places(recipe: Recipe) -> dict[str, _Source]:
    """Where a process may write; the root filesystem is read-only."""
    places: dict[str, _Source] = dict.fromkeys(("HOME", "TMPDIR", "WORKDIR_PATH"), WORK_PATH)
    if recipe.warmup is not None:
        places["HF_HOME"] = f"{DATA_PATH}/hf"
    return places


def _results(settings: Settings) -> dict[str, str]:
    known = {
        "RESULTS_URL": settings.results_url,
        "MANIFEST_MAX_BYTES": settings.manifest_max_bytes,
        "FETCH_MAX_BYTES": settings.fetch_max_bytes,
        "IMAGE_CACHE_BUCKET": settings.image_cache,
    }
    return {name: str(value) for name, value in known.items() if value}


def _s3(settings: Settings) -> dict[str, _Source]:
    if not settings.s3_secret:
        return {}
    return {
        "AWS_SHARED_CREDENTIALS_FILE": f"{S3_PATH}/credentials",
        "S3_BUCKET": _secret_key(settings.s3_secret, "S3_BUCKET"),
        "S3_ENDPOINT": _secret_key(settings.s3_secret, "S3_ENDPOINT", optional=True),
        "S3_PREFIX": f"{settings.namespace}/",
    }


def _secret_key(secret: str, key: str, *, optional: bool = False) -> dict[str, Any]:
    reference = {"name": secret, "key": key} | ({"optional": True} if optional else {})
    return {"secretKeyRef": reference}


def _annotation(name: str) -> dict[str, Any]:
    # apiVersion is what an API server fills in, and the reference is owned as a whole.
    return {"fieldRef": {"apiVersion": "v1", "fieldPath": f"metadata.annotations['{name}']"}}
