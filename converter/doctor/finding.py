"""What one check found."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How it stands with what was checked. Only a fault changes the exit code."""

    OK = "ok"
    WARNING = "warning"
    FAULT = "fault"
    UNKNOWN = "unknown"


class Group(StrEnum):
    """What a check is about, in the order in which findings are shown."""

    SERVER = "API server"
    KUEUE = "Kueue"
    KOORD_QUEUE = "Koord-Queue"
    HOST = "Slurm host"
    DIRECTORY = "Shared directory"
    SLURM = "Slurm"
    PERMISSIONS = "Permissions"
    NAMESPACE = "Namespace"
    QUEUE = "Queue"
    ADMISSION = "Admission"
    APPLY = "Apply"
    REPOSITORY = "Repository"

    @property
    def option(self) -> str:
        """The word for it on the command line."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Finding:
    """One line of the report.

    `check` is a name that stays the same. `found` is what is there; `remedy` says what to change
    and where, or by whom, and is empty exactly where the status is ok.
    """

    group: Group
    check: str
    status: Status
    found: str
    remedy: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """A check, for its findings to be made of."""

    group: Group
    name: str

    def ok(self, found: str) -> Finding:
        """There is nothing to do."""
        return Finding(self.group, self.name, Status.OK, found)

    def warning(self, found: str, remedy: str) -> Finding:
        """Campaigns run, and something is not as it should be."""
        return Finding(self.group, self.name, Status.WARNING, found, remedy)

    def fault(self, found: str, remedy: str) -> Finding:
        """Campaigns do not run, or not as they should."""
        return Finding(self.group, self.name, Status.FAULT, found, remedy)

    def unknown(self, found: str, remedy: str) -> Finding:
        """It could not be checked."""
        return Finding(self.group, self.name, Status.UNKNOWN, found, remedy)


def of_groups(findings: Iterable[Finding], groups: Collection[Group]) -> tuple[Finding, ...]:
    """The findings of some groups; where one of those was not looked at, also what is not ok.

    What kept a group from being checked is among that: nobody may take it for one without a fault.
    """
    found = tuple(findings)
    chosen = tuple(finding for finding in found if finding.group in groups)
    if {finding.group for finding in chosen} == set(groups):
        return chosen
    return tuple(f for f in found if f.group in groups or f.status is not Status.OK)


def exit_code(findings: Iterable[Finding], *, strict: bool = False) -> int:
    """1 where there is a fault, else 0; if `strict`, 1 where anything is not ok."""
    bad = {Status.FAULT, Status.WARNING, Status.UNKNOWN} if strict else {Status.FAULT}
    return int(any(finding.status in bad for finding in findings))


def counted(findings: Iterable[Finding]) -> dict[str, int]:
    """How many findings there are of each status."""
    statuses = [finding.status for finding in findings]
    return {status.value: statuses.count(status) for status in Status}
