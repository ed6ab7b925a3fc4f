"""`campaigns status`: how far each campaign is."""

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from converter.cli.options import cluster_options, repo_argument
from converter.cli.repository import load_valid, named

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from converter.reconcile.status import Status

BAR_CELLS = 16
WATCH_SECONDS = 1.0
STYLES = {
    "Running": "cyan",
    "Finished": "green",
    "PartlyFailed": "yellow",
    "Failed": "red",
    "Missing": "red",
    "Paused": "magenta",
    "Held": "magenta",
}


@click.command("status")
@repo_argument
@click.argument("name", required=False)
@click.option("--watch", "-w", is_flag=True, help="Keep showing it until every campaign rests.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text")
@cluster_options
def command(
    *,
    repo: Path,
    name: str | None,
    watch: bool,
    output: str,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """Show the campaigns of REPO, or the one called NAME: phase, progress, age.

    A campaign that is gone from REPO is shown for as long as it is on the cluster.

    With --watch the table is redrawn until no campaign can go on by itself: each has ended, is
    paused or is held.

    \b
    Example:
      campaigns status . --watch
    """
    if watch and output == "json":
        raise click.UsageError("--watch has no --format json; ask again and again without --watch")
    loaded = named(load_valid(repo), repo)
    settings = loaded.settings
    wanted = {campaign.name: len(campaign.volumes) for campaign in loaded.campaigns.values()}

    from converter.cluster.client import Client
    from converter.reconcile.live import read_for_status
    from converter.reconcile.status import statuses

    client = Client.from_kubeconfig(
        kubeconfig=kubeconfig,
        context=context,
        request_timeout=float(settings.apiserver_request_timeout),
    )

    def read() -> list["Status"]:
        live = read_for_status(client, settings.namespace)
        found = statuses(wanted, live, settings.repository)
        return [status for status in found if name is None or status.name == name]

    found = read()
    if name is not None and not found:
        raise click.BadParameter(
            f"there is no campaign {name} in {repo} or on the cluster", param_hint="NAME"
        )
    if output == "json":
        document = {"version": 1, "campaigns": [asdict(status) for status in found]}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
    elif watch:
        _watch(read, client.now)
    else:
        _console().print(table(found, client.now()))
    return 0


def table(found: Sequence["Status"], now: datetime) -> "Table":
    """The statuses as a table; ages count to `now`, the API server's time."""
    from rich.table import Table
    from rich.text import Text

    columns = ("CAMPAIGN", "PHASE", "PROGRESS", "DONE", "FAILED", "PODS", "PRIORITY", "AGE", "")
    result = Table(box=None, pad_edge=False, header_style="bold")
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


def _watch(read: Callable[[], list["Status"]], now: Callable[[], datetime]) -> None:
    console = _console()
    if not console.is_terminal:
        console.print(table(_follow(read), now()))
        return
    from rich.live import Live

    with Live(console=console, auto_refresh=False) as live:
        while True:
            found = read()
            live.update(table(found, now()), refresh=True)
            if all(status.phase.rests for status in found):
                return
            time.sleep(WATCH_SECONDS)


def _follow(read: Callable[[], list["Status"]]) -> list["Status"]:
    """One line for each change, as a log wants it; the statuses with which it rests."""
    shown: dict[str, str] = {}
    while True:
        found = read()
        for status in found:
            line = (
                f"{status.name}: {status.phase}, {status.done}/{status.total} done, "
                f"{status.failed} failed"
            )
            if shown.get(status.name) != line:
                click.echo(line)
                shown[status.name] = line
        if all(status.phase.rests for status in found):
            return found
        time.sleep(WATCH_SECONDS)


def _console() -> "Console":
    from rich.console import Console

    console = Console(highlight=False)
    # Into a file or a pipe a line is as long as it needs to be; columns must not be cut.
    return console if console.is_terminal else Console(highlight=False, width=160)


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
