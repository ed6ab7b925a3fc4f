"""Showing how campaigns go on: a table that is redrawn on a terminal, lines in a log."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final

from converter.cli.status_table import table, why
from converter.observe.status import Status
from converter.observe.waiting import API_SERVER, Show

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

REDRAWS_A_SECOND: Final = 8


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
    screen: "Console",
    now: Callable[[], datetime],
    say: Callable[[str], object],
    server: str = API_SERVER,
) -> Iterator[Show]:
    """How to show statuses as they change; ages count to `now`.

    On a terminal the table is redrawn. Elsewhere `say` gets a line for each change, also of whether
    the `server` answers.
    """
    if not is_redrawn(screen):
        yield lines(say, server)
        return
    from rich.live import Live

    shown = _Shown((), "", now)
    # It asks for the table as often as it draws it: changes may come by the hundred, and ages grow.
    with Live(
        get_renderable=lambda: shown.table(), console=screen, refresh_per_second=REDRAWS_A_SECOND
    ) as live:

        def redraw(found: Sequence[Status], trouble: str) -> None:
            nonlocal shown
            shown = _Shown(found, trouble, now)

        yield redraw
        live.refresh()


@dataclass(frozen=True, slots=True)
class _Shown:
    statuses: Sequence[Status]
    trouble: str
    now: Callable[[], datetime]

    def table(self) -> "Table | str":
        """Nothing before the first answer: only that tells the time."""
        from rich.text import Text

        if not self.statuses and not self.trouble:
            return ""
        made = table(self.statuses, self.now()) if self.statuses else table((), datetime.min)
        made.caption = Text(self.trouble) if self.trouble else None
        return made


def lines(say: Callable[[str], object], server: str = API_SERVER) -> Show:
    """A line for each campaign that has come to another phase or another percent."""
    said: dict[str, tuple[object, ...]] = {}
    troubled = [False]

    def show(found: Sequence[Status], trouble: str) -> None:
        if bool(trouble) is not troubled[0]:
            troubled[0] = bool(trouble)
            say(f"waiting for {server}: {trouble}" if trouble else f"{server} answers again")
        for status in found:
            change = _percents(status)
            if said.get(status.name) != change:
                said[status.name] = change
                say(line(status))

    return show


def line(status: Status) -> str:
    """One campaign in one line."""
    counted = f"{status.done}/{status.total} done, {status.failed} failed"
    said = why(status)
    reason = f" ({said})" if said else ""
    return f"{status.name}: {status.shown_phase}, {counted}{reason}"


def _percents(status: Status) -> tuple[object, ...]:
    """A new line for each new value: not one for each of 10,000 volumes, but the first failure."""
    total = max(status.total, 1)
    return status.shown_phase, 100 * status.done // total, -(-100 * status.failed // total)
