"""Timing commands side by side, so that what else the machine does meets all of them alike."""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Final

import pytest

ROUNDS: Final = 10


@dataclass(frozen=True)
class Timed:
    """One thing to time: `before` is done first, and not timed."""

    run: Callable[[], object]
    before: Callable[[], object] = lambda: None


def command(*arguments: object, succeeds: bool = True) -> Timed:
    """A command whose output nobody sees; it raises CalledProcessError where it fails.

    It keeps its bytecode, as what is installed has it.
    """
    listed = [str(argument) for argument in arguments]
    kept = {key: text for key, text in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}
    return Timed(lambda: subprocess.run(listed, check=succeeds, capture_output=True, env=kept))


def medians(timed: Mapping[str, Timed], rounds: int = ROUNDS) -> dict[str, float]:
    """Seconds by name: the median of the rounds, each of which times everything once.

    One round before them, which does not count, brings files and bytecode into the caches.
    """
    seconds: dict[str, list[float]] = {name: [] for name in timed}
    for round_ in range(rounds + 1):
        for name, each in timed.items():
            each.before()
            started = time.perf_counter()
            each.run()
            if round_:
                seconds[name].append(time.perf_counter() - started)
    return {name: median(measured) for name, measured in seconds.items()}


def show(
    capture: pytest.CaptureFixture[str], title: str, seconds: Mapping[str, float], base: str
) -> None:
    """Print a table: each time, and how many times that of `base` it is."""
    width = max(map(len, seconds))
    lines = [
        f"{name:{width}}  {taken:8.3f} s  {taken / seconds[base]:6.2f} x"
        for name, taken in seconds.items()
    ]
    with capture.disabled():
        print(f"\n{title}", *lines, sep="\n  ")


def ratio(seconds: Mapping[str, float], one: Sequence[str], other: str) -> float:
    """The time of all of `one` together by that of `other`."""
    return sum(seconds[name] for name in one) / seconds[other]
