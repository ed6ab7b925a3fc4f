"""The job summary: what is in it, that nothing in it is Markdown by accident, and its bounds."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from converter.cli import job_summary
from converter.cli.problem_formats import Fixed, Report
from converter.observe.phase import Phase
from converter.observe.places import Place
from converter.observe.status import Status
from converter.observe.waiting import Result
from converter.problem import Level, Problem
from converter.reconcile.outcome import Event, Fate, Outcome

LIMIT = 1_048_576


def outcome(*events: Event) -> Outcome:
    return Outcome(lambda event: None, list(events))


def rows(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith("| ")][2:]


def of_letters(fate: Fate, detail: str = "", target: str = "Job/letters") -> Event:
    return Event(fate, target, detail, "letters")


@pytest.mark.parametrize(
    ("events", "row"),
    [
        ([of_letters(Fate.CREATED)], "| letters | created |  |"),
        ([of_letters(Fate.CREATED)] * 2, "| letters | created |  |"),
        (
            [of_letters(Fate.CONFIGURED), of_letters(Fate.PAUSED, "w active=false")],
            "| letters | configured, paused | w active=false |",
        ),
        ([Event(Fate.HELD_BACK, "pipeline ocr", "no")], "| pipeline ocr | held back | no |"),
    ],
)
def test_a_row_for_each_campaign(events: Sequence[Event], row: str) -> None:
    assert rows(job_summary.applied(outcome(*events))) == [row]


def test_what_is_as_it_was_is_counted_only() -> None:
    same = Event(Fate.UNCHANGED, "Job/a", campaign="a"), Event(Fate.FINISHED, "b", campaign="b")
    text = job_summary.applied(outcome(*same))
    assert rows(text) == []
    assert "1 unchanged" in text
    assert "1 finished" in text


def test_faults_come_first() -> None:
    created = [Event(Fate.CREATED, f"Job/{n}", campaign=n) for n in ("a", "b")]
    held = Event(Fate.HELD_BACK, "campaign b", "why", "b")
    note = Event(Fate.NOTE, "campaign c", "gone", "c")
    found = rows(job_summary.applied(outcome(*created, note, held)))
    assert [row.split(" | ")[0] for row in found] == ["| b", "| c", "| a"]


@pytest.mark.parametrize(
    ("part_way", "said"),
    [
        (False, "**Not applied:** it broke &#124;"),
        (True, "**Stopped part-way, apply again to finish:** it broke &#124;"),
    ],
)
def test_a_run_that_did_not_come_to_its_end(part_way: bool, said: str) -> None:
    text = job_summary.stopped(outcome(of_letters(Fate.CREATED)), "it broke |", part_way=part_way)
    assert said in text.splitlines()
    assert ("1 applied" in text) is part_way
    assert rows(text) == ["| letters | created |  |"]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("plain-name.v1, 3/4 (50 %)", "plain-name.v1, 3/4 &#40;50 %&#41;"),
        ("a|b", "a&#124;b"),
        ("two\nlines\r\n| more |", "two lines &#124; more &#124;"),
        ("<script>", "&#60;script&#62;"),
        ("&lt;", "&#38;lt;"),
        ("[a](http://b)", "&#91;a&#93;&#40;http&#58;//b&#41;"),
        (
            "`x` **y** __z__ ~w~",
            "&#96;x&#96; &#42;&#42;y&#42;&#42; &#95;&#95;z&#95;&#95; &#126;w&#126;",
        ),
        ("$x$ @team #1 !", "&#36;x&#36; &#64;team &#35;1 &#33;"),
        ("\x1b[31mred\x00\u202e", "&#91;31mred"),
        ("\\|", "&#92;&#124;"),
    ],
)
def test_nothing_is_markdown_by_accident(text: str, escaped: str) -> None:
    assert job_summary.escaped(text) == escaped


def test_a_long_error_is_cut() -> None:
    text = job_summary.stopped(outcome(), "\N{SNOWMAN}" * LIMIT, part_way=False)
    assert len(text) < 2 * job_summary.CELL_CHARACTERS
    assert text.endswith("\N{SNOWMAN}\N{HORIZONTAL ELLIPSIS}\n")


def test_it_is_bounded_and_the_faults_survive() -> None:
    events = [Event(Fate.CREATED, f"Job/c{n}", "\N{SNOWMAN}|" * 5_000, f"c{n}") for n in range(900)]
    held = Event(Fate.HELD_BACK, "campaign last", "why", "last")
    text = job_summary.applied(outcome(*events, held))
    assert len(text.encode()) < LIMIT // 4
    found = rows(text)
    assert found[0] == "| last | held back | why |"
    assert text.endswith(f"\n{901 - len(found)} more are in the log.\n")


def test_what_a_wait_came_to() -> None:
    results = [
        (Status("a", Phase.FINISHED, 3, done=3), Result.FINISHED),
        (Status("b", Phase.HELD, 3, detail="hold 1"), Result.STOPPED),
        (Status("c", Phase.PARTLY_FAILED, 3, done=2, failed=1), Result.FAILED),
    ]
    text = job_summary.waited(results, "waited: 1 finished")
    assert rows(text) == [
        "| c | failed | PartlyFailed | 2/3 | 1 |  |",
        "| b | stopped | Held | 0/3 | 0 | hold 1 |",
        "| a | finished | Finished | 3/3 | 0 |  |",
    ]
    assert "waited&#58; 1 finished" in text


def test_how_far_each_campaign_is() -> None:
    statuses = [
        Status("a", Phase.FINISHED, 3, done=3),
        Status("b", Phase.WAITING, 3, detail="no quota | yet", place=Place(1, 4, 0)),
        Status("c", Phase.RUNNING, 3, done=1, failed=1, drift="its window is 2"),
        Status("d", Phase.RUNNING, 3),
    ]
    text = job_summary.status_section(statuses)
    assert rows(text) == [
        "| b | Waiting | 0 | 0 | 3 | 4 | no quota &#124; yet |",
        "| c | Drifted | 1 | 1 | 3 | - | Running; its window is 2 |",
        "| d | Running | 0 | 0 | 3 | - |  |",
        "| a | Finished | 3 | 0 | 3 | - |  |",
    ]
    assert text.startswith(
        "\n### campaigns status\n\n1 Waiting, 1 Drifted, 1 Running, 1 Finished\n\n| Campaign | "
    )


@pytest.mark.parametrize("statuses", [(), (Status("b", Phase.WAITING, 3),)])
def test_that_places_are_not_known_is_said_where_something_waits(
    statuses: Sequence[Status],
) -> None:
    text = job_summary.status_section(statuses, "not permitted to read <them>")
    said = "Places in the queue are not known&#58; not permitted to read &#60;them&#62;"
    assert (said in text.splitlines()) is bool(statuses)
    assert ("There are no campaigns." in text.splitlines()) is not bool(statuses)


def test_the_table_of_many_campaigns_is_bounded_and_what_goes_on_survives() -> None:
    done = [Status(f"c{n}", Phase.FINISHED, 3, done=3, detail="x" * 500) for n in range(900)]
    text = job_summary.status_section([*done, Status("last", Phase.RUNNING, 3)])
    assert len(text.encode()) < LIMIT // 4
    found = rows(text)
    assert found[0].startswith("| last | Running |")
    assert text.endswith(f"\n{901 - len(found)} more are in the log.\n")


def a_problem(line: int, level: Level = Level.ERROR) -> Problem:
    return Problem("campaigns/a_b.yaml", line, 5, "C008", "twice", "take one out", level)


def test_what_was_found_in_the_files() -> None:
    problems = (a_problem(3, Level.WARNING), a_problem(9))
    text = job_summary.validated(Report(problems, 7, Fixed(1, 1)))
    assert rows(text) == [
        "| campaigns/a&#95;b.yaml&#58;9&#58;5 | error | C008 | twice — take one out |",
        "| campaigns/a&#95;b.yaml&#58;3&#58;5 | warning | C008 | twice — take one out |",
    ]
    assert text.splitlines()[1:6:2] == [
        "### campaigns validate",
        "Fixed 1 problem in 1 file.",
        "Found 1 error and 1 warning in 1 file.",
    ]


def test_the_table_of_many_problems_is_bounded_and_the_errors_survive() -> None:
    warnings = [a_problem(n + 1, Level.WARNING) for n in range(9000)]
    text = job_summary.validated(Report((*warnings, a_problem(9001)), 1))
    assert len(text.encode()) < LIMIT // 4
    found = rows(text)
    assert " | error | " in found[0]
    assert text.endswith(f"\n{9001 - len(found)} more are in the log.\n")


def test_it_goes_behind_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("before")
    job_summary.append(file, "\nafter \udcff\n")
    assert file.read_text() == "before\nafter \\udcff\n"
