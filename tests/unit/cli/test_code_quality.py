"""`campaigns validate --format gitlab`, and that every format has the same words."""

import html
import json
import subprocess
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from unit.cli.code_quality import SCHEMA, entries, places
from unit.cli.commands import FILES, run, write_repository
from unit.cli.test_validate_formats import AWKWARD, a_problem, commands, report

from converter.checks import ALL_RULES
from converter.cli import job_summary, validate
from converter.cli.problem_formats import github, gitlab, sarif, text
from converter.problem import Level, Problem

BROKEN = "pipeline: orc\nvolumes: [a, a]\n"


def fingerprints(*problems: Problem) -> list[str]:
    return [entry["fingerprint"] for entry in entries(gitlab(report(*problems)))]


def test_the_schema_refuses_what_is_wrong() -> None:
    found = json.loads(gitlab(report(a_problem())))
    del found[0]["location"]["path"]
    found[0]["severity"] = "error"
    assert len(list(SCHEMA.iter_errors(found))) == 2


def test_nothing_wrong_is_an_empty_array() -> None:
    assert gitlab(report()) == "[]\n"


def test_an_entry() -> None:
    [entry] = entries(gitlab(report(a_problem("campaigns/a.yaml", "wrong"))))
    del entry["fingerprint"]
    assert entry == {
        "description": "wrong — write right",
        "check_name": "C005",
        "severity": "major",
        "location": {"path": "campaigns/a.yaml", "lines": {"begin": 3}},
    }


def test_a_warning_is_minor_and_a_whole_file_is_its_first_line() -> None:
    [entry] = entries(gitlab(report(a_problem(line=0, column=0, level=Level.WARNING))))
    assert entry["severity"] == "minor"
    assert entry["location"]["lines"]["begin"] == 1


def test_every_rule_is_valid() -> None:
    problems = [a_problem(code=rule.code, level=rule.level) for rule in ALL_RULES.values()]
    assert [place[0] for place in places(entries(gitlab(report(*problems))))] == list(ALL_RULES)


@pytest.mark.parametrize(
    ("message", "moved"),
    [
        ("wrong", "wrong"),
        ('volume "page-11" is in line 18 already', 'volume "page-11" is in line 19 already'),
        ("key a is in lines 3 and 5", "key a is in lines 13 and 15"),
    ],
)
def test_a_fingerprint_stays_when_lines_move(message: str, moved: str) -> None:
    before = a_problem(message=message)
    assert fingerprints(before) == fingerprints(replace(before, line=9, column=1, message=moved))


@pytest.mark.parametrize(
    "change",
    [
        {"path": "b.yaml"},
        {"code": "C006"},
        {"message": 'volume "page-12" is in line 18 already'},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_finding_has_another_fingerprint(change: dict[str, Any]) -> None:
    problem = a_problem(message='volume "page-11" is in line 18 already')
    assert fingerprints(problem) != fingerprints(replace(problem, **change))


def test_the_same_finding_in_several_lines_is_counted() -> None:
    first, second = a_problem(line=3), a_problem(line=4)
    both = fingerprints(first, second)
    assert both[0] == fingerprints(first)[0] != both[1]
    assert fingerprints(first, a_problem("b.yaml"), second)[2] == both[1]


@pytest.mark.parametrize("words", AWKWARD)
def test_the_same_words_everywhere(words: str) -> None:
    """On one line: no check writes a message of two, and a cell of a table has only one."""
    line = " ".join(words.split())
    problem = a_problem(message=line, remedy=f"write right, {line}")
    found = report(problem)
    sentence = f"{problem.message} — {problem.remedy}"
    assert text(found).splitlines()[0] == f"a.yaml:3:7: C005 {sentence}"
    assert commands(github(found))[0].data == sentence
    assert json.loads(sarif(found))["runs"][0]["results"][0]["message"]["text"] == sentence
    assert entries(gitlab(found))[0]["description"] == sentence
    [row] = rows(job_summary.validated(found))
    assert [html.unescape(cell) for cell in row] == ["a.yaml:3:7", "error", "C005", sentence]


def rows(summary: str) -> list[list[str]]:
    lines = [line for line in summary.splitlines() if line.startswith("| ")]
    return [line.removeprefix("| ").removesuffix(" |").split(" | ") for line in lines[2:]]


@pytest.mark.parametrize(
    ("clone", "place", "arguments"),
    [
        (".", ".", ["."]),
        (".", "campaigns", [".."]),
        ("..", ".", ["."]),
        (".", "..", ["repo"]),
        (".", "/", None),
    ],
    ids=["top", "below", "repository below the top", "above", "absolute"],
)
@pytest.mark.parametrize("output", ["gitlab", "github"])
def test_paths_are_those_in_the_clone(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    clone: str,
    place: str,
    arguments: Sequence[str] | None,
    output: str,
) -> None:
    repo = write_repository(tmp_path / "repo", {**FILES, "campaigns/letters.yaml": BROKEN})
    subprocess.run(["git", "init", "--quiet", str(repo / clone)], check=True)
    monkeypatch.chdir(repo / place if place != "/" else repo)
    done = run("validate", *(arguments or [str(repo)]), "--format", output)
    assert done.returncode == 1
    if place == "..":
        # From outside of the clone nobody knows it.
        expected = "repo/campaigns/letters.yaml"
    else:
        expected = f"{'repo/' if clone == '..' else ''}campaigns/letters.yaml"
    if output == "gitlab":
        found = {path for _, path, _ in places(entries(done.stdout))}
    else:
        found = {command.properties["file"] for command in commands(done.stdout)}
    assert found == {expected}


def test_a_valid_repository_has_an_empty_report(tmp_path: Path) -> None:
    done = run("validate", write_repository(tmp_path), "--format", "gitlab")
    assert (done.returncode, done.stdout) == (0, "[]\n")


# -- the job summary -----------------------------------------------------------------------------


@pytest.mark.parametrize("output", ["text", "github", "json"])
def test_the_problems_are_in_the_job_summary(tmp_path: Path, output: str) -> None:
    write_repository(tmp_path / "repo", {**FILES, "campaigns/letters.yaml": BROKEN})
    summary = tmp_path / "summary.md"
    summary.write_text("what the step said before\n")
    arguments = ("validate", tmp_path / "repo", "--format", output)
    done = run(*arguments, GITHUB_STEP_SUMMARY=str(summary))
    assert (done.returncode, done.stderr) == (1, "")
    assert done.stdout == run(*arguments).stdout
    lines = summary.read_text().splitlines()
    assert lines[:5] == [
        "what the step said before",
        "",
        "### campaigns validate",
        "",
        "Found 2 errors in 1 file.",
    ]
    file = tmp_path / "repo/campaigns/letters.yaml"
    assert [[html.unescape(cell) for cell in row[:3]] for row in rows(summary.read_text())] == [
        [f"{file}:1:11", "error", "C005"],
        [f"{file}:2:14", "error", "C008"],
    ]


def test_a_valid_repository_is_in_the_job_summary(tmp_path: Path) -> None:
    summary = tmp_path / "summary.md"
    run("validate", write_repository(tmp_path / "repo"), GITHUB_STEP_SUMMARY=str(summary))
    assert summary.read_text() == "\n### campaigns validate\n\nAll 3 files are valid.\n"


def test_a_summary_that_cannot_be_written_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path))
    repo = write_repository(tmp_path / "repo")
    done = CliRunner().invoke(validate.command, [str(repo)], standalone_mode=False)
    assert (done.return_value, done.stdout) == (0, "All 3 files are valid.\n")
    assert done.stderr == f"warning: the job summary {tmp_path} was not written: Is a directory\n"
