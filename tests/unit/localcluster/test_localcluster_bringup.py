"""Waiting for what a cluster is to show."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from localcluster.bringup import wait_until
from localcluster.errors import ClusterError


def asked(*answers: bool | str) -> Callable[[], bool]:
    """A condition with these answers, one a question; a text is an error."""
    left: Iterator[bool | str] = iter(answers)

    def condition() -> bool:
        answer = next(left)
        if isinstance(answer, str):
            raise ClusterError(answer)
        return answer

    return condition


def test_a_question_is_asked_until_it_is_answered_with_yes() -> None:
    wait_until("it", asked(False, "503", False, True))


@pytest.mark.parametrize(
    ("answer", "message"),
    [(False, r"^it: not within 0 s$"), ("503", r"^it: not within 0 s: 503$")],
)
def test_an_end_of_waiting_says_what_was_answered_last(answer: bool | str, message: str) -> None:
    with pytest.raises(ClusterError, match=message):
        wait_until("it", asked(*[answer] * 100), timeout=0)
