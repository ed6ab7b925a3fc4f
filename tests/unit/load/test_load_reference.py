"""docs/files.md names every key, and its examples are valid."""

import re
from pathlib import Path

import pytest
from unit.load.repositories import lines, load

from converter.load.schema import FileKind, document

PAGE = (Path(__file__).parents[3] / "docs" / "files.md").read_text(encoding="utf-8")
HEADINGS = {
    FileKind.CAMPAIGN: "## campaigns/",
    FileKind.PIPELINE: "## pipelines/",
    FileKind.CONVERTER: "## converter.yaml",
}
NESTED = {
    FileKind.CAMPAIGN: ["volumeWithSource"],
    FileKind.PIPELINE: [],
    FileKind.CONVERTER: ["size", "flavor", "toleration", "slurm", "slurmFlavor", "slurmPriority"],
}
ARGUMENT = {
    FileKind.CAMPAIGN: "campaign",
    FileKind.PIPELINE: "pipeline",
    FileKind.CONVERTER: "settings",
}


def chapter(kind: FileKind) -> str:
    return PAGE.partition(f"\n{HEADINGS[kind]}")[2].partition("\n## ")[0]


@pytest.mark.parametrize("kind", list(FileKind))
def test_the_page_has_the_keys_that_the_schema_has(kind: FileKind) -> None:
    schema = document(kind)
    parts = [schema, *(schema["$defs"][name] for name in NESTED[kind])]
    rows = re.findall(r"^\| (`.*?) \|", chapter(kind), re.MULTILINE)
    named = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert named == {name for part in parts for name in part["properties"]}


@pytest.mark.parametrize("kind", list(FileKind))
def test_the_example_is_valid(kind: FileKind, tmp_path: Path) -> None:
    example = chapter(kind).partition("```yaml\n")[2].partition("```")[0]
    assert example
    assert lines(load(tmp_path, **{ARGUMENT[kind]: example})) == []
