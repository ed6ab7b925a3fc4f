"""What the samples render to, byte for byte, wherever and however often."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from unit.render.processes import printed
from unit.render.samples import GOLDEN, SAMPLES, golden_text

from converter.render import render
from converter.render.files import rendered_files, yaml_stream

PRINT_ALL = """
import sys
from unit.render.samples import SAMPLES, golden_text
for name in SAMPLES:
    sys.stdout.buffer.write(golden_text(name).encode())
"""


@pytest.mark.parametrize("name", SAMPLES)
def test_renders_to_its_golden_file(name: str) -> None:
    assert golden_text(name) == (GOLDEN / f"{name}.yaml").read_text(encoding="utf-8")


def test_every_golden_file_has_a_sample() -> None:
    assert {path.stem for path in GOLDEN.glob("*.yaml")} == set(SAMPLES)


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1", "LC_ALL": "C", "TZ": "UTC"},
        {"PYTHONHASHSEED": "2", "LC_ALL": "C.UTF-8", "TZ": "Asia/Tokyo", "HOSTNAME": "other"},
        {"PYTHONHASHSEED": "3", "LC_ALL": "POSIX", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=lambda environment: f"seed {environment['PYTHONHASHSEED']}",
)
def test_is_the_same_in_every_process(environment: dict[str, str], tmp_path: Path) -> None:
    assert (
        printed(PRINT_ALL, environment, tmp_path)
        == "".join(golden_text(name) for name in SAMPLES).encode()
    )


@pytest.mark.parametrize("name", SAMPLES)
def test_yaml_1_1_reads_what_was_rendered(name: str) -> None:
    """kubectl's parser and most others are of YAML 1.1."""
    manifests = render(SAMPLES[name])
    assert list(yaml.safe_load_all(yaml_stream(manifests))) == [m.body for m in manifests]


def test_a_file_for_each_pipeline_and_each_part() -> None:
    files = rendered_files(render(SAMPLES["split"]))
    assert list(files) == [
        "pipelines/ocr-1.yaml",
        "campaigns/letters-part1.yaml",
        "campaigns/letters-part2.yaml",
    ]
    for text in list(files.values())[1:]:
        assert [body["kind"] for body in yaml.safe_load_all(text)] == ["ConfigMap", "Job"]


def test_a_pipeline_s_file_has_its_warmup() -> None:
    files = rendered_files(render(SAMPLES["warmup"]))
    bodies = yaml.safe_load_all(files["pipelines/ocr-1.yaml"])
    assert [body["metadata"]["name"] for body in bodies] == ["pipeline-ocr-1", "warmup-ocr-1"]
