"""`campaigns apply`: make the cluster agree with git."""

import getpass
import json
import os
import secrets
import socket
import sys
from datetime import UTC, datetime
from pathlib import Path

import click

from converter.cli.options import cluster_options, repo_argument
from converter.cli.repository import load_valid, named
from converter.errors import CampaignsError, Refused

QUIET = ("unchanged", "finished")
FAULTS = ("held back", "refused", "not paused", "not resumed", "not pruned", "note")


@click.command("apply")
@repo_argument
@click.option("--prune", is_flag=True, help="Cancel campaigns whose file is gone from git.")
@click.option("--prune-limit", type=click.IntRange(min=0), help="Cancel at most this many.")
@click.option("--allow-empty", is_flag=True, help="Let --prune cancel the last campaign too.")
@click.option("--namespace", help="Must be converter.yaml's namespace: a guard for CI.")
@click.option(
    "--pause-wait",
    type=click.FloatRange(min=0),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to look for the Workload of a paused campaign.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 32),
    default=8,
    show_default=True,
    help="Requests sent at once.",
)
@click.option("--dry-run", is_flag=True, help="Print what would be sent; contacts no cluster.")
@click.option("--verbose", "-v", is_flag=True, help="Also name what is unchanged or has finished.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text")
@cluster_options
def command(
    *,
    repo: Path,
    prune: bool,
    prune_limit: int | None,
    allow_empty: bool,
    namespace: str | None,
    pause_wait: float,
    concurrency: int,
    dry_run: bool,
    verbose: bool,
    output: str,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """Make the cluster agree with the campaign files in REPO.

    Starts, pauses (suspend: true), resumes and, with --prune, cancels campaigns. Only one apply
    runs at a time.

    \b
    Exit codes:
      0  git and the cluster agree
      1  a pause is not enforced, nothing was sent, or the run stopped part-way
      2  wrong usage
      3  some campaigns were held back or refused; everything else is applied

    \b
    Example:
      campaigns apply . --prune
    """
    loaded = named(load_valid(repo), repo)
    settings = loaded.settings
    if namespace is not None and namespace != settings.namespace:
        raise Refused(
            f"--namespace {namespace} is not converter.yaml's namespace {settings.namespace}; "
            "nothing was sent"
        )
    from converter.render import render

    manifests = render(loaded)
    if dry_run:
        for manifest in manifests:
            click.echo(f"would apply: {manifest.target}")
        return 0

    from converter.cluster.client import Client
    from converter.git import head_commit
    from converter.queues import queue_for
    from converter.reconcile.apply import Options, apply
    from converter.reconcile.outcome import Event, Outcome
    from converter.reconcile.provenance import Provenance

    def report(event: Event) -> None:
        if output == "text" and (verbose or event.fate.value not in QUIET):
            click.echo(str(event), err=event.fate.value in FAULTS)

    client = Client.from_kubeconfig(
        kubeconfig=kubeconfig,
        context=context,
        request_timeout=float(settings.apiserver_request_timeout),
    )
    who = _applied_by()
    options = Options(
        repository=settings.repository,
        identity=f"{who}@{socket.gethostname()}/{os.getpid()}-{secrets.token_hex(3)}",
        provenance=Provenance(
            commit=head_commit(repo),
            applied_by=who,
            applied_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
        ),
        prune=prune,
        allow_empty=allow_empty,
        prune_limit=prune_limit,
        pause_wait=pause_wait,
        concurrency=concurrency,
    )
    outcome = Outcome(report)
    try:
        apply(client, manifests, settings, queue_for(settings.backend), options, outcome)
    except CampaignsError:
        if outcome.events:
            click.echo(f"stopped part-way: {outcome.summary()}; apply again to finish", err=True)
        raise
    if output == "json":
        events = [
            {"fate": event.fate.value, "target": event.target, "detail": event.detail}
            for event in outcome.events
        ]
        json.dump({"events": events, "exitCode": outcome.exit_code}, sys.stdout, indent=2)
        click.echo()
    else:
        click.echo(outcome.summary())
    return outcome.exit_code


def _applied_by() -> str:
    """The person behind a CI job where CI says who that is, else the local user."""
    for variable in ("GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_REQUESTEDFOREMAIL"):
        if actor := os.environ.get(variable):
            return actor
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
