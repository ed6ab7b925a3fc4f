"""Why a live campaign may not change how it is queued: one function a rule, as in `rules`."""

import re
from typing import Final

from converter.cluster.fields import owners
from converter.cluster.objects import (
    Object,
    annotation,
    is_active,
    is_being_deleted,
    is_suspended,
    job_end,
    label,
    true_condition,
)
from converter.holds.words import in_force, lifted_by
from converter.koord_queue.unit import is_admitted
from converter.manifest import Manifest
from converter.model import Backend
from converter.names import (
    FIELD_MANAGER,
    KOORD_QUOTA_LABEL,
    KUEUE_MIN_PARALLELISM_ANNOTATION,
    KUEUE_QUEUE_LABEL,
    OPENED_ANNOTATION,
    WINDOW_ANNOTATION,
)
from converter.reconcile.held import hold_on
from converter.reconcile.live import Live, workloads_of

WINDOW: Final = re.compile(r"[0-9]{1,9}\Z")


def queued_otherwise(rendered: Manifest, live: Live) -> str:
    """The first objection to applying a campaign's Job that is live and has not ended."""
    job = live.jobs.get(rendered.name)
    if job is None or job_end(job) is not None:
        return ""
    rules = (
        _changed_backend,
        _changed_under_hold,
        _changed_queue,
        _changed_window,
        _changed_priority,
    )
    for rule in rules:
        if reason := rule(rendered, job, live):
            return reason
    return ""


def _changed_backend(rendered: Manifest, job: Object, live: Live) -> str:
    """Two of them would start and stop the same Job. Not known of one that was never started."""
    was = None
    if label(job, KUEUE_QUEUE_LABEL):
        was = Backend.KUEUE
    elif label(job, KOORD_QUOTA_LABEL):
        was = Backend.KOORD_QUEUE
    elif annotation(job, OPENED_ANNOTATION) == "true":
        was = Backend.NONE
    if was in (None, live.backend):
        return ""
    return (
        f"its Job was made for backend: {was}, and converter.yaml says {live.backend}: put the old "
        "one back until it has ended, or remove the campaign and write a new file"
    )


def _changed_under_hold(rendered: Manifest, job: Object, live: Live) -> str:
    """Neither reaches the held Workload as it should.

    To another number of pods Kueue may answer with another Workload, which has no hold
    (ensureOneWorkload in its pkg/controller/jobframework). The queue of an inactive one stays as it
    was, and a release makes it start there.
    """
    mark = hold_on(job, workloads_of(job, live.workloads))
    if mark is None:
        return ""
    same_queue = live.queue.queue_of(job) == live.queue.queue_of(rendered.body)
    same_window = _pods_at_once(job) == _pods_at_once(rendered.body) and _same_minimum(
        job, rendered.body
    )
    if same_queue and same_window:
        return ""
    what, why = "window", "what the queue has for it could be made anew, without the hold"
    if same_window:
        what, why = "queue", "its release would start it in the old one"
    return (
        f"its {what} changed while {in_force(mark)}, and {why}: apply again when it is released "
        f"({lifted_by(mark, rendered.campaign)}), or undo the change"
    )


def _changed_queue(rendered: Manifest, job: Object, live: Live) -> str:
    """Kueue takes no other queue for a Job that is not suspended, and none for one outside it."""
    was, now = (live.queue.queue_of(each) for each in (job, rendered.body))
    if was == now:
        return ""
    if live.backend is Backend.KOORD_QUEUE:
        return _other_quota(was, now, job, live)
    if is_suspended(job):
        return _still_admitted(job, live)
    if was:
        return (
            f"it runs in LocalQueue {was}, and converter.yaml says {now}: set suspend: true and "
            "apply, change queue and apply, then take suspend out; or leave queue as it was until "
            "it has ended"
        )
    if rendered.suspended:
        return ""
    return (
        "somebody started its Job without Kueue, and it runs without a quota: set suspend: true "
        "and apply, then take suspend out and apply"
    )


