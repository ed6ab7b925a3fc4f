"""Which hold is on a Job. Pure.

Kueue's Workload of a Job carries the hold; a Job that is in no queue carries it itself.
"""

from collections.abc import Iterable, Sequence

from converter.cluster.objects import Object, is_being_deleted, job_end, label, true_condition
from converter.holds.annotate import annotations
from converter.holds.mark import Mark, mark_of
from converter.names import KUEUE_QUEUE_LABEL


def hold_on(job: Object | None, workloads: Iterable[Object]) -> Mark | None:
    """The hold on a Job and the Workloads that Kueue made for it; None without one.

    One that has ended is held from nothing, and a Workload on its way out gives way to another.
    """
    if job is None or job_end(job) is not None:
        return None
    going_on = [
        each
        for each in workloads
        if not is_being_deleted(each) and true_condition(each, "Finished") is None
    ]
    alone = [] if label(job, KUEUE_QUEUE_LABEL) else [job]
    return strongest(mark_of(annotations(each)) for each in (*going_on, *alone))


def strongest(marks: Iterable[Mark | None]) -> Mark | None:
    """Of several holds the one that gives way last: one that no call can name, else the newest."""
    found = [mark for mark in marks if mark is not None]
    unreadable: Sequence[Mark] = [mark for mark in found if mark.instance is None]
    if unreadable:
        return unreadable[0]
    return max(found, key=lambda mark: mark.instance or 0, default=None)
