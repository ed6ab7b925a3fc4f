"""The kinds of object that a hold can be on, and what they say of themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from converter.cluster.objects import Object, true_condition
from converter.cluster.resources import JOBS, TRAINJOBS, Resource


@dataclass(frozen=True, slots=True)
class Subject:
    """The object that a call was about, as it was read."""

    resource: Resource
    live: Object


@dataclass(frozen=True, slots=True)
class OwnerKind:
    """A kind with ``spec.suspend``. `pods_label` is the label of its pods that has its name;
    `ended_by` are the conditions that end it.
    """

    resource: Resource
    pods_label: str
    ended_by: tuple[str, ...]

    def has_ended(self, live: Object) -> bool:
        """Whether it has ended, so that nothing starts it any more."""
        return true_condition(live, *self.ended_by) is not None


# The last two come first: the Job's controller then ends the pods that are left, and starts none
# (https://kubernetes.io/docs/concepts/workloads/controllers/job/#terminal-job-conditions).
_JOB_ENDS: Final = ("Complete", "Failed", "SuccessCriteriaMet", "FailureTarget")

# A TrainJob's pods are made by way of a JobSet of the same name (Kubeflow Trainer 2.2,
# pkg/runtime/framework/plugins/jobset).
OWNERS: Final[Mapping[str, OwnerKind]] = {
    "Job": OwnerKind(JOBS, "batch.kubernetes.io/job-name", _JOB_ENDS),
    "TrainJob": OwnerKind(TRAINJOBS, "jobset.sigs.k8s.io/jobset-name", ("Complete", "Failed")),
}
