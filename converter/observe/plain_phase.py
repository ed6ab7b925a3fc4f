"""Where a Job is that no queue has: what its ``spec.suspend`` and its pods say."""

from converter.cluster.objects import Object, annotation, is_suspended, true_condition
from converter.holds.annotate import annotations
from converter.holds.mark import mark_of
from converter.holds.words import named, told
from converter.names import OPENED_ANNOTATION, SUSPEND_ANNOTATION
from converter.observe.job_phase import JobPhase, pods_of, time_of
from converter.observe.phase import Phase


def plain_phase(job: Object, pods: int) -> JobPhase:
    """The phase of a Job that has not ended. `pods` are its pods, those that end included."""
    mark = mark_of(annotations(job))
    paused = annotation(job, SUSPEND_ANNOTATION) == "true"
    if not is_suspended(job):
        since = time_of(job, str((job.get("status") or {}).get("startTime") or ""))
        if paused:
            return JobPhase(Phase.PAUSING, "its Job is not suspended: apply again", since)
        detail = f"{named(mark)} does not stop it" if mark else ""
        return JobPhase(Phase.RUNNING, detail, since)
    suspended = true_condition(job, "Suspended")
    since = time_of(job, str((suspended or {}).get("lastTransitionTime") or ""))
    if pods:
        who = f"being held by {named(mark)}: " if mark else ""
        return JobPhase(Phase.PAUSING, f"{who}{pods_of(pods)} ending", since)
    if mark:
        return JobPhase(Phase.HELD, told(mark), since)
    if not paused and annotation(job, OPENED_ANNOTATION) != "true":
        return JobPhase(Phase.WAITING, "it was created and not started: apply again", since)
    detail = "" if paused else "not by git, which lets it run: apply again"
    return JobPhase(Phase.PAUSED, detail, since)
