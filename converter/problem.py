"""A problem in a user's file: where, which rule, what is wrong and what to write instead."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    """How bad a problem is. Only an error changes an exit code."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True, slots=True, order=True)
class Problem:
    """One finding in one place of one file.

    `path` is relative to the repository, with forward slashes. `line` and `column` count from 1;
    0 stands for the file as a whole. `message` is one line without a closing full stop, and
    `remedy` says what to write instead.
    """

    path: str
    line: int
    column: int
    code: str
    message: str
    remedy: str
    level: Level = Level.ERROR

    def __str__(self) -> str:
        prefix = "warning: " if self.level is Level.WARNING else ""
        return (
            f"{self.path}:{self.line}:{self.column}: {self.code} {prefix}"
            f"{self.message} \N{EM DASH} {self.remedy}"
        )
