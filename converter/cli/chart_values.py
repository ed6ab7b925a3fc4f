"""`campaigns chart-values`: the values of the chart, from converter.yaml or compared with it."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

import click

from converter.capabilities import CAPABILITIES
from converter.chart_values.compare import differences
from converter.chart_values.merge import merged, with_defaults
from converter.chart_values.read import ValuesFile, position, read_values
from converter.checks import check as problems_of
from converter.cli.options import repo_argument
from converter.cli.problem_formats import Report, summary
from converter.errors import InvalidRepository, Refused
from converter.load.files import SETTINGS_FILE, find
from converter.load.repository import Loading
from converter.load.schema import FileKind
from converter.load.wording import listed
from converter.model import Settings
from converter.problem import Level

_HEADER: Final = """\
# Values of charts/campaign-queue: what converter.yaml determines, by `campaigns chart-values`.
# The release belongs into namespace {namespace}.
"""
_FILES: Final = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("chart-values")
@repo_argument
@click.option(
    "--check",
    "checked",
    type=_FILES,
    multiple=True,
    metavar="FILE",
    help="Compare this values file with converter.yaml and write nothing. Given several times, "
    "the files count together as with helm's --values.",
)
@click.option(
    "--values",
    "kept",
    type=_FILES,
    multiple=True,
    metavar="FILE",
    help="Take from this values file what converter.yaml does not know: the values of priority "
    "classes, the quotas and limits of flavors. May be given several times.",
)
def command(*, repo: Path, checked: tuple[Path, ...], kept: tuple[Path, ...]) -> int:
    """Write the values of charts/campaign-queue that REPO's converter.yaml determines.

    They go to standard output as a values file: the queue's name, flavors, quota and priority
    classes, and the names of the model cache and the runtime class. All other values are the
    chart's own. Only converter.yaml is read, and no cluster.

    With --check each difference is one line, with what to change.

    \b
    Exit codes:
      0  written; with --check: nothing differs
      1  with --check: something differs; or converter.yaml or a values file has a problem
      2  wrong usage

    \b
    Examples:
      campaigns chart-values . --values queue-values.yaml > new-values.yaml
      campaigns chart-values . --check queue-values.yaml
    """
    if checked and kept:
        raise click.UsageError("--check writes nothing: leave --values out")
    settings = _settings(repo)
    if checked:
        return _compare(settings, [read_values(file) for file in checked])
    _write(settings, [read_values(file) for file in kept])
    return 0


def _settings(directory: Path) -> Settings:
    """converter.yaml alone: what is wrong with a campaign keeps no queue from being compared."""
    loading = Loading(directory)
    for found in find(directory):
        if found.kind is FileKind.CONVERTER:
            loading.add(found)
    loaded = loading.result()
    problems = tuple(each for each in problems_of(loaded) if each.level is Level.ERROR)
    if loaded.settings is None or problems:
        raise InvalidRepository(problems, summary(Report(problems, files=0)))
    backend = loaded.settings.backend
    if not CAPABILITIES[backend].kubernetes:
        raise Refused(f"the chart is for a Kubernetes cluster, and backend {backend} has none")
    return loaded.settings


def _compare(settings: Settings, files: Sequence[ValuesFile]) -> int:
    names = listed(file.path for file in files)
    values = with_defaults(merged(file.values for file in files))
    found = list(differences(settings, values))
    for each in found:
        where = ":".join(map(str, position(files, each.place)))
        click.echo(f"{where}: {each.message} \N{EM DASH} {each.remedy}")
    if found:
        count = f"{len(found)} differences" if len(found) > 1 else "1 difference"
        click.echo(f"Found {count} between {names} and {SETTINGS_FILE}.")
        return 1
    click.echo(f"{names} and {SETTINGS_FILE} say the same.")
    return 0


def _write(settings: Settings, files: Sequence[ValuesFile]) -> None:
    # Imported where it is needed: most runs compare.
    from converter.chart_values.write import unvalued, written
    from converter.render.text import yaml_text

    known = merged(file.values for file in files)
    values = written(settings, known)
    click.echo(_HEADER.format(namespace=settings.namespace) + yaml_text(values), nl=False)
    if names := unvalued(settings, known):
        click.echo(
            f"note: converter.yaml has no values of the priority classes {listed(names)}: they are "
            "written as classes that exist (create: false); to have the chart create them, write "
            "their name and value in a values file and name it with --values",
            err=True,
        )
