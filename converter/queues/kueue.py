"""Kueue: a Job with the queue label is suspended, queued and started by Kueue.

The lever for a pause is ``spec.active`` of the Job's Workload. ``spec.suspend`` of the Job belongs
to Kueue from the first admission on, and Kueue sets it back. What is said here about Kueue was
seen on 0.17.0.
"""

from collections.abc import Mapping
from typing import Any

from converter.cluster.fields import applied_fields, owners, without_managers
from converter.cluster.objects import Object, is_suspended, label
from converter.model import Backend, Campaign, Settings
from converter.names import (
    FIELD_MANAGER,
    HANDOFF_MANAGER,
    KUEUE_MAX_EXECUTION_LABEL,
    KUEUE_MIN_PARALLELISM_ANNOTATION,
    KUEUE_PRIORITY_LABEL,
    KUEUE_QUEUE_LABEL,
)
from converter.queues.base import JobMetadata, Prepared

SUSPEND = ("spec", "suspend")
CONTROLLERS = ("kueue", "kube-controller-manager", "kube-scheduler", HANDOFF_MANAGER)


class Kueue:
    """The Kueue backend (`QueueSystem`)."""

    backend = Backend.KUEUE
    title = "Kueue"
    unit_kind = "Workload"

    def job_metadata(
        self, campaign: Campaign, settings: Settings, max_execution_seconds: int | None
    ) -> JobMetadata:
        """The queue label, and the priority label where the campaign has a priority.

        With `min_window` the Job also asks for partial admission
        (https://kueue.sigs.k8s.io/docs/tasks/run/jobs/#partial-admission).
        """
        labels = {KUEUE_QUEUE_LABEL: settings.queue}
        if campaign.priority:
            labels[KUEUE_PRIORITY_LABEL] = campaign.priority
        if max_execution_seconds is not None:
            labels[KUEUE_MAX_EXECUTION_LABEL] = str(max_execution_seconds)
        annotations = {}
        if campaign.min_window is not None:
            annotations[KUEUE_MIN_PARALLELISM_ANNOTATION] = str(campaign.min_window)
        return JobMetadata(labels, annotations)

    def pod_priority_class(self, campaign: Campaign) -> str:
        """None: the priority is Kueue's."""
        return ""

    def starts_suspended(self, campaign: Campaign) -> bool:
        """Where it is paused; Kueue's webhook suspends what is created with the queue label."""
        return campaign.suspend

    def is_controller(self, manager: str) -> bool:
        """Kueue's managers, Kubernetes' controllers and the hand-off manager."""
        return manager in CONTROLLERS or manager.startswith("kueue-")

    def prepare(self, job: Object, live: Object | None) -> Prepared:
        """What to send for a rendered Job.

        A Job that is paused before it was ever queued goes without the queue label: Kueue admits a
        labelled Job in the second it is created, and a pod would run until the pause lands. The
        label comes with the resume, while the Job is still suspended. It is never taken off again:
        that would strand the Job's Workload.

        On a resume, a ``spec.suspend`` that server-side apply owns for us alone would vanish with
        the render that no longer names it, default to false and start pods with no admission. The
        hand-off keeps it true until Kueue flips it.
        """
        paused = is_suspended(job)
        if live is None:
            return Prepared(_unqueued(job) if paused else job)
        # Also where somebody has unsuspended it: Kueue takes no label on a Job that runs.
        if paused and not label(live, KUEUE_QUEUE_LABEL):
            job = _unqueued(job)
        body = without_managers(job, live, self.is_controller, applied_fields(live, FIELD_MANAGER))
        ours_alone = owners(live, SUSPEND) == {(FIELD_MANAGER, "Apply")}
        if not paused and is_suspended(live) and ours_alone:
            return Prepared(body, _suspended_only(job))
        return Prepared(body)

    def dry_run_objection(self, sent: Object, answered: Object) -> str:
        """Why a Job must not be created although the dry run accepted it; empty when it may be.

        Where the namespace has a LocalQueue named ``default``, Kueue's webhook puts a Job without
        the queue label into it on creation (LocalQueueDefaulting), and so would queue a new
        campaign that is paused, and run it.
        """
        queue = label(answered, KUEUE_QUEUE_LABEL)
        if not is_suspended(sent) or label(sent, KUEUE_QUEUE_LABEL) or not queue:
            return ""
        return (
            f"it is new and paused, but Kueue would put it into the LocalQueue {queue} and run it, "
            f"since the namespace has a LocalQueue of that name: rename that LocalQueue, or commit "
            "the campaign without suspend: true and pause it once it is created"
        )

    def queue_of(self, job: Object) -> str:
        """The LocalQueue."""
        return label(job, KUEUE_QUEUE_LABEL)

    def priority_of(self, job: Object) -> str:
        """The WorkloadPriorityClass."""
        return label(job, KUEUE_PRIORITY_LABEL)


def _unqueued(job: Object) -> dict[str, Any]:
    labels = job["metadata"]["labels"]
    kept = {key: value for key, value in labels.items() if key != KUEUE_QUEUE_LABEL}
    return {**job, "metadata": {**job["metadata"], "labels": kept}}


def _suspended_only(job: Object) -> Mapping[str, Any]:
    return {
        "apiVersion": job["apiVersion"],
        "kind": job["kind"],
        "metadata": {"name": job["metadata"]["name"], "namespace": job["metadata"]["namespace"]},
        "spec": {"suspend": True},
    }
