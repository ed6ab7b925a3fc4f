"""Work is done side by side, bounded, and stops at the first exception."""

import threading
import time

import pytest

from converter.reconcile.execute import side_by_side


def test_at_most_so_many_at_once() -> None:
    lock = threading.Lock()
    meet = threading.Barrier(3)
    running = most = 0

    def work(item: int) -> int:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        meet.wait(timeout=30)
        with lock:
            running -= 1
        return item

    assert sorted(side_by_side(work, range(9), 3)) == list(range(9))
    assert most == 3


def test_the_first_exception_drops_what_has_not_been_started() -> None:
    started: list[int] = []

    def work(item: int) -> None:
        started.append(item)
        if item == 0:
            raise ValueError(item)
        # Long enough for the caller to learn of the first one before the last is begun.
        time.sleep(0.02)

    with pytest.raises(ValueError, match="0"):
        list(side_by_side(work, range(500), 1))
    assert len(started) < 500
