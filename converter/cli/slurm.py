"""What commands do where the backend is Slurm."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

from converter.model import Repo, SlurmSettings
from converter.reconcile.fence import Fence
from converter.reconcile.outcome import Outcome
from converter.slurm.host import Host

if TYPE_CHECKING:
    from converter.diff.change import Comparison
    from converter.explain.cause import Cause
    from converter.explain.detail import Detail
    from converter.holds.slurm import SlurmHolds
    from converter.observe.status import Status
    from converter.reconcile.slurm.submission import Submission
    from converter.report.slurm_reading import SlurmReading
    from converter.slurm.survey import Survey


def apply_to_slurm(
    repo: Repo,
    slurm: SlurmSettings,
    outcome: Outcome,
    identity: str,
    commit: str,
    fence: Fence,
    *,
    prune: bool,
    release_holds: bool,
    allow_empty: bool,
    prune_limit: int | None,
    all_or_nothing: bool,
    **others: Any,
) -> None:
    """Apply; `others` are options that mean something to Kubernetes alone."""
    from converter.reconcile.slurm.applying import apply
    from converter.reconcile.slurm.run import Options

    settings = repo.settings
    options = Options(
        repository=settings.repository,
        identity=identity,
        commit=commit,
        directory=slurm.directory,
        seconds=float(slurm.command_timeout),
        prune=prune,
        release_holds=release_holds,
        allow_empty=allow_empty,
        prune_limit=settings.prune_limit if prune_limit is None else prune_limit,
        all_or_nothing=all_or_nothing,
        fence=fence,
    )
    del others
    apply(Host(slurm.host), _wanted(repo), options, outcome)


def holds_in_slurm(slurm: SlurmSettings, repository: str) -> "SlurmHolds":
    """The holds of its jobs."""
    from converter.holds.slurm import SlurmHolds

    return SlurmHolds(Host(slurm.host), f"{slurm.directory}/lock", repository=repository)


def reading_of_slurm(sources: "Callable[[], tuple[Repo, str]]") -> "SlurmReading":
    """What a page of campaigns is read from; `sources` gives the repository as it is by then."""
    from converter.report.slurm_reading import SlurmReading

    return SlurmReading(sources, _wanted)


@dataclass(frozen=True, slots=True)
class Seen:
    """The campaigns as they are now, and all about one that was asked for."""

    statuses: "list[Status]"
    now: datetime
    why: "tuple[Cause, ...]" = ()
    detail: "Detail | None" = None


class SlurmSource:
    """Statuses read anew each time, as `Source` has them."""

    places_unread = ""
    server = "Slurm"

    def __init__(self, repo: Repo, slurm: SlurmSettings) -> None:
        from converter.observe.waiting import SLURMS_PACE

        self.pace = SLURMS_PACE
        self._repo = repo
        self._slurm = slurm
        self._wanted = _wanted(repo)
        self.now_at = datetime.now(UTC)
        self._seen = time.monotonic()

    def read(self) -> "list[Status]":
        """Raises SlurmUnavailable."""
        return self.look().statuses

    def wait(self, seconds: float) -> None:
        """There is something new only when somebody asks."""
        time.sleep(seconds)

    def now(self) -> datetime:
        """By the clock of the Slurm host, as the last look told it."""
        return self.now_at + timedelta(seconds=int(time.monotonic() - self._seen))

    def look(self, name: str = "") -> Seen:
        """All campaigns, and why the one of this name is where it is. Raises SlurmUnavailable."""
        from converter.explain.slurm_look import look_at_slurm

        seen = look_at_slurm(self._repo, self._slurm, self._wanted)
        self.now_at = seen.now
        self._seen = time.monotonic()
        one = next((each for each in seen.statuses if each.name == name), None)
        if one is None:
            return Seen(list(seen.statuses), seen.now)
        return Seen(list(seen.statuses), seen.now, seen.causes(one), seen.detail(one.name))


def _wanted(repo: Repo) -> "list[Submission]":
    from converter.reconcile.slurm.submission import submissions
    from converter.render.slurm import render_slurm

    priorities = {campaign.name: campaign.priority for campaign in repo.campaigns.values()}
    return submissions(render_slurm(repo), priorities)


def _survey(slurm: SlurmSettings, repository: str) -> "Survey":
    from converter.slurm.survey import survey

    seconds = float(slurm.command_timeout)
    return survey(Host(slurm.host), slurm.directory, repository, seconds=seconds)


def compare_with_slurm(
    repo: Repo, slurm: SlurmSettings, *, prune: bool, release_holds: bool
) -> "Comparison":
    """What an apply would change. Raises SlurmUnavailable."""
    from converter.diff.slurm import compare

    return compare(
        _wanted(repo),
        _survey(slurm, repo.settings.repository),
        prune=prune,
        release_holds=release_holds,
        prune_limit=repo.settings.prune_limit,
    )


def failed_in_slurm(
    repo: Repo, slurm: SlurmSettings, campaign: str
) -> tuple[tuple[str, ...], frozenset[str]]:
    """The volumes of a campaign that failed, and the names that are taken.

    Raises Refused where that cannot be told yet, or at all, and SlurmUnavailable.
    """
    from converter.reconcile.slurm.array import names_in
    from converter.reconcile.slurm.ending import volumes_to_retry

    found = _survey(slurm, repo.settings.repository)
    return volumes_to_retry(campaign, found, _wanted(repo)), names_in(found)
