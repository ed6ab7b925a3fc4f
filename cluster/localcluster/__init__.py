"""A Kubernetes cluster with Kueue on one machine, without a Docker engine."""

from localcluster.audit import AuditEvent, AuditLog
from localcluster.cluster import Cluster, Status
from localcluster.errors import ClusterError
from localcluster.image import Image
from localcluster.progress import Progress
from localcluster.spec import KwokNode, Mode, RealNode, Spec

__all__ = [
    "AuditEvent",
    "AuditLog",
    "Cluster",
    "ClusterError",
    "Image",
    "KwokNode",
    "Mode",
    "Progress",
    "RealNode",
    "Spec",
    "Status",
]
