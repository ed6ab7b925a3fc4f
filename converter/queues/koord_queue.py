"""Koord-Queue: a Job that is created suspended is queued as a QueueUnit, and started by it.

The lever for a pause is ``spec.active`` of the Job's QueueUnit, beside an annotation of the Job
that Koord-Queue copies into it. ``spec.suspend`` is Koord-Queue's from the start on. What is said
here was read in its source (github.com/koordinator-sh/koord-queue) and tried on CRDs written from
that; its own controllers were not run.
"""

from typing import Any

from converter.cluster.fields import owners
from converter.cluster.objects import Object, annotation, label
from converter.model import Backend, Campaign, Settings
from converter.names import (
    FIELD_MANAGER,
    KOORD_ACTIVE_ANNOTATION,
    KOORD_MAX_EXECUTION_ANNOTATION,
    KOORD_PRIORITY_ANNOTATION,
    KOORD_QUOTA_LABEL,
    PAUSED_ANNOTATION,
)
from converter.queues.base import JobMetadata, Prepared
from converter.queues.suspended import (
    is_hand,
    pod_priority_class_of,
    prepared,
    taken_by_kueue,
)

# What Koord-Queue reads as false (Go's strconv.ParseBool); "true" is never written: it would undo
# what Koord-Queue itself has stopped.
INACTIVE = "false"
# What a Job has from its pause to its resume; Koord-Queue looks at the first.
PAUSED = {KOORD_ACTIVE_ANNOTATION: INACTIVE, PAUSED_ANNOTATION: "true"}


class KoordQueue:
    """The Koord-Queue backend (`QueueSystem`)."""

    backend = Backend.KOORD_QUEUE
    title = "Koord-Queue"
    unit_kind = "QueueUnit"

    def job_metadata(
        self, campaign: Campaign, settings: Settings, max_execution_seconds: int | None
    ) -> JobMetadata:
        """The label of the quota, by which the queue is chosen once, when the QueueUnit is made.

        The priority is said always: with none before and after, Koord-Queue overlooks a resume for
        up to a minute. Where the pods have a PriorityClass, that says it.
        """
        annotations = {}
        if not campaign.priority:
            annotations[KOORD_PRIORITY_ANNOTATION] = "0"
        if campaign.suspend:
            annotations |= PAUSED
        if max_execution_seconds is not None:
            annotations[KOORD_MAX_EXECUTION_ANNOTATION] = str(max_execution_seconds)
        return JobMetadata({KOORD_QUOTA_LABEL: settings.queue}, annotations)

    def pod_priority_class(self, campaign: Campaign) -> str:
        """The campaign's: a PriorityClass of Kubernetes."""
        return campaign.priority

    def starts_suspended(self, campaign: Campaign) -> bool:
        """Always: Koord-Queue takes up what was created suspended, and starts it."""
        return True

    def prepare(self, job: Object, live: Object | None) -> Prepared:
        """Without ``spec.suspend`` once Koord-Queue has written it.

        The annotations of a pause are rendered for a new Job alone: on one that is there they are
        the lever's, which writes them in the order that Koord-Queue needs. Those that server-side
        apply has owned since the Job was created are sent as they are, or they would vanish.
        """
        return prepared(job if live is None else _paused_as(live, job), live)

    def dry_run_objection(self, sent: Object, answered: Object) -> str:
        """That Kueue would take it: Koord-Queue's annotation and label say nothing to Kueue."""
        return taken_by_kueue(sent, answered, self.backend)

    def is_controller(self, manager: str) -> bool:
        """All but kubectl: under which name Koord-Queue writes depends on its installation."""
        return not is_hand(manager)

    def queue_of(self, job: Object) -> str:
        """The ElasticQuota."""
        return label(job, KOORD_QUOTA_LABEL)

    def priority_of(self, job: Object) -> str:
        """The PriorityClass of its pods."""
        return pod_priority_class_of(job)


def _paused_as(live: Object, job: Object) -> dict[str, Any]:
    annotations = {
        key: value for key, value in job["metadata"]["annotations"].items() if key not in PAUSED
    }
    ours = (FIELD_MANAGER, "Apply")
    annotations |= {
        key: annotation(live, key)
        for key in PAUSED
        if ours in owners(live, ("metadata", "annotations", key))
    }
    return {**job, "metadata": {**job["metadata"], "annotations": annotations}}
