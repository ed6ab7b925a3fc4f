"""`campaigns status`: how far each campaign is."""

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from converter.cli.campaign_argument import unknown_campaign
from converter.cli.options import cluster_options, repo_argument
from converter.cli.repository import load_valid, named

if TYPE_CHECKING:
    from converter.reconcile.status import Status


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

    from converter.cli.following import console, following, is_redrawn, read_statuses, table
    from converter.cluster.client import Client
    from converter.reconcile.waiting import follow

    client = Client.from_kubeconfig(
        kubeconfig=kubeconfig,
        context=context,
        request_timeout=float(loaded.settings.apiserver_request_timeout),
    )

    def read() -> list["Status"]:
        found = read_statuses(client, loaded)
        return [status for status in found if name is None or status.name == name]

    found = read()
    if name is not None and not found:
        raise unknown_campaign(name, f"in {repo} or on the cluster", loaded.campaigns)
    if output == "json":
        document = {"version": 1, "campaigns": [asdict(status) for status in found]}
        click.echo(json.dumps(document, indent=2, ensure_ascii=False))
        return 0
    screen = console()
    if watch:
        with following(screen, client.now, click.echo) as show:
            found = list(follow(read, show).statuses)
    if not (watch and is_redrawn(screen)):
        screen.print(table(found, client.now()))
    return 0
