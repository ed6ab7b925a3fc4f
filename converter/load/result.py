"""What loading a repository gives: values, and where in which file each of them stands."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from converter.load.comments import Comment
from converter.model import EMPTY, Campaign, Pipeline, Repo, Settings
from converter.problem import Problem


class Positions(Protocol):
    """Where the parts of one file stand. Found on demand: a valid file never needs them."""

    def value(self, *path: str | int) -> tuple[int, int]:
        """Line and column, from 1, of a value; `path` is made of keys and indexes from 0.

        Where the file has no such value, the position of the nearest thing around it.
        """
        ...

    def key(self, *path: str | int) -> tuple[int, int]:
        """Line and column of the key that ends `path` (for a list's entry, of the entry)."""
        ...


@dataclass(frozen=True, slots=True)
class LoadResult:
    """The files of a repository that could be loaded, and the problems of the others.

    `settings` is None where converter.yaml is missing or too broken to be of use. `broken` has the
    paths of files with mistakes, so that no rule calls them missing; what is right in such a file
    may still be among the campaigns and pipelines, so that the rules find more in one run.
    `positions` is by path, for every file that is YAML, and `comments` for those with comments that
    speak to this program. Paths are relative to the repository, with forward slashes.
    """

    root: Path
    settings: Settings | None
    pipelines: Mapping[str, Pipeline]
    campaigns: Mapping[str, Campaign]
    problems: tuple[Problem, ...] = ()
    broken: frozenset[str] = frozenset()
    positions: Mapping[str, Positions] = field(default_factory=lambda: EMPTY)
    comments: Mapping[str, tuple[Comment, ...]] = field(default_factory=lambda: EMPTY)

    @property
    def repo(self) -> Repo | None:
        """The whole repository, or None while a file of it is missing or broken."""
        if self.settings is None or self.broken:
            return None
        return Repo(self.settings, self.pipelines, self.campaigns)
