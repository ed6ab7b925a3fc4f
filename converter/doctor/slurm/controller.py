"""The controller: it answers, in a release that is known, and with a clock like its host's."""

import re
from collections.abc import Iterator, Mapping
from typing import Final

from converter.doctor.finding import Check, Finding, Group
from converter.doctor.slurm.facts import SlurmFacts
from converter.reconcile.queue_chain import Unknown
from converter.slurm.survey import Survey

# `squeue --json` is there since 21.08; 22.05 was tried.
OLDEST: Final = (21, 8)
TRIED: Final = (22, 5)
# What MUNGE lets a message be old, by its own default, is ten times that.
MOST_SKEW: Final = 30

_CONTROLLER: Final = Check(Group.SLURM, "controller")
_VERSION: Final = Check(Group.SLURM, "slurm-version")
_CLOCK: Final = Check(Group.SLURM, "controller-clock")
_JSON: Final = Check(Group.SLURM, "json")
_SCHEDULER: Final = Check(Group.SLURM, "scheduler")
_NUMBERS: Final = re.compile(r"(\d+)\.(\d+)")
_ASK: Final = "ask who runs Slurm"


def controller_findings(slurm: SlurmFacts | Unknown, found: Survey | Unknown) -> Iterator[Finding]:
    """Everything about the controller itself; where it does not answer, nothing but that."""
    yield controller_finding(slurm)
    if isinstance(slurm, Unknown) or isinstance(slurm.config, Unknown):
        return
    yield version_finding(slurm.config)
    yield clock_finding(slurm)
    yield json_finding(found)
    yield scheduler_finding(slurm.config)


def controller_finding(slurm: SlurmFacts | Unknown) -> Finding:
    """Whether it answers."""
    if isinstance(slurm, Unknown):
        return _CONTROLLER.unknown(slurm.why, "see what is said of the host")
    if isinstance(slurm.config, Unknown):
        return _CONTROLLER.fault(
            f"it does not answer: {slurm.ping or 'not even to scontrol ping'}",
            "have slurmctld started, or its host looked at",
        )
    name = slurm.config.get("ClusterName", "?")
    if " is DOWN" in slurm.ping:
        return _CONTROLLER.warning(
            f"a controller of cluster {name} is down: {slurm.ping}", "have it started again"
        )
    return _CONTROLLER.ok(f"it answers, for cluster {name}")


def version_finding(config: Mapping[str, str]) -> Finding:
    """Whether its release is one whose answers are known."""
    spelt = config.get("SLURM_VERSION", "")
    numbers = _NUMBERS.match(spelt)
    if numbers is None:
        return _VERSION.unknown(f"its version is {spelt!r}", _ASK)
    found = int(numbers[1]), int(numbers[2])
    if found < OLDEST:
        return _VERSION.fault(
            f"Slurm {spelt} has no squeue --json", "have it upgraded to 22.05 or later"
        )
    if found < TRIED:
        return _VERSION.warning(
            f"Slurm {spelt} is older than 22.05, which was tried",
            "have it upgraded to 22.05 or later",
        )
    return _VERSION.ok(f"Slurm {spelt}{'; newer than 22.05, which was tried' * (found > TRIED)}")


def clock_finding(slurm: SlurmFacts) -> Finding:
    """A release says "start now" by the clock of the host, and the controller waits for that."""
    if slurm.asked_at is None or slurm.host_epoch is None:
        return _CLOCK.unknown("the controller's clock could not be read", _ASK)
    ahead = slurm.host_epoch - slurm.asked_at
    if abs(ahead) <= MOST_SKEW:
        return _CLOCK.ok(f"the controller's clock and its host's agree to {MOST_SKEW} s")
    found = (
        f"the host's clock is {abs(ahead)} s {'ahead of' if ahead > 0 else 'behind'} that of the"
    )
    more = ", so that what is released starts that much later" if ahead > 0 else ""
    return _CLOCK.warning(
        f"{found} controller{more}",
        "have both set by NTP: beyond 5 minutes Slurm's parts do not trust each other at all",
    )


def json_finding(found: Survey | Unknown) -> Finding:
    """Whether what squeue knows can be read, by which everything is decided."""
    if isinstance(found, Unknown):
        return _JSON.fault(
            f"what Slurm knows of campaigns cannot be read: {found.why}",
            "have `squeue --json` print its jobs there (Slurm's plugins openapi or data_parser, "
            "and serializer/json)",
        )
    number = sum(map(len, found.jobs.values()))
    return _JSON.ok(f"squeue --json can be read: {number} records of this repository's campaigns")


def scheduler_finding(config: Mapping[str, str]) -> Finding:
    """When something starts that was released: not before the scheduler looks again."""
    words = [word for word in config.get("SchedulerParameters", "").split(",") if "=" in word]
    values = dict(word.split("=", 1) for word in words)
    every = values.get("sched_interval", "60")
    if every == "-1":
        return _SCHEDULER.warning(
            "the main scheduler is switched off (sched_interval=-1), so that what is released or "
            "opened may wait for long",
            "have sched_interval taken out of SchedulerParameters",
        )
    kind = config.get("SchedulerType", "?")
    return _SCHEDULER.ok(
        f"{kind} looks every {every} s: what is released or opened may wait that long"
    )
