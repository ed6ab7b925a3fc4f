"""The holds of a namespace: what each stops, and whether it does."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from converter.cluster.objects import (
    Object,
    annotation,
    is_active,
    is_being_deleted,
    is_suspended,
    label,
    name,
    true_condition,
    uid,
)
from converter.holds.annotate import annotations
from converter.holds.history import Entry, history_of
from converter.holds.kinds import OWNERS
from converter.holds.mark import Mark, mark_of
from converter.holds.target import Target, part_number
from converter.koord_queue.unit import has_ended, owner_uid
from converter.names import CAMPAIGN_LABEL, HOLD_HISTORY_ANNOTATION


class Enforced(StrEnum):
    """Whether a hold stops what it is on. `ENDED`: there is nothing left to stop.

    `PARTLY`, on Slurm: what it is on does not start, while other tasks of its campaign run or are
    not held.
    """

    YES = "yes"
    PARTLY = "partly"
    STOPPING = "stopping"
    NO = "no"
    ENDED = "ended"


@dataclass(frozen=True, slots=True)
class Held:
    """A hold. `target` is what a release of it is asked for with, as it is typed.

    `carrier` is the object with the annotations, as ``Kind/name``; `campaign` is empty for what
    belongs to none, and `part` 0 for a campaign that is not split.
    """

    target: str
    carrier: str
    campaign: str
    part: int
    mark: Mark
    enforced: Enforced
    history: tuple[Entry, ...] = ()

    @property
    def stops(self) -> str:
        """What it stops, in words."""
        if not self.campaign:
            return self.target
        part = f", part {self.part}" if self.part else ""
        return f"campaign {self.campaign}{part}"


def held_workloads(workloads: Sequence[Object], jobs: Iterable[Object]) -> tuple[Held, ...]:
    """The holds on Workloads; `jobs` are those that they may have been made for."""
    owners = {uid(job): job for job in jobs}
    found = []
    for workload in workloads:
        mark = mark_of(annotations(workload))
        if mark is None:
            continue
        owner = _owner(workload)
        target = Target("Workload", name(workload))
        job, of_owner = None, [workload]
        if owner is not None:
            target = Target(str(owner["kind"]), str(owner["name"]))
            job = owners.get(str(owner["uid"]))
            of_owner = [each for each in workloads if _owner(each) == owner]
        enforced = _enforced_on_workload(workload, job, of_owner)
        found.append(_held(target, f"Workload/{name(workload)}", workload, mark, job, enforced))
    return _sorted(found)


def held_plain(kind: str, objects: Iterable[Object]) -> tuple[Held, ...]:
    """The holds on Jobs or TrainJobs that no queue system manages."""
    found = []
    for live in objects:
        mark = mark_of(annotations(live))
        if mark is not None:
            named = f"{kind}/{name(live)}"
            enforced = _enforced_on_plain(kind, live)
            found.append(_held(Target(kind, name(live)), named, live, mark, live, enforced))
    return _sorted(found)


def held_queue_units(units: Iterable[Object], jobs: Iterable[Object]) -> tuple[Held, ...]:
    """The holds on QueueUnits; `jobs` are those that they may have been made for."""
    owners = {uid(job): job for job in jobs}
    found = []
    for unit in units:
        mark = mark_of(annotations(unit))
        job = owners.get(owner_uid(unit))
        if mark is not None:
            enforced = _enforced_on_queue_unit(unit, job)
            target = Target("Job", name(unit))
            found.append(_held(target, f"QueueUnit/{name(unit)}", unit, mark, job, enforced))
    return _sorted(found)


def _held(
    target: Target,
    carrier: str,
    live: Object,
    mark: Mark,
    job: Object | None,
    enforced: Enforced,
) -> Held:
    campaign = label(job, CAMPAIGN_LABEL) if job is not None else ""
    return Held(
        target=str(target),
        carrier=carrier,
        campaign=campaign,
        part=part_number(target.name) if campaign else 0,
        mark=mark,
        enforced=enforced,
        history=history_of(annotation(live, HOLD_HISTORY_ANNOTATION)),
    )


def _sorted(found: Iterable[Held]) -> tuple[Held, ...]:
    return tuple(sorted(found, key=lambda each: (each.campaign, each.part, each.target)))


def _owner(workload: Object) -> Mapping[str, object] | None:
    """The Job or TrainJob that a Workload was made for, as it names it."""
    for reference in workload["metadata"].get("ownerReferences") or ():
        if reference.get("controller") is True and reference.get("kind") in OWNERS:
            named: Mapping[str, object] = reference
            return named
    return None


def _enforced_on_workload(
    workload: Object, job: Object | None, of_owner: Iterable[Object]
) -> Enforced:
    """Kueue takes the quota back when the last pod has gone (its package ``jobframework``)."""
    if true_condition(workload, "Finished"):
        return Enforced.ENDED
    # Kueue makes a new Workload, which is active, for one that is on its way out.
    may_start = any(is_active(each) and not true_condition(each, "Finished") for each in of_owner)
    if is_being_deleted(workload) or may_start:
        return Enforced.NO
    runs = job is not None and not is_suspended(job)
    return Enforced.STOPPING if runs or true_condition(workload, "QuotaReserved") else Enforced.YES


def _enforced_on_queue_unit(unit: Object, job: Object | None) -> Enforced:
    if has_ended(unit):
        return Enforced.ENDED
    if is_being_deleted(unit) or is_active(unit):
        return Enforced.NO
    runs = job is not None and not (is_suspended(job) and not _has_pods(job))
    return Enforced.STOPPING if runs else Enforced.YES


def _has_pods(job: Object) -> bool:
    status = job.get("status") or {}
    return bool(status.get("active") or status.get("terminating"))


def _enforced_on_plain(kind: str, live: Object) -> Enforced:
    if OWNERS[kind].has_ended(live):
        return Enforced.ENDED
    if not is_suspended(live):
        return Enforced.NO
    return Enforced.STOPPING if _has_pods(live) else Enforced.YES
