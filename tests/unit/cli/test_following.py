"""The lines of a log that tell how campaigns go on."""

import pytest

from converter.cli.following import lines
from converter.observe.phase import Phase
from converter.observe.status import Status

BIG = 10_000


def running(done: int, failed: int = 0, total: int = BIG) -> Status:
    return Status("a", Phase.RUNNING, total, done=done, failed=failed)


@pytest.mark.parametrize(
    ("before", "after", "is_said"),
    [
        (running(1), running(1), False),
        (running(1), running(2), False),
        (running(99), running(100), True),
        (running(1, total=3), running(2, total=3), True),
        (running(1), running(1, failed=1), True),
        (running(1, failed=1), running(1, failed=2), False),
        (running(1), Status("a", Phase.PAUSING, BIG, done=1), True),
        (Status("a", Phase.WAITING, 1, detail="x"), Status("a", Phase.WAITING, 1), False),
        (Status("a", Phase.MISSING, 0), Status("b", Phase.MISSING, 0), True),
    ],
)
def test_a_line_for_each_change_that_matters(before: Status, after: Status, is_said: bool) -> None:
    said: list[str] = []
    show = lines(said.append)
    show([before], "")
    show([after], "")
    assert len(said) == 1 + is_said


def test_a_line_says_why_it_waits() -> None:
    said: list[str] = []
    lines(said.append)([Status("a", Phase.WAITING, 3, detail="no quota")], "")
    assert said == ["a: Waiting, 0/3 done, 0 failed (no quota)"]


def test_trouble_is_said_once_and_so_is_its_end() -> None:
    said: list[str] = []
    show = lines(said.append)
    for trouble in ("", "no answer", "still none", "", ""):
        show([running(0)], trouble)
    assert said[1:] == ["waiting for the API server: no answer", "the API server answers again"]
