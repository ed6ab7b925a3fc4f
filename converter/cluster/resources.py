"""The kinds of object that the reconciler reads or writes, and their paths on an API server."""

from dataclasses import dataclass
from typing import Final
from urllib.parse import quote


@dataclass(frozen=True, slots=True)
class Resource:
    """One resource of an API server.

    `api` is the path of its group and version, `page` how many objects one answer to a LIST has at
    most: as many as fit into memory when each is as large as it may be.
    """

    api: str
    plural: str
    kind: str
    namespaced: bool = True
    page: int = 500

    def path(self, namespace: str, name: str = "") -> str:
        """The URL path of one object, or of the collection where `name` is empty."""
        scope = f"/namespaces/{quote(namespace, safe='')}" if self.namespaced else ""
        leaf = f"/{quote(name, safe='')}" if name else ""
        return f"{self.api}{scope}/{self.plural}{leaf}"


CONFIGMAPS: Final = Resource("/api/v1", "configmaps", "ConfigMap", page=100)
JOBS: Final = Resource("/apis/batch/v1", "jobs", "Job")
TRAINJOBS: Final = Resource("/apis/trainer.kubeflow.org/v1alpha1", "trainjobs", "TrainJob")
LEASES: Final = Resource("/apis/coordination.k8s.io/v1", "leases", "Lease")
_KUEUE: Final = "/apis/kueue.x-k8s.io/v1beta2"
WORKLOADS: Final = Resource(_KUEUE, "workloads", "Workload")
LOCAL_QUEUES: Final = Resource(_KUEUE, "localqueues", "LocalQueue")
CLUSTER_QUEUES: Final = Resource(_KUEUE, "clusterqueues", "ClusterQueue", namespaced=False)
RESOURCE_FLAVORS: Final = Resource(_KUEUE, "resourceflavors", "ResourceFlavor", namespaced=False)
PRIORITY_CLASSES: Final = Resource(
    _KUEUE, "workloadpriorityclasses", "WorkloadPriorityClass", namespaced=False
)

_KOORD: Final = "/apis/scheduling.x-k8s.io/v1alpha1"
QUEUE_UNITS: Final = Resource(_KOORD, "queueunits", "QueueUnit")
KOORD_QUEUES: Final = Resource(_KOORD, "queues", "Queue")

# Of the pods themselves, where no Kueue has classes of its own.
POD_PRIORITY_CLASSES: Final = Resource(
    "/apis/scheduling.k8s.io/v1", "priorityclasses", "PriorityClass", namespaced=False
)

# What Kueue's visibility API has of a LocalQueue: its subresource `pendingworkloads`.
LOCAL_QUEUES_VISIBLE: Final = Resource(
    "/apis/visibility.kueue.x-k8s.io/v1beta2", "localqueues", "LocalQueue"
)
PODS: Final = Resource("/api/v1", "pods", "Pod")
EVENTS: Final = Resource("/api/v1", "events", "Event")
NAMESPACES: Final = Resource("/api/v1", "namespaces", "Namespace", namespaced=False)
DEPLOYMENTS: Final = Resource("/apis/apps/v1", "deployments", "Deployment")

# Questions to the API server: a create that stores nothing.
ACCESS_REVIEWS: Final = Resource(
    "/apis/authorization.k8s.io/v1",
    "selfsubjectaccessreviews",
    "SelfSubjectAccessReview",
    namespaced=False,
)
SELF_REVIEWS: Final = Resource(
    "/apis/authentication.k8s.io/v1", "selfsubjectreviews", "SelfSubjectReview", namespaced=False
)

# What a rendered manifest can be.
RENDERED: Final = {resource.kind: resource for resource in (CONFIGMAPS, JOBS)}
