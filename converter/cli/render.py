"""`campaigns render`: the objects that a repository stands for, as YAML; for Slurm, files."""

import os
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import click

from converter.cli.options import repo_argument
from converter.cli.repository import load_valid, named, rendered
from converter.errors import Refused
from converter.model import Repo

STDOUT = Path("-")
# What makes the text for standard output, and the files by their paths.
_Rendered = tuple[Callable[[], str], Callable[[], Mapping[str, str]]]


@click.command("render")
@repo_argument
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    default=STDOUT,
    metavar="DIR",
    help="Directory to write to; without it, or with -, everything goes to standard output.",
)
def command(*, repo: Path, out: Path) -> int:
    """Print the Kubernetes objects of REPO, or write them to a directory.

    With backend slurm these are the files of each job array instead: DIR/campaigns/JOB/NAME. On
    standard output they are YAML, each path with its text, without the script task.sh.

    With --out DIR there is a file for each pipeline, DIR/pipelines/ID.yaml, and for each Job of a
    campaign with its ConfigMap, DIR/campaigns/JOB.yaml. DIR is made if need be. It may have other
    files: DIR/.campaigns-render lists what an earlier run wrote, and nothing else is ever replaced
    or removed. Where another file is in the way, nothing is written.

    A repository with a problem renders nothing. The same repository renders to the same bytes on
    every run and machine if converter.yaml sets `repository`, or every clone has the same git
    remote `origin`; else the name of REPO's directory is in the objects, and a warning says so.

    The cluster is not asked, so what to send to it is for `campaigns apply` to say: kubectl apply
    would run finished campaigns again.

    \b
    Exit codes:
      0  everything was rendered
      1  the repository has a problem, or DIR cannot be written; nothing was written
      2  wrong usage

    \b
    Examples:
      campaigns render . --out rendered
      campaigns render . | less
    """
    _refuse_sources(repo, out)
    loaded = named(load_valid(repo), repo)
    stream, files = _of_slurm(loaded) if loaded.settings.slurm else _of_kubernetes(loaded, repo)
    if out == STDOUT:
        # As bytes: the locale has no say in how the text is encoded.
        sys.stdout.buffer.write(stream().encode())
        sys.stdout.buffer.flush()
        return 0
    from converter.directory import write_files

    written = write_files(out, files())
    for path in written.removed:
        click.echo(f"removed: {out / path}", err=True)
    counts = f"{len(written.changed)} written, {len(written.unchanged)} unchanged"
    click.echo(f"{out}: {counts}, {len(written.removed)} removed", err=True)
    return 0


def _of_kubernetes(repo: Repo, directory: Path) -> _Rendered:
    from converter.render.files import rendered_files, yaml_stream

    manifests = rendered(repo, directory)
    return partial(yaml_stream, manifests), partial(rendered_files, manifests)


def _of_slurm(repo: Repo) -> _Rendered:
    from converter.render.slurm import array_stream, render_slurm, rendered_array_files

    arrays = render_slurm(repo)
    return partial(array_stream, arrays), partial(rendered_array_files, arrays)


def _refuse_sources(repo: Path, out: Path) -> None:
    """What is rendered must not be taken for a campaign or pipeline file by the next command."""
    if out == STDOUT:
        return
    # Not Path.resolve, which raises RuntimeError for a loop of links before Python 3.13.
    target = Path(os.path.realpath(out))
    sources = [Path(os.path.realpath(repo / place)) for place in ("campaigns", "pipelines")]
    if target == repo.resolve() or any(target.is_relative_to(source) for source in sources):
        raise Refused(
            f"{out} holds the files that are rendered; nothing was written: choose a directory of "
            "its own, for example --out rendered"
        )