def _other_quota(was: str, now: str, job: Object, live: Live) -> str:
    """Koord-Queue looks at the Job's label once, when it makes the QueueUnit, and at that after."""
    units = [unit for unit in workloads_of(job, live.workloads) if not is_being_deleted(unit)]
    if all(live.queue.queue_of(unit) == now for unit in units):
        return ""
    quota = f"the quota {was}" if was else "no quota"
    return (
        f"it is in {quota}, and converter.yaml says {now}, which Koord-Queue does not follow: "
        "leave queue as it was until it has ended, or remove the campaign and write a new file"
    )


def _changed_window(rendered: Manifest, job: Object, live: Live) -> str:
    """Kueue stops every pod and queues the Job again when an admitted Job's count changes.

    Compared is what was asked for where partial admission may have lowered ``spec.parallelism``.
    """
    was, now = (_pods_at_once(present) for present in (job, rendered.body))
    if not is_suspended(job):
        return "" if was == now else _other_window(was, now, live)
    if was == now and _same_minimum(job, rendered.body):
        return ""
    # Paused, it asks for the new number when it is resumed.
    return _still_admitted(job, live) or (_taken_over(job) if was != now else "")


def _changed_priority(rendered: Manifest, job: Object, live: Live) -> str:
    """With Kueue a label of the Job, with the others a field of its pods, which never change."""
    if live.backend is Backend.KUEUE:
        return ""
    was, now = (live.queue.priority_of(each) for each in (job, rendered.body))
    if was == now:
        return ""
    return (
        f"its priority was {was or 'none'} and is now {now or 'none'}, and with backend: "
        f"{live.backend} that is a field of its pods, which cannot change: put the old one back "
        "until it has ended, or remove the campaign and write a new file"
    )


def _other_window(was: int, now: int, live: Live) -> str:
    why = {
        Backend.KUEUE: "Kueue would stop all its pods",
        Backend.KOORD_QUEUE: "Koord-Queue has a quota for the old one",
        Backend.NONE: "pods that are too many would be ended in the middle of a volume",
    }[live.backend]
    return (
        f"its window was {was} and is now {now}, and {why}: set "
        "suspend: true and apply, change the window and apply, then take suspend out"
    )


def _still_admitted(job: Object, live: Live) -> str:
    """A suspended Job still has its quota for a moment before it starts and after it stops.

    Kueue answers a change of its pods by deleting the Workload then, and makes a new one that is
    active although this one was paused. Without quota it changes the Workload and keeps the pause.
    """
    units = workloads_of(job, live.workloads)
    if live.backend is Backend.KOORD_QUEUE:
        # One that is paused may be counted as admitted for ever.
        reserved = any(is_active(unit) and is_admitted(unit) for unit in units)
    else:
        reserved = any(true_condition(workload, "QuotaReserved") for workload in units)
    if not reserved:
        return ""
    return (
        f"its window or queue changed while {live.queue.title} starts or stops it: apply again in "
        "a moment"
    )


def _taken_over(job: Object) -> str:
    """After a partial admission the number of pods is Kueue's, and git may not overrule Kueue."""
    managers = {manager for manager, _ in owners(job, ("spec", "parallelism"))}
    if FIELD_MANAGER in managers or not annotation(job, KUEUE_MIN_PARALLELISM_ANNOTATION):
        return ""
    return (
        "its window changed after Kueue had admitted it with fewer pods, and the number is Kueue's "
        "since then: put the old window back, or remove the campaign and write a new file"
    )


def _pods_at_once(job: Object) -> int:
    partial = annotation(job, KUEUE_MIN_PARALLELISM_ANNOTATION)
    asked = annotation(job, WINDOW_ANNOTATION) if partial else ""
    # Somebody may have edited the annotation.
    window = int(asked) if WINDOW.match(asked) else int(job["spec"]["parallelism"])
    return min(window, int(job["spec"]["completions"]))


def _same_minimum(present: Object, rendered: Object) -> bool:
    key = KUEUE_MIN_PARALLELISM_ANNOTATION
    return annotation(present, key) == annotation(rendered, key)
