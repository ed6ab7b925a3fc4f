"""A comparison as text, JSON and Markdown; see docs/diff.md for the last two."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Final

import click

from converter.cli.job_summary import escaped
from converter.diff.change import Action, Change, Comparison

# Of one object; a list of volumes may have 10,000.
DIFF_LINES: Final = 2_000
# GitHub takes 65,536 characters for a comment.
COMMENT_CHARACTERS: Final = 60_000
# What the last line takes, which says what was left out.
_LAST_LINE: Final = 1_000
_BACKTICKS: Final = re.compile("`+")
_COLOURS: Final = {"+": "green", "-": "red", "@": "cyan"}
_UNTOLD: Final = (Action.FINISHED,)


def text_lines(comparison: Comparison, *, verbose: bool, coloured: bool) -> Iterator[str]:
    """What differs: a line for each change, with its diff below; the notes are not in it."""
    for change in comparison.changes:
        if change.action.differs or (verbose and change.action in _UNTOLD):
            yield click.style(str(change), bold=True) if coloured else str(change)
            for line in _cut(change.diff):
                yield _coloured(line) if coloured else line


def notes(comparison: Comparison) -> Iterator[str]:
    """What an apply would leave as it is, and say."""
    for change in comparison.changes:
        if not change.action.differs and change.action not in _UNTOLD:
            yield str(change)


def document(comparison: Comparison) -> str:
    """As JSON, nothing cut. A new member does not change the version."""
    counts = {action.value: count for action, count in comparison.counts.items()}
    changes = [
        {
            "action": change.action.value,
            "target": change.target,
            "campaign": change.campaign,
            "detail": change.detail,
            "diff": "".join(f"{line}\n" for line in change.diff),
        }
        for change in comparison.changes
    ]
    return _json(changes, counts, comparison.exit_code, None)


def failed_document(error: str) -> str:
    """The same where nothing could be compared."""
    return _json([], {action.value: 0 for action in Action}, 1, error)


def markdown(comparison: Comparison) -> str:
    """For a comment on a proposal: a table of all changes, then their diffs, folded.

    At most `COMMENT_CHARACTERS`; the last line says what was left out for that.
    """
    told = [each for each in comparison.changes if each.action not in _UNTOLD]
    page = _Page(f"### campaigns diff\n\n{escaped(comparison.summary())}\n")
    if not told:
        return page.text
    page.text += "\n| Object | Change | Reason |\n| --- | --- | --- |\n"
    rows = [_row(change) for change in told]
    listed = page.add_while_they_fit(rows)
    page.text += "\n"
    diffs = [change for change in told if change.diff]
    # What is new is long, and in the proposal itself.
    diffs.sort(key=lambda change: change.action is Action.CREATE)
    skipped = sum(not page.add(_folded(change)) for change in diffs)
    if left_out := _left_out(len(rows) - listed, skipped):
        page.text += f"{left_out}\n"
    return page.text


def failed_markdown(error: str) -> str:
    """The same where nothing could be compared."""
    return f"### campaigns diff\n\n**Not compared:** {escaped(error)}\n"


class _Page:
    """Text that ends before it is too long."""

    def __init__(self, text: str) -> None:
        self.text = text

    def add(self, block: str) -> bool:
        """Whether there was room for it."""
        fits = len(self.text) + len(block) <= COMMENT_CHARACTERS - _LAST_LINE
        if fits:
            self.text += block
        return fits

    def add_while_they_fit(self, blocks: Sequence[str]) -> int:
        """How many there was room for."""
        return next((n for n, block in enumerate(blocks) if not self.add(block)), len(blocks))


def _left_out(rows: int, diffs: int) -> str:
    """Why the page ends before its end; empty where it does not."""
    what = [f"{rows} rows of the table"] if rows else []
    what += [f"{diffs} of the diffs"] if diffs else []
    if not what:
        return ""
    return f"Too long for a comment: {' and '.join(what)} left out. `campaigns diff` shows them."


def _row(change: Change) -> str:
    cells = (change.target, str(change.action), change.detail)
    return f"| {' | '.join(map(escaped, cells))} |\n"


def _folded(change: Change) -> str:
    lines = list(_cut(change.diff))
    longest = max((len(run) for line in lines for run in _BACKTICKS.findall(line)), default=0)
    fence = "`" * max(3, longest + 1)
    summary = escaped(f"{change.action}: {change.target}")
    body = "\n".join(lines)
    return (
        f"<details><summary>{summary}</summary>\n\n{fence}diff\n{body}\n{fence}\n\n</details>\n\n"
    )


def _cut(lines: Sequence[str]) -> Iterator[str]:
    yield from lines[:DIFF_LINES]
    if (more := len(lines) - DIFF_LINES) > 0:
        yield f"... {more:,} more lines are not shown: see --format json"


def _coloured(line: str) -> str:
    if line.startswith(("--- ", "+++ ")):
        return click.style(line, bold=True)
    return click.style(line, fg=_COLOURS.get(line[:1]))


def _json(
    changes: Sequence[object], counts: dict[str, int], exit_code: int, error: str | None
) -> str:
    found = {
        "version": 1,
        "changes": changes,
        "summary": counts,
        "exitCode": exit_code,
        "error": error,
    }
    return json.dumps(found, indent=2, ensure_ascii=False)
