"""The wait of `campaigns apply --wait`, after the apply and without its Lease."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from converter.cli.announcer import Announcer
from converter.cli.duration import text_of
from converter.cli.following import console, following
from converter.model import Repo
from converter.observe.document import status_document
from converter.observe.source import Source
from converter.observe.status import Status
from converter.observe.waiting import (
    Followed,
    Result,
    awaited,
    detail_of,
    follow,
    result_of,
    worst,
)
from converter.reconcile.outcome import Fate, Outcome


@dataclass(frozen=True, slots=True)
class Wait:
    """What a wait came to. `summary` is its last line, `documents` are the results as JSON."""

    results: tuple[tuple[Status, Result], ...]
    timed_out: bool
    summary: str
    documents: tuple[dict[str, Any], ...] = ()

    @property
    def exit_code(self) -> int:
        """1 beats 3 beats 0, as for an apply."""
        return worst((int(self.timed_out), *(result.exit_code for _, result in self.results)))

    def document(self) -> dict[str, Any]:
        """See `campaigns apply --help`."""
        return {"timedOut": self.timed_out, "campaigns": list(self.documents)}


@dataclass(frozen=True, slots=True)
class Watched:
    """What was applied to: `source` says how campaigns are, `now` is the time there."""

    source: Callable[[Callable[[str], object]], Source]
    now: Callable[[], datetime]


def wait(
    watched: Watched, repo: Repo, outcome: Outcome, seconds: int | None, announcer: Announcer
) -> Wait:
    """Wait until the campaigns of an apply rest, showing how they go on.

    Raises ClusterUnavailable when the API server, or ssh, keeps refusing to say how they are.
    """
    names = awaited(repo.campaigns, outcome)
    recorded = outcome.campaigns(Fate.RECORDED)
    if not names:
        return Wait((), timed_out=False, summary="there is nothing to wait for")
    source = watched.source(lambda text: announcer.progress.line(text, err=True))

    def read() -> list[Status]:
        return [status for status in source.read() if status.name in names]

    def say(text: str) -> None:
        announcer.progress.line(text, err=not announcer.text)

    screen = console(stderr=not announcer.text)
    with following(screen, watched.now, say, source.server) as show:
        followed = follow(read, show, seconds=seconds, pace=source.pace, sleep=source.wait)
    results = tuple(
        (status, result_of(status, suspended=repo.campaigns[status.name].suspend))
        for status in followed.statuses
    )
    for status, result in results:
        if result.exit_code:
            subject = f"{result}: campaign {status.name}"
            path = repo.campaigns[status.name].path
            detail = detail_of(status, result, recorded=status.name in recorded)
            announcer.fault(subject, detail, path)
    documents = tuple(
        {**status_document(status, watched.now()), "result": str(result)}
        for status, result in results
    )
    return Wait(results, followed.timed_out, summarised(followed, results, seconds), documents)


def summarised(
    followed: Followed, results: tuple[tuple[Status, Result], ...], seconds: int | None
) -> str:
    """How many campaigns came to which end, and why the wait is over if not for that."""
    counts = Counter(result for _, result in results)
    counted = ", ".join(f"{counts[result]} {result}" for result in Result if counts[result])
    said = f"waited: {counted}" if counted else "waited"
    if followed.timed_out and seconds is not None:
        said = f"timed out after {text_of(seconds)}: {counted or 'no campaign could be read'}"
        said += "; what has not ended goes on in the cluster"
    return f"{said} ({followed.trouble})" if followed.trouble else said
