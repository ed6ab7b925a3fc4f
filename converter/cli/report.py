"""`campaigns report`: the campaigns of a repository as a page for a browser."""

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from converter.cli.options import cluster_options, repo_argument
from converter.cli.repository import load_checked, load_valid, named
from converter.errors import CampaignsError, Refused
from converter.problem import Level

if TYPE_CHECKING:
    from converter.model import Repo
    from converter.report.live import Source

STDOUT = Path("-")


@click.command("report")
@repo_argument
@click.option(
    "--out",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    metavar="FILE",
    help="File to write the page to; - is standard output.",
)
@click.option("--serve", is_flag=True, help="Show the page on this machine, always up to date.")
@click.option(
    "--port",
    type=click.IntRange(1, 65_535),
    metavar="N",
    help="With --serve: the port on 127.0.0.1; without it any that is free.",
)
@cluster_options
def command(
    *,
    repo: Path,
    out: Path | None,
    serve: bool,
    port: int | None,
    kubeconfig: Path | None,
    context: str | None,
) -> int:
    """Make a web page of the campaigns of REPO: how far each is, why, and what to do about it.

    With --out FILE the page is one file that needs nothing else: it can be mailed, kept as an
    artifact of CI or opened without a network. It has the campaigns with what needs somebody
    first, the quota, the queue in order, and when campaigns were admitted and evicted. With Slurm
    there is no quota, and the queue is that of each partition.

    With --serve it is shown under an address on 127.0.0.1 that is printed, and follows the cluster
    and REPO for as long as a browser shows it. Ctrl-C ends it.

    Nothing is written to the cluster. An identity that may only look will do; what it may not read
    is named on the page.

    \b
    Exit codes:
      0  the page was written, or Ctrl-C has ended --serve
      1  the repository has a problem, the cluster cannot be read, or FILE cannot be written
      2  wrong usage

    \b
    Examples:
      campaigns report . --out page.html
      campaigns report . --serve
    """
    if serve == (out is not None):
        raise click.UsageError("write either --out FILE or --serve")
    if port is not None and not serve:
        raise click.UsageError("--port is for --serve: leave it out")
    from converter.report.output import require_place

    if out is not None and out != STDOUT:
        require_place(out)
    reading = _reading(repo, kubeconfig, context)
    if out is None:
        return _serve(reading, port or 0)
    return _write(reading, out)


def _reading(repo: Path, kubeconfig: Path | None, context: str | None) -> "Source":
    loaded = named(load_valid(repo, samples=False), repo)
    if loaded.settings.slurm is not None:
        from converter.cli.slurm import reading_of_slurm

        return reading_of_slurm(sources(repo, loaded))

    from converter.cluster.client import Client
    from converter.report.reading import Reading

    client = Client.from_kubeconfig(
        kubeconfig=kubeconfig,
        context=context,
        request_timeout=float(loaded.settings.apiserver_request_timeout),
    )
    return Reading(client, sources(repo, loaded))


def sources(directory: Path, first: "Repo") -> "Callable[[], tuple[Repo, str]]":
    """What was loaded already, and after that the files as they are by then, under its name.

    Each with the commit that is checked out, empty outside git. The call raises CampaignsError for
    an error in a file, and for another backend than before.
    """
    from converter.git import head_commit

    waiting = [first]

    def now() -> "tuple[Repo, str]":
        repo = waiting.pop() if waiting else _loaded_again(directory)
        if repo.settings.backend is not first.settings.backend:
            raise CampaignsError(
                f"converter.yaml has backend {repo.settings.backend} now: end this, and start it "
                "again"
            )
        settings = replace(repo.settings, repository=first.settings.repository)
        return replace(repo, settings=settings), head_commit(directory)

    return now


def _loaded_again(directory: Path) -> "Repo":
    """Its warnings were told when it was loaded first. Raises CampaignsError for an error in it."""
    loaded, problems = load_checked(directory, samples=False)
    if loaded.repo is None or any(each.level is Level.ERROR for each in problems):
        first = next(each for each in problems if each.level is Level.ERROR)
        raise CampaignsError(f"the repository has a problem: {first}")
    return loaded.repo


def _write(reading: "Source", out: Path) -> int:
    from converter.report.output import write_page
    from converter.report.page import page

    text = page(reading.read())
    if out == STDOUT:
        # As bytes: the page says that it is UTF-8, whatever the locale is.
        sys.stdout.buffer.write(text.encode())
        sys.stdout.buffer.flush()
        return 0
    write_page(out, text)
    click.echo(f"{out}: written", err=True)
    return 0


def _serve(reading: "Source", port: int) -> int:
    from converter.report.live import Board
    from converter.report.serve import HOST, Server

    board = Board(reading, reading.read())
    try:
        server = Server(port, board.page)
    except OSError as error:
        raise Refused(
            f"cannot use port {port} on {HOST}: {error.strerror}; choose another --port, or none"
        ) from error
    click.echo(server.place.url)
    click.echo("Ctrl-C ends it.", err=True)
    board.start()
    try:
        server.serve_forever()
    except KeyboardInterrupt:
        _leave(0)
    except SystemExit as error:
        click.echo("terminated", err=True)
        _leave(int(error.code or 0))
    return 0


def _leave(code: int) -> None:
    """At once: Python would wait for a request that the cluster does not answer."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
