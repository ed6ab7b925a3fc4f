"""All about one campaign, as text."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from converter.cli.status_table import age_of
from converter.explain.cause import Cause
from converter.explain.detail import Condition, Detail, Event, VolumeTrouble

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table


def sections(why: Sequence[Cause], detail: Detail, now: datetime) -> Iterator["RenderableType"]:
    """What stands below a campaign's row; ages count to `now`."""
    from rich.text import Text

    yield Text("\nWHY", style="bold")
    for cause in why:
        yield Text(f"  {cause.line}")
    tables = (
        ("VOLUMES THAT FAILED", _volumes(detail.volumes) if detail.volumes else None),
        ("CONDITIONS", _conditions(detail.conditions, now) if detail.conditions else None),
        ("EVENTS", _events(detail.events, now) if detail.events else None),
    )
    for title, table in tables:
        if table is not None:
            yield Text(f"\n{title}", style="bold")
            yield table


def _volumes(found: Iterable[VolumeTrouble]) -> "Table":
    rows = (
        (
            volume.volume or "-",
            volume.job,
            "-" if volume.index is None else str(volume.index),
            str(volume.tries or "-"),
            "failed" if volume.is_final else "tried again",
            ": ".join(filter(None, (volume.how, volume.message))),
        )
        for volume in found
    )
    return _table(("VOLUME", "JOB", "INDEX", "TRIES", "STATE", "LAST MESSAGE"), rows)


def _conditions(found: Iterable[Condition], now: datetime) -> "Table":
    rows = (
        (each.about, each.type, each.status, age_of(each.since, now), each.reason, each.message)
        for each in found
    )
    return _table(("OBJECT", "TYPE", "STATUS", "AGE", "REASON", "MESSAGE"), rows)


def _events(found: Iterable[Event], now: datetime) -> "Table":
    rows = (
        (
            age_of(each.time, now),
            each.type,
            each.reason,
            each.about,
            f"{each.message} (x{each.count})" if each.count > 1 else each.message,
        )
        for each in found
    )
    return _table(("AGE", "TYPE", "REASON", "OBJECT", "MESSAGE"), rows)


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> "Table":
    from rich.table import Table
    from rich.text import Text

    made = Table(box=None, pad_edge=False, header_style="dim")
    for column in columns:
        made.add_column(column, no_wrap=column != columns[-1])
    for row in rows:
        made.add_row(*map(Text, row))
    return made
