"""A cluster on the loopback that is fit for campaigns, and of which a test can spoil a part."""

from dataclasses import dataclass, field
from typing import Any

from unit.cli.commands import NAMESPACE
from unit.cluster.api_server import Answer, Request, failure
from unit.reconcile.queue_objects import PLENTY, cluster_queue, flavor, group, local_queue

from converter.cluster.resources import WORKLOADS
from converter.doctor.kueue import USED
from converter.doctor.namespace import ENFORCE
from converter.names import KUEUE_QUEUE_LABEL

QUEUE = "batch"
REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
LEASE = f"/apis/coordination.k8s.io/v1/namespaces/{NAMESPACE}/leases/campaigns-apply"
KUEUE = WORKLOADS.api.rpartition("/")[0]
QUEUES = f"{WORKLOADS.api}/namespaces/{NAMESPACE}/localqueues/{QUEUE}"
ADMITTED = f"{WORKLOADS.api}/namespaces/{NAMESPACE}/workloads"
VERSIONS = {"versions": [{"version": "v1beta2"}]}
# What an identity that may do everything else should not be allowed.
TOO_MUCH = (
    "*",
    "secrets",
    "pods/create",
    "pods/exec",
    "rolebindings",
    "nodes",
    "namespaces/delete",
)


def documents() -> dict[str, Any]:
    """What the server has, by path."""
    spec = {"template": {"spec": {"containers": [{"image": "kueue:v0.17.0"}]}}}
    return {
        "/version": {"gitVersion": "v1.35.4"},
        KUEUE: VERSIONS,
        WORKLOADS.api: {"resources": [{"name": each.plural} for each in USED]},
        "/apis/visibility.kueue.x-k8s.io/v1beta2": {"resources": []},
        "/apis/apps/v1/namespaces/kueue-system/deployments/kueue-controller-manager": {
            "spec": spec
        },
        f"/api/v1/namespaces/{NAMESPACE}": {
            "metadata": {"name": NAMESPACE, "labels": {ENFORCE: "restricted"}}
        },
        QUEUES: local_queue(QUEUE),
        ADMITTED: {"metadata": {}, "items": []},
        f"{WORKLOADS.api}/clusterqueues/gpu-cq": cluster_queue(group({"any": PLENTY})),
        f"{WORKLOADS.api}/resourceflavors/any": flavor(),
        LEASE: {"metadata": {}, "spec": {}},
    }


@dataclass
class FitCluster:
    """The handler of a fit cluster. `spoilt` are answers by the path that they are given at."""

    documents: dict[str, Any] = field(default_factory=documents)
    spoilt: dict[str, Answer] = field(default_factory=dict)
    denied: tuple[str, ...] = TOO_MUCH

    def __call__(self, request: Request) -> Answer:
        if spoilt := self.spoilt.get(request.path):
            return spoilt
        if request.method == "POST":
            return self._created(request)
        if request.path in self.documents:
            return Answer(200, self.documents[request.path])
        return failure(404, "NotFound")

    def _created(self, request: Request) -> Answer:
        body = request.body
        if request.path == JOBS:
            queued = KUEUE_QUEUE_LABEL in body["metadata"]["labels"]
            return Answer(201, {**body, "spec": {**body["spec"], "suspend": queued}})
        if request.path == REVIEWS:
            return Answer(201, {**body, "status": {"allowed": self._allowed(body)}})
        return Answer(201, {**body, "status": {"userInfo": {"username": "ci"}}})

    def _allowed(self, review: dict[str, Any]) -> bool:
        asked = review["spec"]["resourceAttributes"]
        resource, verb = asked["resource"], asked["verb"]
        if resource in ("clusterqueues", "resourceflavors") and verb == "patch":
            return False
        names = {resource, f"{resource}/{verb}", f"{resource}/{asked['subresource']}"}
        return not names & set(self.denied)
