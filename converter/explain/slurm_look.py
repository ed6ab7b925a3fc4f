"""One look at a Slurm, and all that is said of its campaigns: nothing is asked twice."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from converter.explain.cause import Cause
from converter.explain.detail import Detail, VolumeTrouble
from converter.explain.slurm import slurm_causes
from converter.explain.slurm_volumes import FailedVolume, failed_volumes, retried_volumes
from converter.model import Repo, SlurmSettings
from converter.observe.slurm import slurm_statuses
from converter.observe.status import Status
from converter.observe.wanted import wanted_of
from converter.reconcile.slurm.array import Array, arrays_in, by_campaign
from converter.reconcile.slurm.ending import volumes_of
from converter.reconcile.slurm.planning import plan
from converter.reconcile.slurm.submission import Submission
from converter.slurm.host import Host
from converter.slurm.layout import LOGS, job_directory
from converter.slurm.survey import Survey, survey
from converter.wording import first_few


@dataclass(frozen=True, slots=True)
class SlurmLook:
    """What was seen. `statuses` has one a campaign, by name; `arrays` are by campaign and by their
    own names, `volumes` the ids by index of each array, and `limit` how often one is tried again.
    """

    found: Survey
    statuses: Sequence[Status]
    arrays: Mapping[str, Mapping[str, Array]]
    volumes: Mapping[str, Sequence[str]]
    directory: str
    repository: str
    limit: int = 0

    @property
    def now(self) -> datetime:
        """The clock of the Slurm host."""
        return datetime.fromtimestamp(self.found.host_epoch, UTC)

    def failures(self, campaign: str) -> list[tuple[str, str]]:
        """The failed volumes of a campaign, and how each failed, as far as that is known."""
        return [
            (failure.volume, failure.how)
            for name in self.arrays.get(campaign, {})
            for failure in self._failures(campaign, name)
        ]

    def detail(self, campaign: str) -> Detail:
        """The volumes of a campaign that failed or are tried again."""
        arrays = self.arrays.get(campaign, {})
        found = [
            VolumeTrouble(each.volume, name, each.index, is_final, each.tries, each.how)
            for name in arrays
            for is_final, some in (
                (True, self._failures(campaign, name)),
                (False, self._retried(campaign, name)),
            )
            for each in some
        ]
        return Detail(volumes=tuple(found))

    def causes(self, status: Status) -> tuple[Cause, ...]:
        """Why a campaign is where it is."""
        arrays = self.arrays.get(status.name, {})
        failed = [each for name in arrays for each in self._failures(status.name, name)]
        retried = [each for name in arrays for each in self._retried(status.name, name)]
        return slurm_causes(status, tuple(arrays.values()), failed, self._logs(status), retried)

    def _failures(self, campaign: str, name: str) -> Iterable[FailedVolume]:
        array = self.arrays[campaign][name]
        return failed_volumes(array, self.volumes.get(name, ()), self.found.host_epoch)

    def _retried(self, campaign: str, name: str) -> Iterable[FailedVolume]:
        array = self.arrays[campaign][name]
        return retried_volumes(array, self.volumes.get(name, ()), self.limit)

    def _logs(self, status: Status) -> str:
        """Where the logs of what failed are."""
        names = self.arrays.get(status.name, {})
        failed = (
            name
            for name, array in names.items()
            if array.tried_again or any(True for _ in self._failures(status.name, name))
        )
        return first_few(
            f"{job_directory(self.directory, self.repository, name)}/{LOGS}" for name in failed
        )


def look_at_slurm(repo: Repo, slurm: SlurmSettings, wanted: Sequence[Submission]) -> SlurmLook:
    """Look once. `repo` has its name, and `wanted` is what it renders to. Raises SlurmUnavailable
    and SlurmUnreadable."""
    repository = repo.settings.repository
    seconds = float(slurm.command_timeout)
    found = survey(Host(slurm.host), slurm.directory, repository, seconds=seconds)
    return look_of(repo, slurm, wanted, found)


def look_of(
    repo: Repo, slurm: SlurmSettings, wanted: Sequence[Submission], found: Survey
) -> SlurmLook:
    """The same, of what was read. Pure."""
    held_back = plan(wanted, found).held_back
    return SlurmLook(
        found,
        slurm_statuses(wanted_of(repo), found, held_back),
        by_campaign(arrays_in(found)),
        {each.name: volumes_of(found.states.get(each.name), each) for each in wanted},
        slurm.directory,
        repo.settings.repository,
        repo.settings.backoff_limit_per_index,
    )
