"""No queue: Jobs that apply itself starts, pauses and resumes by their ``spec.suspend``."""

from converter.cluster.objects import Object
from converter.model import Backend, Campaign, Settings
from converter.queues.base import JobMetadata, Prepared
from converter.queues.suspended import (
    is_hand,
    pod_priority_class_of,
    prepared,
    taken_by_kueue,
)


class Plain:
    """The backend `none` (`QueueSystem`)."""

    backend = Backend.NONE
    title = "Kubernetes"
    unit_kind = "Job"

    def job_metadata(
        self, campaign: Campaign, settings: Settings, max_execution_seconds: int | None
    ) -> JobMetadata:
        """Nothing: no queue looks at it."""
        return JobMetadata()

    def pod_priority_class(self, campaign: Campaign) -> str:
        """The campaign's: a PriorityClass of Kubernetes, for the scheduler."""
        return campaign.priority

    def starts_suspended(self, campaign: Campaign) -> bool:
        """Always: it waits at its start gate until apply opens it."""
        return True

    def prepare(self, job: Object, live: Object | None) -> Prepared:
        """Without ``spec.suspend`` once it was started."""
        return prepared(job, live)

    def dry_run_objection(self, sent: Object, answered: Object) -> str:
        """That Kueue would take it, and start and stop it as it sees fit."""
        return taken_by_kueue(sent, answered, self.backend)

    def is_controller(self, manager: str) -> bool:
        """All but kubectl: a hold that is released, or opened, writes ``spec.suspend`` as well."""
        return not is_hand(manager)

    def queue_of(self, job: Object) -> str:
        """None."""
        return ""

    def priority_of(self, job: Object) -> str:
        """The PriorityClass of its pods."""
        return pod_priority_class_of(job)
