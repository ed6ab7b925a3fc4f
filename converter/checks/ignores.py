"""Comments that overrule a rule in one place: ``# campaigns: ignore=C010 the scan was bad``.

They hold for every command alike: what is ignored does not stop an apply either.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

from converter.load.comments import Comment
from converter.load.result import LoadResult
from converter.load.rules import BAD_IGNORE, UNUSED_IGNORE
from converter.load.wording import alike, one_line, quoted
from converter.problem import Problem
from converter.rule import Rule

_IGNORE: Final = re.compile(
    r"ignore[ \t]*=[ \t]*(?P<codes>[^\s,]+(?:[ \t]*,[ \t]*[^\s,]+)*)(?P<reason>.*)"
)
_CODE: Final = re.compile(r"[^\s,]+")
# Anything else may be prose that happens to begin with the word campaigns.
_ATTEMPT: Final = re.compile(r"ignore\b|[\w-]+[ \t]*=|\w+[ \t:]+[A-Z]\d{3}\b", re.IGNORECASE)
_WORD: Final = re.compile(r"\w")


@dataclass(frozen=True, slots=True)
class _Ignore:
    """One code in a comment. `path` is that of a `Problem`, and `column` that of the code."""

    path: str
    comment: Comment
    code: str
    column: int


def overruled(
    found: Iterable[Problem],
    loaded: LoadResult,
    rules: Mapping[str, Rule],
    unused: Collection[str],
) -> Iterator[Problem]:
    """`found` without what comments of the files ignore, and what is wrong with these comments.

    `rules` are all that there are, by code. An ignore that silences nothing is a problem if its
    rule is one of `unused`: those that looked at all that they are about.
    """
    if not loaded.comments:
        yield from found
        return
    ignores: list[_Ignore] = []
    for path, comments in loaded.comments.items():
        for comment in comments:
            ignores += _codes(one_line(path), comment)
            yield from _mistakes(one_line(path), comment, rules)
    valid = [each for each in ignores if _is_valid(each, rules)]
    by_place: defaultdict[tuple[str, int, str], list[_Ignore]] = defaultdict(list)
    for each in valid:
        for line in each.comment.covers:
            by_place[each.path, line, each.code].append(each)
    used: set[_Ignore] = set()
    for problem in found:
        covering = by_place.get((problem.path, problem.line, problem.code), ())
        used.update(covering)
        if not covering:
            yield problem
    yield from _unused((each for each in valid if each not in used), valid, unused)


def _codes(path: str, comment: Comment) -> Iterator[_Ignore]:
    if read := _IGNORE.fullmatch(comment.words):
        for code in _CODE.finditer(comment.words, *read.span("codes")):
            yield _Ignore(path, comment, code[0].upper(), comment.words_column + code.start())


def _is_valid(ignore: _Ignore, rules: Mapping[str, Rule]) -> bool:
    return (
        ignore.code in rules and rules[ignore.code].ignorable and _has_reason(ignore.comment.words)
    )


def _has_reason(words: str) -> bool:
    read = _IGNORE.fullmatch(words)
    return read is not None and _WORD.search(read["reason"]) is not None


def _unused(
    left: Iterable[_Ignore], valid: Iterable[_Ignore], known: Collection[str]
) -> Iterator[Problem]:
    # A comment that ignores F009 says of itself that it may be without effect.
    excused = {(each.path, each.comment.line) for each in valid if each.code == UNUSED_IGNORE.code}
    for each in left:
        place = (each.path, each.comment.line)
        if each.code in known and each.code != UNUSED_IGNORE.code and place not in excused:
            message = f"{each.code} is ignored here, but there is nothing to ignore"
            yield _problem(
                UNUSED_IGNORE, each.path, each.comment, each.column, message, "remove it"
            )


def _mistakes(path: str, comment: Comment, rules: Mapping[str, Rule]) -> Iterator[Problem]:
    column = comment.column
    codes = list(_codes(path, comment))
    if not codes:
        if _ATTEMPT.match(comment.words):
            message = f"{quoted(comment.words)} is not understood"
            remedy = "write # campaigns: ignore=CODE and the reason"
            yield _problem(BAD_IGNORE, path, comment, column, message, remedy)
        return
    for each in codes:
        if each.code not in rules:
            close = alike(each.code, rules)
            remedy = f"did you mean {close}?" if close else "`campaigns rule` lists the rules"
            message = f"there is no rule {each.code}"
            yield _problem(BAD_IGNORE, path, comment, each.column, message, remedy)
        elif not rules[each.code].ignorable:
            message = f"{each.code} cannot be ignored"
            remedy = "remove it, and mend what the rule finds"
            yield _problem(BAD_IGNORE, path, comment, each.column, message, remedy)
    if not _has_reason(comment.words):
        message = f"there is no reason for ignoring {', '.join(each.code for each in codes)}"
        yield _problem(BAD_IGNORE, path, comment, column, message, "write it after the code")


def _problem(
    rule: Rule, path: str, comment: Comment, column: int, message: str, remedy: str
) -> Problem:
    return Problem(
        path, comment.line, column, rule.code, one_line(message), one_line(remedy), rule.level
    )
