"""Repositories for a Slurm cluster, each of SAMPLES with a golden file of what it renders to.

After a change that is meant, write the golden files anew and read their diff::

    PYTHONPATH=tests .venv/bin/python -m unit.render.slurm_samples
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from unit.render.samples import CAMPAIGN, FULL_CAMPAIGN, GOLDEN, IMAGE, PIPELINE, repository

from converter.model import (
    Backend,
    Campaign,
    Pipeline,
    Repo,
    Settings,
    Size,
    SlurmFlavor,
    SlurmPriority,
    SlurmSettings,
    Volume,
)
from converter.render.slurm import JobArray, array_stream, render_slurm

SLURM = SlurmSettings("/shared/campaigns", ("apptainer", "exec", "docker://{image}"))
BARE = SlurmSettings("/shared/campaigns", ())
SETTINGS = Settings(
    namespace="",
    queue="",
    backend=Backend.SLURM,
    command=("python", "-m", "ocr"),
    source_template="https://archive.example.com/{ref}/manifest",
    repository="git.example.com/team/campaigns",
    slurm=SLURM,
)
EVERYTHING = replace(
    SETTINGS,
    window=4,
    priority_classes=("high", "low"),
    sizes={"large": Size("large", "0.5", "1500M", 2, "4Gi", "a100")},
    env={"LOG": "info", "MODE": "fast"},
    results_url="https://results.example.com",
    backoff_limit_per_index=1,
    slurm=replace(
        SLURM,
        partition="main",
        account="project1",
        flavors={"a100": SlurmFlavor("gpu", "a100&nvlink")},
        priorities={"high": SlurmPriority("fast", 0), "low": SlurmPriority(nice=500)},
    ),
)
FULL_PIPELINE = replace(
    PIPELINE,
    args=("--volume", "$(VOLUME_ID) 100%", ""),
    env={"MODE": "$(LOG) `id`", "EMPTY": "", "SNOW": "snö\n"},
    size="large",
    max_seconds=7201,
    steps=[{"step": "Segmentation", "settings": {"model": "yolo"}}, {"step": "Text"}],
)

SAMPLES = {
    "minimal": repository(SETTINGS),
    "everything": repository(EVERYTHING, FULL_PIPELINE, FULL_CAMPAIGN),
    "split": repository(replace(SETTINGS, slurm=replace(BARE, max_array_size=1)), PIPELINE),
}


def golden_slurm_text(name: str) -> str:
    """What the golden file of a sample has to say."""
    return array_stream(render_slurm(SAMPLES[name]))


def rendered(
    settings: Settings = SETTINGS, pipeline: Pipeline = PIPELINE, campaign: Campaign = CAMPAIGN
) -> tuple[JobArray, ...]:
    return render_slurm(repository(settings, pipeline, campaign))


def of_nodes(
    command: Sequence[str], volumes: Sequence[Volume], env: dict[str, str], **settings: Any
) -> Repo:
    """A repository whose command is a program of the nodes."""
    return repository(
        replace(SETTINGS, slurm=BARE, **settings),
        Pipeline("ocr-1", "pipelines/ocr-1.yaml", IMAGE, command=tuple(command), env=env),
        replace(CAMPAIGN, volumes=tuple(volumes)),
    )


if __name__ == "__main__":
    for sample in SAMPLES:
        path = GOLDEN / "slurm" / f"{sample}.yaml"
        path.write_text(golden_slurm_text(sample), encoding="utf-8")
