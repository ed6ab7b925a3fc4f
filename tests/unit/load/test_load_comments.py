"""What is a comment that speaks to this program, and which lines it is about."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.load.repositories import dump

from converter.load.comments import comments

# Line, column, words, lines that are covered.
Read = tuple[int, int, str, set[int]]


def read(text: str) -> list[Read]:
    return [(each.line, each.column, each.words, set(each.covers)) for each in comments(text)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a: b # campaigns: x y\n", [(1, 6, "x y", {1})]),
        ("a: b #campaigns:x\n", [(1, 6, "x", {1})]),
        ("a: b ## campaigns: x  \r\nc: d\r\n", [(1, 6, "x", {1})]),
        ("a: b\n# campaigns: x\nc: d\n", [(2, 1, "x", {3})]),
        (
            "a: b\n  # campaigns: x\n# more\n# campaigns: y\nc: d\n",
            [(2, 3, "x", {5}), (4, 1, "y", {5})],
        ),
        ("a: b\n# campaigns: x\n\nc: d\n", [(2, 1, "x", {3})]),
        ("# campaigns: x\na: b\n", [(1, 1, "x", {0, 2})]),
        ("# a file\n# campaigns: x\n---\na: b\n", [(2, 1, "x", {0, 3})]),
        ("---\n# campaigns: x\na: b\n", [(2, 1, "x", {0, 3})]),
        ("--- # campaigns: x\na: b\n", [(1, 5, "x", {1})]),
        ("\ufeff# campaigns: x\na: b # campaigns: y\n", [(1, 1, "x", {0, 2}), (2, 6, "y", {2})]),
        ("a: [b, # campaigns: x\n  c] # campaigns: y", [(1, 8, "x", {1}), (2, 6, "y", {2})]),
        ("a: é😀 # campaigns: x\n", [(1, 7, "x", {1})]),
        ("a: b # campaigns: x\x85c: d # campaigns: y\n", [(1, 6, "x", {1}), (2, 6, "y", {2})]),
        ("a: |  # campaigns: x\n  b\n# campaigns: y\n", [(1, 7, "x", {1}), (3, 1, "y", {4})]),
        ("a: 'b' # campaigns: x\n", [(1, 8, "x", {1})]),
        ("a: &b c # campaigns: x\n", [(1, 9, "x", {1})]),
    ],
)
def test_comments(text: str, expected: list[Read]) -> None:
    assert read(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "a: 'b # campaigns: x'\n",
        'a: "b\n  # campaigns: x"\n',
        "a: |\n  b\n  # campaigns: x\n",
        "a: >-\n  b # campaigns: x\n\n  # campaigns: y\n",
        "a: b#campaigns:x\n",
        "a: b # see campaigns: x\n",
        "a: b # - c # campaigns: x\n",
        "a: b # Campaigns: x\n",
        "campaigns: b # x\n",
    ],
)
def test_what_is_no_comment_to_us(text: str) -> None:
    assert read(text) == []


@given(
    st.recursive(
        st.text("ab#: '\"\\\n\t|>-é\x85", max_size=20) | st.just("# campaigns: ignore=C010 text"),
        lambda inner: (
            st.lists(inner, max_size=3)
            | st.dictionaries(st.text("a#: campigns\n", max_size=12), inner, max_size=3)
        ),
        max_leaves=6,
    ),
    st.booleans(),
)
def test_no_value_is_taken_for_a_comment(values: object, flow: bool) -> None:
    assert read(dump(values, flow=flow)) == []
    assert read(f"{dump([values], flow=True).rstrip()} # campaigns: x") != []
