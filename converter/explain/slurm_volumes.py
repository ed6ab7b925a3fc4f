"""Which volumes of an array have failed, for good or to be tried again, and how. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from converter.explain.failed_pods import meaning_of
from converter.reconcile.slurm.array import Array
from converter.reconcile.slurm.ending import ended
from converter.slurm.survey import Result

NO_RESULT = "it wrote no result: cancelled, never started, or killed with its node or by its time"


@dataclass(frozen=True, slots=True)
class FailedVolume:
    """A volume by its id, and how it failed: empty where that is not kept.

    `index` is that of its task, None where only a record is left; `tries` is 0 where that is not
    known.
    """

    volume: str
    how: str = ""
    index: int | None = None
    tries: int = 0

    def __str__(self) -> str:
        """``letters-1 (index 1): exit 13``."""
        is_known = self.index is not None and self.volume != _unnamed(self.index)
        which = f" (index {self.index})" if is_known else ""
        return f"{self.volume}{which}" + (f": {self.how}" if self.how else "")


def failed_volumes(array: Array, volumes: Sequence[str], now: int) -> Iterator[FailedVolume]:
    """Those that failed for good, or will count as that in the end.

    `volumes` are the ids by index, empty where they are not known; `now` is an epoch.
    """
    state = array.state
    if state is not None and state.record is not None:
        # Of an end that is kept nothing is read any more, and git may have another list by now.
        yield from map(FailedVolume, state.record.failed_volumes)
        return
    is_over = ended(array, volumes, now) is not None
    unaccounted = array.unaccounted
    total = state.total if state is not None else max(array.results, default=-1) + 1
    for index in range(total):
        result = array.results.get(index)
        if result is None and (is_over or index in unaccounted):
            yield FailedVolume(_named(index, volumes), NO_RESULT, index)
        elif result is not None and result.code:
            yield FailedVolume(_named(index, volumes), _how(result), index, result.attempt)


def retried_volumes(array: Array, volumes: Sequence[str], limit: int) -> Iterator[FailedVolume]:
    """Those that failed and are tried again, up to `limit` times."""
    for index in array.tried_again:
        last = array.failures[index]
        which = f"{_exit(last.code)} (try {last.attempt + 1} of {limit + 1} is next)"
        yield FailedVolume(_named(index, volumes), which, index, last.attempt)


def _named(index: int, volumes: Sequence[str]) -> str:
    return volumes[index] if index < len(volumes) else _unnamed(index)


def _unnamed(index: int) -> str:
    return f"index {index}"


def _how(result: Result) -> str:
    tries = f" after {result.attempt} tries" if result.attempt > 1 else ""
    return _exit(result.code, tries)


def _exit(code: int, more: str = "") -> str:
    meaning = meaning_of(code)
    return f"exit {code}{more}" + (f": {meaning}" if meaning else "")
