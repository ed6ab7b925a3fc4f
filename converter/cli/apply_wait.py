"""The wait of `campaigns apply --wait`, after the apply and without its Lease."""

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from converter.cli.announcer import Announcer
from converter.cli.duration import text_of
from converter.cli.following import console, following, read_statuses
from converter.cluster.client import Client
from converter.model import Repo
from converter.reconcile.outcome import Outcome
from converter.reconcile.status import Status
from converter.reconcile.waiting import (
    Followed,
    Result,
    awaited,
    detail_of,
    follow,
    result_of,
    worst,
)


@dataclass(frozen=True, slots=True)
class Wait:
    """What a wait came to. `summary` is its last line."""

    results: tuple[tuple[Status, Result], ...]
    timed_out: bool
    summary: str

    @property
    def exit_code(self) -> int:
        """1 beats 3 beats 0, as for an apply."""
        return worst((int(self.timed_out), *(result.exit_code for _, result in self.results)))

    def document(self) -> dict[str, Any]:
        """See `campaigns apply --help`."""
        campaigns = [{**asdict(status), "result": result} for status, result in self.results]
        return {"timedOut": self.timed_out, "campaigns": campaigns}


def wait(
    client: Client, repo: Repo, outcome: Outcome, seconds: int | None, announcer: Announcer
) -> Wait:
    """Wait until the campaigns of an apply rest, showing how they go on.

    Raises ClusterUnavailable when the API server keeps refusing to say how they are.
    """
    names = awaited(repo.campaigns, outcome)

    def read() -> list[Status]:
        return [status for status in read_statuses(client, repo) if status.name in names]

    def say(text: str) -> None:
        announcer.progress.line(text, err=not announcer.text)

    if not names:
        return Wait((), timed_out=False, summary="there is nothing to wait for")
    with following(console(stderr=not announcer.text), client.now, say) as show:
        followed = follow(read, show, seconds=seconds)
    results = tuple(
        (status, result_of(status, suspended=repo.campaigns[status.name].suspend))
        for status in followed.statuses
    )
    for status, result in results:
        if result.exit_code:
            subject = f"{result}: campaign {status.name}"
            path = repo.campaigns[status.name].path
            announcer.fault(subject, detail_of(status, result), path)
    return Wait(results, followed.timed_out, summarised(followed, results, seconds))


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
