"""What campaigns ask of Slurm, as it is compared with nodes and tried with sbatch."""

from __future__ import annotations

from typing import Any

import pytest

from converter.doctor.slurm.asks import arrays_of, asks_of, partitions_of
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
    SourceKind,
    Volume,
)
from converter.render.recipe import recipe_of
from converter.render.sbatch import sbatch_arguments
from converter.split import split

SLURM = SlurmSettings(
    "/shared",
    (),
    partition="cpu",
    account="ocr",
    flavors={"fast": SlurmFlavor("gpu,gpu2", "a100&big")},
    priorities={"low": SlurmPriority(nice=5), "urgent": SlurmPriority(qos="high")},
    max_array_size=3,
)
SIZES = {
    "page": Size("page", "1", "64Mi", 0),
    "large": Size("large", "1500m", "1Gi", 2, flavor="fast"),
}


def settings(slurm: SlurmSettings | None = SLURM, **others: Any) -> Settings:
    return Settings(
        "",
        "",
        backend=Backend.SLURM,
        slurm=slurm,
        sizes=others.pop("sizes", SIZES),
        default_size=others.pop("default_size", "page"),
        priority_classes=("low", "urgent"),
        max_seconds=90,
        **others,
    )


def campaign(name: str, pipeline: str, number: int = 1, priority: str = "") -> Campaign:
    volumes = tuple(Volume(f"{name}-{n}", SourceKind.REFERENCE, "x") for n in range(number))
    return Campaign(name, "", pipeline, volumes, priority)


def repo(*campaigns: Campaign) -> Repo:
    pipelines = {
        "ocr": Pipeline("ocr", "", "none:1", size="large", max_seconds=3600),
        "read": Pipeline("read", "", "none:1"),
        "scan": Pipeline("scan", "", "none:1"),
    }
    return Repo(settings(), pipelines, {each.name: each for each in campaigns})


def test_each_kind_of_task_is_asked_for_once() -> None:
    found = asks_of(
        settings(), repo(campaign("a", "ocr", priority="urgent"), campaign("b", "read"))
    )
    assert [each.whose for each in found] == [
        "pipeline ocr",
        "pipeline read and 1 more",
        "priority low",
    ]
    ocr, read, low = found
    assert (ocr.cpus, ocr.memory, ocr.gpus, ocr.minutes) == (2, 1024, 2, 60)
    assert (ocr.partitions, ocr.constraint) == (("gpu", "gpu2"), "a100&big")
    assert ocr.amount == "2 CPUs, 1024 MiB, 2 GPUs"
    assert (read.partitions, read.minutes, read.amount) == (("cpu",), 2, "1 CPU, 64 MiB")
    assert "--qos=high" in ocr.words
    assert "--nice=5" in low.words


def test_it_is_what_an_apply_would_submit() -> None:
    there = repo(campaign("a", "ocr", priority="urgent"))
    (part,) = split(there.campaigns["a"], there.settings)
    recipe = recipe_of(there.pipelines["ocr"], there.settings)
    real = sbatch_arguments(part, there.campaigns["a"], recipe, there.settings, SLURM, "/d")
    of_one = ("--job-name=", "--array=", "--chdir=", "--output=", "--parsable")
    words = next(each.words for each in asks_of(settings(), there) if "--qos=high" in each.words)
    assert {word for word in real if not word.startswith(of_one)} == {
        word for word in words if not word.startswith("--job-name=")
    }


def test_without_a_valid_repository_the_sizes_are_asked_for() -> None:
    found = asks_of(settings(), None)
    assert [each.whose for each in found] == [
        "size page",
        "size large",
        "priority low",
        "priority urgent",
    ]
    without = asks_of(settings(sizes={}, default_size=None), None)
    assert without[-1].whose == "a pipeline without a size"
    assert without[-1].amount == "4 CPUs, 16384 MiB, 1 GPU"


def test_what_validate_refuses_is_left_to_it() -> None:
    sizes = {**SIZES, "odd": Size("odd", "1", "64Mi", 0, flavor="slow")}
    few = SlurmSettings("/shared", (), flavors=SLURM.flavors)
    assert [each.whose for each in asks_of(settings(few, sizes=sizes), None)] == [
        "size page",
        "size large",
    ]
    with pytest.raises(ValueError, match="has no sbatch"):
        asks_of(settings(None), None)


def test_arrays_and_partitions() -> None:
    assert arrays_of(repo(campaign("a", "ocr", 4), campaign("b", "ocr"))) == {
        "a-part1": 3,
        "a-part2": 1,
        "b": 1,
    }
    assert arrays_of(None) == {}
    assert partitions_of(SLURM) == ("cpu", "gpu,gpu2")
    assert partitions_of(SlurmSettings("/shared", ())) == ()
