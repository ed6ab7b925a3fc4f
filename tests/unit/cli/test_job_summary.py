"""The job summary: what is in it, that nothing in it is Markdown by accident, and its bounds."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from converter.cli import job_summary
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.status import Phase, Status
from converter.reconcile.waiting import Result

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


def test_it_goes_behind_what_is_there(tmp_path: Path) -> None:
    file = tmp_path / "summary"
    file.write_text("before")
    job_summary.append(file, "\nafter \udcff\n")
    assert file.read_text() == "before\nafter \\udcff\n"
