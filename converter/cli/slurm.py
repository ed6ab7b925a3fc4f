"""What commands do where the backend is Slurm."""

import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from converter.model import Repo, SlurmSettings
from converter.reconcile.fence import Fence
from converter.reconcile.outcome import Outcome
from converter.slurm.host import Host

if TYPE_CHECKING:
    from converter.explain.cause import Cause
    from converter.holds.slurm import SlurmHolds
    from converter.observe.status import Status
    from converter.reconcile.slurm.submission import Submission
    from converter.report.slurm_reading import SlurmReading


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
    from converter.reconcile.slurm.applying import Options, apply

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
    """The campaigns as they are now, and why one that was asked for is where it is."""

    statuses: "list[Status]"
    now: datetime
    why: "tuple[Cause, ...]" = ()


class SlurmSource:
    """Statuses read anew each time, as `Source` has them."""

    places_unread = ""

    def __init__(self, repo: Repo, slurm: SlurmSettings) -> None:
        self._repo = repo
        self._slurm = slurm
        self._wanted = _wanted(repo)
        self.now_at = datetime.now(UTC)

    def read(self) -> "list[Status]":
        """Raises SlurmUnavailable."""
        return self.look().statuses

    def wait(self, seconds: float) -> None:
        """There is something new only when somebody asks."""
        time.sleep(seconds)

    def now(self) -> datetime:
        """The clock of the Slurm host, as of the last look."""
        return self.now_at

    def look(self, name: str = "") -> Seen:
        """All campaigns, and why the one of this name is where it is. Raises SlurmUnavailable."""
        from converter.explain.slurm_look import look_at_slurm

        seen = look_at_slurm(self._repo, self._slurm, self._wanted)
        self.now_at = seen.now
        one = next((each for each in seen.statuses if each.name == name), None)
        return Seen(list(seen.statuses), seen.now, seen.causes(one) if one is not None else ())


def _wanted(repo: Repo) -> "list[Submission]":
    from converter.reconcile.slurm.submission import submissions
    from converter.render.slurm import render_slurm

    priorities = {campaign.name: campaign.priority for campaign in repo.campaigns.values()}
    return submissions(render_slurm(repo), priorities)
