"""What `campaigns apply` leaves in GitHub Actions: annotations of files, and the job summary."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from unit.cli.apply_site import Site, made
from unit.cli.commands import write_repository
from unit.cli.test_apply import cut_off, held_by_another, invalid

ON_GITHUB = {"GITHUB_ACTIONS": "true"}


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with made(tmp_path) as site:
        yield site


def foreign_job(site: Site) -> None:
    site.namespace.add({"metadata": {"name": "letters", "uid": "1"}, "kind": "Job", "spec": {}})


HELD_BACK = "held back: campaign letters: Job/letters exists and was not made by campaigns"


@pytest.mark.parametrize(
    ("clone", "file"), [("repo", "campaigns/letters.yaml"), (".", "repo/campaigns/letters.yaml")]
)
def test_a_fault_is_an_annotation_of_the_file_in_the_clone(
    site: Site, clone: str, file: str
) -> None:
    subprocess.run(["git", "init", "--quiet", str(site.repo.parent / clone)], check=True)
    foreign_job(site)
    done = site.apply(**ON_GITHUB)
    assert done.returncode == 3
    [line] = done.stderr.splitlines()
    assert line.startswith(f"::error file={file}::{HELD_BACK}")


def test_outside_git_the_file_is_as_it_opens(site: Site) -> None:
    foreign_job(site)
    done = site.apply(**ON_GITHUB, GIT_CEILING_DIRECTORIES=str(site.repo.parent))
    assert done.stderr.startswith(f"::error file={site.repo}/campaigns/letters.yaml::held back: ")


def test_elsewhere_a_fault_names_the_file_that_it_is_about(site: Site) -> None:
    foreign_job(site)
    for variables in ({}, {"GITHUB_ACTIONS": "false"}):
        line = site.apply(**variables).stderr
        file = site.repo / "campaigns/letters.yaml"
        assert line.startswith(f"held back: campaign letters ({file}): Job/letters exists")


def test_a_note_is_a_notice(site: Site) -> None:
    site.apply()
    (site.repo / "campaigns/letters.yaml").unlink()
    done = site.apply(**ON_GITHUB)
    assert (done.returncode, done.stderr.splitlines()[0][:29]) == (
        0,
        "::notice::note: campaign lett",
    )


def test_json_is_kept_clean(site: Site) -> None:
    foreign_job(site)
    done = site.apply("--format", "json", **ON_GITHUB)
    assert json.loads(done.stdout)["exitCode"] == 3
    assert done.stderr.startswith("::error file=")


def test_a_run_that_stops_part_way_is_annotated_and_summed_up(site: Site, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    cut_off(site)
    done = site.apply(**ON_GITHUB, GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 1
    assert "is not from an API server" in next(
        line for line in done.stderr.splitlines() if line.startswith("::error::")
    )
    text = summary.read_text()
    assert "**Stopped part-way, apply again to finish:**" in text
    assert "| ConfigMap/pipeline-ocr | created |  |" in text


@pytest.mark.parametrize("prepare", [held_by_another, invalid])
def test_a_run_that_sent_nothing_says_why(site: Site, tmp_path: Path, prepare: object) -> None:
    assert callable(prepare)
    prepare(site)
    summary = tmp_path / "summary.md"
    assert site.apply(GITHUB_STEP_SUMMARY=str(summary)).returncode == 1
    assert "**Not applied:** " in summary.read_text()


def test_a_refusal_is_not_called_part_way(site: Site, tmp_path: Path) -> None:
    foreign_job(site)
    summary = tmp_path / "summary.md"
    done = site.apply("--all-or-nothing", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 1
    assert "part-way" not in done.stderr
    assert "**Not applied:** nothing was applied" in summary.read_text()
    assert "| letters | held back | " in summary.read_text()


def test_the_summary_of_an_apply_and_its_wait(site: Site, tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    summary.write_text("what the step said before\n")
    foreign_job(site)
    write_repository(site.repo, {"campaigns/maps.yaml": "pipeline: ocr\nvolumes: [M1]\n"})
    done = site.apply("--wait", "--timeout", "1s", GITHUB_STEP_SUMMARY=str(summary))
    assert done.returncode == 1
    lines = summary.read_text().splitlines()
    assert lines[0] == "what the step said before"
    assert [line for line in lines if line.startswith("#")] == [
        "### campaigns apply",
        "### campaigns apply --wait",
    ]
    rows = [line.partition(" | ")[0] for line in lines if line.startswith("| ")]
    assert [row for row in rows if row[2:] not in ("Campaign", "---")] == [
        "| letters",
        "| ConfigMap/pipeline-ocr",
        "| maps",
        "| maps",
    ]
    assert "secret" not in summary.read_text()


def test_a_summary_that_cannot_be_written_is_a_warning(site: Site, tmp_path: Path) -> None:
    done = site.apply(GITHUB_STEP_SUMMARY=str(tmp_path))
    assert done.returncode == 0
    assert done.stderr == (f"warning: the job summary {tmp_path} was not written: Is a directory\n")
