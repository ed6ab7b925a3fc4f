"""One document after the other through validate, in a process with bounds on what it may use."""

from __future__ import annotations

import resource
import shutil
import signal
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import Final

from fuzz.oracle import faults, validated

MAX_SECONDS: Final = 2.0
"""Of processor time, so that what else runs on the machine does not count."""
MAX_RSS: Final = 500 * 1024**2
# Address space is more than memory in use: libraries, arenas of the allocator.
_MAX_ADDRESS_SPACE: Final = 2 * MAX_RSS


class TooSlow(Exception):
    """Raised from within a run that has used its time up."""


@dataclass(frozen=True)
class Verdict:
    """What a run took, and why it is a failure if it is one."""

    seconds: float
    problems: int
    faults: tuple[str, ...]


def bound_memory() -> None:
    """An allocation past the bound fails in this process from here on."""
    resource.setrlimit(resource.RLIMIT_AS, (_MAX_ADDRESS_SPACE, _MAX_ADDRESS_SPACE))


def judge(root: Path, files: Mapping[str, bytes]) -> Verdict:
    """Write the repository to `root`, which it replaces, and validate it."""
    shutil.rmtree(root, ignore_errors=True)
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    started = time.process_time()
    problems, found = 0, list[str]()
    try:
        with _time_limit():
            report, outputs = validated(root)
        problems = len(report.problems)
        found += faults(root, report, outputs)
    except Exception:  # whatever it is, it is what is looked for
        found.append(traceback.format_exc())
    seconds = time.process_time() - started
    used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    if used > MAX_RSS:
        found.append(f"{used // 1024**2} MiB of memory")
    return Verdict(seconds, problems, tuple(found))


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(_number: int, _frame: FrameType | None) -> None:
        raise TooSlow(f"more than {MAX_SECONDS:g} s")

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MAX_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)
