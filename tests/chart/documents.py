"""The tables of the chart's README, made from the schema, the defaults and what commands need."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml
from chart.helm import CHART
from chart.schema import SCHEMA, leaves

from converter.doctor.needs import NEEDS, Command, Named, Need, Purpose

README = CHART / "README.md"
# Set, the tests write what they would compare.
UPDATE = "CAMPAIGNS_UPDATE_DOCS"

_NAMED = {
    Named.LEASE: f" `{Named.LEASE}`",
    Named.NAMESPACE: ", the namespace itself",
    Named.QUEUE: ", the LocalQueue",
    Named.CLUSTER_QUEUE: ", the ClusterQueue",
    Named.FLAVORS: ", its flavors",
    Named.CLASSES: ", the priority classes",
}


def values_table() -> list[str]:
    """A row for each value, in the order of values.yaml."""
    values = yaml.safe_load((CHART / "values.yaml").read_text())
    return [
        "| Value | Default | What it is |",
        "| --- | --- | --- |",
        *(
            f"| `{path}` | `{json.dumps(default)}` | {description} |"
            for path, default, description in leaves(SCHEMA, values)
        ),
    ]


def identities_table() -> list[str]:
    """A row for each right, with the commands that need it; in brackets those that it helps."""
    rows: dict[str, dict[str, str]] = {}
    for need in NEEDS:
        cells = rows.setdefault(
            f"{need.verb} {_resource(need.group, need.resource, need.named)}", {}
        )
        cells.update({purpose: _commands(need, purpose) for purpose in Purpose})
    return [
        "| Right | `apply` | `viewer` | `holder` |",
        "| --- | --- | --- | --- |",
        *_rows(rows),
    ]


def _rows(rows: dict[str, dict[str, str]]) -> Iterator[str]:
    for right, cells in rows.items():
        yield f"| {right} | " + " | ".join(cells.get(each, "") for each in Purpose) + " |"


def _resource(group: str, resource: str, named: Named) -> str:
    kind, _, subresource = resource.partition("/")
    of_group = f".{group}" if group else ""
    below = f"/{subresource}" if subresource else ""
    return f"`{kind}{of_group}{below}`{_NAMED.get(named, '')}"


def _commands(need: Need, purpose: Purpose) -> str:
    """Of an identity that has the right for what it is for, and no other."""
    if purpose not in need.purposes:
        return ""
    return ", ".join(
        [*_of(need.needed_by, purpose), *(f"({each})" for each in _of(need.helps, purpose))]
    )


def _of(commands: Iterable[Command], purpose: Purpose) -> list[str]:
    chosen = set(commands)
    return [each.value for each in Command if each in chosen and purpose in each.purposes]


def compare_table(heading: str, rows: list[str]) -> None:
    """The first table below a heading of the README is this one; with `UPDATE` it is made so."""
    text = README.read_text()
    before, _, below = text.partition(f"{heading}\n")
    lead, bar, rest = below.partition("\n|")
    table, blank, after = (bar.removeprefix("\n") + rest).partition("\n\n")
    if os.environ.get(UPDATE):
        made = "\n".join(rows)
        README.write_text(f"{before}{heading}\n{lead}\n{made}{blank}{after}")
        return
    assert table.splitlines() == rows, f"{UPDATE}=1 writes it anew"


def compare_file(path: Path, text: str) -> None:
    """A file has this text; with `UPDATE` set, it gets it."""
    if os.environ.get(UPDATE):
        path.write_text(text)
        return
    assert path.read_text() == text, f"{UPDATE}=1 writes it anew"
