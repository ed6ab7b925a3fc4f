"""The failed volumes of a campaign by their names, with what each said last."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

from converter.cluster.objects import Object, index_ranges
from converter.explain.facts import Facts, Part
from converter.explain.failed_pods import failures
from converter.observe.phase import Phase
from converter.report.model import Failures

WAYS: Final = 5
NAMED: Final = 6


def failed_volumes(facts: Facts) -> tuple[Failures, ...]:
    """By the way in which they failed, the most frequent one first; not more than a few ways.

    Those of its Jobs or, where these are gone, of the records.
    """
    return put_together(_all(facts)) if facts.status.failed else ()


def put_together(failures: Iterable[tuple[str, str]]) -> tuple[Failures, ...]:
    """The same of volumes and how each failed."""
    ways: dict[str, list[str]] = {}
    for volume, how in failures:
        ways.setdefault(how, []).append(volume)
    # What nothing is known of comes last.
    ordered = sorted(ways.items(), key=lambda way: (not way[0], -len(way[1])))
    return tuple(Failures(len(ids), how, tuple(ids[:NAMED])) for how, ids in ordered[:WAYS])


def _all(facts: Facts) -> Iterator[tuple[str, str]]:
    if facts.jobs:
        for part in facts.parts():
            yield from _of_job(part)
        return
    for record in (facts.records or {}).values():
        yield from ((volume, "") for volume in record.failed_volumes)


def _of_job(part: Part) -> Iterator[tuple[str, str]]:
    lost = _lost(part.job, part.status.phase, part.status.total)
    if not lost:
        return
    ids = part.facts.volume_ids(part.job)
    found = failures(part.pods)
    for index in lost:
        name = ids[index] if index < len(ids) else f"index {index}"
        yield name, found[index].line if index in found else ""


def _lost(job: Object, phase: Phase, total: int) -> Sequence[int]:
    """What failed; when a Job has failed as a whole, everything that it did not finish."""
    state = job.get("status") or {}
    if phase not in (Phase.FAILED, Phase.PARTLY_FAILED):
        return index_ranges(state.get("failedIndexes") or "")
    done = set(index_ranges(state.get("completedIndexes") or ""))
    return [index for index in range(total) if index not in done]
