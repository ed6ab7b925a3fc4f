"""What the rest of the package may ask of a queue system."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from converter.cluster.objects import Object
from converter.model import EMPTY, Backend, Campaign, Settings


@dataclass(frozen=True, slots=True)
class JobMetadata:
    """What a queue system wants to find on a campaign's Job."""

    labels: Mapping[str, str] = field(default_factory=lambda: EMPTY)
    annotations: Mapping[str, str] = field(default_factory=lambda: EMPTY)


@dataclass(frozen=True, slots=True)
class Prepared:
    """A Job as it must be sent, given the one that is live.

    `handoff` is an object to apply first, as the hand-off manager and never by force; None where
    ``spec.suspend`` is in the right hands already.
    """

    body: Object
    handoff: Object | None = None


class QueueSystem(Protocol):
    """One queue system. Everything here is a pure function of its arguments."""

    backend: Backend
    # How messages call it, and the object by which a Job waits in it.
    title: str
    unit_kind: str

    def job_metadata(
        self, campaign: Campaign, settings: Settings, max_execution_seconds: int | None
    ) -> JobMetadata:
        """Labels and annotations that put a campaign's Job into the queue."""
        ...

    def pod_priority_class(self, campaign: Campaign) -> str:
        """The ``priorityClassName`` of a campaign's pods; empty where they have none."""
        ...

    def starts_suspended(self, campaign: Campaign) -> bool:
        """Whether the Job is rendered with ``spec.suspend: true``."""
        ...

    def prepare(self, job: Object, live: Object | None) -> Prepared:
        """What to send for a rendered Job, so that no pod starts without an admission."""
        ...

    def dry_run_objection(self, sent: Object, answered: Object) -> str:
        """Why a new Job may not be created, seen from the dry run's answer; empty when it may."""
        ...

    def is_controller(self, manager: str) -> bool:
        """Whether a field manager is the queue's or Kubernetes' own, so is never overruled."""
        ...

    def queue_of(self, job: Object) -> str:
        """The queue that a Job names; empty where it names none."""
        ...

    def priority_of(self, job: Object) -> str:
        """The priority class that a Job names; empty where it names none."""
        ...
