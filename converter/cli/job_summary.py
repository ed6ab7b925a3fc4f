"""The job summary of a CI run in Markdown, as GitHub shows it below a workflow's jobs.

https://docs.github.com/actions/reference/workflow-commands-for-github-actions#adding-a-job-summary:
what is appended to the file in ``$GITHUB_STEP_SUMMARY``, up to 1 MiB a step.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from converter.cli.problem_formats import Report, last_lines, sentence
from converter.problem import Level
from converter.reconcile.outcome import NOT_AS_IN_GIT, UNFINISHED, Event, Fate, Outcome

if TYPE_CHECKING:
    from converter.observe.status import Status
    from converter.observe.waiting import Result

# For one of our sections; the step may have more to say, and more than 1 MiB is not shown at all.
SECTION_BYTES: Final = 200_000
CELL_CHARACTERS: Final = 1_000
# What Markdown, GitHub's own additions and HTML give a meaning to within a line.
SPECIAL: Final = frozenset("\\`*_~[]()<>|&$@#!:")
UNTOLD: Final = (Fate.UNCHANGED, Fate.FINISHED)


def applied(outcome: Outcome) -> str:
    """What an apply did: the counts, and a row for each campaign that is not as it was."""
    return _apply_section([outcome.summary()], outcome)


def stopped(outcome: Outcome, error: str, *, part_way: bool) -> str:
    """The same of a run that did not come to its end, and why not."""
    how = "Stopped part-way, apply again to finish" if part_way else "Not applied"
    counts = [outcome.summary()] if part_way else []
    return _apply_section([f"**{how}:** {escaped(error)}", *counts], outcome)


def validated(report: Report) -> str:
    """What was found in the files: the counts, and a row for each problem, errors first."""
    ordered = sorted(report.problems, key=lambda problem: problem.level is Level.WARNING)
    columns = ("Place", "Level", "Rule", "Problem")
    rows = ((f"{p.path}:{p.line}:{p.column}", p.level.value, p.code, sentence(p)) for p in ordered)
    return _section("campaigns validate", map(escaped, last_lines(report)), columns, rows)


def status_section(statuses: Sequence["Status"], places_unread: str = "") -> str:
    """How far each campaign is; those that have finished come last.

    `places_unread` says why the places in the queue are not known, empty where they are.
    """
    from converter.cli.status_table import place_of, why
    from converter.observe.phase import Phase

    ordered = sorted(statuses, key=lambda status: status.phase is Phase.FINISHED)
    counts = Counter(status.shown_phase for status in ordered)
    said = ", ".join(f"{count} {phase}" for phase, count in counts.items())
    intro = [said or "There are no campaigns."]
    if places_unread and any(status.phase is Phase.WAITING for status in ordered):
        intro.append(f"Places in the queue are not known: {places_unread}")
    columns = ("Campaign", "Phase", "Done", "Failed", "Total", "Place", "Reason")
    rows = (
        (
            *(s.name, s.shown_phase, str(s.done), str(s.failed), str(s.total)),
            *(place_of(s), why(s)),
        )
        for s in ordered
    )
    return _section("campaigns status", map(escaped, intro), columns, rows)


def waited(results: Sequence[tuple["Status", "Result"]], summary: str) -> str:
    """What a wait came to, those first that are not as git wants them."""
    ordered = sorted(results, key=lambda each: (1, 3, 0).index(each[1].exit_code))
    columns = ("Campaign", "Result", "Phase", "Done", "Failed", "Reason")
    rows = (
        (s.name, str(result), str(s.phase), f"{s.done}/{s.total}", str(s.failed), s.detail)
        for s, result in ordered
    )
    return _section("campaigns apply --wait", [escaped(summary)], columns, rows)


def escaped(text: str) -> str:
    """Text on one line that Markdown and HTML give no meaning to, cut where it is very long."""
    if len(text) > CELL_CHARACTERS:
        text = text[: CELL_CHARACTERS - 1] + "\N{HORIZONTAL ELLIPSIS}"
    printed = "".join(c if c.isprintable() else " " for c in text)
    line = " ".join(printed.split())
    return "".join(f"&#{ord(c)};" if c in SPECIAL else c for c in line)


def publish(section: str, warn: Callable[[str], object]) -> None:
    """Append to the job summary, where CI wants one. That it cannot be is no failed command."""
    file = os.environ.get("GITHUB_STEP_SUMMARY")
    if not file:
        return
    try:
        append(Path(file), section)
    except OSError as error:
        warn(f"the job summary {file} was not written: {error.strerror}")


def append(file: Path, text: str) -> None:
    """Append to the summary. Raises OSError."""
    with file.open("a", encoding="utf-8", errors="backslashreplace") as summary:
        summary.write(text)


def _apply_section(intro: Iterable[str], outcome: Outcome) -> str:
    told = [event for event in outcome.events if event.fate not in UNTOLD]
    rows = sorted(_by_subject(told), key=lambda events: min(map(_severity, events)))
    return _section("campaigns apply", intro, ("Campaign", "Fate", "Reason"), map(_row, rows))


def _section(
    title: str, intro: Iterable[str], columns: Sequence[str], rows: Iterable[Sequence[str]]
) -> str:
    listed = [_line(map(escaped, row)) for row in rows]
    head = "".join(f"\n{paragraph}\n" for paragraph in (f"### {title}", *intro))
    if not listed:
        return head
    return _cut(f"{head}\n{_line(columns)}{_line('---' for _ in columns)}", listed)


def _cut(head: str, rows: Sequence[str]) -> str:
    size = len(head.encode("utf-8", "backslashreplace"))
    for number, row in enumerate(rows):
        size += len(row.encode("utf-8", "backslashreplace"))
        if size > SECTION_BYTES:
            return f"{head}{''.join(rows[:number])}\n{len(rows) - number} more are in the log.\n"
    return head + "".join(rows)


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |\n"


def _by_subject(events: Iterable[Event]) -> list[list[Event]]:
    """The events of one campaign together; what is of none stands alone."""
    found: dict[str, list[Event]] = {}
    for event in events:
        found.setdefault(event.campaign or event.target, []).append(event)
    return list(found.values())


def _row(events: Sequence[Event]) -> tuple[str, str, str]:
    """One campaign; a word that several of its objects share is said once."""
    fates = dict.fromkeys(str(event.fate) for event in events)
    details = dict.fromkeys(event.detail for event in events if event.detail)
    return events[0].campaign or events[0].target, ", ".join(fates), "; ".join(details)


def _severity(event: Event) -> int:
    if event.fate in (*NOT_AS_IN_GIT, *UNFINISHED):
        return 0
    return 1 if event.fate is Fate.NOTE else 2
