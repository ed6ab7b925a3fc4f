"""`campaigns validate`: what it prints, in each format, and its exit code."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from converter.cli import validate
from converter.cli.problem_formats import Report, github, sarif, summary
from converter.problem import Level, Problem

IMAGE = f"registry.example/ocr@sha256:{'0' * 64}"
SETTINGS = "namespace: campaigns\nqueue: campaigns\ncommand: [ocr]\npriority_classes: [urgent]\n"


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A valid repository of three files, in which the command is run."""
    monkeypatch.chdir(tmp_path)
    for directory in ("campaigns", "pipelines"):
        (tmp_path / directory).mkdir()
    (tmp_path / "converter.yaml").write_text(SETTINGS)
    (tmp_path / "pipelines/ocr.yaml").write_text(f"image: {IMAGE}\n")
    campaign(tmp_path, "pipeline: ocr\nvolumes: [a]\n")
    return tmp_path


def campaign(repo: Path, text: str, name: str = "letters") -> None:
    (repo / f"campaigns/{name}.yaml").write_text(text)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(validate.command, arguments, standalone_mode=False)


THREE_MISTAKES = """\
pipeline: orc
priority: urgnt
volumes:
  - letters-1871
  - letters-1872
  - letters-1871
"""


def test_a_valid_repository(repo: Path) -> None:
    done = run()
    assert (done.return_value, done.output) == (0, "All 3 files are valid.\n")


def test_each_mistake_of_a_file_is_named_with_its_place(repo: Path) -> None:
    campaign(repo, THREE_MISTAKES)
    done = run(".")
    assert done.return_value == 1
    assert done.stdout.splitlines() == [
        'campaigns/letters.yaml:1:11: C005 there is no pipeline "orc" — write one of: ocr',
        'campaigns/letters.yaml:2:11: C006 priority "urgnt" is not one of converter.yaml\'s '
        "priority_classes — did you mean urgent?",
        'campaigns/letters.yaml:6:5: C008 volume "letters-1871" is in line 4 already — take one of '
        "them out",
        "Found 3 errors in 1 file.",
    ]


def test_mistakes_of_loading_and_of_rules_come_together(repo: Path) -> None:
    campaign(repo, "pipeline: ocr\nvolumes: [a]\nwindow: many\n")
    campaign(repo, "pipeline: ocr\npriority: low\nvolumes: [b]\n", "maps")
    done = run()
    assert done.return_value == 1
    assert re.findall(r"^(\S+:\d+:\d+): ([A-Z])", done.output, re.MULTILINE) == [
        ("campaigns/letters.yaml:3:9", "F"),
        ("campaigns/maps.yaml:2:11", "C"),
    ]


def test_warnings_leave_the_exit_code_at_zero(repo: Path) -> None:
    campaign(repo, "pipeline: ocr\nvolumes: [a]\n", "letters-2")
    done = run()
    assert done.return_value == 0
    assert done.output == (
        "campaigns/letters-2.yaml:2:11: C010 warning: a is in campaigns/letters.yaml too, with "
        "the same pipeline — take it out of the newer of the two, unless that is to run again "
        "what failed\n"
        "Found 1 warning in 1 file.\n"
    )


