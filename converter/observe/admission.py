"""What Kueue gave a Job, and for how long it has had it: a pure reading of its Workloads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from converter.cluster.objects import Object, true_condition
from converter.times import instant

# Kueue makes the Workload of a Job within a second of it; one that is later may be another one.
SAME_SECONDS: Final = 60.0


@dataclass(frozen=True, slots=True)
class Admission:
    """The flavors that pods were admitted on, each once, and the time with an admission.

    `past_seconds` is that of earlier admissions, before Kueue or somebody stopped it, and `since`
    (RFC 3339, empty without one) when the present one began. A Workload that was made anew has
    forgotten the time of the one before, and a record has no time at all: where volumes ended
    meanwhile, `is_partial` says that the time is not that of all of them.
    """

    flavors: tuple[str, ...] = ()
    past_seconds: int = 0
    since: str = ""
    is_partial: bool = False

    def seconds(self, now: datetime) -> float:
        """How long it has run in all."""
        if not self.since:
            return self.past_seconds
        return self.past_seconds + (now - datetime.fromisoformat(self.since)).total_seconds()

    @staticmethod
    def together(parts: Sequence["Admission"]) -> "Admission":
        """Of several parts, which run side by side."""
        return Admission(
            flavors=tuple(dict.fromkeys(flavor for part in parts for flavor in part.flavors)),
            past_seconds=max(part.past_seconds for part in parts),
            since=min((part.since for part in parts if part.since), default=""),
            is_partial=any(part.is_partial for part in parts),
        )


NO_ADMISSION: Final = Admission()


def admission_of(workloads: Sequence[Object]) -> Admission:
    """Reads ``status.admission`` and the condition Admitted of a Job's Workloads."""
    flavors: dict[str, None] = {}
    past, since = 0, ""
    for workload in workloads:
        status = workload.get("status") or {}
        past += int(status.get("accumulatedPastExecutionTimeSeconds") or 0)
        admitted = true_condition(workload, "Admitted")
        if admitted is None:
            continue
        since = str(admitted.get("lastTransitionTime") or "")
        for podset in (status.get("admission") or {}).get("podSetAssignments") or ():
            flavors.update(dict.fromkeys((podset.get("flavors") or {}).values()))
    return Admission(tuple(flavors), past, since)


def lacks_time(job: Object, workloads: Sequence[Object]) -> bool:
    """Whether a Job may have run for longer than its Workloads say.

    They have never been admitted, or the first was made long after the Job: it may be a new one in
    the place of another, or that of a Job that came into the queue late.
    """
    known = admission_of(workloads)
    if not known.since and not known.past_seconds:
        return True
    created = instant(str(job["metadata"].get("creationTimestamp") or ""))
    queued = [
        time
        for each in workloads
        if (time := instant(str(each["metadata"].get("creationTimestamp") or "")))
    ]
    if created is None or not queued:
        return False
    return (min(queued) - created).total_seconds() > SAME_SECONDS
