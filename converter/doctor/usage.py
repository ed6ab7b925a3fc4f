"""Quota that is held where the ClusterQueue has none any more.

Kueue 0.17.0 leaves a Workload where it was admitted when its flavor is taken out of the
ClusterQueue (``getUsage`` in its pkg/cache/scheduler goes by the flavors that the queue has now):
the status of the queue does not show it, and nothing that is admitted later leaves room for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Final

from converter.cluster.objects import Object, is_being_deleted, name, true_condition
from converter.doctor.finding import Check, Finding, Group
from converter.load.wording import listed
from converter.reconcile.queue_chain import QueueChain, Unknown

_USAGE: Final = Check(Group.QUEUE, "usage")
_SHOWN: Final = 3


def usage_findings(chain: QueueChain, workloads: Sequence[Object] | Unknown) -> Iterator[Finding]:
    """What the Workloads of the namespace hold; nothing where the ClusterQueue is not known."""
    cluster_queue = chain.cluster_queue
    if not isinstance(cluster_queue, Mapping):
        return
    yield from _deletions(chain, name(cluster_queue))
    if isinstance(workloads, Unknown):
        yield _USAGE.unknown(
            f"which flavors campaigns hold quota of: {workloads.why}",
            "have `list` on workloads granted",
        )
        return
    admitted = [each for each in workloads if _holds(each, name(cluster_queue))]
    lost: dict[str, list[str]] = {}
    for workload in admitted:
        for flavor in _flavors(workload):
            if flavor not in chain.flavors:
                lost.setdefault(flavor, []).append(_job(workload))
    for flavor, jobs in sorted(lost.items()):
        yield _lost(flavor, sorted(jobs), name(cluster_queue))
    if not lost:
        yield _USAGE.ok(
            f"ClusterQueue {name(cluster_queue)} has the flavors of all that is admitted in the "
            f"namespace ({len(admitted)})"
        )


def _lost(flavor: str, jobs: Sequence[str], cluster_queue: str) -> Finding:
    more = len(jobs) - _SHOWN
    shown = [*jobs[:_SHOWN], *([f"{more} more"] if more > 0 else ())]
    one = len(jobs) == 1
    return _USAGE.warning(
        f"{'Job' if one else 'Jobs'} {listed(shown)} {'runs' if one else 'run'} on flavor "
        f"{flavor}, which ClusterQueue {cluster_queue} no longer has: Kueue counts what "
        f"{'it uses' if one else 'they use'} nowhere, and may admit more than the nodes hold",
        f"let {'it' if one else 'them'} end, or pause and resume the campaign in git: it is then "
        f"admitted on a flavor of today; or have {flavor} put back into queue.flavors of the chart",
    )


def _deletions(chain: QueueChain, cluster_queue: str) -> Iterator[Finding]:
    for flavor, read in chain.flavors.items():
        if isinstance(read, Mapping) and is_being_deleted(read):
            yield _USAGE.warning(
                f"ResourceFlavor {flavor} is being deleted, and Kueue keeps it only as long as "
                f"ClusterQueue {cluster_queue} names it",
                "have it taken out of queue.flavors of the chart, and put back to be made anew",
            )


def _holds(workload: Object, cluster_queue: str) -> bool:
    """A Workload that has ended keeps its admission, and holds nothing."""
    admission = (workload.get("status") or {}).get("admission") or {}
    ended = true_condition(workload, "Finished")
    return admission.get("clusterQueue") == cluster_queue and ended is None


def _flavors(workload: Object) -> set[str]:
    assignments = workload["status"]["admission"].get("podSetAssignments") or ()
    return {str(flavor) for each in assignments for flavor in (each.get("flavors") or {}).values()}


def _job(workload: Object) -> str:
    owners = workload["metadata"].get("ownerReferences") or ()
    return next((str(each["name"]) for each in owners if each.get("controller")), name(workload))
