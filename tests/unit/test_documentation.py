"""What the documents claim, as far as a program can tell."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from mutations import MUTATIONS, Mutation

CHECKOUT = Path(__file__).parents[2]
DOCUMENTS = [
    CHECKOUT / path
    for path in subprocess.run(
        ["git", "ls-files", "*.md"], cwd=CHECKOUT, capture_output=True, text=True, check=True
    ).stdout.split()
]
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(CHECKOUT)))
def test_links_lead_somewhere_and_nothing_is_left_to_fill_in(document: Path) -> None:
    text = document.read_text()
    # A unified diff has @@ with a blank behind it.
    assert not re.search(r"@@\w", text)
    gone = [link for link in LINK.findall(text) if not (document.parent / link).exists()]
    assert gone == []


def test_every_make_target_in_the_readme_exists() -> None:
    targets = set(re.findall(r"^([a-z-]+):", (CHECKOUT / "Makefile").read_text(), re.MULTILINE))
    readme = (CHECKOUT / "README.md").read_text()
    named = set(re.findall(r"(?:^|`)make ([a-z-]+)", readme, re.MULTILINE))
    assert named
    assert named <= targets


@pytest.mark.parametrize("mutation", MUTATIONS, ids=lambda mutation: mutation.name)
def test_a_mutation_finds_the_text_that_it_changes(mutation: Mutation) -> None:
    """Else `make mutations` would stop at what the source no longer says."""
    assert (CHECKOUT / mutation.file).read_text().count(mutation.old) == 1
    assert mutation.old != mutation.new


def test_every_test_that_the_guarantees_name_exists() -> None:
    """A table of rules that no test shows would be a promise and nothing else."""
    tests = CHECKOUT / "tests"
    there = {
        kind: set(
            re.findall(
                r"^def (test_\w+)",
                "\n".join(path.read_text() for path in (tests / kind).rglob("test_*.py")),
                re.MULTILINE,
            )
        )
        for kind in ("unit", "cluster")
    }
    text = (CHECKOUT / "docs" / "guarantees.md").read_text()
    rows = [row.split("|")[2:4] for row in text.splitlines() if "`test_" in row]
    named = {
        kind: {test for row in rows for test in re.findall(r"`(test_\w+)`", row[column])}
        for column, kind in enumerate(("unit", "cluster"))
    }
    assert len(rows) > 40
    assert named["unit"] - there["unit"] == set()
    assert named["cluster"] - there["cluster"] == set()
