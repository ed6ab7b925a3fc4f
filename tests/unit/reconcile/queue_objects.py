"""Queue objects for tests, as an API server answers them."""

from collections.abc import Mapping, Sequence
from typing import Any

from converter.reconcile.queue_chain import QueueChain, Read

Object = dict[str, Any]

PLENTY = {"cpu": "1k", "memory": "1Ti", "nvidia.com/gpu": "8"}


def local_queue(name: str = "gpu", cluster_queue: str = "gpu-cq", **spec: Any) -> Object:
    return _object("LocalQueue", name, {"clusterQueue": cluster_queue, **spec})


def group(quotas: Mapping[str, Mapping[str, str | Mapping[str, str]]]) -> Object:
    """A resource group: of each flavor a quota, or all members of one, by resource."""
    resources = list(next(iter(quotas.values())))
    return {
        "coveredResources": resources,
        "flavors": [
            {"name": flavor, "resources": [_quota(*each) for each in quota.items()]}
            for flavor, quota in quotas.items()
        ],
    }


def cluster_queue(*groups: Object, name: str = "gpu-cq", **spec: Any) -> Object:
    """A ClusterQueue that takes every namespace."""
    return _object(
        "ClusterQueue", name, {"namespaceSelector": {}, "resourceGroups": list(groups), **spec}
    )


def flavor(name: str = "any", labels: Mapping[str, str] | None = None, **spec: Any) -> Object:
    return _object("ResourceFlavor", name, {"nodeLabels": dict(labels or {}), **spec})


def inactive(queue: Object, reason: str, message: str, seen: int = 1) -> Object:
    """The queue, inactive as Kueue saw it at a generation; it is at generation 1 now."""
    condition = {
        "type": "Active",
        "status": "False",
        "reason": reason,
        "message": message,
        "observedGeneration": seen,
    }
    return {**queue, "status": {"conditions": [condition]}}


def chain(
    of: Read | None = None,
    flavors: Sequence[Object] = (),
    queue: Read | None = None,
    unread: Mapping[str, Read] | None = None,
    **classes: Read,
) -> QueueChain:
    """A chain of this ClusterQueue and these flavors; `unread` are flavors that could not be."""
    by_name: dict[str, Read] = {each["metadata"]["name"]: each for each in flavors}
    return QueueChain(
        "gpu", local_queue() if queue is None else queue, of, by_name | dict(unread or {}), classes
    )


def roomy() -> dict[str, Object]:
    """A whole chain that admits what the tests' campaigns ask for, by plural and name."""
    return {
        **{f"localqueues/{queue}": local_queue(queue) for queue in ("gpu", "batch")},
        "clusterqueues/gpu-cq": cluster_queue(group({"any": PLENTY})),
        "resourceflavors/any": flavor(),
    }


def _object(kind: str, name: str, spec: Object) -> Object:
    return {"kind": kind, "metadata": {"name": name, "generation": 1}, "spec": spec}


def _quota(resource: str, quota: str | Mapping[str, str]) -> Object:
    members = {"nominalQuota": quota} if isinstance(quota, str) else dict(quota)
    return {"name": resource, **members}
