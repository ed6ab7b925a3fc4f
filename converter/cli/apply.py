"""`campaigns apply`: make the cluster agree with git."""

import json
import os
import secrets
import signal
import socket
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from converter.cli import code_quality, job_summary
from converter.cli.announcer import Announcer
from converter.cli.duration import read_duration
from converter.cli.options import cluster_options, repo_argument
from converter.cli.output import Progress
from converter.cli.person import ci_actor, local_user
from converter.cli.repository import load_valid, named, rendered
from converter.errors import CampaignsError, Refused
from converter.git import top_of_clone
from converter.model import Repo
from converter.reconcile.outcome import Fate, Outcome

if TYPE_CHECKING:
    from converter.cli.apply_wait import Wait, Watched


@click.command("apply")
@repo_argument
@click.option("--prune", is_flag=True, help="Cancel campaigns whose file is gone from git.")
@click.option("--prune-limit", type=click.IntRange(min=0), help="Cancel at most this many.")
@click.option(
    "--release-holds",
    is_flag=True,
    help="Let --prune cancel campaigns that are on hold, which ends their holds.",
)
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
    type=click.FloatRange(min=1),
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="How long to wait for the queue: for the Workload or QueueUnit of a paused campaign, and "
    "then for its Job to be suspended.",
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 32),
    default=8,
    show_default=True,
    help="Requests sent at once.",
)
@click.option("--dry-run", is_flag=True, help="Name what is rendered; asks no cluster.")
@click.option("--wait", is_flag=True, help="Then wait until every campaign has ended or rests.")
@click.option(
    "--timeout",
    callback=read_duration,
    metavar="DURATION",
    help="How long --wait waits, for example 30s, 10m or 2h; without it, as long as it takes.",
)
@click.option(
    "--code-quality",
    "report",
    type=click.Path(path_type=Path),
    callback=code_quality.read_file_option,
    metavar="FILE",
    help="Write what was not done to FILE, as GitLab's Code Quality report.",
)
@click.option("--verbose", "-v", is_flag=True, help="Also name what is unchanged or has finished.")
@click.option("--format", "output", type=click.Choice(["text", "json"]), default="text")
@cluster_options
def command(
    *,
    repo: Path,
    namespace: str | None,
    prune: bool,
    release_holds: bool,
    dry_run: bool,
    wait: bool,
    timeout: int | None,
    report: Path | None,
    verbose: bool,
    output: str,
    kubeconfig: Path | None,
    context: str | None,
    **options: Any,
) -> int:
    """Make the cluster agree with the campaign files in REPO.

    Starts, pauses (suspend: true), resumes and, with --prune, cancels campaigns. Only one apply
    runs at a time. A campaign on hold (`campaigns hold`) is neither resumed nor, without
    --release-holds, cancelled.

    With --format json the document is {"version": 1, "events": [{"fate", "target", "campaign",
    "detail"}], "summary": {FATE: NUMBER OF CAMPAIGNS}, "exitCode", "error", "wait"}. It is written
    however the run ends; "error" is null unless something stopped it. "wait" is null without
    --wait, else {"timedOut", "campaigns": [those of `status --format json`, with "result" and
    without a place in the queue]}.

    With --wait, an apply that ended with exit code 0 or 3 waits, without its Lease, until each
    campaign has ended or rests: paused, held, or its Job is gone. Campaigns that were held back or
    refused, or had ended before, are not waited for. An API server or a Slurm that is away for a
    while does not end the wait, and the end of the wait never stops a campaign.

    With --code-quality the file is written however the run ends, before the wait: an entry for what
    was held back, refused, or not paused, resumed or pruned, and for what stopped the run; [] where
    there is none.

    \b
    Exit codes:
      0  git and the cluster agree
      1  a pause is not enforced, nothing was sent, or the run stopped part-way
      2  wrong usage
      3  some campaigns were held back or refused; everything else is applied

    \b
    With --wait also:
      1  a campaign has failed volumes or is gone, or the time is over
      3  a campaign that git wants to run was stopped on the cluster

    \b
    Example:
      campaigns apply . --prune
      campaigns apply . --wait --timeout 2h
    """
    if timeout is not None and not wait:
        raise click.UsageError("--timeout is how long --wait waits: add --wait, or leave it out")
    if release_holds and not prune:
        raise click.UsageError(
            "--release-holds is for what --prune cancels: add --prune, or leave it out"
        )
    if dry_run and wait:
        raise click.UsageError("--dry-run starts nothing that --wait could wait for; leave one out")
    if dry_run:
        if prune or output == "json" or report:
            raise click.UsageError(
                "--dry-run asks no cluster, so it cannot say what --prune would cancel and has no "
                "--format json and no --code-quality; leave them out"
            )
        return _print_rendered(_load(repo, namespace, prune=False), repo)
    progress = Progress()
    announcer = Announcer(
        progress, output == "text", verbose, annotates=os.environ.get("GITHUB_ACTIONS") == "true"
    )
    outcome = Outcome(announcer.event)
    try:
        loaded = _load(repo, namespace, prune=prune)
        announcer.loaded(repo, loaded)
        watched = _apply(
            repo,
            loaded,
            outcome,
            announcer,
            kubeconfig,
            context,
            prune=prune,
            release_holds=release_holds,
            **options,
        )
    except (CampaignsError, KeyboardInterrupt, SystemExit) as stop:
        _tell_of_stop(announcer, outcome, stop)
        _write_report(report, repo, announcer, outcome, stop)
        raise
    if output == "text":
        progress.line(outcome.summary())
    _summarise(progress, job_summary.applied(outcome))
    _write_report(report, repo, announcer, outcome)
    code, error, waited = outcome.exit_code, None, None
    if wait and code != 1:
        code, error, waited = _wait(watched, loaded, outcome, timeout, announcer)
    if output == "json":
        progress.line(_document(outcome, code, error, waited))
    progress.finish()
    return code


