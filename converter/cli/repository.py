"""A repository as the commands want it: checked, and with a name."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import click

from converter.checks import check
from converter.cli.problem_formats import Report, summary
from converter.errors import InvalidRepository, Refused
from converter.git import repository_name
from converter.load import LoadResult, load_repo
from converter.model import Repo
from converter.problem import Level, Problem

GUESSED = "there is no `repository` in converter.yaml and no git remote `origin` that names one"


def load_checked(directory: Path) -> tuple[LoadResult, Sequence[Problem]]:
    """What is in `directory`, and its problems, with paths that open from where we run."""
    loaded = load_repo(directory)
    problems = [
        replace(problem, path=(directory / problem.path).as_posix()) for problem in check(loaded)
    ]
    return loaded, problems


def load_valid(directory: Path) -> Repo:
    """The repository in `directory`; its warnings go to standard error.

    Raises InvalidRepository with every problem it has.
    """
    loaded, problems = load_checked(directory)
    if loaded.repo is None or any(problem.level is Level.ERROR for problem in problems):
        raise InvalidRepository(problems, summary(Report(tuple(problems), files=0)))
    for problem in problems:
        click.echo(str(problem), err=True)
    return loaded.repo


def named(repo: Repo, directory: Path, *, for_certain: bool = False) -> Repo:
    """The repository with its name: as converter.yaml sets it, or as git knows it.

    Without either it is called by its directory's name, and a warning says so: another one whose
    directory is called the same takes its objects for its own. Raises Refused where that must not
    be (`for_certain`), and CampaignsError when git is needed and cannot be asked.
    """
    name = repo.settings.repository or repository_name(directory)
    if not name:
        name = directory.resolve().name
        if for_certain or not name:
            raise Refused(
                f"{GUESSED}, so another repository may have the same name; nothing was sent: set "
                "`repository` in converter.yaml"
            )
        click.echo(
            f"warning: {GUESSED}, so the repository is called {name} after its directory: set "
            "`repository` in converter.yaml",
            err=True,
        )
    return replace(repo, settings=replace(repo.settings, repository=name))
