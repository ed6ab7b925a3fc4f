"""`campaigns holds`: what is held."""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from converter.cli.hold_options import holds_in, place_of, place_options

if TYPE_CHECKING:
    from converter.holds.listing import Held

COLUMNS: Final = ("TARGET", "INSTANCE", "SINCE", "BY", "STOPS", "ENFORCED", "REASON")


@click.command("holds")
@place_options
def command(
    *,
    repo: Path | None,
    namespace: str | None,
    output: str,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """Show every hold in the namespace of REPO, and whether it is enforced.

    ENFORCED is yes (nothing of what STOPS names runs, nor can start), stopping (pods are still
    ending), no (somebody made it active beside the hold, and it runs or may start) or ended. On
    Slurm it is yes or partly: TARGET does not start, while other tasks of that campaign run, or may
    start. INSTANCE is ? where the number cannot be read.

    The document of --format json is described in docs/holds.md.

    \b
    Example:
      campaigns holds .
    """
    found = holds_in(place_of(repo, namespace), kubeconfig, context).list()
    if output == "json":
        document = {"version": 1, "holds": [_document(held) for held in found]}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return 0
    if not found:
        click.echo("nothing is held", err=True)
        return 0
    click.echo(_aligned((COLUMNS, *_rows(found))), nl=False)
    return 0


def _rows(found: Sequence["Held"]) -> Iterator[Sequence[str]]:
    from converter.wording import said

    for held in found:
        mark = held.mark
        yield (
            held.target,
            "?" if mark.instance is None else str(mark.instance),
            said(mark.at) or "-",
            said(mark.by) or "-",
            held.stops,
            held.enforced,
            said(mark.reason) or "-",
        )


def _document(held: "Held") -> dict[str, Any]:
    return {
        "target": held.target,
        "object": held.carrier,
        "campaign": held.campaign,
        "part": held.part,
        "instance": held.mark.instance,
        "since": held.mark.at,
        "by": held.mark.by,
        "reason": held.mark.reason,
        "stops": held.stops,
        "enforced": held.enforced,
        "history": [asdict(entry) for entry in held.history],
    }


def _aligned(rows: Iterable[Sequence[str]]) -> str:
    """Rows as a table; the last column may be of any length."""
    lines = [tuple(row) for row in rows]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "".join(
        "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        + "\n"
        for line in lines
    )
