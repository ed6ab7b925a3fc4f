"""What must hold whatever a repository says: it is judged, and the judgement can be read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final

from converter.cli.problem_formats import FORMATS, Report
from converter.cli.repository import load_checked
from converter.problem import Problem

# A terminal acts on these, or shows a line other than it is.
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]")
# YAML 1.1, which is what libyaml counts lines by, and that of a file that is not yet YAML.
_LINE_BREAKS: Final = (re.compile("\r\n|[\r\n\x85\u2028\u2029]"), re.compile("\n"))


def validated(root: Path) -> tuple[Report, Mapping[str, str]]:
    """What `campaigns validate` finds in a repository, and what it writes in each format."""
    loaded, problems = load_checked(root)
    report = Report(tuple(problems), len(loaded.campaigns) + len(loaded.pipelines))
    return report, {name: write(report) for name, write in FORMATS.items()}


def faults(root: Path, report: Report, outputs: Mapping[str, str]) -> list[str]:
    """Everything that is wrong with how `root` was judged; empty when all is as it must be."""
    return [*_misplaced(root, report.problems), *_unreadable(report, outputs)]


def _misplaced(root: Path, problems: Sequence[Problem]) -> Iterator[str]:
    for problem in problems:
        if (problem.line, problem.column) == (0, 0):
            continue
        text = _text(Path(problem.path), root)
        if not any(_is_inside(problem, line_break.split(text)) for line_break in _LINE_BREAKS):
            yield f"a position outside of the file: {problem}"


def _is_inside(problem: Problem, lines: Sequence[str]) -> bool:
    # One past the last character is where something is missing.
    inside = 1 <= problem.line <= len(lines)
    return inside and 1 <= problem.column <= len(lines[problem.line - 1]) + 1


def _text(path: Path, root: Path) -> str:
    """A file as text; one that is not UTF-8 as far as it is."""
    if not path.is_relative_to(root) or not path.is_file():
        return ""
    return path.read_bytes().decode("utf-8", "replace")


def _unreadable(report: Report, outputs: Mapping[str, str]) -> Iterator[str]:
    for name in ("text", "github"):
        lines = outputs[name].split("\n")
        # The last line counts the problems and ends in a newline.
        if len(lines) != len(report.problems) + 2 or lines[-1]:
            yield f"{name}: {len(lines) - 2} lines for {len(report.problems)} problems"
        for line in lines:
            if _CONTROL.search(line):
                yield f"{name}: a control character in {line!r}"
            if any("\ud800" <= character <= "\udfff" for character in line):
                yield f"{name}: half a surrogate pair in {line!r}"
    document = json.loads(outputs["json"])
    if len(document["problems"]) != len(report.problems):
        yield f"json: {len(document['problems'])} of {len(report.problems)} problems"
    [run] = json.loads(outputs["sarif"])["runs"]
    if len(run["results"]) != len(report.problems):
        yield f"sarif: {len(run['results'])} of {len(report.problems)} problems"
    for problem in report.problems:
        if not problem.message or not problem.remedy:
            yield f"a problem without words: {problem}"
