"""A repository as the commands want it: checked, and with a name."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from pathlib import Path

import click

from converter.checks import check
from converter.errors import InvalidRepository, Refused
from converter.git import repository_name
from converter.load import LoadResult, load_repo
from converter.load.earlier import Earlier
from converter.load.wording import one_line
from converter.manifest import Manifest
from converter.model import Repo
from converter.problem import Level, Problem

GUESSED = "there is no `repository` in converter.yaml and no git remote `origin` that names one"


def load_checked(
    directory: Path,
    compare: Callable[[LoadResult], Earlier | None] | None = None,
    left_out: tuple[str, ...] = (),
    *,
    cached: bool = False,
    samples: bool = True,
) -> tuple[LoadResult, Sequence[Problem]]:
    """What is in `directory`, and its problems, with paths that open from where we run.

    `compare` gives what the repository said earlier, for the rules that look at that. Problems of
    rules whose codes begin with one of `left_out` are nobody's concern. If `cached`, what was found
    valid is not looked at again while nothing changes that it depends on. Without `samples` nothing
    is rendered, so that rules R are left out.
    """
    # Imported where it is needed: only validate runs so often that it is worth it.
    if cached:
        from converter.recall import recall

        loaded, known, base = recall(directory)
    else:
        loaded, known, base = load_repo(directory), None, b""
    earlier = None if compare is None else compare(loaded)
    problems = check(loaded, left_out, earlier, known)
    repo = loaded.repo
    if samples and repo is not None and not any(each.level is Level.ERROR for each in problems):
        problems += _samples(repo, directory, base)
    return loaded, _opened_from_here(directory, problems)


def _samples(repo: Repo, directory: Path, base: bytes) -> tuple[Problem, ...]:
    """What is wrong with the objects of a repository without an error (rules R)."""
    if base:
        from converter.recall import recall_samples

        return recall_samples(repo, directory, base)
    from converter.checks.rendered import sample_problems

    return sample_problems(repo)


def _opened_from_here(directory: Path, problems: Iterable[Problem]) -> list[Problem]:
    return [
        replace(problem, path=one_line((directory / problem.path).as_posix()))
        for problem in problems
    ]


def load_valid(directory: Path, *, samples: bool = True) -> Repo:
    """The repository in `directory`; its warnings go to standard error.

    Raises InvalidRepository with every problem it has. Who only looks at the cluster needs no
    `samples` of what would be rendered.
    """
    loaded, problems = load_checked(directory, samples=samples)
    if loaded.repo is None or any(problem.level is Level.ERROR for problem in problems):
        raise _invalid(problems)
    for problem in problems:
        click.echo(str(problem), err=True)
    return loaded.repo


def rendered(repo: Repo, directory: Path) -> tuple[Manifest, ...]:
    """Every object that the repository in `directory` stands for.

    Raises InvalidRepository where a cluster would not take one of them: nothing may be sent.
    """
    # Imported where it is needed: validate renders nothing but samples.
    from converter.checks.rendered import problems as problems_of
    from converter.render import render

    manifests = render(repo)
    problems = _opened_from_here(directory, problems_of(repo, manifests))
    if problems:
        raise _invalid(problems)
    return manifests


def _invalid(problems: Sequence[Problem]) -> InvalidRepository:
    # Imported where it is needed: most repositories have no problem to count.
    from converter.cli.problem_formats import Report, summary

    return InvalidRepository(problems, summary(Report(tuple(problems), files=0)))


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
