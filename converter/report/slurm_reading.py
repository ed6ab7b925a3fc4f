"""Reads a Slurm for a page, once or again and again."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

from converter import __version__
from converter.errors import CampaignsError
from converter.explain.slurm_look import SlurmLook, look_at_slurm
from converter.model import Repo
from converter.observe.phase import Phase
from converter.reconcile.slurm.submission import Submission
from converter.report.cards import cards
from converter.report.failed import put_together
from converter.report.model import PHASES, About, Model, Quota, Words
from converter.report.slurm_queue import slurm_queues
from converter.report.slurm_timeline import slurm_timeline
from converter.report.times import moment_at
from converter.wording import first_few

# One look has the controller tell of every job that it has: those who run one ask for patience.
SECONDS: Final = 15.0
SLURM: Final = Words(
    worker="task",
    jobs="Arrays",
    queue="Partition",
    place="in Slurm",
    unplaced="",
    clock="the Slurm host's",
    running="What waits is on {hold}, and what runs goes on to its end",
    past="Slurm forgets a task a few minutes after its end, so when the first one started may not "
    "be known",
)


@dataclass(slots=True)
class SlurmReading:
    """The campaigns of a repository. `sources` gives it, with its name, and the commit that is
    checked out, as they are when it is called; `wanted` is what it renders to.
    """

    sources: Callable[[], tuple[Repo, str]]
    wanted: Callable[[Repo], list[Submission]]
    seconds: float = SECONDS
    asked: str = "Slurm"

    def read(self) -> Model:
        """Raises SlurmUnavailable and SlurmUnreadable, and what `sources` raises."""
        repo, commit = self.sources()
        slurm = repo.settings.slurm
        if slurm is None:
            raise CampaignsError(f"the backend is {repo.settings.backend}, and no Slurm to look at")
        return slurm_model(look_at_slurm(repo, slurm, self.wanted(repo)), commit)


def slurm_model(seen: SlurmLook, commit: str) -> Model:
    """The model of a page, of what was seen. Pure."""
    queues, places = slurm_queues(seen)
    statuses = [
        replace(each, place=places.get(each.name)) if each.phase is Phase.WAITING else each
        for each in seen.statuses
    ]
    causes = {each.name: seen.causes(each) for each in statuses}
    counts = Counter(each.shown_phase for each in statuses)
    failures = ((each, put_together(seen.failures(each.name))) for each in statuses)
    return Model(
        about=About(seen.repository, commit, __version__, seen.now),
        now=moment_at(seen.now, seen.now),
        counts=tuple((str(phase), counts[str(phase)]) for phase in PHASES),
        cards=cards(failures, causes, seen.now, SLURM),
        queues=queues,
        quota=Quota(exists=False),
        timeline=slurm_timeline(seen),
        unread=_unread(seen),
        words=SLURM,
    )


def _unread(seen: SlurmLook) -> tuple[str, ...]:
    if not seen.found.unreadable:
        return ()
    files = first_few(seen.found.unreadable)
    return (f"{files} of the state on the Slurm host, so that campaigns may be missing here",)
