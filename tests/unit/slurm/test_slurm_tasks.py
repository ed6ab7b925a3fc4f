"""Lists of array tasks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.slurm.errors import CutTasks, InvalidTasks
from converter.slurm.tasks import LAST_TASK, Tasks, spared_only_ended, spelt, tasks_of


@pytest.mark.parametrize(
    ("text", "ids", "window"),
    [
        ("", [], None),
        ("0", [0], None),
        ("0-3", [0, 1, 2, 3], None),
        ("0-3,5,7-9:2%4", [0, 1, 2, 3, 5, 7, 9], 4),
        ("1-9:3", [1, 4, 7], None),
        ("7,7,1-2", [1, 2, 7], None),
        ("3%1", [3], 1),
        ("3%0", [3], None),
        ("5-5", [5], None),
        (f"{LAST_TASK}", [LAST_TASK], None),
    ],
)
def test_a_list_is_read(text: str, ids: list[int], window: int | None) -> None:
    assert tasks_of(text) == Tasks(frozenset(ids), window)


NO_LISTS = """
    - a 1, ,1 1--2 3-1 1-3:0 1:2 1-3: -1 +1 1% 1%a 1%2%3 [0-3] ٣ 4000001 0-99999999 0x1 N/A
"""


@pytest.mark.parametrize("text", [*NO_LISTS.split(), "1 2", "1-3 "])
def test_what_is_no_list_is_refused(text: str) -> None:
    with pytest.raises(InvalidTasks, match="is no list of array tasks such as"):
        tasks_of(text)


@pytest.mark.parametrize("text", ["1,3,5,...", "1,3,5,...%2", "0,2,4-...", "..."])
def test_a_list_that_was_cut_is_never_taken_for_a_whole_one(text: str) -> None:
    with pytest.raises(CutTasks, match="run its tools with SLURM_BITSTR_LEN=0"):
        tasks_of(text)


@pytest.mark.parametrize(
    ("ids", "text"),
    [([], ""), ([5], "5"), ([1, 0], "0-1"), ([0, 1, 2, 3, 5], "0-3,5"), ([9, 7, 7], "7,9")],
)
def test_a_list_is_spelt(ids: list[int], text: str) -> None:
    assert spelt(ids) == text


@given(st.frozensets(st.integers(0, LAST_TASK)), st.none() | st.integers(1, 10_000))
def test_every_list_comes_back(ids: frozenset[int], window: int | None) -> None:
    tasks = Tasks(ids, window)
    assert tasks_of(str(tasks)) == tasks


@pytest.mark.parametrize(
    ("complaint", "whole"),
    [
        ("1_0-2: Job has already finished\n1_3-20: No error\n", True),
        ("1_3-20: No error\n", True),
        ("1_0-2: Job has already finished\n", True),
        ("1_0-2: Job has already finished\n1_3-20: Access/permission denied\n", False),
        ("slurm_update error: Invalid job id specified\n", False),
        ("", False),
    ],
)
def test_a_change_of_an_array_that_spared_what_has_ended(complaint: str, whole: bool) -> None:
    assert spared_only_ended(complaint) is whole
