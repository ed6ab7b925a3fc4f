"""What is said of quota that is held where the ClusterQueue has none any more."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from unit.doctor.findings import UNREAD, holds
from unit.reconcile.queue_objects import PLENTY, chain, cluster_queue, flavor, group

from converter.doctor.usage import usage_findings
from converter.reconcile.queue_chain import QueueChain, Unknown

Object = dict[str, Any]
QUEUE = cluster_queue(group({"a": PLENTY, "b": PLENTY}))
CHAIN = chain(QUEUE, [flavor("a"), flavor("b")])


def workload(job: str, *flavors: str, queue: str = "gpu-cq", ended: bool = False) -> Object:
    """The Workload of a Job, admitted on these flavors."""
    used = {f"resource-{number}": name for number, name in enumerate(flavors)}
    admission = {"clusterQueue": queue, "podSetAssignments": [{"name": "main", "flavors": used}]}
    finished = [{"type": "Finished", "status": "True"}] if ended else []
    return {
        "metadata": {
            "name": f"job-{job}-1a2b3",
            "ownerReferences": [{"name": job, "controller": True, "uid": job}],
        },
        "status": {"admission": admission, "conditions": finished},
    }


WAITING: Object = {"metadata": {"name": "job-w"}, "status": {}}


@pytest.mark.parametrize(
    ("read", "workloads", "expected"),
    [
        (CHAIN, [], [("ok", "(0)")]),
        (CHAIN, [workload("x", "a"), workload("y", "a", "b"), WAITING], [("ok", "(2)")]),
        (CHAIN, [workload("x", "old", ended=True)], [("ok", "(0)")]),
        (CHAIN, [workload("x", "old", queue="another")], [("ok", "(0)")]),
        (
            CHAIN,
            [workload("x", "old"), workload("y", "a")],
            [("warning", "Job x runs on flavor old, which ClusterQueue gpu-cq no longer has")],
        ),
        (
            CHAIN,
            [workload(name, "old") for name in "edcba"],
            [("warning", "Jobs a, b, c and 2 more run on flavor old")],
        ),
        (
            CHAIN,
            [workload("x", "old"), workload("y", "older", "a")],
            [("warning", "Job x runs on flavor old"), ("warning", "Job y runs on flavor older")],
        ),
        (CHAIN, UNREAD, [("unknown", "no answer")]),
        (chain(UNREAD), [workload("x", "old")], []),
        (chain(), [workload("x", "old")], []),
    ],
)
def test_usage(
    read: QueueChain, workloads: Sequence[Object] | Unknown, expected: list[tuple[str, str]]
) -> None:
    found = list(usage_findings(read, workloads))
    assert len(found) == len(expected)
    for finding, (status, words) in zip(found, expected, strict=True):
        assert finding.check == "usage"
        holds(finding, status, words)


def test_a_flavor_that_is_being_deleted() -> None:
    going = flavor("b")
    going["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    warning, fine = usage_findings(chain(QUEUE, [flavor("a"), going]), [])
    holds(warning, "warning", "ResourceFlavor b is being deleted", "out of queue.flavors")
    holds(fine, "ok")