def _apply(
    directory: Path,
    repo: Repo,
    outcome: Outcome,
    announcer: Announcer,
    kubeconfig: Path | None,
    context: str | None,
    *,
    allow_older: bool,
    **options: Any,
) -> "Watched":
    from converter.cli.apply_wait import Watched
    from converter.git import has_whole_history, head_commit, order_to
    from converter.reconcile.fence import Fence

    settings = repo.settings
    who = ci_actor() or local_user()
    commit = head_commit(directory)
    fence = Fence(
        repository=settings.repository,
        commit=commit,
        order=lambda other: order_to(directory, other),
        complete=has_whole_history(directory),
        allow_older=allow_older,
    )
    identity = f"{who}@{socket.gethostname()}/{os.getpid()}-{secrets.token_hex(3)}"
    if settings.slurm is not None:
        from converter.cli.slurm import SlurmSource, apply_to_slurm

        apply_to_slurm(repo, settings.slurm, outcome, identity, commit, fence, **options)
        asked = SlurmSource(repo, settings.slurm)
        return Watched(lambda note: asked, asked.now)
    from converter.cluster.client import Client
    from converter.observe.source import source_of
    from converter.queues import queue_for
    from converter.reconcile.apply import Options, apply
    from converter.reconcile.provenance import Provenance

    client = Client.from_kubeconfig(
        kubeconfig=kubeconfig,
        context=context,
        request_timeout=float(settings.apiserver_request_timeout),
    )
    provenance = Provenance(
        commit=commit,
        applied_by=who,
        applied_at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    )
    chosen = Options(
        repository=settings.repository,
        identity=identity,
        provenance=provenance,
        fence=fence,
        **options,
    )
    manifests = rendered(repo, directory)
    announcer.expect(manifests)
    apply(client, manifests, settings, queue_for(settings.backend), chosen, outcome)
    # No end depends on the places in the queue, and the chart's identity may not read them.
    return Watched(lambda note: source_of(client, repo, note, places=False), client.now)


def _wait(
    watched: "Watched", repo: Repo, outcome: Outcome, seconds: int | None, announcer: Announcer
) -> tuple[int, str | None, "Wait | None"]:
    """The exit code, what ended the wait before its time, and what it came to."""
    from converter.cli.apply_wait import wait
    from converter.observe.waiting import worst

    try:
        waited = wait(watched, repo, outcome, seconds, announcer)
    except (CampaignsError, KeyboardInterrupt, SystemExit) as stop:
        code, error = _end(stop)
        if not isinstance(stop, CampaignsError):
            announcer.progress.line(f"{error}: the campaigns go on in the cluster", err=True)
        elif announcer.annotates:
            announcer.fault(error, "")
        else:
            announcer.progress.line(f"error: {error}", err=True)
        _summarise(announcer.progress, job_summary.waited((), error))
        return code, error, None
    if announcer.text:
        announcer.progress.line(waited.summary)
    _summarise(announcer.progress, job_summary.waited(waited.results, waited.summary))
    return worst((outcome.exit_code, waited.exit_code)), None, waited


def _tell_of_stop(announcer: Announcer, outcome: Outcome, stop: BaseException) -> None:
    """All that is told of a run that did not come to its end, but for the error itself."""
    progress = announcer.progress
    progress.meter("")
    code, error = _end(stop)
    # A refusal comes before anything is sent, and says so itself.
    part_way = bool(outcome.events) and not isinstance(stop, Refused)
    if part_way:
        stopped = f"stopped part-way: {outcome.summary()}; apply again to finish"
        progress.line(stopped, err=True)
    if announcer.annotates and isinstance(stop, CampaignsError):
        announcer.fault(error, "")
    _summarise(progress, job_summary.stopped(outcome, error, part_way=part_way))
    if not announcer.text:
        progress.line(_document(outcome, code, error))


def _summarise(progress: Progress, section: str) -> None:
    job_summary.publish(section, lambda text: progress.line(f"warning: {text}", err=True))


def _write_report(
    file: Path | None,
    directory: Path,
    announcer: Announcer,
    outcome: Outcome,
    stop: BaseException | None = None,
) -> None:
    """Write what GitLab shows, where it is wanted. That it cannot be is no failed apply."""
    if file is None:
        return
    from converter.cli.apply_findings import apply_findings

    error = _end(stop)[1] if stop else ""
    top = top_of_clone(directory)
    found = apply_findings(outcome, directory, announcer.files, top, stop, error)
    try:
        code_quality.write(file, code_quality.document(found))
    except OSError as failure:
        text = f"warning: the report {file} was not written: {failure.strerror}"
        announcer.progress.line(text, err=True)


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


def _print_rendered(repo: Repo, directory: Path) -> int:
    if repo.settings.slurm is not None:
        from converter.render.slurm import render_slurm

        for array in render_slurm(repo):
            click.echo(f"rendered: Array/{array.job}")
        click.echo("nothing was sent: Slurm was not asked")
        return 0
    for manifest in rendered(repo, directory):
        click.echo(f"rendered: {manifest.target}")
    click.echo("nothing was sent: the cluster was not asked")
    return 0


def _document(
    outcome: Outcome, exit_code: int, error: str | None, waited: "Wait | None" = None
) -> str:
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
        "wait": waited.document() if waited else None,
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
