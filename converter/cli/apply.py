"""`campaigns apply`: make the cluster agree with git."""

import getpass
import json
import os
import secrets
import signal
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from converter.cli.options import cluster_options, repo_argument
from converter.cli.output import Progress
from converter.cli.repository import load_valid, named
from converter.errors import CampaignsError, Refused
from converter.model import Repo
from converter.reconcile.outcome import Event, Fate, Outcome

QUIET: Final = (Fate.UNCHANGED, Fate.FINISHED)
FAULTS: Final = (
    Fate.HELD_BACK,
    Fate.REFUSED,
    Fate.PAUSE_FAILED,
    Fate.RESUME_FAILED,
    Fate.PRUNE_FAILED,
    Fate.NOTE,
)


@click.command("apply")
@repo_argument
@click.option("--prune", is_flag=True, help="Cancel campaigns whose file is gone from git.")
@click.option("--prune-limit", type=click.IntRange(min=0), help="Cancel at most this many.")
@click.option("--allow-empty", is_flag=True, help="Let --prune cancel the last campaign too.")
@click.option(
    "--allow-older",
    is_flag=True,
    help="Apply a commit older than the one applied last: going back is meant.",
)
@click.option(
    "--all-or-nothing",
    is_flag=True,
    help="Apply nothing, and pause nothing, when any campaign is held back or refused.",
)
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
@click.option("--dry-run", is_flag=True, help="Name what is rendered; asks no cluster.")
@click.option("--verbose", "-v", is_flag=True, help="Also name what is unchanged or has finished.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text")
@cluster_options
def command(
    *,
    repo: Path,
    namespace: str | None,
    prune: bool,
    dry_run: bool,
    verbose: bool,
    output: str,
    kubeconfig: Path | None,
    context: str | None,
    **options: Any,
) -> int:
    """Make the cluster agree with the campaign files in REPO.

    Starts, pauses (suspend: true), resumes and, with --prune, cancels campaigns. Only one apply
    runs at a time.

    With --format json the document is {"version": 1, "events": [{"fate", "target", "campaign",
    "detail"}], "summary": {FATE: NUMBER OF CAMPAIGNS}, "exitCode", "error"}. It is written
    however the run ends; "error" is null unless something stopped it.

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
    if dry_run:
        if prune or output == "json":
            raise click.UsageError(
                "--dry-run asks no cluster, so it cannot say what --prune would cancel and has no "
                "--format json; leave them out"
            )
        return _print_rendered(_load(repo, namespace, prune=False))
    progress = Progress()

    def report(event: Event) -> None:
        if output == "text" and (verbose or event.fate not in QUIET):
            progress.line(str(event), err=event.fate in FAULTS)

    outcome = Outcome(report)
    try:
        loaded = _load(repo, namespace, prune=prune)
        _apply(repo, loaded, outcome, kubeconfig, context, prune=prune, **options)
    except (CampaignsError, KeyboardInterrupt, SystemExit) as stop:
        if outcome.events:
            stopped = f"stopped part-way: {outcome.summary()}; apply again to finish"
            progress.line(stopped, err=True)
        if output == "json":
            progress.line(_document(outcome, *_end(stop)))
        raise
    if output == "json":
        progress.line(_document(outcome, outcome.exit_code, None))
    else:
        progress.line(outcome.summary())
    progress.finish()
    return outcome.exit_code


def _apply(
    directory: Path,
    repo: Repo,
    outcome: Outcome,
    kubeconfig: Path | None,
    context: str | None,
    *,
    allow_older: bool,
    **options: Any,
) -> None:
    from converter.cluster.client import Client
    from converter.git import has_whole_history, head_commit, order_to
    from converter.queues import queue_for
    from converter.reconcile.apply import Options, apply
    from converter.reconcile.fence import Fence
    from converter.reconcile.provenance import Provenance
    from converter.render import render

    settings = repo.settings
    client = Client.from_kubeconfig(
        kubeconfig=kubeconfig,
        context=context,
        request_timeout=float(settings.apiserver_request_timeout),
    )
    who = _applied_by()
    commit = head_commit(directory)
    fence = Fence(
        repository=settings.repository,
        commit=commit,
        order=lambda other: order_to(directory, other),
        complete=has_whole_history(directory),
        allow_older=allow_older,
    )
    provenance = Provenance(
        commit=commit,
        applied_by=who,
        applied_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    chosen = Options(
        repository=settings.repository,
        identity=f"{who}@{socket.gethostname()}/{os.getpid()}-{secrets.token_hex(3)}",
        provenance=provenance,
        fence=fence,
        **options,
    )
    apply(client, render(repo), settings, queue_for(settings.backend), chosen, outcome)


def _load(directory: Path, namespace: str | None, *, prune: bool) -> Repo:
    """The repository, if it is for this namespace. Only a name of its own is safe to prune by."""
    loaded = load_valid(directory)
    settings = loaded.settings
    if namespace is not None and namespace != settings.namespace:
        raise Refused(
            f"--namespace {namespace} is not converter.yaml's namespace {settings.namespace}; "
            "nothing was sent"
        )
    return named(loaded, directory, for_certain=prune)


def _print_rendered(repo: Repo) -> int:
    from converter.render import render

    for manifest in render(repo):
        click.echo(f"rendered: {manifest.target}")
    click.echo("nothing was sent: the cluster was not asked")
    return 0


def _document(outcome: Outcome, exit_code: int, error: str | None) -> str:
    """See `campaigns apply --help`. A new member does not change the version."""
    document = {
        "version": 1,
        "events": [
            {
                "fate": event.fate.value,
                "target": event.target,
                "campaign": event.campaign,
                "detail": event.detail,
            }
            for event in outcome.events
        ],
        "summary": {fate.value: len(outcome.campaigns(fate)) for fate in Fate},
        "exitCode": exit_code,
        "error": error,
    }
    return json.dumps(document, indent=2, ensure_ascii=False)


def _end(stop: BaseException) -> tuple[int, str]:
    """The exit code and the reason of a run that did not get to its end."""
    match stop:
        case KeyboardInterrupt():
            return 128 + signal.SIGINT, "interrupted"
        case SystemExit():
            return 128 + signal.SIGTERM, "terminated"
        case _:
            return 1, str(stop)


def _applied_by() -> str:
    """The person behind a CI job where CI says who that is, else the local user."""
    for variable in ("GITHUB_ACTOR", "GITLAB_USER_LOGIN", "BUILD_REQUESTEDFOREMAIL"):
        if actor := os.environ.get(variable):
            return actor
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "unknown"
