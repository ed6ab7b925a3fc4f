"""Volumes that failed or are tried again, with the exit code and last message of each."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

from converter.cluster.objects import index_ranges
from converter.explain.cause import Cause
from converter.explain.facts import Facts, Part
from converter.explain.failed_pods import Failure, failures
from converter.explain.text import counted
from converter.names import warmup_job
from converter.observe.document import eta_at
from converter.observe.phase import Phase
from converter.observe.status import Status
from converter.times import minutes

_SHOWN: Final = 20


def failing(part: Part) -> Iterator[Cause]:
    """What failed for good, and what is tried again, of a Job that has not ended."""
    if part.status.phase.is_end:
        return
    state = part.job.get("status") or {}
    found = failures(part.pods)
    lost = index_ranges(state.get("failedIndexes") or "")
    if lost:
        yield _cause("volumes-failed", "failed for good", lost, found, part)
    over = {*lost, *index_ranges(state.get("completedIndexes") or "")}
    again = [index for index in found if index not in over]
    if again and part.status.phase is Phase.RUNNING:
        limit = part.job["spec"].get("backoffLimitPerIndex")
        tries = max(found[index].tries for index in again)
        which = f" (try {tries + 1} of {int(limit) + 1})" if limit is not None else ""
        verb = f"failed and {'are' if len(again) > 1 else 'is'} tried again{which}"
        yield _cause("volumes-retried", verb, again, found, part)


def ended(facts: Facts) -> Iterator[Cause]:
    """How a campaign ended, its Jobs there or gone."""
    status = facts.status
    if not status.phase.is_end:
        return
    when = f" at {status.finished}" if status.finished else ""
    gone = _gone(facts)
    if status.phase is Phase.FINISHED:
        yield Cause(
            "finished",
            f"it has finished{when}{gone}: {status.done} of {counted(status.total, 'volume')} done",
        )
        return
    lines, kinds = _of_jobs(facts)
    there = {part.name for part in facts.parts()}
    reaped = (record for job, record in facts.records.items() if job not in there)
    lines.extend(volume for record in reaped for volume in record.failed_volumes)
    yield Cause(
        "failed" if status.phase is Phase.FAILED else "partly-failed",
        f"it has ended{when}{gone}: {status.failed} of {counted(status.total, 'volume')} failed",
        _remedy(
            kinds, facts, f"`campaigns retry {status.name}` writes a campaign file of what failed"
        ),
        _first(lines),
        next(iter(lines), ""),
    )


def _of_jobs(facts: Facts) -> tuple[list[str], Counter[str]]:
    lines: list[str] = []
    kinds: Counter[str] = Counter()
    for part in facts.parts():
        found = failures(part.pods)
        status = part.job.get("status") or {}
        done = set(index_ranges(status.get("completedIndexes") or ""))
        lost = [index for index in range(part.status.total) if index not in done]
        lines.extend(_lines(lost, found, part))
        kinds.update(found[index].kind for index in lost if index in found)
    return lines, kinds


def _cause(
    code: str, verb: str, indexes: Sequence[int], found: Mapping[int, Failure], part: Part
) -> Cause:
    lines = list(_lines(indexes, found, part))
    kinds = Counter(found[index].kind for index in indexes if index in found)
    retry = f"when it has ended, `campaigns retry {part.facts.status.name}` writes a campaign file"
    return Cause(
        code,
        f"{len(indexes)} of {counted(part.status.total, 'volume')} {verb}",
        _remedy(kinds, part.facts, f"{retry} of what failed"),
        _first(lines),
        next(iter(lines), ""),
    )


def _lines(indexes: Iterable[int], found: Mapping[int, Failure], part: Part) -> Iterator[str]:
    ids = part.facts.volume_ids(part.job)
    for index in indexes:
        who = f"{ids[index]} (index {index})" if index < len(ids) else f"index {index}"
        yield f"{who}: {found[index].line}" if index in found else who


def _first(lines: Sequence[str]) -> tuple[str, ...]:
    more = (f"and {len(lines) - _SHOWN} more",) if len(lines) > _SHOWN else ()
    return (*lines[:_SHOWN], *more)


def _gone(facts: Facts) -> str:
    if facts.jobs:
        return ""
    return " (its Job was removed after its time to live, and the record of its end is kept)"


def _remedy(kinds: Counter[str], facts: Facts, retry: str) -> str:
    """What to change first, by what most of the failures are; then how to run them again."""
    first = ""
    match kinds.most_common(1)[0][0] if kinds else "":
        case "oom":
            first = f"give more memory to {facts.size}; "
        case "deadline":
            first = f"write a larger max_seconds in {facts.pipeline_file}; "
        case "gate":
            first = (
                f"see why the warm-up Job {warmup_job(facts.status.pipeline)} did not end in time "
                "(warmup_wait_seconds in converter.yaml is how long volumes wait); "
            )
    return first + retry


def running(part: Part) -> Iterator[Cause]:
    """What there is to say of one that runs."""
    status = part.status
    if status.phase is not Phase.RUNNING:
        return
    sentence = _progress(status)
    now = part.facts.snapshot.now
    if eta := eta_at(status, now):
        an_hour = (status.done + status.failed) / status.admission.seconds(now) * 3600
        sentence += (
            f"; about {minutes(eta.seconds)} left (between {minutes(eta.low)} and "
            f"{minutes(eta.high)}, {an_hour:.3g} volumes an hour)"
        )
    yield Cause("running", sentence)


def _progress(status: Status) -> str:
    failed = f", {status.failed} failed" if status.failed else ""
    done = f"{status.done} of {counted(status.total, 'volume')} done{failed}"
    if not status.active:
        return f"it is admitted and has no pod at the moment, {done}"
    pods = counted(status.active, "pod")
    ready = f" ({status.ready} of them started)" if status.ready < status.active else ""
    return f"it runs: {pods}{ready}, {done}"
