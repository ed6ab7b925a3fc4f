"""A rule that `campaigns validate` keeps: its stable code and what to tell people about it."""

from dataclasses import dataclass

from converter.problem import Level


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule, as docs/rules.md and `campaigns rule CODE` print it.

    `code` is a letter and three digits and never changes its meaning; `name` is its name in
    kebab case. `what` is one sentence; `why` says what would happen without the rule. `wrong` and
    `right` are snippets of a file. `since` is the release that brought the rule. An `ignorable`
    rule is a judgement that a comment in the file may overrule; what rendering relies on is none.
    """

    code: str
    name: str
    what: str
    why: str
    wrong: str
    right: str
    since: str
    level: Level = Level.ERROR
    ignorable: bool = False
