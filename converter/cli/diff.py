"""`campaigns diff`: what apply would change."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from converter.cli import diff_formats, job_summary
from converter.cli.options import cluster_options, repo_argument
from converter.cli.output import Progress
from converter.cli.repository import load_valid, named, rendered
from converter.errors import CampaignsError

if TYPE_CHECKING:
    from converter.diff.change import Comparison


class WrongUsage(click.UsageError):
    """Exit code 1, since 2 stands for a difference."""

    exit_code = 1


class DiffCommand(click.Command):
    """A command whose wrong usage is `WrongUsage`."""

    def make_context(self, *arguments: Any, **options: Any) -> click.Context:
        """Read the command line. Raises WrongUsage."""
        try:
            return super().make_context(*arguments, **options)
        except click.UsageError as error:
            raise WrongUsage(error.format_message(), error.ctx) from error


@click.command("diff", cls=DiffCommand)
@repo_argument
@click.option("--prune", is_flag=True, help="What `apply --prune` would cancel is a change, too.")
@click.option(
    "--release-holds", is_flag=True, help="As `apply --prune --release-holds` would do it."
)
@click.option(
    "--concurrency",
    type=click.IntRange(1, 32),
    default=8,
    show_default=True,
    help="Requests sent at once.",
)
@click.option("--verbose", "-v", is_flag=True, help="Also name the campaigns that have finished.")
@click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json", "markdown"]),
    default="text",
    help="markdown is for a comment on a pull request.",
)
@cluster_options
def command(
    *,
    repo: Path,
    prune: bool,
    release_holds: bool,
    concurrency: int,
    verbose: bool,
    output: str,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """Show what `campaigns apply` would change on the cluster for REPO, and change nothing.

    The API server is asked by dry run what would become of each object that is not as in git, so
    that what is shown is what would be stored. That needs the identity that applies. With backend
    slurm it is one look at what Slurm and the state on its host say, and nothing is written there.

    With --format json the document is {"version": 1, "changes": [{"action", "target", "campaign",
    "detail", "diff"}], "summary": {ACTION: NUMBER OF CAMPAIGNS}, "exitCode", "error"}; "error" is
    null unless nothing could be compared.

    \b
    Exit codes:
      0  apply would change nothing
      1  it could not be found out; also wrong usage
      2  apply would change something, or hold back or be refused something

    \b
    Example:
      campaigns diff . --prune
      campaigns diff . --format markdown > comment.md
    """
    if release_holds and not prune:
        raise WrongUsage(
            "--release-holds is for what --prune cancels: add --prune, or leave it out"
        )
    progress = Progress()
    how = {"prune": prune, "release_holds": release_holds}
    try:
        found = _compare(repo, kubeconfig, context, concurrency=concurrency, **how)
    except CampaignsError as error:
        _tell_of_failure(progress, output, str(error))
        raise
    if output == "json":
        progress.line(diff_formats.document(found))
    elif output == "markdown":
        progress.line(diff_formats.markdown(found).removesuffix("\n"))
    else:
        for line in diff_formats.text_lines(found, verbose=verbose, coloured=_takes_colour()):
            progress.line(line)
        for line in (*diff_formats.notes(found), found.summary()):
            progress.line(line, err=True)
    _publish(progress, diff_formats.markdown(found))
    progress.finish()
    return found.exit_code


def _compare(
    directory: Path,
    kubeconfig: Path | None,
    context: str | None,
    *,
    prune: bool,
    release_holds: bool,
    concurrency: int,
) -> "Comparison":
    repo = named(load_valid(directory), directory, for_certain=prune)
    settings = repo.settings
    if settings.slurm is not None:
        from converter.cli.slurm import compare_with_slurm

        return compare_with_slurm(repo, settings.slurm, prune=prune, release_holds=release_holds)
    from converter.diff.compare import DryRunClient, compare
    from converter.reconcile.live import read_live

    client = DryRunClient.from_kubeconfig(
        kubeconfig=kubeconfig,
        context=context,
        request_timeout=float(settings.apiserver_request_timeout),
    )
    # Reading only, so it need not wait for the files to be rendered, which takes as long.
    with ThreadPoolExecutor(max_workers=1) as pool:
        reading = pool.submit(read_live, client, settings.namespace, settings.backend)
        manifests = rendered(repo, directory)
        live = reading.result()
    return compare(
        client,
        manifests,
        settings,
        live,
        prune=prune,
        release_holds=release_holds,
        concurrency=concurrency,
    )


def _tell_of_failure(progress: Progress, output: str, error: str) -> None:
    """All that is told of it but for the error itself."""
    if output == "json":
        progress.line(diff_formats.failed_document(error))
    elif output == "markdown":
        progress.line(diff_formats.failed_markdown(error).removesuffix("\n"))
    _publish(progress, diff_formats.failed_markdown(error))


def _publish(progress: Progress, section: str) -> None:
    job_summary.publish(f"\n{section}", lambda text: progress.line(f"warning: {text}", err=True))


def _takes_colour() -> bool:
    """https://no-color.org: set to anything but nothing."""
    plain = os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return sys.stdout.isatty() and not plain
