"""Showing how campaigns go on: a table that is redrawn on a terminal, lines in a log."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import TYPE_CHECKING, Final

from converter.cluster.client import Client
from converter.model import Repo
from converter.reconcile.live import read_for_status
from converter.reconcile.status import Status, statuses
from converter.reconcile.waiting import Show

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

BAR_CELLS: Final = 16
STYLES: Final = {
    "Running": "cyan",
    "Finished": "green",
    "PartlyFailed": "yellow",
    "Failed": "red",
    "Missing": "red",
    "Paused": "magenta",
    "Held": "magenta",
}


def read_statuses(client: Client, repo: Repo) -> list[Status]:
    """The campaigns of a repository and those that it left on the cluster, read anew."""
    wanted = {campaign.name: len(campaign.volumes) for campaign in repo.campaigns.values()}
    live = read_for_status(client, repo.settings.namespace)
    return statuses(wanted, live, repo.settings.repository)


def console(*, stderr: bool = False) -> "Console":
    """Into a file or a pipe a line is as long as it needs to be; columns must not be cut."""
    from rich.console import Console

    made = Console(highlight=False, stderr=stderr)
    wide = Console(highlight=False, stderr=stderr, width=160)
    return made if made.file.isatty() else wide


def is_redrawn(screen: "Console") -> bool:
    """Whether a table can be redrawn in place: not in a log, even where colours are forced."""
    return screen.file.isatty() and not screen.is_dumb_terminal


@contextmanager
def following(
    screen: "Console", now: Callable[[], datetime], say: Callable[[str], object]
) -> Iterator[Show]:
    """How to show statuses as they change; ages count to `now`.

    On a terminal the table is redrawn. Elsewhere `say` gets a line for each change.
    """
    if not is_redrawn(screen):
        yield lines(say)
        return
    from rich.live import Live
    from rich.text import Text

    with Live(console=screen, auto_refresh=False) as live:

        def redraw(found: Sequence[Status], trouble: str) -> None:
            shown = table(found, now())
            shown.caption = Text(trouble) if trouble else None
            live.update(shown, refresh=True)

        yield redraw


def lines(say: Callable[[str], object]) -> Show:
    """A line for each campaign that has come to another phase or another percent."""
    said: dict[str, tuple[object, ...]] = {}
    troubled = [False]

    def show(found: Sequence[Status], trouble: str) -> None:
        if bool(trouble) is not troubled[0]:
            troubled[0] = bool(trouble)
            say(
                f"waiting for the API server: {trouble}"
                if trouble
                else "the API server answers again"
            )
        for status in found:
            change = _percents(status)
            if said.get(status.name) != change:
                said[status.name] = change
                say(line(status))

    return show


def line(status: Status) -> str:
    """One campaign in one line."""
    counted = f"{status.done}/{status.total} done, {status.failed} failed"
    reason = f" ({status.detail})" if status.detail else ""
    return f"{status.name}: {status.phase}, {counted}{reason}"


def table(found: Sequence[Status], now: datetime) -> "Table":
    """The statuses as a table; ages count to `now`, the API server's time."""
    from rich.table import Table
    from rich.text import Text

    columns = ("CAMPAIGN", "PHASE", "PROGRESS", "DONE", "FAILED", "PODS", "PRIORITY", "AGE", "")
    result = Table(box=None, pad_edge=False, header_style="bold", caption_justify="left")
    for column in columns:
        right = column in ("DONE", "FAILED", "PODS", "AGE")
        result.add_column(column, justify="right" if right else "left", no_wrap=column != "")
    for status in found:
        result.add_row(
            status.name,
            Text(status.phase, style=STYLES.get(status.phase, "")),
            _bar(status.done, status.failed, status.total),
            f"{status.done}/{status.total}",
            str(status.failed),
            str(status.active),
            status.priority or "-",
            _age(status.created, now),
            Text(status.detail, style="dim"),
        )
    return result


def _percents(status: Status) -> tuple[object, ...]:
    """A new line for each new value: not one for each of 10,000 volumes, but the first failure."""
    total = max(status.total, 1)
    return status.phase, 100 * status.done // total, -(-100 * status.failed // total)


def _bar(done: int, failed: int, total: int) -> str:
    cells = BAR_CELLS * done // total if total else 0
    bad = -(-BAR_CELLS * failed // total) if total else 0
    bad = min(bad, BAR_CELLS - cells)
    return "█" * cells + "x" * bad + "·" * (BAR_CELLS - cells - bad)


def _age(created: str, now: datetime) -> str:
    if not created:
        return "-"
    seconds = max(0, int((now - datetime.fromisoformat(created)).total_seconds()))
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{seconds // size}{unit}"
    return f"{seconds}s"
