"""A pipeline together with what converter.yaml adds to it: how one volume is processed."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from converter.layout import DEFAULT_MEMORY_LIMIT, DEFAULT_SIZE
from converter.model import Pipeline, Settings, Size, Warmup
from converter.quantity import canonical_quantity
from converter.render.digest import digest
from converter.render.text import yaml_text

# An API server rounds requests and limits up to a thousandth (SetDefaults_ResourceList).
_DECIMALS: Final = 3


@dataclass(frozen=True, slots=True)
class Resources:
    """What one pod asks for. Quantities are in canonical form; `gpu` is whole GPUs."""

    cpu: str
    memory_request: str
    memory_limit: str
    gpu: int
    workdir: str


@dataclass(frozen=True, slots=True)
class Recipe:
    """How one volume is processed. Seconds are whole seconds.

    `env` is what the files put into a pod's environment, converter.yaml's overridden by the
    pipeline's. `size` is the name of its size, empty for the built-in one. `warmup` is None where
    no model cache is filled first. `sha256` changes with what the pipeline's own file says (and the
    command and size that stand in for what it leaves out), not with the settings of the cluster.
    `warmup_sha256` changes with all that a warm-up's result depends on, and is empty without one.
    """

    pipeline: str
    image: str
    command: tuple[str, ...]
    args: tuple[str, ...]
    env: Mapping[str, str]
    steps: Any
    size: str
    resources: Resources
    node_selector: Mapping[str, str]
    max_seconds: int
    max_execution_seconds: int | None
    ttl_seconds_after_finished: int
    warmup: Warmup | None
    sha256: str
    warmup_sha256: str

    @property
    def cache_directory(self) -> str:
        """The directory on the data volume that this warm-up of this recipe alone writes to.

        A pod that waits for it finds what its own warm-up left there, never another's.
        """
        return f"{self.pipeline}-{self.warmup_sha256}"


def recipe_of(pipeline: Pipeline, settings: Settings) -> Recipe:
    """Fill in what the pipeline leaves to converter.yaml."""
    command = settings.command if pipeline.command is None else pipeline.command
    size = _size(pipeline, settings)
    env = {**settings.env, **pipeline.env}
    warmup = _warmup(pipeline, settings)
    sha256 = digest(
        image=pipeline.image,
        command=command,
        args=pipeline.args,
        env=pipeline.env,
        steps=_with_text_keys(pipeline.steps),
        size=size.name,
        # Only where it is there, so that a release that knows it changes no digest.
        **_if_set(max_execution_seconds=pipeline.max_execution_seconds),
    )
    return Recipe(
        pipeline=pipeline.id,
        image=pipeline.image,
        command=command,
        args=pipeline.args,
        env=env,
        steps=pipeline.steps,
        size=size.name,
        resources=_resources(size),
        node_selector={**settings.node_selector, **_flavor_labels(size, settings)},
        max_seconds=pipeline.max_seconds or settings.max_seconds,
        max_execution_seconds=pipeline.max_execution_seconds,
        ttl_seconds_after_finished=(
            pipeline.ttl_seconds_after_finished or settings.ttl_seconds_after_finished
        ),
        warmup=warmup,
        sha256=sha256,
        warmup_sha256=_warmup_digest(sha256, warmup, env),
    )


def steps_document(recipe: Recipe) -> str:
    """The file with a pipeline's steps, as YAML."""
    return yaml_text({} if recipe.steps is None else {"steps": recipe.steps})


def _if_set(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _size(pipeline: Pipeline, settings: Settings) -> Size:
    name = pipeline.size or settings.default_size
    return settings.sizes[name] if name else DEFAULT_SIZE


def _resources(size: Size) -> Resources:
    memory = canonical_quantity(size.memory, decimals=_DECIMALS)
    return Resources(
        cpu=canonical_quantity(size.cpu, decimals=_DECIMALS),
        memory_request=memory,
        memory_limit=DEFAULT_MEMORY_LIMIT if size is DEFAULT_SIZE else memory,
        gpu=size.gpu,
        workdir=canonical_quantity(size.workdir),
    )


def _flavor_labels(size: Size, settings: Settings) -> Mapping[str, str]:
    """Kueue has no request for a flavor by name: a pod lands on one by its node labels."""
    if size.flavor is None or settings.slurm is not None:
        return {}
    return next(f.node_labels for f in settings.flavors if f.name == size.flavor)


def _warmup(pipeline: Pipeline, settings: Settings) -> Warmup | None:
    if pipeline.warmup is None:
        return settings.warmup
    if pipeline.warmup.command or settings.warmup is None:
        return pipeline.warmup
    return Warmup(settings.warmup.command, pipeline.warmup.args)


def _with_text_keys(steps: Any) -> Any:
    """Steps as JSON can hold them: a mapping with other keys than text is a list of its pairs."""
    if isinstance(steps, list):
        return [_with_text_keys(step) for step in steps]
    if not isinstance(steps, dict):
        return steps
    if all(isinstance(key, str) for key in steps):
        return {key: _with_text_keys(value) for key, value in steps.items()}
    return [[key, _with_text_keys(value)] for key, value in steps.items()]


def _warmup_digest(recipe: str, warmup: Warmup | None, env: Mapping[str, str]) -> str:
    if warmup is None:
        return ""
    return digest(recipe=recipe, command=warmup.command, args=warmup.args, env=env)
