"""A repository for Slurm: what the commands do with it."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml
from unit.cli.commands import run, write_repository

SLURM = """\
backend: slurm
repository: team
command: [ocr]
slurm: {directory: /shared/campaigns, container: [], max_array_size: 2}
"""
FILES = {
    "converter.yaml": SLURM,
    "pipelines/ocr.yaml": f"image: registry.example.com/ocr@sha256:{'0' * 64}\n",
    "campaigns/letters.yaml": "pipeline: ocr\nvolumes: [A1, A2]\n",
    "campaigns/maps.yaml": "pipeline: ocr\nvolumes: [M1, M2, M3]\n",
}
OF_EACH = ["command", "environment", "limits", "pipeline.yaml", "sbatch", "task.sh", "volumes.txt"]


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    return write_repository(tmp_path / "repo", FILES)


def files(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file() and not path.name.startswith(".")
    }


def test_it_is_valid(repo: Path) -> None:
    assert run("validate", repo).stdout == "All 4 files are valid.\n"


def test_render_writes_a_directory_for_each_job_array(repo: Path, tmp_path: Path) -> None:
    done = run("render", repo, "--out", tmp_path / "out")
    assert (done.returncode, done.stdout) == (0, "")
    written = files(tmp_path / "out")
    jobs = ("letters", "maps-part1", "maps-part2")
    assert list(written) == [f"campaigns/{job}/{name}" for job in jobs for name in OF_EACH]
    run("render", repo, "--out", tmp_path / "again")
    assert files(tmp_path / "again") == written
    run("render", repo, "--out", tmp_path / "out")
    assert files(tmp_path / "out") == written


def test_a_campaign_that_is_gone_is_removed(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    run("render", repo, "--out", out)
    (repo / "campaigns/maps.yaml").unlink()
    assert "14 removed" in run("render", repo, "--out", out).stderr
    assert {path.split("/")[1] for path in files(out)} == {"letters"}


def test_render_prints_the_same_but_for_the_script(repo: Path, tmp_path: Path) -> None:
    run("render", repo, "--out", tmp_path / "out")
    printed = {
        path: text.encode()
        for document in yaml.safe_load_all(run("render", repo).stdout)
        for path, text in document.items()
    }
    written = files(tmp_path / "out")
    assert printed == {path: text for path, text in written.items() if "task.sh" not in path}


def test_the_chart_is_not_for_it(repo: Path) -> None:
    done = run("chart-values", repo)
    assert (done.returncode, done.stdout) == (1, "")
    assert "the chart is for a Kubernetes cluster" in done.stderr
