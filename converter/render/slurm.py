"""The files and the sbatch arguments of every campaign, with the backend `slurm`.

As pure as `render`: the same bytes for the same repository, wherever it is rendered.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from converter.model import Campaign, Repo, Settings, SlurmSettings
from converter.render.environment import task_environment
from converter.render.inputs import inputs_digest, volumes_digest
from converter.render.recipe import Recipe, recipe_of, steps_document
from converter.render.sbatch import sbatch_arguments
from converter.render.text import yaml_text
from converter.resources import task_script
from converter.slurm.escape import escaped_lines, escaped_variables
from converter.slurm.layout import (
    CAMPAIGNS,
    COMMAND,
    ENVIRONMENT,
    LIMITS,
    SBATCH,
    STEPS,
    TASK_SCRIPT,
    VOLUME_ENVIRONMENT,
    VOLUMES,
    job_directory,
)
from converter.split import Part, split
from converter.volumes import volume_line

_IMAGE: Final = "{image}"


@dataclass(frozen=True, slots=True)
class JobArray:
    """One part of a campaign: one job array, and a directory on the shared file system.

    `job` is the name of both. `part` counts from 1, and is 0 for a campaign that is not split.
    `files` are texts by the names that they have in `directory`, an absolute path. `arguments` are
    sbatch's, without the comment and the script. `window` is how many tasks run at once, at most.
    `inputs` and `volumes` are digests of what the files say, as on a Job in Kubernetes: they stay
    while the campaign's meaning does, whatever a newer release would render.
    """

    campaign: str
    job: str
    part: int
    pipeline: str
    size: str
    image: str
    recipe: str
    count: int
    window: int
    suspended: bool
    repository: str
    directory: str
    files: Mapping[str, str]
    arguments: tuple[str, ...]
    inputs: str
    volumes: str


def render_slurm(repo: Repo) -> tuple[JobArray, ...]:
    """Every job array of a valid repository, in order of campaign and part.

    Raises ValueError for a repository of another backend.
    """
    slurm = repo.settings.slurm
    if slurm is None:
        raise ValueError(f"backend {repo.settings.backend} has no job arrays")
    recipes = {name: recipe_of(each, repo.settings) for name, each in repo.pipelines.items()}
    return tuple(
        array
        for _, campaign in sorted(repo.campaigns.items())
        for array in _arrays(campaign, recipes[campaign.pipeline], repo.settings, slurm)
    )


def rendered_array_files(arrays: Iterable[JobArray]) -> dict[str, str]:
    """The text of each file by its path ``campaigns/<job>/<name>``."""
    return {
        f"{CAMPAIGNS}/{array.job}/{name}": text
        for array in arrays
        for name, text in array.files.items()
    }


def array_stream(arrays: Iterable[JobArray]) -> str:
    """The files of each array as one YAML document, without the script that is always the same."""
    return "---\n".join(
        yaml_text(
            {
                f"{CAMPAIGNS}/{array.job}/{name}": text
                for name, text in array.files.items()
                if name != TASK_SCRIPT
            }
        )
        for array in arrays
    )


def _arrays(
    campaign: Campaign, recipe: Recipe, settings: Settings, slurm: SlurmSettings
) -> Iterable[JobArray]:
    parts = split(campaign, settings)
    for part in parts:
        directory = job_directory(slurm.directory, settings.repository, part.job)
        arguments = sbatch_arguments(part, campaign, recipe, settings, slurm, directory)
        yield JobArray(
            campaign=campaign.name,
            job=part.job,
            part=part.index if len(parts) > 1 else 0,
            pipeline=recipe.pipeline,
            size=recipe.size,
            image=recipe.image,
            recipe=recipe.sha256,
            count=len(part.volumes),
            window=part.window,
            suspended=campaign.suspend,
            repository=settings.repository,
            directory=directory,
            files=_files(part, campaign, recipe, settings, slurm, directory, arguments),
            arguments=arguments,
            inputs=inputs_digest(part, recipe, settings),
            volumes=volumes_digest(part.volumes),
        )


def _files(
    part: Part,
    campaign: Campaign,
    recipe: Recipe,
    settings: Settings,
    slurm: SlurmSettings,
    directory: str,
    arguments: tuple[str, ...],
) -> dict[str, str]:
    environment = task_environment(campaign, recipe, settings, f"{directory}/{STEPS}")
    container = (word.replace(_IMAGE, recipe.image) for word in slurm.container)
    own = "".join(
        escaped_variables(volume.env, f"{index} ") for index, volume in enumerate(part.volumes)
    )
    return {
        VOLUMES: "".join(volume_line(volume, settings) for volume in part.volumes),
        ENVIRONMENT: escaped_variables(environment),
        **({VOLUME_ENVIRONMENT: own} if own else {}),
        COMMAND: escaped_lines((*container, *recipe.command, *recipe.args)),
        LIMITS: f"backoff_limit_per_index={settings.backoff_limit_per_index}\n",
        STEPS: steps_document(recipe),
        SBATCH: escaped_lines(arguments),
        TASK_SCRIPT: task_script(),
    }
