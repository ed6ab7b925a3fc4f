"""The formats of `campaigns validate` as GitHub's runner and SARIF tools read them."""

import json
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft4Validator
from unit.cli.commands import FILES, run, write_repository

from converter.checks import ALL_RULES
from converter.cli import validate
from converter.cli.problem_formats import FORMATS, Report, github, sarif
from converter.problem import Level, Problem

SARIF = Draft4Validator(
    json.loads((Path(__file__).parent / "data/sarif-schema-2.1.0.json").read_text("utf-8"))
)

AWKWARD = [
    "plain",
    "100% sure, 50%25 of it: %0A",
    "two\nlines\r\nand a third",
    "a,b:c::d=e;f]g",
    "::error file=x::no",
    " blanks at both ends ",
    "änderung \N{GRINNING FACE} \u4e2d",
    "'quoted' \"twice\" \\back",
    "#?&+%",
    "{0} {1} [link](example.com)",
]


def a_problem(path: str = "a.yaml", message: str = "wrong", **changes: Any) -> Problem:
    fields = {"line": 3, "column": 7, "code": "C005", "remedy": "write right"}
    return Problem(path=path, message=message, **{**fields, **changes})


def report(*problems: Problem) -> Report:
    return Report(problems, len(problems))


@dataclass(frozen=True)
class Command:
    """What the runner makes of a line."""

    name: str
    properties: dict[str, str]
    data: str


KNOWN_COMMANDS = {"error", "warning", "notice", "debug", "group", "endgroup", "echo", "add-mask"}
KNOWN_COMMANDS |= {"add-path", "set-env", "set-output", "save-state", "stop-commands"}


def commands(output: str) -> list[Command]:
    """What the runner takes for a command in the output of a step, by its own rules.

    These are of github.com/actions/runner, src/Runner.Common/ActionCommand.cs: a line that begins
    with two colons, and the older form with ##[ anywhere in it.
    """
    found = (_command(line) or _older_command(line) for line in re.split("\r\n|[\r\n]", output))
    return [command for command in found if command]


def _command(line: str) -> Command | None:
    line = line.lstrip()
    head, separator, data = line.removeprefix("::").partition("::")
    name, _, listed = head.partition(" ")
    if not line.startswith("::") or not separator or name not in KNOWN_COMMANDS:
        return None
    return Command(
        name, _properties(listed.strip(), ",", ("\r", "\n", ":", ",")), _unescaped(data, "\r\n")
    )


def _older_command(line: str) -> Command | None:
    head, separator, data = line.partition("##[")[2].partition("]")
    name, _, listed = head.partition(" ")
    if not separator or name not in KNOWN_COMMANDS:
        return None
    escaped = (";", "\r", "\n", "]")
    return Command(name, _properties(listed, ";", escaped), _unescaped(data, escaped))


def _properties(listed: str, separator: str, escaped: tuple[str, ...]) -> dict[str, str]:
    pairs = (part.partition("=") for part in listed.split(separator) if part)
    return {
        name: _unescaped(value.lstrip("="), escaped) for name, _, value in pairs if name and value
    }


def _unescaped(text: str, characters: str | tuple[str, ...]) -> str:
    """The per cent sign comes last, as in the runner: else what it escapes would be undone too."""
    for character in (*characters, "%"):
        text = text.replace(f"%{ord(character):02X}", character)
    return text


def test_the_parser_reads_the_runners_examples() -> None:
    # Of the documentation of workflow commands.
    line = "::error file=app.js,line=1,col=5,endColumn=7,title=YOUR-TITLE::Missing semicolon"
    properties = {"file": "app.js", "line": "1", "col": "5", "endColumn": "7"}
    expected = Command("error", {**properties, "title": "YOUR-TITLE"}, "Missing semicolon")
    assert commands(f"log\n{line}\n::unknown::x\n") == [expected]
    assert commands("a ##[error]b") == [Command("error", {}, "b")]


def assert_read_back(problem: Problem) -> None:
    [command] = commands(github(report(problem)))
    assert command == Command(
        problem.level.value,
        {
            "file": problem.path,
            "line": str(problem.line),
            "col": str(problem.column),
            "title": f"{problem.code} {ALL_RULES[problem.code].name}",
        },
        f"{problem.message} — {problem.remedy}",
    )


