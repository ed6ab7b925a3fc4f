"""What a repository renders to for Slurm."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from unit.render.processes import printed
from unit.render.samples import CAMPAIGN, GOLDEN, PIPELINE, long_campaign
from unit.render.samples import SAMPLES as OF_KUBERNETES
from unit.render.slurm_samples import (
    BARE,
    EVERYTHING,
    FULL_PIPELINE,
    SAMPLES,
    SETTINGS,
    SLURM,
    golden_slurm_text,
    rendered,
)

from converter.model import Settings, Size, SlurmFlavor
from converter.reconcile.slurm.submission import submissions
from converter.render.slurm import (
    render_slurm,
    rendered_array_files,
)
from converter.slurm.comment import LONGEST, comment_of
from converter.slurm.escape import escaped
from converter.slurm.layout import RENDERED, TASK_SCRIPT, repository_key

COMMIT = "0123456789abcdef0123456789abcdef01234567"
PRINT_ALL = """
import sys
from unit.render.slurm_samples import SAMPLES, golden_slurm_text
for name in SAMPLES:
    sys.stdout.buffer.write(golden_slurm_text(name).encode())
"""


@pytest.mark.parametrize("name", SAMPLES)
def test_renders_to_its_golden_file(name: str) -> None:
    golden = GOLDEN / "slurm" / f"{name}.yaml"
    assert golden_slurm_text(name) == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo", "HOSTNAME": "other"},
    ],
    ids=lambda environment: f"seed {environment['PYTHONHASHSEED']}",
)
def test_is_the_same_in_every_process(environment: dict[str, str], tmp_path: Path) -> None:
    assert (
        printed(PRINT_ALL, environment, tmp_path)
        == "".join(golden_slurm_text(name) for name in SAMPLES).encode()
    )


def test_a_directory_for_each_part() -> None:
    arrays = render_slurm(SAMPLES["split"])
    assert [(each.job, each.part, each.count) for each in arrays] == [
        ("letters-part1", 1, 1),
        ("letters-part2", 2, 1),
    ]
    files = rendered_array_files(arrays)
    assert {path.split("/")[1] for path in files} == {"letters-part1", "letters-part2"}
    assert {path.rsplit("/", 1)[1] for path in files} <= set(RENDERED)
    assert arrays[0].directory.endswith("/letters-part1")


@pytest.mark.parametrize(("volumes", "parts"), [(1, 1), (5, 1), (6, 2), (11, 3)])
def test_a_part_is_as_long_as_an_array_may_be(volumes: int, parts: int) -> None:
    settings = replace(SETTINGS, slurm=replace(BARE, max_array_size=5))
    arrays = rendered(settings, campaign=long_campaign(volumes))
    assert [each.count for each in arrays[:-1]] == [5] * (parts - 1)
    assert sum(each.count for each in arrays) == volumes
    assert [each.part for each in arrays] == ([0] if parts == 1 else [*range(1, parts + 1)])


def option(name: str, settings: Settings = SETTINGS, **changes: Any) -> str | None:
    (array,) = rendered(settings, **changes)
    values = [each.partition("=") for each in array.arguments]
    found = [value for key, _, value in values if key == f"--{name}"]
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize(
    ("size", "cpus", "memory", "gpus"),
    [
        (Size("s", "2", "4Gi", 0), "2", "4096M", None),
        (Size("s", "500m", "1", 1), "1", "1M", "gpu:1"),
        (Size("s", "2.1", "1500M", 2), "3", "1431M", "gpu:2"),
        (Size("s", "4", "1e9", 0), "4", "954M", None),
        (None, "4", "16384M", "gpu:1"),
    ],
)
def test_a_size_is_rounded_up(size: Size | None, cpus: str, memory: str, gpus: str | None) -> None:
    settings = SETTINGS
    if size is not None:
        settings = replace(SETTINGS, sizes={"s": size}, default_size="s")
    asked = [option(name, settings) for name in ("cpus-per-task", "mem", "gres")]
    assert asked == [cpus, memory, gpus]


@pytest.mark.parametrize(("seconds", "minutes"), [(1, "1"), (60, "1"), (61, "2"), (7200, "120")])
def test_time_is_in_whole_minutes(seconds: int, minutes: str) -> None:
    assert option("time", pipeline=replace(PIPELINE, max_seconds=seconds)) == minutes


@pytest.mark.parametrize(
    ("campaigns", "of_all", "window"), [(None, 20, 20), (4, 20, 4), (30, 20, 20)]
)
def test_the_window(campaigns: int | None, of_all: int, window: int) -> None:
    campaign = replace(CAMPAIGN, window=campaigns)
    found = option("array", replace(SETTINGS, window=of_all), campaign=campaign)
    assert found == f"0-1%{window}"


@pytest.mark.parametrize(
    ("flavor", "default", "expected"),
    [
        (None, "", (None, None)),
        (None, "main", ("main", None)),
        (SlurmFlavor("gpu"), "main", ("gpu", None)),
        (SlurmFlavor("", "a100"), "main", ("main", "a100")),
        (SlurmFlavor("gpu", "a100"), "", ("gpu", "a100")),
    ],
)
def test_where_jobs_run(
    flavor: SlurmFlavor | None, default: str, expected: tuple[str | None, str | None]
) -> None:
    size = Size("s", "1", "1Gi", flavor="f" if flavor else None)
    slurm = replace(SLURM, partition=default, flavors={"f": flavor} if flavor else {})
    settings = replace(SETTINGS, sizes={"s": size}, default_size="s", slurm=slurm)
    assert (option("partition", settings), option("constraint", settings)) == expected


@pytest.mark.parametrize(
    ("priority", "qos", "nice"), [("", None, None), ("high", "fast", "0"), ("low", None, "500")]
)
def test_a_priority(priority: str, qos: str | None, nice: str | None) -> None:
    campaign = replace(CAMPAIGN, priority=priority)
    found = [option(name, EVERYTHING, campaign=campaign) for name in ("qos", "nice")]
    assert found == [qos, nice]


def test_no_argument_is_a_value_by_itself() -> None:
    for sample in SAMPLES.values():
        for array in render_slurm(sample):
            assert all(each.startswith("--") for each in array.arguments)
            assert all(" " not in each for each in array.arguments)
            assert {"--hold", "--parsable", "--requeue", "--export=NONE"} <= set(array.arguments)


def test_what_is_submitted_says_whose_it_is() -> None:
    array = rendered()[0]
    (wanted,) = submissions([array], {})
    program, *options, comment, script, home = wanted.sbatch(array.directory, COMMIT)
    assert program == "sbatch"
    assert tuple(options) == array.arguments
    assert (script, home) == (f"{array.directory}/{TASK_SCRIPT}", array.directory)
    said = comment_of(comment.removeprefix("--comment="))
    assert said == comment_of(wanted.comment(COMMIT))
    assert said is not None
    assert (said.campaign, said.part, said.commit) == ("letters", 0, COMMIT)
    assert array.inputs.startswith(said.digest)
    assert said.repository == repository_key(SETTINGS.repository)


def test_the_longest_names_fit_into_a_comment() -> None:
    settings = replace(SETTINGS, repository="/" * 1024)
    array = rendered(settings, campaign=replace(CAMPAIGN, name="a" * 63))[0]
    (wanted,) = submissions([array], {})
    words = wanted.sbatch(array.directory, COMMIT)
    comment = next(each for each in words if each.startswith("--comment="))
    assert len(comment) < LONGEST


NOT_ON_A_LIVE_JOB = {
    "suspend": (SETTINGS, PIPELINE, replace(CAMPAIGN, suspend=True)),
    "window": (replace(SETTINGS, window=1), PIPELINE, replace(CAMPAIGN, window=2)),
    "priority": (
        replace(
            SETTINGS,
            slurm=replace(
                SLURM, priorities=EVERYTHING.slurm.priorities if EVERYTHING.slurm else {}
            ),
        ),
        PIPELINE,
        replace(CAMPAIGN, priority="low"),
    ),
    "host": (replace(SETTINGS, slurm=replace(SLURM, host="other")), PIPELINE, CAMPAIGN),
    "timeout": (replace(SETTINGS, slurm=replace(SLURM, command_timeout=9)), PIPELINE, CAMPAIGN),
    "ttl": (replace(SETTINGS, ttl_seconds_after_finished=9), PIPELINE, CAMPAIGN),
    "repository": (replace(SETTINGS, repository="other"), PIPELINE, CAMPAIGN),
}
OTHER_JOBS = {
    "container": replace(SETTINGS, slurm=BARE),
    "directory": replace(SETTINGS, slurm=replace(SLURM, directory="/other")),
    "partition": replace(SETTINGS, slurm=replace(SLURM, partition="other")),
    "account": replace(SETTINGS, slurm=replace(SLURM, account="other")),
    "command": replace(SETTINGS, command=("other",)),
    "env": replace(SETTINGS, env={"A": "b"}),
    "max_seconds": replace(SETTINGS, max_seconds=60),
    "backoff_limit_per_index": replace(SETTINGS, backoff_limit_per_index=0),
}


@pytest.mark.parametrize("name", NOT_ON_A_LIVE_JOB)
def test_what_may_change_while_a_campaign_runs_is_not_in_its_digest(name: str) -> None:
    settings, pipeline, campaign = NOT_ON_A_LIVE_JOB[name]
    assert rendered(settings, pipeline, campaign)[0].inputs == rendered()[0].inputs


@pytest.mark.parametrize("name", OTHER_JOBS)
def test_what_jobs_are_made_from_is_in_their_digest(name: str) -> None:
    assert rendered(OTHER_JOBS[name])[0].inputs != rendered()[0].inputs


def test_the_lists_of_volumes_are_told_apart() -> None:
    other = replace(CAMPAIGN, volumes=CAMPAIGN.volumes[::-1])
    assert rendered()[0].volumes != rendered(campaign=other)[0].volumes
    template = replace(SETTINGS, source_template="{ref}")
    assert rendered()[0].volumes == rendered(template)[0].volumes


def test_another_backend_has_no_job_arrays() -> None:
    with pytest.raises(ValueError, match="backend kueue has no job arrays"):
        render_slurm(OF_KUBERNETES["minimal"])


def test_the_steps_are_in_a_file_that_a_variable_names() -> None:
    (array,) = rendered(EVERYTHING, FULL_PIPELINE)
    assert yaml.safe_load(array.files["pipeline.yaml"]) == {"steps": FULL_PIPELINE.steps}
    line = f"PIPELINE_PATH={array.directory}/pipeline.yaml"
    assert line in array.files["environment"].splitlines()


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_what_is_escaped_is_one_line_of_plain_words(text: str) -> None:
    line = escaped(text)
    assert line.isascii()
    assert not set(line) & set(" \t\n\r'\"$`;&|<>()*?[]{}~!#")
    decoded = b"".join(
        bytes([int(part[2:5], 8)]) + part[5:].encode() if part.startswith("\\0") else part.encode()
        for part in line.replace("\\0", "\n\\0").split("\n")
    )
    assert decoded.decode() == text


@pytest.mark.parametrize(
    "names",
    [
        ("git.example.com/team/campaigns", "git.example.com/team-campaigns"),
        ("a", "A"),
        ("", "/"),
        ("../..", ".."),
        ("x" * 50, "x" * 51),
    ],
)
def test_repositories_have_directories_of_their_own(names: tuple[str, str]) -> None:
    keys = [repository_key(name) for name in names]
    assert len(set(keys)) == 2
    for key in keys:
        assert key.strip(".")
        assert not key.startswith("-")
        assert "/" not in key
        assert len(key) < 64