def test_paths_can_be_opened_from_where_the_command_runs(
    repo: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    campaign(repo, "pipeline: orc\nvolumes: [a]\n")
    assert run(str(repo)).output.startswith(f"{repo}/campaigns/letters.yaml:1:11: C005")
    monkeypatch.chdir(repo.parent)
    assert run(repo.name).output.startswith(f"{repo.name}/campaigns/letters.yaml:1:11: C005")
    monkeypatch.chdir(repo / "campaigns")
    assert run("letters.yaml").output.startswith("../campaigns/letters.yaml:1:11: C005")


def test_a_file_stands_for_its_whole_repository(repo: Path) -> None:
    campaign(repo, "pipeline: orc\nvolumes: [a]\n")
    files = ("pipelines/ocr.yaml", "converter.yaml")
    assert run(*files).output.splitlines()[1:] == ["Found 1 error in 1 file."]


def test_a_file_outside_of_a_repository_is_wrong_usage(repo: Path) -> None:
    (repo / "converter.yaml").unlink()
    done = CliRunner().invoke(validate.command, ["pipelines/ocr.yaml"])
    assert done.exit_code == 2
    assert "pipelines/ocr.yaml is in no campaigns repository" in done.output


@pytest.mark.parametrize(
    "name",
    ["README.md", "campaigns/notes.txt", "campaigns/.hidden.yaml", "sub/campaigns/letters.yaml"],
)
def test_a_file_that_is_not_one_of_the_repositorys_is_wrong_usage(repo: Path, name: str) -> None:
    (repo / name).parent.mkdir(parents=True, exist_ok=True)
    (repo / name).write_text("pipeline: orc\n")
    done = CliRunner().invoke(validate.command, [name])
    assert done.exit_code == 2
    assert f"{name} is not a file of the repository in .;" in done.output


def test_a_file_with_a_wrong_ending_is_checked(repo: Path) -> None:
    (repo / "campaigns/letters.yaml").rename(repo / "campaigns/letters.yml")
    done = run("campaigns/letters.yml")
    assert done.return_value == 1
    assert done.output.startswith("campaigns/letters.yml:0:0: F008")


def test_each_repository_is_checked_once(repo: Path) -> None:
    campaign(repo, "pipeline: orc\nvolumes: [a]\n")
    done = run(".", str(repo), "campaigns/..", "campaigns", "campaigns/letters.yaml")
    assert re.findall(r"^\S+", done.output, re.MULTILINE) == [
        "campaigns/letters.yaml:1:11:",
        "Found",
    ]
    assert document(".", str(repo), "--format", "json")["summary"]["files"] == 3


@pytest.mark.parametrize("directory", ["campaigns", "pipelines"])
def test_a_directory_of_the_repository_stands_for_it(
    repo: Path, monkeypatch: pytest.MonkeyPatch, directory: str
) -> None:
    assert run(directory).output == "All 3 files are valid.\n"
    monkeypatch.chdir(repo / directory)
    assert run().output == "All 3 files are valid.\n"


def test_another_directory_in_a_repository_is_not_it(repo: Path) -> None:
    (repo / "eu").mkdir()
    assert run("eu").output.startswith("eu/converter.yaml:0:0: F008 missing")


@pytest.mark.parametrize("options", [("--select", "C"), ("--ignore", "F")], ids=" ".join)
def test_a_repository_that_cannot_be_loaded_is_never_valid(
    repo: Path, options: tuple[str, ...]
) -> None:
    (repo / "empty").mkdir()
    done = run("empty", *options)
    assert done.return_value == 1
    assert done.output.startswith("empty/converter.yaml:0:0: F008 missing")
    campaign(repo, "pipeline: ocr\n")
    assert run(*options).return_value == 1


@pytest.mark.parametrize(
    ("arguments", "codes"),
    [
        ((), ["C005", "C006", "C008"]),
        (("--select", "C006"), ["C006"]),
        (("--select", "c,p", "--ignore", "C005,C006"), ["C008"]),
        (("--ignore", "C"), []),
        (("--select", "P"), []),
    ],
)
def test_rules_can_be_selected(repo: Path, arguments: tuple[str, ...], codes: list[str]) -> None:
    campaign(repo, THREE_MISTAKES)
    done = run(*arguments)
    assert re.findall(r": ([A-Z]\d{3}) ", done.output) == codes
    assert done.return_value == (1 if codes else 0)


@pytest.mark.parametrize("prefix", ["X", "C9", "", "C005,"])
def test_a_code_that_does_not_exist_is_wrong_usage(repo: Path, prefix: str) -> None:
    done = CliRunner().invoke(validate.command, ["--ignore", prefix])
    assert done.exit_code == 2
    assert "begins no rule code" in done.output


def document(*arguments: str) -> Any:
    return json.loads(run(*arguments).stdout)


def test_json(repo: Path) -> None:
    campaign(repo, "pipeline: orc\nvolumes: [a]\n")
    assert document("--format", "json") == {
        "version": 1,
        "problems": [
            {
                "path": "campaigns/letters.yaml",
                "line": 1,
                "column": 11,
                "code": "C005",
                "name": "unknown-pipeline",
                "level": "error",
                "message": 'there is no pipeline "orc"',
                "remedy": "write one of: ocr",
            }
        ],
        "summary": {"errors": 1, "warnings": 0, "files": 3},
    }


def a_problem(**changes: Any) -> Problem:
    fields = {
        "path": "campaigns/a,b:c.yaml",
        "line": 3,
        "column": 7,
        "code": "C005",
        "message": "100% wrong\nreally: yes, it is",
        "remedy": "write right",
    }
    return Problem(**{**fields, **changes})


def test_workflow_commands_are_escaped() -> None:
    report = Report((a_problem(), a_problem(line=0, column=0, level=Level.WARNING)), 2)
    said = "C005 unknown-pipeline::100%25 wrong%0Areally: yes, it is — write right"
    assert github(report).splitlines() == [
        f"::error file=campaigns/a%2Cb%3Ac.yaml,line=3,col=7,title={said}",
        f"::warning file=campaigns/a%2Cb%3Ac.yaml,title={said}",
        "Found 1 error and 1 warning in 1 file.",
    ]


def test_sarif() -> None:
    report = Report((a_problem(path="campaigns/a b.yaml"), a_problem(path="/r/x.yaml", line=0)), 2)
    log = json.loads(sarif(report))
    assert log["version"] == "2.1.0"
    [run_of_tool] = log["runs"]
    driver = run_of_tool["tool"]["driver"]
    assert (driver["name"], [rule["id"] for rule in driver["rules"]]) == ("campaigns", ["C005"])
    first, second = run_of_tool["results"]
    assert (first["ruleId"], first["ruleIndex"], first["level"]) == ("C005", 0, "error")
    assert first["message"]["text"].endswith("really: yes, it is — write right")
    assert first["locations"] == [
        {
            "physicalLocation": {
                "artifactLocation": {"uri": "campaigns/a%20b.yaml"},
                "region": {"startLine": 3, "startColumn": 7},
            }
        }
    ]
    # SARIF counts lines from 1, so a finding about a whole file has no region.
    assert second["locations"] == [
        {"physicalLocation": {"artifactLocation": {"uri": "file:///r/x.yaml"}}}
    ]


@pytest.mark.parametrize("output", ["json", "sarif"])
def test_a_document_is_written_for_a_valid_repository_too(repo: Path, output: str) -> None:
    done = run("--format", output)
    assert done.return_value == 0
    assert isinstance(json.loads(done.stdout), dict)


@pytest.mark.parametrize(
    ("again", "change", "imported"),
    [
        (False, None, "{'jinja2'}"),
        (True, None, "set()"),
        (True, "campaigns/letters.yaml", "set()"),
        (True, "converter.yaml", "{'jinja2'}"),
    ],
)
def test_what_is_imported_is_what_it_takes(
    repo: Path, again: bool, change: str | None, imported: str
) -> None:
    """Objects are rendered where they may be others than last time."""
    if again:
        assert run().return_value == 0
    if change is not None:
        (repo / change).write_text(f"# another\n{(repo / change).read_text()}")
    program = (
        "import sys\n"
        "from converter.cli.validate import command\n"
        "command.main(['.'], standalone_mode=False)\n"
        "print({'kubernetes', 'rich', 'jinja2'} & sys.modules.keys())\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"All 3 files are valid.\n{imported}\n"


@pytest.mark.parametrize(
    ("levels", "expected"),
    [
        ((), "All 12 files are valid."),
        ((Level.ERROR,), "Found 1 error in 1 file."),
        ((Level.ERROR, Level.ERROR, Level.WARNING), "Found 2 errors and 1 warning in 3 files."),
        ((Level.WARNING, Level.WARNING), "Found 2 warnings in 2 files."),
    ],
)
def test_the_last_line_counts(levels: tuple[Level, ...], expected: str) -> None:
    problems = (a_problem(path=f"{n}.yaml", level=level) for n, level in enumerate(levels))
    assert summary(Report(tuple(problems), 12)) == expected


def test_one_file_is_counted_as_one() -> None:
    assert summary(Report((), 1)) == "1 file is valid."


def test_no_file_is_not_a_valid_one() -> None:
    assert summary(Report((), 0)) == "There are no files to check."
