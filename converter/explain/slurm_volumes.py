"""Which volumes of an array have failed for good, and how. Pure."""

from collections.abc import Iterator, Sequence

from converter.explain.failed_pods import meaning_of
from converter.reconcile.slurm.array import Array
from converter.reconcile.slurm.ending import ended
from converter.slurm.survey import Result

NO_RESULT = "it wrote no result: cancelled, never started, or killed with its node or by its time"


def failed_volumes(array: Array, volumes: Sequence[str], now: int) -> Iterator[tuple[str, str]]:
    """Each by its id, and how it failed; that is empty where it is not kept.

    `volumes` are the ids by index, empty where they are not known; `now` is an epoch.
    """
    state = array.state
    if state is not None and state.record is not None:
        # Of an end that is kept nothing is read any more, and git may have another list by now.
        yield from ((volume, "") for volume in state.record.failed_volumes)
        return
    is_over = ended(array, volumes, now) is not None
    total = state.total if state is not None else max(array.results, default=-1) + 1
    for index in range(total):
        result = array.results.get(index)
        if result is None and is_over:
            yield _named(index, volumes), NO_RESULT
        elif result is not None and result.code:
            yield _named(index, volumes), _how(result)


def _named(index: int, volumes: Sequence[str]) -> str:
    return volumes[index] if index < len(volumes) else f"index {index}"


def _how(result: Result) -> str:
    meaning = meaning_of(result.code)
    tries = f" after {result.attempt} tries" if result.attempt > 1 else ""
    return f"exit {result.code}{tries}" + (f": {meaning}" if meaning else "")
