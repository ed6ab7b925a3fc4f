"""`campaigns validate`: every check that needs no cluster.

The problems are what the command is asked for, so they go to standard output, and so does the
line that counts them, as with other linters.
"""

import os
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import click

from converter.checks import ALL_RULES
from converter.checks.registry import history_rules
from converter.cli.problem_formats import FORMATS, IN_CLONE, Fixed, Report
from converter.cli.repository import load_checked
from converter.errors import CampaignsError
from converter.git import top_of_clone
from converter.history import earlier_repository
from converter.load import RULES, LoadResult
from converter.load.earlier import Earlier
from converter.load.files import DIRECTORIES, SETTINGS_FILE, find
from converter.problem import Level, Problem

# Without the file none of the other rules looked at all that they are about.
NEVER_HIDDEN = frozenset(rule.code for rule in RULES)


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
    help="github: workflow commands, which GitHub shows in the pull request; gitlab: a Code "
    "Quality report.",
)
@click.option(
    "--select",
    callback=_prefixes,
    metavar="CODE,...",
    help="Report only these rules, and files that cannot be loaded; C stands for every rule whose "
    "code begins so.",
)
@click.option(
    "--ignore",
    callback=_prefixes,
    metavar="CODE,...",
    help="Report all but these; files that cannot be loaded are reported all the same.",
)
@click.option(
    "--since",
    metavar="REV",
    help="Compare with this commit (rules G). Without it: with the last one that HEAD shares with "
    "origin's default branch, or HEAD; outside git with none.",
)
@click.option("--fix", is_flag=True, help="Mend what is safe to mend, and report what is left.")
@click.option(
    "--diff",
    is_flag=True,
    help="Show what --fix would do, and do nothing; exit code 1 if that is something, else 0.",
)
@click.option("--no-cache", is_flag=True, help="Look at every file, also those that were valid.")
def command(
    *,
    paths: tuple[Path, ...],
    output: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    since: str | None,
    fix: bool,
    diff: bool,
    no_cache: bool,
) -> int:
    """Check the files in REPO (the current directory) as far as that needs no cluster.

    A file of the repository may be named instead, or its campaigns or pipelines directory; the
    whole repository is checked, since one file can break another. `campaigns rule CODE` explains
    a code.

    With --format json the document is {"version": 1, "problems": [{"path", "line", "column",
    "code", "name", "level", "message", "remedy"}], "summary": {"errors", "warnings", "files"}}.
    Lines and columns count from 1; 0 stands for the file as a whole. With --fix there is also
    "fixed": {"problems", "files"}.

    With GITHUB_STEP_SUMMARY, as in GitHub Actions, that job summary gets the problems as a table.

    --fix puts quotes around text that YAML misreads (F007) and renames .yml files (F008), where
    nothing else can be meant; all else in the files stays as it is.

    \b
    Exit codes:
      0  no error; there may be warnings
      1  at least one error
      2  wrong usage

    \b
    Example:
      campaigns validate .
      campaigns validate . --since origin/main
    """
    named = roots(paths or (Path("."),))
    fixed = _fixed(named) if fix and not diff else None
    if diff:
        return _difference(named, output)
    compare = _comparison(since, select, ignore)
    problems: list[Problem] = []
    files = 0
    for root in named:
        loaded, found = load_checked(root, compare, left_out=ignore, cached=not no_cache)
        files += _count_files(loaded)
        problems += [problem for problem in found if is_selected(problem.code, select, ignore)]
    top = top_of_clone(Path(".")) if output in IN_CLONE else None
    report = Report(tuple(problems), files, fixed, top)
    click.echo(FORMATS[output](report), nl=False)
    _summarise(report)
    return 1 if report.count(Level.ERROR) else 0


def _summarise(report: Report) -> None:
    """Add to the job summary, where CI wants one."""
    if not os.environ.get("GITHUB_STEP_SUMMARY"):
        return
    # Imported where it is needed: nobody's commit waits for it.
    from converter.cli import job_summary

    job_summary.publish(job_summary.validated(report), _warn)


def _fixed(named: Iterable[Path]) -> Fixed:
    # Imported where it is needed: most runs change nothing.
    from converter.cli.fix import fix

    return fix(named)


def _difference(named: Iterable[Path], output: str) -> int:
    from converter.cli.fix import show

    if output != "text":
        raise click.UsageError("--diff is text: leave --format out")
    return show(named)


def roots(paths: Iterable[Path]) -> Sequence[Path]:
    """The repositories to check, each once, by whatever paths they are named.

    Raises click.BadParameter for a file that is not one of a repository's.
    """
    found: dict[Path, Path] = {}
    for path in paths:
        root = _root_of_directory(path) if path.is_dir() else _root_of_file(path)
        found.setdefault(root.resolve(), root)
    return list(found.values())


def is_selected(code: str, select: tuple[str, ...], ignore: tuple[str, ...]) -> bool:
    """Whether a rule's problems are reported; no `select` stands for all rules."""
    if code in NEVER_HIDDEN:
        return True
    return (not select or code.startswith(select)) and not code.startswith(ignore)


def _comparison(
    since: str | None, select: tuple[str, ...], ignore: tuple[str, ...]
) -> Callable[[LoadResult], Earlier | None] | None:
    """How to find what a repository said earlier; git is not asked for rules that are left out."""
    if not any(is_selected(rule.code, select, ignore) for rule in history_rules()):
        return None

    def compare(loaded: LoadResult) -> Earlier | None:
        try:
            return earlier_repository(loaded, since, _warn)
        except CampaignsError as error:
            raise click.BadParameter(str(error), param_hint="--since") from error

    return compare


def _warn(message: str) -> None:
    click.echo(f"warning: {message}", err=True)


def _root_of_directory(directory: Path) -> Path:
    """A directory is a repository, or one of the two that a repository's files are in."""
    if (directory / SETTINGS_FILE).exists():
        return directory
    absolute = _absolute(directory)
    in_repository = (absolute.parent / SETTINGS_FILE).is_file()
    if absolute.name in DIRECTORIES.values() and in_repository:
        return _relative(absolute.parent)
    return directory


def _root_of_file(file: Path) -> Path:
    absolute = _absolute(file)
    for parent in absolute.parents:
        if not (parent / SETTINGS_FILE).is_file():
            continue
        root = _relative(parent)
        if absolute in (parent / found.path for found in find(parent)):
            return root
        raise click.BadParameter(
            f"{file} is not a file of the repository in {root}; those are {SETTINGS_FILE}, "
            "campaigns/NAME.yaml and pipelines/NAME.yaml",
            param_hint="REPO",
        )
    raise click.BadParameter(
        f"{file} is in no campaigns repository: there is no {SETTINGS_FILE} above it",
        param_hint="REPO",
    )


def _absolute(path: Path) -> Path:
    """Without "..", and through no symbolic link: the place that was named counts."""
    return Path(os.path.abspath(path))


def _relative(path: Path) -> Path:
    return Path(os.path.relpath(path))


def _count_files(loaded: LoadResult) -> int:
    settings = loaded.settings is not None
    return settings + len(loaded.pipelines) + len(loaded.campaigns) + len(loaded.broken)
