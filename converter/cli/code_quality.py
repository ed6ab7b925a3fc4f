"""GitLab's Code Quality report: a JSON array with one entry for each finding.

https://docs.gitlab.com/ci/testing/code_quality/#code-quality-report-format. GitLab compares the
report of a merge request with that of its target branch by the entries' fingerprints.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

import click

# What moves when somebody writes another line above.
_POSITION: Final = re.compile(r"\b(lines?|columns?) [0-9]+(?: and [0-9]+)?")


class Severity(StrEnum):
    """Those of GitLab's five that are used."""

    CRITICAL = "critical"
    MAJOR = "major"
    MINOR = "minor"


@dataclass(frozen=True, slots=True)
class Finding:
    """One entry. `path` is that from the top of the clone, `line` counts from 1.

    `check` names the rule, and `sentence` is what people read. Of `about`, which is the sentence
    or what of it stays the same for longer, the fingerprint is made.
    """

    check: str
    path: str
    line: int
    sentence: str
    about: str
    severity: Severity


def document(findings: Iterable[Finding]) -> str:
    """The whole report, ending in a newline. The same finding twice in a file is counted."""
    seen: Counter[tuple[str, ...]] = Counter()
    entries = []
    for finding in findings:
        identity = (finding.check, finding.path, _POSITION.sub(r"\1", finding.about))
        seen[identity] += 1
        entries.append(_entry(finding, _fingerprint(*identity, str(seen[identity]))))
    return f"{json.dumps(entries, indent=2, ensure_ascii=False)}\n"


def write(file: Path, text: str) -> None:
    """Make the file hold the report; nobody sees half of it. Raises OSError."""
    place = file.resolve()
    with TemporaryDirectory(prefix=f".{place.name}-", dir=place.parent) as beside:
        new = Path(beside) / place.name
        new.write_text(text, encoding="utf-8", errors="backslashreplace")
        new.replace(place)


def read_file_option(
    _context: click.Context, _parameter: click.Parameter, value: Path | None
) -> Path | None:
    """A file that can be replaced as a whole: known before anything is sent."""
    if value is None:
        return None
    if not value.parent.is_dir():
        raise click.BadParameter(f"there is no directory {value.parent}: make it first")
    if value.exists() and not value.is_file():
        raise click.BadParameter(f"{value} is no regular file: name another")
    return value


def _entry(finding: Finding, fingerprint: str) -> dict[str, Any]:
    return {
        "description": finding.sentence,
        "check_name": finding.check,
        "fingerprint": fingerprint,
        "severity": finding.severity.value,
        "location": {"path": finding.path, "lines": {"begin": finding.line}},
    }


def _fingerprint(*parts: str) -> str:
    # As JSON: where one part ends is part of it.
    return sha256(json.dumps(parts).encode()).hexdigest()
