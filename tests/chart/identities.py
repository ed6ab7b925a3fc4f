"""What each identity may do, as a person would review it: the tests compare chart and cluster.

Which command needs what is in `converter.doctor.needs`.
"""

from __future__ import annotations

from collections.abc import Iterable

KUEUE = "kueue.x-k8s.io"
TRAINER = "trainer.kubeflow.org"

Permission = tuple[str, str, str, str]


def _expand(table: Iterable[tuple[str, str, str, str]]) -> set[Permission]:
    return {
        (group, resource, name, verb)
        for group, resource, name, verbs in table
        for verb in verbs.split()
    }


def apply_in_namespace(queue: str, namespace: str) -> set[Permission]:
    """The Role of `apply`."""
    return _expand(
        [
            ("batch", "jobs", "*", "get list watch create patch delete"),
            ("", "configmaps", "*", "get list watch create patch delete"),
            (KUEUE, "workloads", "*", "list watch patch delete"),
            (KUEUE, "localqueues", queue, "get"),
            ("", "namespaces", namespace, "get"),
            ("coordination.k8s.io", "leases", "*", "create"),
            ("coordination.k8s.io", "leases", "campaigns-apply", "get update"),
        ]
    )


def viewer_in_namespace(queue: str, namespace: str) -> set[Permission]:
    """The Role of `viewer`."""
    return _expand(
        [
            ("batch", "jobs", "*", "list watch"),
            ("", "configmaps", "*", "list watch"),
            ("", "pods", "*", "list"),
            ("", "events", "*", "list"),
            (KUEUE, "workloads", "*", "list watch"),
            (KUEUE, "localqueues", queue, "get"),
            ("", "namespaces", namespace, "get"),
            ("visibility.kueue.x-k8s.io", "localqueues/pendingworkloads", queue, "get"),
        ]
    )


def holder_in_namespace() -> set[Permission]:
    """The Role of `holder`; it has none in the cluster."""
    return _expand(
        [
            ("batch", "jobs", "*", "get list"),
            ("", "events", "*", "create"),
            (KUEUE, "workloads", "*", "get list update"),
            (TRAINER, "trainjobs", "*", "get"),
        ]
    )


def in_cluster(
    cluster_queue: str, flavors: Iterable[str], priority_classes: Iterable[str] = ()
) -> set[Permission]:
    """The ClusterRole of `apply` or `viewer`."""
    return _expand(
        [
            (KUEUE, "clusterqueues", cluster_queue, "get"),
            *((KUEUE, "resourceflavors", name, "get") for name in flavors),
            *((KUEUE, "workloadpriorityclasses", name, "get") for name in priority_classes),
        ]
    )
