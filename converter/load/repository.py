"""Loading a repository: every file by itself, every problem in one run."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from converter.load import build, files, quick
from converter.load.comments import Comment, comments
from converter.load.files import Found
from converter.load.keys import key_mistakes
from converter.load.mistakes import Mistake
from converter.load.nodes import Node, plain_values
from converter.load.opaque import opaque_mistakes, opaque_values
from converter.load.positions import TextPositions
from converter.load.result import LoadResult
from converter.load.schema import FileKind, accepts, violations
from converter.load.syntax import Malformed
from converter.load.wording import one_line
from converter.model import Campaign, Pipeline, Settings
from converter.problem import Problem

Read = Callable[[Path, str], str | Mistake]

_OPAQUE_KEY: Final = "steps"


@dataclass(slots=True)
class _Collected:
    settings: Settings | None = None
    pipelines: dict[str, Pipeline] = field(default_factory=dict)
    campaigns: dict[str, Campaign] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)
    positions: dict[str, TextPositions] = field(default_factory=dict)
    comments: dict[str, tuple[Comment, ...]] = field(default_factory=dict)


def load_repo(directory: Path) -> LoadResult:
    """The campaigns repository in `directory`.

    What is wrong with its files is in the result's problems (rules F001 to F008), sorted; nothing
    is raised for it. Names of files are not judged here.
    """
    loading = Loading(directory)
    for found in files.find(directory):
        loading.add(found)
    return loading.result()


class Loading:
    """Loads files of the repository in `root`, one after the other; `read` gives their texts."""

    def __init__(self, root: Path, read: Read = files.read) -> None:
        self._root = root
        self._read = read
        self._collected = _Collected()

    def add(self, found: Found) -> None:
        """Load one more file."""
        mistakes = _load(self._root, found, self._read, self._collected)
        if mistakes:
            self._collected.broken.add(found.stands_for)
            self._collected.problems += _problems(found.path, mistakes)

    def result(self) -> LoadResult:
        """What the files say that were added so far."""
        collected = self._collected
        return LoadResult(
            root=self._root,
            settings=collected.settings,
            pipelines=dict(collected.pipelines),
            campaigns=dict(collected.campaigns),
            problems=tuple(sorted(collected.problems)),
            broken=frozenset(collected.broken),
            positions=dict(collected.positions),
            comments=dict(collected.comments),
        )


def _load(root: Path, found: Found, read: Read, collected: _Collected) -> list[Mistake]:
    if found.mistake is not None:
        return [found.mistake]
    text = read(root, found.path)
    if isinstance(text, Mistake):
        return [text]
    values: Any = quick.read(text)
    mistakes: list[Mistake] = []
    if values is None or not accepts(found.kind, values):
        try:
            values, mistakes = examined(found.kind, text)
        except Malformed as error:
            return [Mistake(error.line, error.column, "F002", error.message, error.remedy)]
    collected.positions[found.path] = TextPositions(text)
    if said := comments(text):
        collected.comments[found.path] = said
    if values is not None:
        _build(found, values, collected)
    return mistakes


def examined(kind: FileKind, text: str) -> tuple[Any, list[Mistake]]:
    """The values of a file that is not quite ordinary, and all that is wrong with it.

    The values are those that the rules can look at, None where too much is wrong. Raises Malformed.
    """
    # Imported where it is needed: most repositories have no such file, and all would wait for it.
    from converter.load.explain import explain
    from converter.load.repair import repaired

    positions = TextPositions(text)
    root = positions.root
    values = plain_values(root)
    found = violations(kind, values)
    opaque = opaque_part(kind, root)
    mistakes = list(explain(found, positions, kind))
    # What is in a value of the wrong type does not matter, nor how a key that is none is written.
    mistyped = [positions.node(*each.path) for each in found if each.keyword == "type"]
    explained = {(each.line, each.column) for each in mistakes if each.code in ("F004", "F005")}
    mistakes += (
        each
        for each in key_mistakes(root, opaque, ignored=mistyped)
        if each.code != "F007" or (each.line, each.column) not in explained
    )
    if opaque is not None:
        values[_OPAQUE_KEY] = opaque_values(opaque)
        mistakes += opaque_mistakes(opaque)
    return repaired(kind, values, found) if found else values, mistakes


def opaque_part(kind: FileKind, root: Node) -> Node | None:
    """The part of a file that is for another program to read; `root` is the whole document."""
    if kind is not FileKind.PIPELINE or _OPAQUE_KEY not in root.entries:
        return None
    return root.entries[_OPAQUE_KEY][1]


def _build(found: Found, values: Any, collected: _Collected) -> None:
    match found.kind:
        case FileKind.CONVERTER:
            collected.settings = build.settings(values)
        case FileKind.PIPELINE:
            collected.pipelines[found.name] = build.pipeline(found.name, found.path, values)
        case FileKind.CAMPAIGN:
            collected.campaigns[found.name] = build.campaign(found.name, found.path, values)


def _problems(path: str, mistakes: Iterable[Mistake]) -> list[Problem]:
    """One problem for all mistakes in one place that are put in the same words."""
    first: dict[tuple[int, int, str, str], Mistake] = {}
    for mistake in mistakes:
        words = (mistake.line, mistake.column, mistake.code, mistake.message)
        first.setdefault(words, mistake)
    return [
        Problem(one_line(path), at.line, at.column, at.code, at.message, at.remedy)
        for at in first.values()
    ]
