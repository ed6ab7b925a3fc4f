"""`campaigns validate`: every check that needs no cluster.

The problems are what the command is asked for, so they go to standard output, and so does the
line that counts them, as with other linters.
"""

import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from converter.checks import ALL_RULES, check
from converter.cli.problem_formats import FORMATS, Report
from converter.load import load_repo
from converter.load.result import LoadResult
from converter.problem import Level, Problem

SETTINGS_FILE = "converter.yaml"


def _prefixes(
    _context: click.Context, _parameter: click.Parameter, value: str | None
) -> tuple[str, ...]:
    """Rule codes, or beginnings of them, with commas between: ``C``, ``P0``, ``S001,S002``."""
    prefixes = () if value is None else tuple(part.strip().upper() for part in value.split(","))
    for prefix in prefixes:
        if not prefix or not any(code.startswith(prefix) for code in ALL_RULES):
            raise click.BadParameter(f"{prefix!r} begins no rule code; see `campaigns rule`")
    return prefixes


@click.command("validate")
@click.argument(
    "paths", metavar="[REPO]...", nargs=-1, type=click.Path(exists=True, path_type=Path)
)
@click.option(
    "--format",
    "output",
    type=click.Choice(list(FORMATS)),
    default="text",
    show_default=True,
    help="github: workflow commands, which GitHub shows in the pull request.",
)
@click.option(
    "--select",
    callback=_prefixes,
    metavar="CODE,...",
    help="Report only these rules; C stands for every rule whose code begins so.",
)
@click.option("--ignore", callback=_prefixes, metavar="CODE,...", help="Report all but these.")
def command(
    *, paths: tuple[Path, ...], output: str, select: tuple[str, ...], ignore: tuple[str, ...]
) -> int:
    """Check the files in REPO (the current directory) as far as that needs no cluster.

    A file may be named instead of its repository, as pre-commit does; the whole repository is
    checked, since one file can break another. `campaigns rule CODE` explains a code.

    With --format json the document is {"version": 1, "problems": [{"path", "line", "column",
    "code", "name", "level", "message", "remedy"}], "summary": {"errors", "warnings", "files"}}.
    Lines and columns count from 1; 0 stands for the file as a whole.

    \b
    Exit codes:
      0  no error; there may be warnings
      1  at least one error
      2  wrong usage

    \b
    Example:
      campaigns validate .
    """
    problems: list[Problem] = []
    files = 0
    for root in roots(paths or (Path("."),)):
        loaded = load_repo(root)
        files += _count_files(loaded)
        problems += [
            replace(problem, path=(root / problem.path).as_posix())
            for problem in check(loaded)
            if is_selected(problem.code, select, ignore)
        ]
    report = Report(tuple(problems), files)
    click.echo(FORMATS[output](report), nl=False)
    return 1 if report.count(Level.ERROR) else 0


def roots(paths: Iterable[Path]) -> Sequence[Path]:
    """The repositories to check, each once: a directory is one, and a file is in one.

    Raises click.BadParameter for a file that is in none.
    """
    return list(dict.fromkeys(path if path.is_dir() else _root_of(path) for path in paths))


def is_selected(code: str, select: tuple[str, ...], ignore: tuple[str, ...]) -> bool:
    """Whether a rule's problems are reported; no `select` stands for all rules."""
    return (not select or code.startswith(select)) and not code.startswith(ignore)


def _root_of(file: Path) -> Path:
    for parent in file.absolute().parents:
        if (parent / SETTINGS_FILE).is_file():
            return Path(os.path.relpath(parent))
    raise click.BadParameter(
        f"{file} is in no campaigns repository: there is no {SETTINGS_FILE} above it",
        param_hint="REPO",
    )


def _count_files(loaded: LoadResult) -> int:
    settings = loaded.settings is not None
    return settings + len(loaded.pipelines) + len(loaded.campaigns) + len(loaded.broken)
