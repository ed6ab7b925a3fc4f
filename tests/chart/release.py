"""A release with the three identities and two teams, and repositories for one of the teams."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from chart.identities import Permission
from chart.rights import Account, Repository
from cluster.team import condition
from localcluster.tenant import Tenant

from converter.cluster.client import Client, Object
from converter.cluster.objects import uid
from converter.cluster.resources import JOBS, WORKLOADS
from converter.doctor.needs import NEEDS, Command, Need
from converter.names import LEASE_NAME

# Of this process: what an earlier run left may still be going.
RELEASE = f"rights-{os.getpid()}"
OTHER_TEAM = f"{RELEASE}-b"
URGENT = f"{RELEASE}-urgent"
IDENTITIES = ("apply", "viewer", "holder")
# No pod runs: what is needed is seen before one does.
IMAGE = f"example.invalid/work@sha256:{'0' * 64}"
NOWHERE = {"rights.example/node": "none"}
VALUES: dict[str, Any] = {
    "queue": {"priorityClasses": [{"name": URGENT, "value": 10}]},
    "viewer": {"enabled": True},
    "holder": {"enabled": True},
    "teams": [{"namespace": OTHER_TEAM}],
}
# What the rules about objects by their name are about.
_NAMES = {
    "localqueues": RELEASE,
    "localqueues/pendingworkloads": RELEASE,
    "clusterqueues": f"{RELEASE}-cq",
    "resourceflavors": f"{RELEASE}-flavor",
    "workloadpriorityclasses": URGENT,
    "namespaces": RELEASE,
}
# What a command says that a right would have let it read.
UNREAD = {
    "pods": "pods: not permitted to read them",
    "events": "events: not permitted to read them",
    "localqueues": f"not permitted to read LocalQueue {RELEASE}",
    "localqueues/pendingworkloads": "not permitted to read the places in the queue",
    "clusterqueues": f"not permitted to read ClusterQueue {RELEASE}-cq",
    "resourceflavors": f"not permitted to read ResourceFlavor {RELEASE}-flavor",
    "workloadpriorityclasses": f"not permitted to read WorkloadPriorityClass {URGENT}",
}


class Cluster(Protocol):
    """The running cluster, as its administrator."""

    kubeconfig: Path

    def kubectl(self, *arguments: str) -> str: ...

    def tenant(self, name: str) -> Tenant: ...


@dataclass(frozen=True)
class Released:
    """The release, and a kubeconfig of each of its identities."""

    administrator: Client
    kubeconfigs: dict[str, Path]
    directory: Path

    def account(self, identity: str) -> Account:
        return Account(self.administrator, RELEASE, f"{RELEASE}-{identity}")

    def client(self, identity: str) -> Client:
        return Client.from_kubeconfig(kubeconfig=self.kubeconfigs[identity])

    def workloads(self, job: str) -> tuple[Object, ...]:
        """Those that Kueue made for a Job."""
        of_job = uid(self.administrator.get(JOBS, RELEASE, job))
        selector = f"kueue.x-k8s.io/job-uid={of_job}"
        return self.administrator.list(WORKLOADS, RELEASE, selector=selector)

    def admitted(self, job: str) -> bool:
        return any(condition(each, "Admitted") for each in self.workloads(job))

    def active(self, job: str) -> bool:
        return all(each["spec"].get("active", True) for each in self.workloads(job))

    def repository(self, name: str) -> Repository:
        """A repository whose campaigns and pipelines begin with its name."""
        made = Repository(self.directory / name, self.kubeconfigs["apply"])
        sizes = {
            "s": {"cpu": "100m", "memory": "64Mi", "gpu": 0, "workdir": "8Mi"},
            "b": {"cpu": 3, "memory": "64Mi", "gpu": 0, "workdir": "8Mi"},
        }
        made.write(
            "converter.yaml",
            {
                "namespace": RELEASE,
                "queue": RELEASE,
                "repository": name,
                "sizes": sizes,
                "default_size": "s",
                "node_selector": NOWHERE,
                "priority_classes": [URGENT],
                "data_pvc": "models",
            },
        )
        pipeline(made, name)
        return made


def pipeline(repository: Repository, name: str, **keys: object) -> None:
    document = {"image": IMAGE, "command": ["work"], **keys}
    repository.write(f"pipelines/{name}.yaml", document)


def campaign(repository: Repository, name: str, pipeline: str, **keys: object) -> None:
    document = {"pipeline": pipeline, "volumes": [name], **keys}
    repository.write(f"campaigns/{name}.yaml", document)


def install(cluster: Cluster, directory: Path) -> Released:
    """The release, with the files of its tests in a directory."""
    tenant = cluster.tenant(RELEASE)
    cluster.kubectl("create", "namespace", OTHER_TEAM)
    tenant.install(VALUES)
    kubeconfigs = {identity: directory / identity for identity in IDENTITIES}
    for identity, path in kubeconfigs.items():
        tenant.write_kubeconfig(path, account=f"{RELEASE}-{identity}")
    administrator = Client.from_kubeconfig(kubeconfig=cluster.kubeconfig)
    return Released(administrator, kubeconfigs, directory)


def remove(cluster: Cluster) -> None:
    """Take it away, without waiting for the end of that."""
    cluster.tenant(RELEASE).remove()
    cluster.kubectl("delete", "namespace", OTHER_TEAM, "--wait=false")


def permission(need: Need) -> Permission:
    named = LEASE_NAME if need.resource == "leases" and need.verb != "create" else "*"
    return (need.group, need.resource, _NAMES.get(need.resource, named), need.verb)


def needs(command: Command, *, helping: bool = False) -> list[Need]:
    """Those that a command fails without, or tells less without."""
    return [need for need in NEEDS if command in (need.helps if helping else need.needed_by)]


def of(need: Need) -> str:
    return f"{need.verb} {need.resource}"


def refusal_of(need: Need) -> str:
    """As the API server's authorizer says it."""
    return f'cannot {need.verb} resource "{need.resource}"'
