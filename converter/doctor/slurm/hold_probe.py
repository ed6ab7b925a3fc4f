"""A hold, tried on a job of doctor's own that never starts, and taken away again.

The job waits behind its gate. It is submitted, and cancelled, by a process on the Slurm host that
ends with this one or with the connection to it, whatever became of the probe.
"""

import time
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.doctor.slurm.own_job import NAME, NotSubmitted, OwnJob
from converter.errors import ClusterUnavailable
from converter.holds.deadline import Deadline, deadline_in
from converter.holds.errors import (
    DeadlinePassed,
    HoldError,
    Rejected,
    StaleHold,
    TooManyConflicts,
    Unsupported,
)
from converter.holds.probe import DoesNotHold, round_trip
from converter.holds.slurm_store import SlurmStore
from converter.model import SlurmSettings
from converter.slurm.host import Host
from converter.slurm.job import Job, Phase, records_of
from converter.slurm.look import look_at
from converter.times import rfc3339

DEADLINE_SECONDS: Final = 60.0

_CHECK: Final = Check(Group.ADMISSION, "holds")
_BY: Final = "campaigns doctor"


def hold_findings(host: Host, settings: SlurmSettings) -> tuple[Finding, ...]:
    """Whether holds can be placed and lifted. The job is cancelled whatever happens.

    One that a killed doctor left behind is cancelled first.
    """
    own = OwnJob(host, settings)
    try:
        with own:
            found = _tried(host, f"{settings.directory}/lock", own.number)
    except NotSubmitted as error:
        found = _CHECK.unknown(
            f"holds were not tried, for want of a job to hold: {error}",
            "see what is said of rights, partitions and submissions",
        )
    except ClusterUnavailable as error:
        found = _CHECK.unknown(f"holds were not tried: {error}", "check again")
    return (found, *([left_there(own)] if own.left else ()))


def not_tried() -> Finding:
    """There is nothing to try a hold with."""
    return _CHECK.unknown(
        "holds were not tried: that needs a controller that answers, and the shared directory",
        "see what is said of those",
    )


def left_there(own: OwnJob) -> Finding:
    """The job could not be cancelled, or that is not known."""
    return _CHECK.warning(
        f"job {own.number}, on which holds were tried, was not cancelled: {own.left}",
        f"cancel it: scancel --name={NAME} --state=PENDING",
    )


def not_held(error: HoldError) -> Finding:
    """The round trip failed."""
    match error:
        case DoesNotHold() | TooManyConflicts():
            return _CHECK.fault(
                f"holds do not work on this Slurm: {error}",
                "ask who runs Slurm which plugin or script changes what is written",
            )
        case Rejected() | Unsupported() if not isinstance(error, StaleHold | DeadlinePassed):
            return _CHECK.fault(
                f"this user cannot hold: {error}",
                "ask who runs Slurm which plugin refuses changes of a user's own jobs",
            )
        case _:
            return _CHECK.unknown(f"whether holds work could not be told: {error}", "check again")


def _tried(host: Host, lock: str, number: int) -> Finding:
    deadline = deadline_in(DEADLINE_SECONDS)
    try:
        job = _gated(host, number, deadline)
        at = rfc3339(int(time.time()))
        round_trip(lambda: SlurmStore(host, lock, job), deadline, at=at, by=_BY)
        _gated(host, number, deadline)
    except HoldError as error:
        return not_held(error)
    return _CHECK.ok(
        "a job was held, kept from a late write and from the release of another hold, and released "
        "with its gate still shut (a job of doctor's own, cancelled again)"
    )


def _gated(host: Host, number: int, deadline: Deadline) -> Job:
    """The job as it is. Raises DoesNotHold where its gate is not shut."""
    look = look_at(host, number, max(1.0, deadline.rest), deadline.clock)
    jobs = records_of(look.jobs, number)
    if not jobs:
        raise Rejected(f"job/{number}: Slurm does not know it any more")
    if jobs[0].phase is not Phase.PENDING or not jobs[0].gated:
        raise DoesNotHold(
            f"job/{number} was submitted with --hold, and its gate is not shut ({jobs[0].state}): "
            "campaigns would start before they are let"
        )
    return jobs[0]
