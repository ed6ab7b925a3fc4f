"""The cases in tests/corpus, and the repositories that they make."""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from converter.checks import check
from converter.load import load_repo
from converter.problem import Problem

CORPUS = Path(__file__).parents[2] / "corpus"
BASE = CORPUS / "base"
BAD = CORPUS / "bad"
GOOD = CORPUS / "good"
CAMPAIGN = "campaigns/spring.yaml"
INDEX = "index.yaml"


@dataclass(frozen=True)
class Case:
    """A file or directory of the corpus, with what its index says of it."""

    source: Path
    said: Mapping[str, Any]

    @property
    def code(self) -> str:
        """The rule that a bad case breaks."""
        return self.source.name.partition("-")[0]

    @property
    def at(self) -> str:
        """The file of the repository that a file of the corpus stands in for."""
        place: str = self.said.get("at", CAMPAIGN)
        return place

    @property
    def place(self) -> tuple[str, int, int, str]:
        """Path, line, column and code of the one problem of a bad case."""
        path = self.said.get("path", self.at)
        return path, self.said.get("line", 0), self.said.get("column", 0), self.code

    def write(self, root: Path) -> None:
        """Make the repository of the case in `root`."""
        write_base(root)
        for path in self.said.get("without", ()):
            (root / path).unlink()
        if self.source.is_dir():
            shutil.copytree(self.source, root, dirs_exist_ok=True)
        else:
            (root / self.at).parent.mkdir(exist_ok=True)
            shutil.copyfile(self.source, root / self.at)

    def __str__(self) -> str:
        return self.source.stem


def cases(directory: Path) -> Iterator[Case]:
    """The cases of a directory of the corpus, as its index has them."""
    index = yaml.load((directory / INDEX).read_bytes(), yaml.CSafeLoader)
    for name, said in index.items():
        yield Case(directory / name, said)


def write_base(root: Path) -> None:
    """Make the repository that all cases change, which has no problem, in `root`."""
    shutil.copytree(BASE, root, dirs_exist_ok=True)


def problems(root: Path) -> tuple[Problem, ...]:
    """What `campaigns validate` finds in the files of a repository."""
    return check(load_repo(root))


def places(found: tuple[Problem, ...]) -> list[tuple[str, int, int, str]]:
    """Path, line, column and code of each problem."""
    return [(each.path, each.line, each.column, each.code) for each in found]
