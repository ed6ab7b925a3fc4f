"""`campaigns apply --code-quality`: what was not done, as GitLab shows it."""

import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from unit.cli.apply_site import Site, made
from unit.cli.code_quality import entries, places
from unit.cli.test_apply import (
    SIGNALS,
    cut_off,
    held_by_another,
    invalid,
    stopped_at,
    without_credentials,
)
from unit.cli.test_apply_ci import ON_GITHUB, foreign_job
from unit.cli.test_validate_formats import commands

from converter.cli.announcer import Files
from converter.cli.apply_findings import apply_findings
from converter.cli.code_quality import write
from converter.errors import Refused
from converter.load import load_repo
from converter.reconcile.outcome import Event, Fate, Outcome

LETTERS = "campaigns/letters.yaml"


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with made(tmp_path) as site:
        subprocess.run(["git", "init", "--quiet", str(site.repo)], check=True)
        yield site


def report_of(site: Site, *options: str, code: int, **variables: str) -> list[dict[str, Any]]:
    file = site.repo.parent / "report.json"
    done = site.apply("--code-quality", str(file), *options, **variables)
    assert done.returncode == code, done.stderr
    return entries(file.read_text(encoding="utf-8"))


def test_what_was_held_back_is_at_its_file_in_the_words_of_the_annotation(site: Site) -> None:
    foreign_job(site)
    found = report_of(site, code=3)
    assert places(found) == [("apply-held-back", LETTERS, 1)]
    assert found[0]["severity"] == "major"
    [annotation] = commands(site.apply(**ON_GITHUB).stderr)
    assert found[0]["description"] == annotation.data
    assert found == report_of(site, code=3)


def test_without_a_fault_it_is_empty_whatever_was_there(site: Site) -> None:
    file = site.repo.parent / "report.json"
    file.write_text("from the run before")
    assert report_of(site, code=0) == []
    assert file.read_text() == "[]\n"
    assert sorted(path.name for path in file.parent.iterdir()) == [
        "kubeconfig",
        "repo",
        "report.json",
    ]


def test_the_file_can_be_read_by_others(site: Site) -> None:
    report_of(site, code=0)
    umask = os.umask(0)
    os.umask(umask)
    assert (site.repo.parent / "report.json").stat().st_mode & 0o777 == 0o666 & ~umask


def test_nobody_sees_half_a_report(tmp_path: Path) -> None:
    """Who has opened the old one reads all of it, and a link stays one."""
    file, link = tmp_path / "report.json", tmp_path / "link.json"
    file.write_text("[1, 2, 3]\n")
    link.symlink_to(file.name)
    with file.open() as before:
        write(link, "[]\n")
        assert before.read() == "[1, 2, 3]\n"
    assert link.is_symlink()
    assert file.read_text() == "[]\n"


def test_a_note_is_no_entry(site: Site) -> None:
    site.apply()
    (site.repo / LETTERS).unlink()
    assert report_of(site, code=0) == []


def test_a_broken_file_is_at_its_line(site: Site) -> None:
    invalid(site)
    found = report_of(site, code=1)
    assert places(found) == [("C005", LETTERS, 1)]
    assert '"orc"' in found[0]["description"]


@pytest.mark.parametrize(
    ("prepare", "options", "before", "error"),
    [
        (held_by_another, (), [], "alice@ci holds the Lease"),
        (without_credentials, (), [], "is not a kubeconfig"),
        (cut_off, (), [], "is not from an API server"),
        (invalid, ("--namespace", "other"), ["C005"], ""),
        (lambda site: None, ("--namespace", "other"), [], "--namespace other is not"),
        (foreign_job, ("--all-or-nothing",), ["apply-held-back"], "nothing was applied"),
    ],
)
def test_a_run_that_stops_says_why_at_the_settings(
    site: Site,
    prepare: Callable[[Site], None],
    options: tuple[str, ...],
    before: list[str],
    error: str,
) -> None:
    prepare(site)
    found = report_of(site, *options, code=1)
    stopped = [("apply-stopped", "converter.yaml", 1)] if error else []
    assert places(found) == [(check, LETTERS, 1) for check in before] + stopped
    if error:
        assert error in found[-1]["description"]
        assert found[-1]["severity"] == "critical"


@pytest.mark.parametrize(("number", "code", "said"), SIGNALS)
def test_a_run_that_is_stopped_by_a_signal_leaves_its_report(
    site: Site, number: signal.Signals, code: int, said: str
) -> None:
    file = site.repo.parent / "report.json"
    returned, _, _ = stopped_at(site, "/jobs/letters", number, "--code-quality", str(file))
    assert returned == code
    [entry] = entries(file.read_text())
    assert entry["description"] == f"apply was {said}: apply again to finish"


def test_a_pause_that_is_not_enforced_is_critical(site: Site) -> None:
    foreign_job(site)
    site.write(LETTERS, "pipeline: ocr\nvolumes: [A1]\nsuspend: true\n")
    found = report_of(site, code=1)
    assert ("apply-not-paused", LETTERS, 1) in places(found)
    [critical] = [each for each in found if each["severity"] == "critical"]
    assert critical["check_name"] == "apply-not-paused"


def test_how_a_wait_ends_is_no_entry(site: Site) -> None:
    assert report_of(site, "--wait", "--timeout", "1s", code=1) == []


@pytest.mark.parametrize(
    ("target", "campaign", "path"),
    [
        ("Job/letters", "letters", LETTERS),
        ("pipeline ocr", "", "pipelines/ocr.yaml"),
        ("ConfigMap/pipeline-ocr", "", "pipelines/ocr.yaml"),
        ("Job/warmup-ocr", "", "pipelines/ocr.yaml"),
        ("campaign gone", "gone", "converter.yaml"),
        ("pipeline gone", "", "converter.yaml"),
    ],
)
@pytest.mark.parametrize("below", [True, False])
def test_each_fault_is_at_the_file_it_is_about(
    site: Site, target: str, campaign: str, path: str, below: bool
) -> None:
    repo = load_repo(site.repo).repo
    assert repo is not None
    top = site.repo.parent if below else site.repo
    outcome = Outcome(print, [Event(Fate.REFUSED, target, "no", campaign)])
    [found] = apply_findings(outcome, site.repo, Files(site.repo, repo, None), top)
    assert found.path == f"{'repo/' if below else ''}{path}"
    assert found.sentence == f"refused: {target}: no"


def test_before_the_files_are_known_the_settings_are(tmp_path: Path) -> None:
    stop = Refused("no")
    [found] = apply_findings(Outcome(print), tmp_path / "repo", None, tmp_path, stop, "no")
    assert (found.path, found.sentence) == ("repo/converter.yaml", "no")


@pytest.mark.parametrize(
    ("file", "error"),
    [("nowhere/report.json", "there is no directory "), (".", "is no regular file")],
)
def test_a_file_that_cannot_be_written_is_known_before_anything_is_sent(
    site: Site, file: str, error: str
) -> None:
    done = site.apply("--code-quality", str(site.repo / file))
    assert done.returncode == 2
    assert error in done.stderr
    assert site.api.requests == []


def test_a_dry_run_has_no_report(site: Site) -> None:
    done = site.apply("--dry-run", "--code-quality", "report.json")
    assert done.returncode == 2
    assert "no --code-quality" in done.stderr


def test_that_it_cannot_be_written_later_is_a_warning(site: Site) -> None:
    """The name is longer than a file system has it: found when the file is made."""
    file = site.repo.parent / ("r" * 250)
    done = site.apply("--code-quality", str(file))
    assert done.returncode == 0
    assert done.stderr == f"warning: the report {file} was not written: File name too long\n"
