"""Work is done side by side, bounded, and stops at the first exception."""

import threading
import time

import pytest

from converter.reconcile.side_by_side import side_by_side


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

    results: list[int] = []
    side_by_side(work, range(9), 3, results.append)
    assert sorted(results) == list(range(9))
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
        side_by_side(work, range(500), 1, lambda result: None)
    assert len(started) < 500


def test_what_is_under_way_at_the_first_exception_is_handed_over_before_it_is_raised() -> None:
    """It has reached the cluster, so the run has to know of it."""
    meet = threading.Barrier(3)

    def work(item: int) -> int:
        meet.wait(timeout=30)
        if item == 0:
            raise ValueError(item)
        # Long enough for the exception to be seen first.
        time.sleep(0.05)
        return item

    results: list[int] = []
    with pytest.raises(ValueError, match="0"):
        side_by_side(work, range(3), 3, results.append)
    assert sorted(results) == [1, 2]


def test_nothing_runs_on_after_an_exception_of_the_caller() -> None:
    """What ran on would write after the Lease was given up."""
    ended: list[int] = []

    def work(item: int) -> int:
        if item:
            time.sleep(0.05)
            ended.append(item)
        return item

    def report(item: int) -> None:
        raise BrokenPipeError(item)

    with pytest.raises(BrokenPipeError) as kept:
        side_by_side(work, range(200), 2, report)
    so_far = list(ended)
    time.sleep(0.2)
    assert ended == so_far
    assert len(ended) < 199
    del kept
