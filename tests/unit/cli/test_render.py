"""`campaigns render`, run as a command."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

SETTINGS = """\
namespace: team
queue: batch
command: [python, -m, ocr]
source_template: https://archive.example.com/{ref}
repository: git.example.com/team/campaigns
"""
PIPELINE = f"image: registry.example.com/ocr@sha256:{'0' * 64}\n"
CAMPAIGN = "pipeline: ocr\nvolumes: [A1, A2]\n"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    directory = tmp_path / "repo"
    for path, text in {
        "converter.yaml": SETTINGS,
        "pipelines/ocr.yaml": PIPELINE,
        "campaigns/letters.yaml": CAMPAIGN,
        "campaigns/maps.yaml": CAMPAIGN.replace("A", "M"),
    }.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_text(text, encoding="utf-8")
    return directory


def _run(*arguments: str | Path, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "converter", "render", *map(str, arguments)],
        env={**os.environ, **environment},
        capture_output=True,
        check=False,
    )


def _files(directory: Path) -> dict[str, bytes]:
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in sorted(directory.rglob("*"))
        if path.is_file()
    }


def test_writes_a_file_for_each_pipeline_and_job(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    ran = _run(repo, "--out", out)
    assert (ran.returncode, ran.stdout) == (0, b"")
    assert ran.stderr.decode() == f"{out}: 3 written, 0 unchanged, 0 removed\n"
    assert set(_files(out)) == {
        ".campaigns-render",
        "pipelines/ocr.yaml",
        "campaigns/letters.yaml",
        "campaigns/maps.yaml",
    }
    bodies = yaml.safe_load_all((out / "campaigns/letters.yaml").read_text())
    assert [f"{body['kind']}/{body['metadata']['name']}" for body in bodies] == [
        "ConfigMap/campaign-letters",
        "Job/letters",
    ]


@pytest.mark.parametrize("arguments", [(), ("--out", "-")])
def test_prints_one_stream_of_the_same_objects(
    arguments: tuple[str, ...], repo: Path, tmp_path: Path
) -> None:
    ran = _run(repo, *arguments)
    assert (ran.returncode, ran.stderr) == (0, b"")
    _run(repo, "--out", tmp_path / "out")
    written = [
        body
        for path in ("pipelines/ocr.yaml", "campaigns/letters.yaml", "campaigns/maps.yaml")
        for body in yaml.safe_load_all((tmp_path / "out" / path).read_bytes())
    ]
    assert list(yaml.safe_load_all(ran.stdout)) == written


def test_a_campaign_that_is_gone_is_removed(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _run(repo, "--out", out)
    (out / "README.md").write_text("mine\n")
    (repo / "campaigns/maps.yaml").unlink()
    ran = _run(repo, "--out", out)
    assert ran.stderr.decode().splitlines() == [
        f"removed: {out}/campaigns/maps.yaml",
        f"{out}: 0 written, 2 unchanged, 1 removed",
    ]
    assert "README.md" in _files(out)


def test_a_problem_leaves_everything_as_it_was(repo: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    _run(repo, "--out", out)
    before = _files(out)
    (repo / "campaigns/letters.yaml").write_text(CAMPAIGN + "suspend: true\n")
    (repo / "campaigns/maps.yaml").write_text("pipeline: ocr\nvolumes: []\n")
    for arguments in (("--out", out), ()):
        ran = _run(repo, *arguments)
        assert (ran.returncode, ran.stdout) == (1, b"")
        assert b"campaigns/maps.yaml:2:" in ran.stderr
    assert _files(out) == before


@pytest.mark.parametrize(
    "place",
    [".", "campaigns", "pipelines", "campaigns/../pipelines", "campaigns/out", "pipelines/a/b"],
)
def test_never_writes_among_the_sources(place: str, repo: Path) -> None:
    before = _files(repo)
    ran = _run(repo, "--out", repo / place)
    assert ran.returncode == 1
    assert b"holds the files that are rendered; nothing was written: choose" in ran.stderr
    assert _files(repo) == before


def test_a_file_of_somebody_else_is_not_overwritten(repo: Path, tmp_path: Path) -> None:
    mine = tmp_path / "out/campaigns/letters.yaml"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine\n")
    ran = _run(repo, "--out", tmp_path / "out")
    assert ran.returncode == 1
    assert ran.stderr.decode() == (
        f"error: {mine} was not written by campaigns render, so it is not overwritten; nothing "
        "was written: remove it, or choose another directory\n"
    )
    assert _files(tmp_path / "out") == {"campaigns/letters.yaml": b"mine\n"}


def test_no_locale_changes_a_byte(repo: Path, tmp_path: Path) -> None:
    settings = SETTINGS + 'env: {TITLE: "Übersicht \N{GREEK SMALL LETTER OMEGA}"}\n'
    (repo / "converter.yaml").write_text(settings, encoding="utf-8")
    outputs = set()
    for number, variables in enumerate(
        ({"LC_ALL": "C.UTF-8"}, {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"})
    ):
        out = tmp_path / str(number)
        printed = _run(repo, PYTHONHASHSEED=str(number), **variables)
        assert _run(repo, "--out", out, **variables).returncode == 0
        outputs.add((printed.stdout, tuple(_files(out).items())))
    assert len(outputs) == 1


def test_the_repository_is_named_after_its_directory_outside_git(repo: Path) -> None:
    (repo / "converter.yaml").write_text(SETTINGS.replace("repository:", "# repository:"))
    ran = _run(repo, GIT_CEILING_DIRECTORIES=str(repo.parent))
    bodies = list(yaml.safe_load_all(ran.stdout))
    annotation = "gitops-campaigns.io/repository"
    assert {body["metadata"]["annotations"][annotation] for body in bodies} == {"repo"}
    assert ran.stderr.decode() == (
        "warning: there is no `repository` in converter.yaml and no git remote `origin` that names "
        "one, so the repository is called repo after its directory: set `repository` in "
        "converter.yaml\n"
    )


def test_warnings_of_the_repository_are_told(repo: Path) -> None:
    (repo / "campaigns/maps.yaml").write_text(CAMPAIGN)
    ran = _run(repo)
    assert ran.returncode == 0
    [line] = ran.stderr.decode().splitlines()
    assert line.startswith(f"{repo}/campaigns/maps.yaml:2:11: C010 warning: ")


def test_help_has_an_example() -> None:
    ran = _run("--help")
    assert ran.returncode == 0
    assert b"campaigns render . --out rendered" in ran.stdout
