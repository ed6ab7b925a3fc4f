"""The statuses of campaigns as a table for people."""

from collections.abc import Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Final

from converter.observe.document import eta_at
from converter.observe.phase import DRIFTED, Phase
from converter.observe.status import Status
from converter.times import instant, rough

if TYPE_CHECKING:
    from rich.table import Table

BAR_CELLS: Final = 16
NOTHING: Final = "-"
STYLES: Final = {
    Phase.RUNNING: "cyan",
    Phase.FINISHED: "green",
    Phase.PARTLY_FAILED: "yellow",
    Phase.FAILED: "red",
    Phase.MISSING: "red",
    Phase.PAUSED: "magenta",
    Phase.HELD: "magenta",
    Phase.PAUSING: "magenta",
    DRIFTED: "yellow",
}
COLUMNS: Final = (
    *("CAMPAIGN", "PHASE", "PROGRESS", "DONE", "FAILED", "PODS", "PLACE"),
    *("PRIORITY", "SIZE", "FLAVOR", "AGE", "ETA", ""),
)
# Columns that say nothing about most repositories, and are left out where they say nothing.
OPTIONAL: Final = ("PRIORITY", "SIZE", "FLAVOR", "ETA")
RIGHT: Final = ("DONE", "FAILED", "PODS", "PLACE", "AGE")


def table(found: Sequence[Status], now: datetime) -> "Table":
    """One row a campaign; ages count to `now`, the API server's time."""
    from rich.table import Table
    from rich.text import Text

    columns, rows = _cells(found, now)
    result = Table(box=None, pad_edge=False, header_style="bold", caption_justify="left")
    for column in columns:
        result.add_column(
            column, justify="right" if column in RIGHT else "left", no_wrap=column != ""
        )
    for status, row in zip(found, rows, strict=True):
        styles = {"PHASE": STYLES.get(status.shown_phase, ""), "": "dim"}
        result.add_row(*(Text(row[column], style=styles.get(column, "")) for column in columns))
    return result


def plain(found: Sequence[Status], now: datetime) -> str:
    """The same without styles, for a pipe: of 500 campaigns rich takes longer than the cluster."""
    columns, rows = _cells(found, now)
    lines = [dict(zip(columns, columns, strict=True)), *rows]
    widths = {column: max(len(line[column]) for line in lines) for column in columns}
    return "".join(
        "  ".join(
            line[column].rjust(width) if column in RIGHT else line[column].ljust(width)
            for column, width in widths.items()
        ).rstrip()
        + "\n"
        for line in lines
    )


def place_of(status: Status) -> str:
    """Its place in the ClusterQueue, counted from 1: that is what decides who is next."""
    return str(status.place.in_cluster_queue) if status.place else NOTHING


def eta_text(status: Status, now: datetime) -> str:
    """How long it still takes, and between which bounds."""
    eta = eta_at(status, now)
    if eta is None:
        return NOTHING
    return f"~{rough(eta.seconds)} ({rough(eta.low)}-{rough(eta.high)})"


def age_of(created: str, now: datetime) -> str:
    """How long ago that was; `created` is RFC 3339, and what is no time has no age."""
    found = instant(created)
    return NOTHING if found is None else rough((now - found).total_seconds())


def bar(status: Status) -> str:
    """Done, failed and what is left, of equal shares of 16 cells: one failure can be seen."""
    total = status.total
    cells = BAR_CELLS * status.done // total if total else 0
    bad = -(-BAR_CELLS * status.failed // total) if total else 0
    bad = min(bad, BAR_CELLS - cells)
    return "█" * cells + "x" * bad + "·" * (BAR_CELLS - cells - bad)


def _cells(found: Sequence[Status], now: datetime) -> tuple[tuple[str, ...], list[dict[str, str]]]:
    """The columns that have something to say, and the rows by column."""
    rows = [_row(status, now) for status in found]
    columns = tuple(
        column
        for column in COLUMNS
        if column not in OPTIONAL or any(row[column] != NOTHING for row in rows)
    )
    return columns, rows


def _row(status: Status, now: datetime) -> dict[str, str]:
    return {
        "CAMPAIGN": status.name,
        "PHASE": status.shown_phase,
        "PROGRESS": bar(status),
        "DONE": f"{status.done}/{status.total}",
        "FAILED": str(status.failed),
        "PODS": str(status.active),
        "PLACE": place_of(status),
        "PRIORITY": status.priority or NOTHING,
        "SIZE": status.size or NOTHING,
        "FLAVOR": ",".join(status.admission.flavors) or NOTHING,
        "AGE": age_of(status.created, now),
        "ETA": eta_text(status, now),
        "": why(status),
    }


def why(status: Status) -> str:
    """Why it is in its phase; of what has drifted also the phase on the cluster."""
    if not status.drift or status.phase.is_end:
        return status.detail
    return f"{status.phase}; {status.detail or status.drift}"
