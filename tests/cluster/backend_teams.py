"""Teams on clusters without Kueue's queue: on Koord-Queue's stand-in, and on none."""

from __future__ import annotations

import itertools
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import backends_document as document
from cluster.team import Team, eventually
from conftest import RunningCluster
from localcluster.tenant import Tenant

from cluster import koord, koord_crds
from converter.cluster.client import Client
from converter.errors import NotFound
from converter.koord_queue.definition import read_spec_fields
from converter.model import Backend

NUMBERS = itertools.count()


def unqueued_team(
    cluster: RunningCluster, home: Path, backend: Backend, **settings: object
) -> Team:
    """A namespace without the chart, and one identity with all the rights of the documents."""
    rules = [rule for role in document.roles(backend).values() for rule in role]
    name = f"b{os.getpid()}-{next(NUMBERS)}"
    tenant = Tenant(cluster.local.kubectl, cluster.helm_command, name, name)
    account = f"{name}-apply"
    subject = {"kind": "ServiceAccount", "name": account, "namespace": name}
    group = "rbac.authorization.k8s.io"
    cluster.local.kubectl.apply(
        [
            {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}},
            _named("v1", "ServiceAccount", account, name),
            {**_named(f"{group}/v1", "Role", account, name), "rules": rules},
            {
                **_named(f"{group}/v1", "RoleBinding", account, name),
                "roleRef": {"apiGroup": group, "kind": "Role", "name": account},
                "subjects": [subject],
            },
        ]
    )
    home.mkdir()
    tenant.write_kubeconfig(home / "kubeconfig")
    team = Team(cluster.local, tenant, home / "repo", home / "kubeconfig")
    team.write_settings(backend=str(backend), **settings)
    return team


def _named(version: str, kind: str, name: str, namespace: str) -> dict[str, object]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": version, "kind": kind, "metadata": metadata}


def define(cluster: RunningCluster, *, later: bool) -> None:
    """QueueUnits of one generation. One file of tests alone may have any."""
    cluster.local.kubectl.apply([koord_crds.queue_units(later=later), koord_crds.queues()])
    client = Client.from_kubeconfig(kubeconfig=cluster.kubeconfig)
    koord.wait_for_definition(client)

    def is_published() -> bool:
        # Seconds after the objects themselves are served.
        try:
            return ("active" in read_spec_fields(client)) is later
        except NotFound:
            return False

    eventually(is_published, "the generation")


@dataclass(frozen=True)
class Koord:
    """A team on Koord-Queue's stand-in, whose faults and gates a test may set."""

    team: Team
    queue: koord.KoordQueue

    def unit(self, name: str) -> dict[str, Any]:
        found = self.team.get("queueunit", name)
        assert found is not None
        return found


def remove(team: Team) -> None:
    """End what runs; the namespace goes in its own time."""
    team.kubectl("delete", "jobs", "--all", "--wait=false")
    team.cluster.kubectl.run("delete", "namespace", team.namespace, "--wait=false")
