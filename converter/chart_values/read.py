"""Values files: what they say, and where."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from converter.chart_values.merge import Place
from converter.errors import InvalidRepository
from converter.load.keys import key_mistakes
from converter.load.nodes import plain_values
from converter.load.positions import TextPositions
from converter.load.syntax import Malformed
from converter.load.wording import one_line
from converter.problem import Problem


@dataclass(frozen=True, slots=True)
class ValuesFile:
    """A values file by its path as it was given."""

    path: str
    values: dict[str, Any]
    positions: TextPositions

    def has(self, place: Place) -> bool:
        """Whether the file itself says something in this place."""
        found: Any = self.values
        for step in place:
            inside = isinstance(found, list) and isinstance(step, int) and step < len(found)
            if not inside and not (isinstance(found, dict) and step in found):
                return False
            found = found[step]
        return True


def read_values(file: Path) -> ValuesFile:
    """The values in a file. Raises InvalidRepository where helm could not read it or would guess,
    and OSError where it cannot be read at all.
    """
    path = one_line(file.as_posix())
    try:
        positions = TextPositions(file.read_bytes().decode("utf-8-sig"))
        root = positions.root
    except UnicodeDecodeError:
        raise _invalid(Problem(path, 0, 0, "F001", "not UTF-8", "save it as UTF-8")) from None
    except Malformed as error:
        where = (path, error.line, error.column)
        raise _invalid(Problem(*where, "F002", error.message, error.remedy)) from error
    twice = [
        Problem(path, each.line, each.column, each.code, each.message, each.remedy)
        for each in key_mistakes(root)
        if each.code == "F003"
    ]
    if twice:
        raise _invalid(*twice)
    # As text what readers of YAML disagree about: helm refuses it where it matters.
    values = plain_values(root, lambda scalar: scalar.text)
    if values is None:
        values = {}
    if not isinstance(values, dict):
        what = "the values are no mapping"
        raise _invalid(Problem(path, root.line, root.column, "F005", what, "write keys and values"))
    return ValuesFile(path, values, positions)


def position(files: Sequence[ValuesFile], place: Place) -> tuple[str, int, int]:
    """Path, line and column of what counts of several files in a place, or of what is around it.

    That is the last file that says something there; without one, the last file.
    """
    saying = next((each for each in reversed(files) if each.has(place)), files[-1])
    return saying.path, *saying.positions.value(*place)


def _invalid(*problems: Problem) -> InvalidRepository:
    return InvalidRepository(problems, "The values cannot be read.")