@pytest.mark.parametrize("text", AWKWARD)
def test_the_runner_reads_what_was_written(text: str) -> None:
    assert_read_back(a_problem(path=f"campaigns/{text}.yaml", message=text, remedy=text))
    assert_read_back(a_problem(message=text, level=Level.WARNING))


@given(path=st.text(), message=st.text(), remedy=st.text())
def test_the_runner_reads_whatever_was_written(path: str, message: str, remedy: str) -> None:
    assert_read_back(a_problem(path=f"campaigns/{path}.yaml", message=message, remedy=remedy))


def test_a_finding_about_a_whole_file_has_no_line() -> None:
    [command] = commands(github(report(a_problem(line=0, column=0))))
    assert command.properties.keys() == {"file", "title"}


@pytest.mark.parametrize("output", ["text", "json"])
@pytest.mark.parametrize("text", ["::error::x", "\\n::error::x", "##[error]x", "##[add-path]/x"])
def test_a_file_cannot_give_the_runner_commands(tmp_path: Path, output: str, text: str) -> None:
    campaign = f'pipeline: "{text}"\npriority: "{text}"\nvolumes: [a, "{text}"]\n"{text}": 1\n'
    write_repository(tmp_path, {**FILES, "campaigns/letters.yaml": campaign})
    done = CliRunner().invoke(validate.command, [str(tmp_path), "--format", output])
    assert "C005" in done.output
    assert commands(done.output) == []


def violations(output: str) -> list[str]:
    return [error.message for error in SARIF.iter_errors(json.loads(output))]


def test_the_sarif_schema_refuses_what_is_wrong() -> None:
    document = json.loads(sarif(report(a_problem(line=0))))
    [result] = document["runs"][0]["results"]
    result["locations"][0]["physicalLocation"]["region"] = {"startLine": 0, "column": 1}
    del result["message"]
    assert len(violations(json.dumps(document))) == 3


@pytest.mark.parametrize("text", AWKWARD)
def test_sarif_is_valid_and_names_the_file(text: str) -> None:
    path = f"campaigns/{text}.yaml"
    output = sarif(report(a_problem(path, text), a_problem(f"/repo/{path}", line=0, column=0)))
    assert violations(output) == []
    relative, absolute = json.loads(output)["runs"][0]["results"]
    assert relative["message"]["text"] == f"{text} — write right"
    assert unquote(_uri(relative)) == path
    assert urlsplit(_uri(absolute)).scheme == "file"
    assert unquote(urlsplit(_uri(absolute)).path) == f"/repo/{path}"


def _uri(result: Any) -> str:
    """The address of the file; only characters that RFC 3986 has."""
    uri: str = result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
    assert re.fullmatch(r"[\w./:~%-]+", uri, re.ASCII)
    # What comes before a colon would be read as a scheme.
    assert uri.startswith("file:///") or ":" not in uri
    return uri


def test_sarif_of_every_rule_is_valid() -> None:
    problems = [a_problem(code=rule.code, level=rule.level) for rule in ALL_RULES.values()]
    output = sarif(report(*problems))
    assert violations(output) == []
    [run] = json.loads(output)["runs"]
    listed = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert listed == sorted(ALL_RULES)
    assert [listed[result["ruleIndex"]] for result in run["results"]] == list(ALL_RULES)


def test_sarif_of_a_valid_repository_is_valid() -> None:
    assert violations(sarif(report())) == []


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("name", [b"a\xffb", b"a\nb", b"a\x1b[31mb"], ids=str)
def test_a_directory_may_be_called_anything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, output: str, name: bytes
) -> None:
    monkeypatch.chdir(tmp_path)
    root = Path(os.fsdecode(name))
    write_repository(root, {**FILES, "campaigns/letters.yaml": "pipeline: orc\nvolumes: [a]\n"})
    done = run("validate", root, "--format", output)
    assert (done.returncode, done.stderr) == (1, "")
    assert "\x1b" not in done.stdout
    if output in ("text", "github"):
        assert len(done.stdout.splitlines()) == 2
