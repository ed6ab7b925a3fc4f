"""A comparison as text, JSON and Markdown."""

import json
import re

import pytest

from converter.cli.diff_formats import (
    COMMENT_CHARACTERS,
    DIFF_LINES,
    document,
    failed_document,
    failed_markdown,
    markdown,
    notes,
    text_lines,
)
from converter.diff.change import Action, Change, Comparison

DIFF = ("--- live/Job/a", "+++ git/Job/a", "@@ -1 +1 @@", "-old", "+new", " same")
CHANGED = Change(Action.CHANGE, "Job/a", campaign="a", diff=DIFF)
FINISHED = Change(Action.FINISHED, "campaign f", campaign="f")
NOTED = Change(Action.NOTE, "LocalQueue q", "not permitted to read it")
ALL = Comparison([NOTED, CHANGED, FINISHED])


def long(lines: int) -> Change:
    return Change(Action.CREATE, "ConfigMap/a", diff=tuple(f"+line {n}" for n in range(lines)))


def test_text_has_each_change_and_its_diff() -> None:
    assert list(text_lines(ALL, verbose=False, coloured=False)) == ["change: Job/a", *DIFF]
    assert list(notes(ALL)) == ["note: LocalQueue q: not permitted to read it"]


def test_verbose_also_names_what_has_finished() -> None:
    assert list(text_lines(ALL, verbose=True, coloured=False))[-1] == "finished: campaign f"


def test_colours() -> None:
    lines = list(text_lines(ALL, verbose=False, coloured=True))
    assert lines[0] == "\x1b[1mchange: Job/a\x1b[0m"
    assert lines[1].startswith("\x1b[1m--- ")
    assert lines[3].startswith("\x1b[36m@@")
    assert lines[4].startswith("\x1b[31m-old")
    assert lines[5].startswith("\x1b[32m+new")


@pytest.mark.parametrize(("over", "last"), [(0, ""), (1, "1"), (1_234, "1,234")])
def test_a_very_long_diff_is_cut_and_says_so(over: int, last: str) -> None:
    lines = list(text_lines(Comparison([long(DIFF_LINES + over)]), verbose=False, coloured=False))
    assert len(lines) == 1 + DIFF_LINES + bool(over)
    assert not over or lines[-1] == f"... {last} more lines are not shown: see --format json"


def test_json_has_all_of_it() -> None:
    found = json.loads(document(Comparison([CHANGED, long(3_000)])))
    assert found["version"] == 1
    assert (found["exitCode"], found["error"]) == (2, None)
    assert found["changes"][0] == {
        "action": "change",
        "target": "Job/a",
        "campaign": "a",
        "detail": "",
        "diff": "\n".join(DIFF) + "\n",
    }
    assert found["changes"][1]["diff"].count("\n") == 3_000
    assert found["summary"]["change"] == 1
    assert found["summary"]["held back"] == 0


def test_json_of_a_failure_has_the_same_members() -> None:
    failed, found = json.loads(failed_document("no answer")), json.loads(document(ALL))
    assert list(failed) == list(found)
    assert failed["summary"].keys() == found["summary"].keys()
    assert (failed["exitCode"], failed["error"]) == (1, "no answer")


def test_markdown_has_a_table_and_a_folded_diff() -> None:
    text = markdown(ALL)
    assert text.startswith("### campaigns diff\n\ndifferences&#58; 1 to change, 1 finished\n\n")
    assert "| Job/a | change |  |\n" in text
    assert "| LocalQueue q | note | not permitted to read it |\n" in text
    assert "campaign f" not in text
    diff = "\n".join(DIFF)
    folded = f"<details><summary>change&#58; Job/a</summary>\n\n```diff\n{diff}\n```\n\n</details>"
    assert folded in text


def test_markdown_of_nothing_is_short() -> None:
    assert markdown(Comparison([])) == "### campaigns diff\n\nno differences\n"
    assert markdown(Comparison([FINISHED])).endswith("no differences&#58; 1 finished\n")


@pytest.mark.parametrize(("run", "fence"), [("`", "```"), ("```", "````"), ("x`````y", "``````")])
def test_a_fence_is_longer_than_what_it_encloses(run: str, fence: str) -> None:
    text = markdown(Comparison([Change(Action.CREATE, "Job/a", diff=(f"+{run}",))]))
    assert f"\n{fence}diff\n+{run}\n{fence}\n" in text


def test_markdown_in_a_reason_means_nothing() -> None:
    told = Change(Action.REFUSED, "Job/a", "<b>@all</b> | `x`\n| y", "a")
    text = markdown(Comparison([told]))
    assert "<b>" not in text
    assert "@all" not in text
    row = next(line for line in text.splitlines() if line.startswith("| Job/a"))
    assert row.count("|") == 4


def test_markdown_leaves_out_diffs_that_a_comment_cannot_hold() -> None:
    small = Change(Action.CHANGE, "Job/small", diff=DIFF)
    text = markdown(Comparison([long(DIFF_LINES * 2), long(DIFF_LINES * 2), long(2_000), small]))
    assert len(text) <= COMMENT_CHARACTERS
    assert "<summary>change&#58; Job/small</summary>" in text
    left = re.search(r"Too long for a comment: (\d+) of the diffs left out", text)
    assert left is not None
    assert int(left[1]) + text.count("<details>") == 4


def test_markdown_has_what_changes_before_what_is_new() -> None:
    new = Change(Action.CREATE, "Job/new", diff=("+a",))
    text = markdown(Comparison([new, CHANGED]))
    assert text.index("<summary>change&#58; Job/a<") < text.index("<summary>create&#58; Job/new<")
    assert text.index("| Job/new |") < text.index("| Job/a |")


def test_markdown_leaves_out_rows_that_a_comment_cannot_hold() -> None:
    told = [Change(Action.HELD_BACK, f"campaign c{n}", "why " * 200, f"c{n}") for n in range(200)]
    text = markdown(Comparison(told))
    assert len(text) <= COMMENT_CHARACTERS
    rows = text.count("| campaign c")
    assert 0 < rows < 200
    assert f"{200 - rows} rows of the table left out" in text


def test_markdown_of_a_failure() -> None:
    assert failed_markdown("no <answer>").endswith("**Not compared:** no &#60;answer&#62;\n")
