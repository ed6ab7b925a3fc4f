"""Loading a repository for a command that needs a valid one."""

from dataclasses import replace
from pathlib import Path

from converter.checks import check
from converter.errors import InvalidRepository
from converter.git import repository_name
from converter.load import load_repo
from converter.model import Repo
from converter.problem import Level


def load_valid(directory: Path) -> Repo:
    """The repository in `directory`. Raises InvalidRepository with every problem it has."""
    loaded = load_repo(directory)
    errors = [problem for problem in check(loaded) if problem.level is Level.ERROR]
    if errors or loaded.repo is None:
        raise InvalidRepository(errors)
    return loaded.repo


def named(repo: Repo, directory: Path) -> Repo:
    """The repository with its name: as converter.yaml sets it, or as git knows it."""
    name = repo.settings.repository or repository_name(directory)
    return replace(repo, settings=replace(repo.settings, repository=name))
