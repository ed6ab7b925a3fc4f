"""How a rule is written down: a function that yields findings, under its `Rule`.

A rule never reads a file. It looks at what could be loaded, so that one broken file does not hide
the mistakes in the others, and it says nothing about what another rule reports already.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from converter.capabilities import CAPABILITIES
from converter.load.earlier import Earlier
from converter.load.result import LoadResult
from converter.load.wording import one_line
from converter.model import Backend, Campaign, Pipeline, Settings
from converter.problem import Problem
from converter.rule import Rule
from converter.split import Part, split


@dataclass(frozen=True, slots=True)
class Finding:
    """One breach of a rule. `where` leads to the value at fault; None means the whole file.

    `at_key` says that the key is at fault and not its value. `message` and `remedy` are those of
    `Problem`.
    """

    path: str
    where: tuple[str | int, ...] | None
    message: str
    remedy: str
    at_key: bool = False


@dataclass(frozen=True)
class Known:
    """A repository whose converter.yaml could be loaded, with whatever else could be."""

    settings: Settings
    pipelines: Mapping[str, Pipeline]
    campaigns: Mapping[str, Campaign]

    @cached_property
    def parts(self) -> Mapping[str, tuple[Part, ...]]:
        """By campaign: its Jobs. Found once, since it takes a look at every volume."""
        return {name: split(campaign, self.settings) for name, campaign in self.campaigns.items()}


FilesCheck = Callable[[LoadResult], Iterable[Finding]]
KnownCheck = Callable[[Known], Iterable[Finding]]
HistoryCheck = Callable[[LoadResult, Earlier], Iterable[Finding]]

_FILES_CHECKS: Final[list[tuple[Rule, FilesCheck]]] = []
_KNOWN_CHECKS: Final[list[tuple[Rule, KnownCheck]]] = []
_HISTORY_CHECKS: Final[list[tuple[Rule, HistoryCheck]]] = []
_OF_KUEUE: Final[set[str]] = set()
_OF_KUBERNETES: Final[set[str]] = set()


def rule(described: Rule) -> Callable[[FilesCheck], FilesCheck]:
    """Register a rule that needs no settings."""

    def register(check: FilesCheck) -> FilesCheck:
        _FILES_CHECKS.append((described, check))
        return check

    return register


def settings_rule(described: Rule) -> Callable[[KnownCheck], KnownCheck]:
    """Register a rule that needs the settings; it is left out while converter.yaml is broken."""

    def register(check: KnownCheck) -> KnownCheck:
        _KNOWN_CHECKS.append((described, check))
        return check

    return register


def kueue_rule(described: Rule) -> Callable[[KnownCheck], KnownCheck]:
    """Register a rule about what Kueue does; it is left out with another backend."""

    def register(check: KnownCheck) -> KnownCheck:
        def with_kueue(known: Known) -> Iterable[Finding]:
            return check(known) if known.settings.backend is Backend.KUEUE else ()

        _KNOWN_CHECKS.append((described, with_kueue))
        _OF_KUEUE.add(described.code)
        return check

    return register


def kubernetes_rule(described: Rule) -> Callable[[KnownCheck], KnownCheck]:
    """Register a rule about Jobs and pods; it is left out with a backend that has none."""

    def register(check: KnownCheck) -> KnownCheck:
        def with_kubernetes(known: Known) -> Iterable[Finding]:
            return check(known) if CAPABILITIES[known.settings.backend].kubernetes else ()

        _KNOWN_CHECKS.append((described, with_kubernetes))
        _OF_KUBERNETES.add(described.code)
        return check

    return register


def history_rule(described: Rule) -> Callable[[HistoryCheck], HistoryCheck]:
    """Register a rule that compares with a commit; it is left out where there is none."""

    def register(check: HistoryCheck) -> HistoryCheck:
        _HISTORY_CHECKS.append((described, check))
        return check

    return register


def registered_rules() -> Iterator[Rule]:
    """Every registered rule about the files as they are now, in no particular order."""
    for described, _ in (*_FILES_CHECKS, *_KNOWN_CHECKS):
        yield described


def history_rules() -> Iterator[Rule]:
    """Every registered rule that compares with a commit, in no particular order."""
    for described, _ in _HISTORY_CHECKS:
        yield described


def looked_at(loaded: LoadResult) -> frozenset[str]:
    """The codes of the rules that look at all that they are about: none if a file is broken.

    Those that compare with a commit are not among them: what they find is gone with the merge, and
    nobody wants a commit more for the comment that was about it.
    """
    if loaded.repo is None:
        return frozenset()
    backend = loaded.repo.settings.backend
    others = set() if backend is Backend.KUEUE else _OF_KUEUE
    if not CAPABILITIES[backend].kubernetes:
        others = others | _OF_KUBERNETES
    return frozenset(rule.code for rule in registered_rules() if rule.code not in others)


def findings(loaded: LoadResult) -> Iterator[Problem]:
    """What all registered rules find, in no particular order."""
    for described, check in _FILES_CHECKS:
        yield from _problems(loaded, described, check(loaded))
    if loaded.settings is None:
        return
    known = Known(loaded.settings, loaded.pipelines, loaded.campaigns)
    for described, check_known in _KNOWN_CHECKS:
        yield from _problems(loaded, described, check_known(known))


def changes(loaded: LoadResult, earlier: Earlier) -> Iterator[Problem]:
    """What the rules that compare with a commit find, in no particular order."""
    for described, check in _HISTORY_CHECKS:
        yield from _problems(loaded, described, check(loaded, earlier))


def _problems(loaded: LoadResult, described: Rule, found: Iterable[Finding]) -> Iterator[Problem]:
    for finding in found:
        line, column = _position(loaded, finding)
        yield Problem(
            path=one_line(finding.path),
            line=line,
            column=column,
            code=described.code,
            message=one_line(finding.message),
            remedy=one_line(finding.remedy),
            level=described.level,
        )


def _position(loaded: LoadResult, finding: Finding) -> tuple[int, int]:
    positions = loaded.positions.get(finding.path)
    if positions is None or finding.where is None:
        return (0, 0)
    return (positions.key if finding.at_key else positions.value)(*finding.where)
