"""What this identity may do there, and what it had better not be allowed."""

from collections.abc import Iterator, Mapping
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.doctor.needs import Purpose
from converter.doctor.slurm.facts import FileFacts, HostFacts, SlurmFacts
from converter.reconcile.queue_chain import Unknown
from converter.slurm.job import Phase
from converter.slurm.survey import Survey
from converter.wording import first_few

_VIEW: Final = Check(Group.PERMISSIONS, "may-view")
_APPLY: Final = Check(Group.PERMISSIONS, "may-apply")
_HOLD: Final = Check(Group.PERMISSIONS, "may-hold")
_EXCESS: Final = Check(Group.PERMISSIONS, "excess")
_FILES: Final = "give its user these, for example through a group: "


def rights_findings(
    host: HostFacts,
    files: FileFacts | Unknown,
    slurm: SlurmFacts | Unknown,
    found: Survey | Unknown,
    wish: Purpose | None,
) -> Iterator[Finding]:
    """What the user may do; a fault where it may not do what it is for (`wish`)."""
    if isinstance(files, FileFacts) and files.kind == "other":
        files = Unknown("there is no shared directory")
    if wish in (None, Purpose.VIEW):
        yield view_finding(files, host)
    if wish in (None, Purpose.APPLY):
        yield apply_finding(files, host, found, needed=wish is Purpose.APPLY)
    if wish in (None, Purpose.HOLD):
        yield hold_finding(files, host, slurm, found, needed=wish is Purpose.HOLD)
    yield excess_finding(host, slurm)


def view_finding(files: FileFacts | Unknown, host: HostFacts) -> Finding:
    """Whether it may read what apply keeps there."""
    if isinstance(files, Unknown):
        return _VIEW.unknown(files.why, "see what is said of the shared directory")
    if files.unreadable:
        listed = first_few(files.unreadable)
        return _VIEW.fault(f"{host.user} may not read {listed}", f"{_FILES}read {listed}")
    return _VIEW.ok(f"{host.user} may read what apply keeps there")


def apply_finding(
    files: FileFacts | Unknown, host: HostFacts, found: Survey | Unknown, *, needed: bool
) -> Finding:
    """Whether it may write there, and change the jobs that are there."""
    if isinstance(files, Unknown):
        return _APPLY.unknown(files.why, "see what is said of the shared directory")
    judged = _APPLY.fault if needed else _APPLY.warning
    if files.unwritable:
        listed = first_few(files.unwritable)
        return judged(f"{host.user} may not write {listed}", f"{_FILES}write {listed}")
    if others := _others(host, found):
        return judged(*others)
    return _APPLY.ok(f"{host.user} may write what apply keeps there")


def hold_finding(
    files: FileFacts | Unknown,
    host: HostFacts,
    slurm: SlurmFacts | Unknown,
    found: Survey | Unknown,
    *,
    needed: bool,
) -> Finding:
    """Whether it may place holds.

    Slurm lets a user change jobs of its own, where no plugin says no.
    """
    if isinstance(files, Unknown):
        return _HOLD.unknown(files.why, "see what is said of the shared directory")
    judged = _HOLD.fault if needed else _HOLD.warning
    if files.unheld:
        return judged(f"{host.user} may not write {files.unheld}", f"{_FILES}write {files.unheld}")
    if others := _others(host, found):
        return judged(*others)
    if isinstance(slurm, Unknown) or isinstance(slurm.config, Unknown):
        return _HOLD.unknown("which plugins Slurm asks is not known", "see what is said of Slurm")
    plugins = _plugins(slurm.config)
    if plugins:
        return _HOLD.unknown(
            f"Slurm asks a plugin about each change of a job (JobSubmitPlugins={plugins}), which "
            "can refuse a hold",
            "try one: campaigns doctor --probe-holds",
        )
    return _HOLD.ok(f"{host.user} may hold and release jobs of its own")


def excess_finding(host: HostFacts, slurm: SlurmFacts | Unknown) -> Finding:
    """Whether a stolen login would be worth more than campaigns."""
    config = {} if isinstance(slurm, Unknown) or isinstance(slurm.config, Unknown) else slurm.config
    level = "" if isinstance(slurm, Unknown) else slurm.admin_level
    remedy = "have a user of its own for campaigns, without such rights"
    if host.uid == 0:
        return _EXCESS.warning(
            "it is root: all tasks of campaigns run as root on the nodes, and it may change "
            "everybody's jobs",
            remedy,
        )
    if host.user and config.get("SlurmUser", "").split("(")[0] == host.user:
        return _EXCESS.warning(f"{host.user} is the user that Slurm itself runs as", remedy)
    if level not in ("", "None"):
        return _EXCESS.warning(f"{host.user} is {level} in Slurm's accounting", remedy)
    return _EXCESS.ok(f"{host.user} is neither root nor Slurm's own user, nor a known operator")


def _plugins(config: Mapping[str, str]) -> str:
    text = config.get("JobSubmitPlugins", "")
    return "" if text in ("", "(null)") else text


def _others(host: HostFacts, found: Survey | Unknown) -> tuple[str, str] | None:
    """Jobs of this repository that another user has submitted, which Slurm lets only that one
    change, and who runs Slurm."""
    if isinstance(found, Unknown) or host.uid == 0:
        return None
    users = {
        job.user
        for jobs in found.jobs.values()
        for job in jobs
        if job.phase is not Phase.ENDED and job.user not in ("", host.user)
    }
    if not users:
        return None
    listed = first_few(sorted(users))
    return (
        f"jobs of this repository are those of {listed}, which {host.user} may not change",
        f"run it as {listed}, or wait until they have ended",
    )
