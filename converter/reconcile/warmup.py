"""What becomes of a warm-up Job that is there already: pure readings of the Job.

A Job's template is immutable, and one that failed never runs again by itself, so a warm-up that is
to run otherwise, or again, is deleted and made anew. Each recipe has a directory of its own on the
data volume, and its marker is in there: no pod passes the gate on what another recipe left.

The Job's status is all that is asked: its pods may be read by few, and cost a request each time.
`ready` of it counts the pods whose containers run (there is no probe), `active` also those that
wait for a node or an image
(https://kubernetes.io/docs/reference/kubernetes-api/workload-resources/job-v1/#JobStatus).
"""

from typing import Any, Final

from converter.cluster.objects import (
    Object,
    annotation,
    is_being_deleted,
    is_suspended,
    job_end,
    true_condition,
)
from converter.names import RECIPE_ANNOTATION

_CLAIM: Final = "persistentVolumeClaim"


def is_outdated(rendered: Object, present: Object) -> bool:
    """Whether the Job `present` is to be deleted and made anew as `rendered`.

    So is one that failed, or that somebody is deleting: the name is free again when it is gone. One
    that fills another directory than the one that pods wait for is left alone only while its pod
    runs. A pod that has not started has nothing to lose, and may never start.
    """
    if is_being_deleted(present) or _has_failed(present):
        return True
    return _target(rendered) != _target(present) and not _is_running(present)


def hindrance(rendered: Object, present: Object) -> str:
    """What keeps a warm-up that is left as it is from getting on; empty where nothing is known."""
    status = _status(present)
    if job_end(present) is not None:
        return ""
    if _is_running(present):
        if _target(rendered) == _target(present):
            return ""
        return (
            "it still fills the directory of another recipe, and new campaigns wait for this one: "
            "apply again when it has ended, or delete the Job and apply"
        )
    if is_suspended(present):
        return (
            "it is suspended, so its pipeline's volumes wait: let whoever suspended it let it go "
            "on (Kueue suspends it with manageJobsWithoutQueueName)"
        )
    if failed := status.get("failed"):
        return f"{failed} of its pods failed, and it is tried again; see `kubectl logs`"
    if status.get("active"):
        since = f" since {status['startTime']}" if "startTime" in status else ""
        return (
            f"its pod has not started{since}: where that lasts, no node has room for it, or its "
            "image or a volume is not to be had; see `kubectl describe pod`"
        )
    return ""


def _has_failed(job: Object) -> bool:
    """FailureTarget comes before Failed, while pods still end; there is no way back from it."""
    return true_condition(job, "Failed", "FailureTarget") is not None


def _is_running(job: Object) -> bool:
    return bool(_status(job).get("ready"))


def _status(job: Object) -> Object:
    status: Object = job.get("status") or {}
    return status


def _target(job: Object) -> tuple[str, list[Any]]:
    """What a warm-up fills: the directory of its recipe, on the claims that its pod mounts."""
    template = job["spec"]["template"]
    volumes = template["spec"].get("volumes") or ()
    claims = [volume[_CLAIM]["claimName"] for volume in volumes if _CLAIM in volume]
    return annotation(template, RECIPE_ANNOTATION), claims
