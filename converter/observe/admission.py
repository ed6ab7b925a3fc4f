"""What Kueue gave a Job, and for how long it has had it: a pure reading of its Workloads."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from converter.cluster.objects import Object, true_condition


@dataclass(frozen=True, slots=True)
class Admission:
    """The flavors that pods were admitted on, each once, and the time with an admission.

    `past_seconds` is that of earlier admissions, before Kueue or somebody stopped it, and `since`
    (RFC 3339, empty without one) when the present one began. A Workload that was made anew has
    forgotten the time of the one before.
    """

    flavors: tuple[str, ...] = ()
    past_seconds: int = 0
    since: str = ""

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
