"""docs/rules.md, made from the rules: ``python -m converter.checks.docs > docs/rules.md``."""

import sys
from collections.abc import Iterator
from typing import Final

from converter.checks import ALL_RULES
from converter.problem import Level
from converter.rule import Rule

_CHAPTERS: Final = {
    "F": "Files",
    "C": "Campaigns",
    "P": "Pipelines",
    "S": "Settings (converter.yaml)",
    "G": "History (compared with a commit)",
    "R": "Rendered objects",
}
_HEAD: Final = """\
<!-- Made by `python -m converter.checks.docs > docs/rules.md`. Change the rules, not this file. -->

# Rules

What `campaigns validate` checks. A problem is one line, `path:line:column: CODE what is wrong`, and
what to write instead; a code never changes its meaning. `campaigns rule CODE` prints an entry of
this page. Only warnings leave the exit code at 0. `--select` and `--ignore` take codes or their
beginnings: `--ignore C010,P` leaves out one rule about campaigns and all about pipelines.

A rule that is a judgement can be ignored in one place, with a comment that says why: see
[files.md](files.md#comments-that-overrule-a-rule). The entry of such a rule says so. What
`campaigns validate --fix` mends is in [files.md](files.md#mending) too.
"""


def page() -> str:
    """The whole page, in Markdown."""
    return "\n".join(_blocks())


def _blocks() -> Iterator[str]:
    yield _HEAD
    for letter, title in _CHAPTERS.items():
        yield f"## {title}\n"
        for rule in ALL_RULES.values():
            if rule.code.startswith(letter):
                yield _entry(rule)


def _entry(rule: Rule) -> str:
    warning = " (warning)" if rule.level is Level.WARNING else ""
    ignored = f"\n\n{can_be_ignored(rule)}" if rule.ignorable else ""
    return (
        f"### {rule.code} {rule.name}{warning}\n\n"
        f"{_prose(rule.what)} Since {rule.since}.\n\n{_prose(rule.why)}{ignored}\n\n"
        f"Wrong:\n\n{_yaml(rule.wrong)}\nRight:\n\n{_yaml(rule.right)}"
    )


def can_be_ignored(rule: Rule) -> str:
    """How to overrule an ignorable rule in one place."""
    return f"Can be ignored in the file: `# campaigns: ignore={rule.code} the reason`."


def _prose(text: str) -> str:
    """<job> would be taken for a tag of HTML."""
    return text.replace("<", "&lt;")


def _yaml(snippet: str) -> str:
    return f"```yaml\n{snippet.rstrip()}\n```\n"


if __name__ == "__main__":
    sys.stdout.write(page())
