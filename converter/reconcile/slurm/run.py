"""One apply as it goes on: its options, what was found, and what it has done since."""

from dataclasses import dataclass, field, replace
from typing import Final

from converter.errors import ApiError, ClusterUnavailable
from converter.holds.errors import HoldError
from converter.reconcile.fence import Fence
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.slurm.array import Array, array_of
from converter.reconcile.slurm.steps import Steps
from converter.slurm.errors import InvalidTasks, SlurmRefused
from converter.slurm.host import Host
from converter.slurm.state import State
from converter.slurm.survey import Survey, survey

# What keeps one array from what is to be done with it, and no other.
TROUBLE: Final = (HoldError, ApiError, SlurmRefused, ClusterUnavailable, InvalidTasks)


@dataclass(frozen=True, slots=True)
class Options:
    """How to apply. `seconds` are for one call of Slurm's tools.

    The others are as for Kubernetes: with `all_or_nothing` nothing is sent where a campaign is held
    back, and without a `fence` commits are not compared.
    """

    repository: str
    identity: str
    commit: str
    directory: str
    seconds: float = 30.0
    prune: bool = False
    release_holds: bool = False
    allow_empty: bool = False
    prune_limit: int | None = None
    all_or_nothing: bool = False
    fence: Fence | None = None


@dataclass(slots=True)
class Run:
    """`found` is the first look, and `states` what is kept of each array by now."""

    host: Host
    options: Options
    outcome: Outcome
    steps: Steps
    found: Survey
    states: dict[str, State] = field(default_factory=dict)

    def array(self, name: str) -> Array:
        """As it was found, with what this run has kept of it since."""
        return replace(array_of(name, self.found), state=self.states.get(name))

    def look(self) -> Survey:
        """Look anew. Raises LeaseLost and SlurmUnavailable."""
        self.steps.session.check()
        options = self.options
        return survey(self.host, options.directory, options.repository, seconds=options.seconds)

    def note(self, fate: Fate, name: str, detail: str, campaign: str) -> None:
        """Tell what became of an array."""
        self.outcome.add(Event(fate, f"Array/{name}", detail, campaign))
