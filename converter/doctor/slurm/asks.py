"""What campaigns ask of Slurm, by its sizes and kinds of nodes, as sbatch is told."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

from converter.model import Campaign, Pipeline, Repo, Settings, SlurmSettings
from converter.render.recipe import Recipe, recipe_of
from converter.render.sbatch import nodes_of, sbatch_options
from converter.split import Part, split

JOB_NAME: Final = "campaigns-doctor"
# Of sbatch's options those that differ with a campaign, and not with what it asks for.
_OF_ARRAYS: Final = ("job-name", "array")


@dataclass(frozen=True, slots=True)
class Ask:
    """What one kind of task asks for. `whose` says which files ask for it; `words` are sbatch's.

    `partitions` is empty for Slurm's default. Memory is in MiB.
    """

    whose: str
    size: str
    words: tuple[str, ...]
    cpus: int
    memory: int
    gpus: int
    minutes: int
    partitions: tuple[str, ...] = ()
    constraint: str = ""

    @property
    def amount(self) -> str:
        """The resources in words."""
        gpus = "" if not self.gpus else f", {self.gpus} GPU" + ("s" if self.gpus > 1 else "")
        cpus = f"{self.cpus} CPU" + ("s" if self.cpus > 1 else "")
        return f"{cpus}, {self.memory} MiB{gpus}"


def asks_of(settings: Settings, repo: Repo | None) -> tuple[Ask, ...]:
    """What there may be asked for: each pipeline with each priority of its campaigns, and each size
    and priority that nobody uses yet. Without a valid repository, the sizes.

    Raises ValueError for settings of another backend.
    """
    if settings.slurm is None:
        raise ValueError(f"backend {settings.backend} has no sbatch")
    found: dict[tuple[str, ...], list[tuple[str, Ask]]] = {}
    for whose, recipe, priority in _wanted(settings, repo):
        if not _is_meant(recipe, priority, settings, settings.slurm):
            continue
        ask = _ask(recipe, priority, settings, settings.slurm)
        found.setdefault(ask.words, []).append((whose, ask))
    return tuple(_together(group) for group in found.values())


def arrays_of(repo: Repo | None) -> Mapping[str, int]:
    """How many volumes each array has, by its name."""
    if repo is None:
        return {}
    parts = (part for each in repo.campaigns.values() for part in split(each, repo.settings))
    return {part.job: len(part.volumes) for part in parts}


def partitions_of(slurm: SlurmSettings) -> tuple[str, ...]:
    """The partitions that converter.yaml names, each as it stands there; some have commas."""
    named = (slurm.partition, *(each.partition for each in slurm.flavors.values()))
    return tuple(dict.fromkeys(each for each in named if each))


def _wanted(settings: Settings, repo: Repo | None) -> Iterator[tuple[str, Recipe, str]]:
    used: set[str] = set()
    asked: set[str] = set()
    for pipeline in repo.pipelines.values() if repo is not None else ():
        recipe = recipe_of(pipeline, settings)
        used.add(recipe.size)
        campaigns = repo.campaigns.values() if repo is not None else ()
        priorities = {each.priority for each in campaigns if each.pipeline == pipeline.id}
        asked |= priorities
        for priority in sorted(priorities or {""}):
            yield f"pipeline {pipeline.id}", recipe, priority
    for size in settings.sizes:
        if size not in used:
            yield f"size {size}", recipe_of(_pipeline(size), settings), ""
    for priority in settings.priority_classes:
        if priority not in asked:
            yield f"priority {priority}", recipe_of(_pipeline(None), settings), priority
    if not settings.sizes and not used:
        yield "a pipeline without a size", recipe_of(_pipeline(None), settings), ""


def _is_meant(recipe: Recipe, priority: str, settings: Settings, slurm: SlurmSettings) -> bool:
    """Whether slurm.flavors and slurm.priorities have what is named; `validate` says that too."""
    flavor = settings.sizes[recipe.size].flavor if recipe.size else None
    return flavor in (None, *slurm.flavors) and priority in ("", *slurm.priorities)


def _pipeline(size: str | None) -> Pipeline:
    return Pipeline(id=JOB_NAME, path="", image="", size=size)


def _ask(recipe: Recipe, priority: str, settings: Settings, slurm: SlurmSettings) -> Ask:
    campaign = Campaign(JOB_NAME, "", recipe.pipeline, (), priority=priority)
    part = Part(JOB_NAME, 1, (), 1)
    options = dict(sbatch_options(part, campaign, recipe, settings, slurm))
    for name in _OF_ARRAYS:
        del options[name]
    nodes = nodes_of(recipe, settings, slurm)
    return Ask(
        whose="",
        size=recipe.size,
        words=(
            f"--job-name={JOB_NAME}",
            "--hold",
            "--requeue",
            "--export=NONE",
            *(f"--{name}={value}" for name, value in options.items()),
        ),
        cpus=int(options["cpus-per-task"] or 0),
        memory=int(str(options["mem"]).removesuffix("M")),
        gpus=recipe.resources.gpu,
        minutes=int(options["time"] or 0),
        partitions=tuple(nodes.partition.split(",")) if nodes.partition else (),
        constraint=nodes.constraint,
    )


def _together(group: Iterable[tuple[str, Ask]]) -> Ask:
    named = list(group)
    names = list(dict.fromkeys(whose for whose, _ in named))
    more = f" and {len(names) - 1} more" if len(names) > 1 else ""
    return replace(named[0][1], whose=f"{names[0]}{more}")
