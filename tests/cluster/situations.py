"""docs/situations.md: the table of what status and explain say, made and checked by the tests."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner
from cluster.team import Object, Team

from converter.cli import explain

DOCUMENT = Path(__file__).parents[2] / "docs" / "situations.md"
# Set, the tests write the table anew instead of comparing it.
UPDATE = "CAMPAIGNS_UPDATE_DOCS"
HEAD = """\
# What keeps a campaign from running

A test makes each situation on a real cluster (`tests/cluster/test_situations.py`). This is what
`campaigns status` and the first cause of `campaigns explain` then say; names of the run and times
are replaced. The codes are in [explain.md](explain.md).

| Situation | Phase | Code | What explain says first | What to do |
| --- | --- | --- | --- | --- |
"""


@dataclass(frozen=True)
class Row:
    """One situation as it was seen."""

    situation: str
    phase: str
    code: str
    sentence: str
    remedy: str

    @property
    def line(self) -> str:
        cells = (
            self.situation,
            self.phase,
            f"`{self.code}`",
            self.sentence,
            self.remedy or "nothing",
        )
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def explained(team: Team, name: str, kubeconfig: Path) -> Object:
    """`campaigns explain`, run here: as a process of its own each would take most of a second."""
    arguments = [name, str(team.repo), f"--kubeconfig={kubeconfig}", "--format=json"]
    done = CliRunner().invoke(explain.command, arguments)
    assert done.exit_code == 0, f"{done.output} {done.exception}"
    found: Object = json.loads(done.stdout)
    return found


def row(situation: str, phase: str, found: Object, names: Mapping[str, str]) -> Row:
    """`names` are those of this run only, and what stands for them in the document."""
    first = found["causes"][0]
    return Row(
        situation,
        phase,
        first["code"],
        _plain(first["sentence"], names),
        _plain(first["remedy"], names),
    )


def check(rows: Iterable[Row]) -> None:
    """Compare with the lines of these situations in the document, or write them."""
    lines = {row.situation: row.line for row in rows}
    text = DOCUMENT.read_text() if DOCUMENT.exists() else HEAD
    written = {
        line.split(" | ")[0][2:]: line for line in text.splitlines() if line.count(" | ") > 3
    }
    written = {
        key: line for key, line in written.items() if not key.startswith(("Situation", "---"))
    }
    if os.environ.get(UPDATE):
        DOCUMENT.write_text(HEAD + "".join(f"{line}\n" for line in {**written, **lines}.values()))
        return
    differing = [line for key, line in lines.items() if written.get(key) != line]
    assert not differing, f"{DOCUMENT.name} is not what was seen; set {UPDATE}=1 to write it anew"


def _plain(text: str, names: Mapping[str, str]) -> str:
    for name, instead in names.items():
        text = text.replace(name, instead)
    text = re.sub(r"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}Z", "2026-01-01T00:00:00Z", text)
    # Which part is admitted first, and which try it is, differs from run to run.
    text = re.sub(r"-part[12]\b", "-part2", text)
    return re.sub(r"\(try [0-9] of", "(try 2 of", text)
