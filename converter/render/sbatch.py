"""What sbatch is told of a job array: its nodes, what its tasks ask for, and their rank."""

from collections.abc import Iterator
from fractions import Fraction
from typing import Final

from converter.model import Campaign, Settings, SlurmFlavor, SlurmPriority, SlurmSettings
from converter.quantity import parse_quantity
from converter.render.recipe import Recipe
from converter.split import Part

_MIB: Final = 2**20
_MINUTE: Final = 60


def nodes_of(recipe: Recipe, settings: Settings, slurm: SlurmSettings) -> SlurmFlavor:
    """The nodes that the jobs of a recipe run on. Raises KeyError for a flavor that is unknown."""
    size = settings.sizes[recipe.size] if recipe.size else None
    if size is None or size.flavor is None:
        return SlurmFlavor(slurm.partition)
    flavor = slurm.flavors[size.flavor]
    return SlurmFlavor(flavor.partition or slurm.partition, flavor.constraint)


def sbatch_options(
    part: Part, campaign: Campaign, recipe: Recipe, settings: Settings, slurm: SlurmSettings
) -> Iterator[tuple[str, str | int | None]]:
    """The options by which tasks differ, in order; without a value where it is None."""
    resources = recipe.resources
    nodes = nodes_of(recipe, settings, slurm)
    rank = slurm.priorities[campaign.priority] if campaign.priority else SlurmPriority()
    yield "job-name", part.job
    yield "array", f"0-{len(part.volumes) - 1}%{part.window}"
    yield "nodes", 1
    yield "ntasks", 1
    yield "cpus-per-task", _at_least(parse_quantity(resources.cpu))
    yield "mem", f"{_at_least(parse_quantity(resources.memory_limit) / _MIB)}M"
    if resources.gpu:
        yield "gres", f"gpu:{resources.gpu}"
    yield "time", _at_least(Fraction(recipe.max_seconds, _MINUTE))
    yield from _if_set("partition", nodes.partition)
    yield from _if_set("constraint", nodes.constraint)
    yield from _if_set("account", slurm.account)
    yield from _if_set("qos", rank.qos)
    if rank.nice is not None:
        yield "nice", rank.nice


def sbatch_arguments(
    part: Part,
    campaign: Campaign,
    recipe: Recipe,
    settings: Settings,
    slurm: SlurmSettings,
    directory: str,
) -> tuple[str, ...]:
    """All options of sbatch but the comment, none of which has its value as a word of its own.

    The job waits at its gate (``--hold``), and its tasks start in `directory`. They open their logs
    themselves: a task whose output Slurm cannot open fails before it has begun.
    """
    options = [
        ("hold", None),
        ("parsable", None),
        *sbatch_options(part, campaign, recipe, settings, slurm),
        ("requeue", None),
        ("chdir", directory),
        ("output", "/dev/null"),
        # What the shell of whoever submits has in it must not change what runs.
        ("export", "NONE"),
    ]
    return tuple(f"--{name}" if value is None else f"--{name}={value}" for name, value in options)


def _at_least(amount: Fraction) -> int:
    """Slurm counts in whole pieces, and takes 0 for all there is or for no limit."""
    return max(1, -(-amount.numerator // amount.denominator))


def _if_set(name: str, value: str) -> Iterator[tuple[str, str]]:
    if value:
        yield name, value
