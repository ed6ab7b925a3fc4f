"""Problems as text, JSON, GitHub workflow commands, SARIF and GitLab's Code Quality report.

Each format is a function from a `Report` to the whole output, which ends in a newline.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path, PurePath
from typing import Any, Final
from urllib.parse import quote

from converter import __version__
from converter.checks import ALL_RULES
from converter.cli import code_quality
from converter.cli.clone_path import in_clone
from converter.cli.code_quality import Finding, Severity
from converter.cli.workflow_commands import workflow_command
from converter.problem import Level, Problem
from converter.rule import Rule

SEVERITIES: Final = {Level.ERROR: Severity.MAJOR, Level.WARNING: Severity.MINOR}
SARIF_SCHEMA: Final = "https://json.schemastore.org/sarif-2.1.0.json"


@dataclass(frozen=True, slots=True)
class Fixed:
    """How many problems were mended in how many files."""

    problems: int
    files: int

    def __str__(self) -> str:
        return f"{_number(self.problems, 'problem')} in {_number(self.files, 'file')}"


@dataclass(frozen=True, slots=True)
class Report:
    """The problems of all repositories that were checked, and how many files these have.

    Paths are as the reader can open them from where the command runs. `fixed` is None where
    nothing was to be mended, and `top` is the top of the clone, where that is known.
    """

    problems: tuple[Problem, ...]
    files: int
    fixed: Fixed | None = None
    top: Path | None = None

    def count(self, level: Level) -> int:
        """How many problems are of this level."""
        return sum(problem.level is level for problem in self.problems)


def text(report: Report) -> str:
    """One line a problem, and one that counts them."""
    return _lines((*map(str, report.problems), *last_lines(report)))


def last_lines(report: Report) -> Iterator[str]:
    """How many problems were mended, where any was, and how many there are."""
    if report.fixed is not None and report.fixed.problems:
        yield f"Fixed {report.fixed}."
    yield summary(report)


def summary(report: Report) -> str:
    """How many problems there are in how many files."""
    if not report.problems and not report.files:
        return "There are no files to check."
    if not report.problems:
        return f"All {report.files} files are valid." if report.files > 1 else "1 file is valid."
    counts = [_number(report.count(level), level.value) for level in Level if report.count(level)]
    files = len({problem.path for problem in report.problems})
    return f"Found {' and '.join(counts)} in {_number(files, 'file')}."


def json_document(report: Report) -> str:
    """See `campaigns validate --help`. A new member does not change the version."""
    document: dict[str, Any] = {
        "version": 1,
        "problems": [_problem(problem) for problem in report.problems],
        "summary": {
            "errors": report.count(Level.ERROR),
            "warnings": report.count(Level.WARNING),
            "files": report.files,
        },
    }
    if report.fixed is not None:
        document["fixed"] = asdict(report.fixed)
    return _json(document)


def github(report: Report) -> str:
    """Workflow commands, which GitHub Actions turns into annotations of the files."""
    commands = (_workflow_command(problem, report.top) for problem in report.problems)
    return _lines((*commands, *last_lines(report)))


def sarif(report: Report) -> str:
    """SARIF 2.1.0 (OASIS), which code scanning of GitHub and others read."""
    codes = sorted({problem.code for problem in report.problems})
    driver = {
        "name": "campaigns",
        "version": __version__,
        "rules": [_sarif_rule(ALL_RULES[code]) for code in codes],
    }
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": [_sarif_result(problem, codes) for problem in report.problems],
    }
    return _json({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]})


def gitlab(report: Report) -> str:
    """GitLab's Code Quality report; what is about a file as a whole is at its line 1."""
    return code_quality.document(findings(report.problems, report.top))


def findings(problems: Iterable[Problem], top: Path | None) -> list[Finding]:
    """Problems as entries of a Code Quality report of the clone `top`."""
    return [
        Finding(
            check=problem.code,
            path=in_clone(problem.path, top),
            line=max(problem.line, 1),
            sentence=sentence(problem),
            about=problem.message,
            severity=SEVERITIES[problem.level],
        )
        for problem in problems
    ]


def sentence(problem: Problem) -> str:
    """What is wrong, and what to write instead: the same words wherever a problem is shown."""
    return f"{problem.message} \N{EM DASH} {problem.remedy}"


FORMATS: Final[Mapping[str, Callable[[Report], str]]] = {
    "text": text,
    "json": json_document,
    "github": github,
    "sarif": sarif,
    "gitlab": gitlab,
}
# Those whose reader knows files by their path from the top of the clone.
IN_CLONE: Final = ("github", "gitlab")


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "path": problem.path,
        "line": problem.line,
        "column": problem.column,
        "code": problem.code,
        "name": ALL_RULES[problem.code].name,
        "level": problem.level.value,
        "message": problem.message,
        "remedy": problem.remedy,
    }


def _workflow_command(problem: Problem, top: Path | None) -> str:
    properties = {"file": in_clone(problem.path, top)}
    if problem.line:
        properties |= {"line": str(problem.line), "col": str(problem.column)}
    properties["title"] = f"{problem.code} {ALL_RULES[problem.code].name}"
    return workflow_command(problem.level.value, sentence(problem), properties)


def _sarif_rule(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.code,
        "name": rule.name,
        "shortDescription": {"text": rule.what},
        "fullDescription": {"text": rule.why},
        "defaultConfiguration": {"level": rule.level.value},
    }


def _sarif_result(problem: Problem, codes: list[str]) -> dict[str, Any]:
    location: dict[str, Any] = {"artifactLocation": {"uri": _uri(problem.path)}}
    if problem.line:
        location["region"] = {"startLine": problem.line, "startColumn": problem.column}
    return {
        "ruleId": problem.code,
        "ruleIndex": codes.index(problem.code),
        "level": problem.level.value,
        "message": {"text": sentence(problem)},
        "locations": [{"physicalLocation": location}],
    }


def _uri(path: str) -> str:
    file = PurePath(path)
    return file.as_uri() if file.is_absolute() else quote(path)


def _number(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _lines(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)


def _json(document: Mapping[str, Any]) -> str:
    return f"{json.dumps(document, indent=2, ensure_ascii=False)}\n"
