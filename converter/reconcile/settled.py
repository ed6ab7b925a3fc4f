"""The parts of a live campaign that are decided for good."""

from typing import Any

from converter.cluster.fields import applied_fields, extract
from converter.cluster.objects import Object, annotation, job_end
from converter.names import FIELD_MANAGER, INPUTS_ANNOTATION

# Fields of a Job's spec that the API server lets change, and that git may change.
MUTABLE = ("suspend", "parallelism", "ttlSecondsAfterFinished")


def settled_job(job: Object, live: Object) -> Object:
    """The rendered Job, with what was applied before where only our own template moved on.

    A Job's pod template is immutable. When the inputs (campaign, pipeline, size, settings) are
    those that the live Job was made from, a difference in the template comes from a newer release
    of this tool; the live Job keeps its own, or every campaign would be refused by an upgrade.
    """
    same = annotation(job, INPUTS_ANNOTATION) == annotation(live, INPUTS_ANNOTATION)
    applied: dict[str, Any] = extract(live, applied_fields(live, FIELD_MANAGER))
    if not same or job_end(live) is not None or "template" not in applied.get("spec", {}):
        return job
    spec = {key: value for key, value in applied["spec"].items() if key not in MUTABLE}
    spec |= {key: job["spec"][key] for key in MUTABLE if key in job["spec"]}
    return {**job, "spec": spec}


def settled_volumes(configmap: Object, live: Object | None) -> Object:
    """The rendered ConfigMap of a live Job's volumes, with the data that was applied before.

    The Job keeps its launcher, so it keeps the form of the data that this one reads. A key that
    somebody else edited or took away is no longer ours, and is put right from the render.
    """
    ours = {} if live is None else applied_fields(live, FIELD_MANAGER).get("f:data", {})
    if live is None or not ours:
        return configmap
    return {**configmap, "data": {**configmap["data"], **extract(live["data"], ours)}}
