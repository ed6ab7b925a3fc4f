"""Readings of live objects: plain decoded JSON in, plain values out."""

from collections.abc import Mapping
from typing import Any

from converter.names import MANAGED_BY_LABEL, MANAGED_BY_VALUE, REPOSITORY_ANNOTATION

Object = Mapping[str, Any]


def name(live: Object) -> str:
    """``metadata.name``."""
    return str(live["metadata"]["name"])


def uid(live: Object) -> str:
    """``metadata.uid``."""
    return str(live["metadata"]["uid"])


def version(live: Object) -> str:
    """``metadata.resourceVersion``."""
    return str(live["metadata"]["resourceVersion"])


def controller_uid(live: Object) -> str:
    """The uid of the owner that controls the object; empty when none does."""
    for owner in live["metadata"].get("ownerReferences") or ():
        if owner.get("controller") is True:
            return str(owner["uid"])
    return ""


def label(live: Object, key: str) -> str:
    """The value of a label; empty when the object has none of that key."""
    return str((live["metadata"].get("labels") or {}).get(key, ""))


def annotation(live: Object, key: str) -> str:
    """The value of an annotation; empty when the object has none of that key."""
    return str((live["metadata"].get("annotations") or {}).get(key, ""))


def is_ours(live: Object, repository: str) -> bool:
    """Whether this repository's apply made the object."""
    return (
        label(live, MANAGED_BY_LABEL) == MANAGED_BY_VALUE
        and annotation(live, REPOSITORY_ANNOTATION) == repository
    )


def true_condition(live: Object, *types: str) -> Object | None:
    """The first condition of one of these types whose status is True."""
    for condition in (live.get("status") or {}).get("conditions") or ():
        if condition.get("type") in types and condition.get("status") == "True":
            return dict(condition)
    return None


def job_end(job: Object) -> Object | None:
    """The condition that ended a Job (Complete or Failed), or None while it may still run.

    SuccessCriteriaMet and FailureTarget come before these and while pods are still ending
    (https://kubernetes.io/docs/concepts/workloads/controllers/job/#terminal-job-conditions).
    """
    return true_condition(job, "Complete", "Failed")


def is_being_deleted(live: Object) -> bool:
    """Whether the object is on its way out and waits for its finalizers or dependents."""
    return bool(live["metadata"].get("deletionTimestamp"))


def is_suspended(job: Object) -> bool:
    """Whether ``spec.suspend`` keeps the Job from having pods."""
    return job["spec"].get("suspend") is True


def is_active(workload: Object) -> bool:
    """Whether a Workload may be admitted; an absent ``spec.active`` counts as true."""
    # Nothing of a QueueUnit is required, not even a spec.
    return (workload.get("spec") or {}).get("active") is not False


def index_ranges(text: str) -> tuple[int, ...]:
    """The indexes that a Job's ``completedIndexes`` or ``failedIndexes`` names.

    The format is Kubernetes': decimal numbers and ranges with commas, "1,3-5,7".
    """
    indexes: list[int] = []
    for piece in filter(None, text.split(",")):
        first, _, last = piece.partition("-")
        indexes.extend(range(int(first), int(last or first) + 1))
    return tuple(indexes)
