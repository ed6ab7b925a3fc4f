"""Run many documents through validate::

    PYTHONPATH=tests python -m fuzz [--seed N] [--mutations N] [--grammar N] [--only NUMBER]

Each is a whole repository. A failure is written to a directory, the first of a kind with the
smallest document that fails alike; the number and seed that are printed make it again.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import re
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Final

from fuzz.cases import Cases
from fuzz.judge import Verdict, bound_memory, judge
from fuzz.seeds import Seed
from fuzz.shrink import shrunk

_BATCH: Final = 250
# Wall clock: a worker that says nothing for so long is stuck where no signal reaches it.
_STUCK: Final = 120.0
_SEED: Final = 20_260_101


@dataclass(frozen=True)
class Failure:
    """A document that was judged wrongly, by its number in the run."""

    number: int
    verdict: Verdict


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, print a line a failure, and say how it went; 1 if anything failed."""
    parser = argparse.ArgumentParser(prog="fuzz")
    parser.add_argument("--seed", type=int, default=_SEED)
    parser.add_argument("--mutations", type=int, default=20_000)
    parser.add_argument("--grammar", type=int, default=5_000)
    parser.add_argument("--workers", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", type=int, action="append", default=[], metavar="NUMBER")
    parser.add_argument("--failures", type=Path, default=Path("fuzz-failures"))
    options = parser.parse_args(arguments)
    cases = Cases(options.seed, options.mutations, options.grammar)
    numbers = options.only or range(len(cases))
    started = time.monotonic()
    slowest = problems = failed = 0.0
    kinds = set[str]()
    for number, verdict in _verdicts(cases, numbers, options.workers):
        slowest = max(slowest, verdict.seconds)
        problems += bool(verdict.problems)
        if verdict.faults:
            failed += 1
            where = _keep(cases, Failure(number, verdict), options.failures)
            print(
                f"seed {options.seed} number {number}: {_last_line(verdict)} ({where})", flush=True
            )
            # One small document of a kind is enough, and takes as long as a thousand documents.
            if _kind(verdict) not in kinds:
                kinds.add(_kind(verdict))
                _shrink(cases[number], _kind(verdict), where / "smallest")
    print(
        f"{len(numbers)} documents from {len(cases.samples)} samples, seed {options.seed}: "
        f"{failed:.0f} failures; {problems:.0f} had problems, the slowest took {slowest:.2f} s; "
        f"{time.monotonic() - started:.0f} s in all"
    )
    return 1 if failed else 0


def _verdicts(cases: Cases, numbers: Sequence[int], workers: int) -> Iterator[tuple[int, Verdict]]:
    """All verdicts, as they come. A worker that dies or is stuck is a failure of its document."""
    batches = [numbers[at : at + _BATCH] for at in range(0, len(numbers), _BATCH)]
    running: dict[Connection, _Worker] = {}
    while batches or running:
        while batches and len(running) < workers:
            worker = _Worker(cases, batches.pop(0))
            running[worker.connection] = worker
        ready = wait(list(running), timeout=_STUCK / 4)
        for connection, worker in list(running.items()):
            if connection in ready:
                verdict = worker.receive()
            elif time.monotonic() - worker.heard > _STUCK:
                verdict = worker.given_up("it said nothing for so long that it was ended")
            else:
                continue
            if verdict is not None:
                yield verdict
            if worker.ended:
                del running[connection]
                if worker.left:
                    batches.insert(0, worker.left)


class _Worker:
    """A process that judges a batch, and what of it is left."""

    def __init__(self, cases: Cases, numbers: Sequence[int]) -> None:
        self.left = numbers
        self.ended = False
        self.heard = time.monotonic()
        self.connection, theirs = multiprocessing.Pipe(duplex=False)
        self._process = multiprocessing.Process(target=_work, args=(cases, numbers, theirs))
        self._process.start()
        theirs.close()

    def receive(self) -> tuple[int, Verdict] | None:
        """The next verdict, or None where it has ended as it should."""
        try:
            number, verdict = self.connection.recv()
        except EOFError:
            if self.left:
                return self.given_up("the process died")
            self._end()
            return None
        self.left = self.left[1:]
        self.heard = time.monotonic()
        return number, verdict

    def given_up(self, why: str) -> tuple[int, Verdict]:
        """End the process; the document that it was at has failed."""
        self._process.kill()
        self._end()
        number, self.left = self.left[0], self.left[1:]
        return number, Verdict(0.0, 0, (f"{why}, exit code {self._process.exitcode}",))

    def _end(self) -> None:
        self._process.join()
        self.connection.close()
        self.ended = True


def _work(cases: Cases, numbers: Sequence[int], results: Connection) -> None:
    bound_memory()
    with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
        for number in numbers:
            results.send((number, judge(Path(scratch) / "repository", cases[number].files)))


def _keep(cases: Cases, failure: Failure, directory: Path) -> Path:
    """Write a failing repository down, and why it fails."""
    case = cases[failure.number]
    where = directory / f"{cases.seed}-{failure.number}"
    for path, content in case.files.items():
        (where / path).parent.mkdir(parents=True, exist_ok=True)
        (where / path).write_bytes(content)
    (where / "faults.txt").write_text("\n".join(failure.verdict.faults), "utf-8")
    return where


def _shrink(case: Seed, kind: str, target: Path) -> None:
    """Write the document down as small as it fails alike."""

    def fails_alike(document: bytes) -> bool:
        with tempfile.TemporaryDirectory(prefix="fuzz-") as scratch:
            files = {**case.files, case.path: document}
            return _kind(judge(Path(scratch) / "repository", files)) == kind

    if fails_alike(case.document):
        target.write_bytes(shrunk(case.document, fails_alike))


def _kind(verdict: Verdict) -> str:
    """What a failure is apart from the document: its message without places and quoted text."""
    return re.sub(r"\S*/\S+|\d+|([\"']).*?\1", "", _last_line(verdict))


def _last_line(verdict: Verdict) -> str:
    return verdict.faults[0].strip().splitlines()[-1] if verdict.faults else ""


if __name__ == "__main__":
    sys.exit(main())
