"""Kubeflow Trainer, and JobSet, which it makes its pods with, run beside the cluster."""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from localcluster import controlplane
from localcluster.api import answers
from localcluster.build import Built
from localcluster.controlplane import Certificates
from localcluster.instance import Instance
from localcluster.kueue import WEBHOOK_KINDS, Object, by_url, merge
from localcluster.spec import read_yaml
from localcluster.supervisor import Component

DEFINITIONS = {
    "jobset": "config/components/crd/bases/*.yaml",
    "trainer": "manifests/base/crds/trainer.*.yaml",
}
ROLES = {
    "jobset": "config/components/rbac/role.yaml",
    "trainer": "manifests/base/rbac/role.yaml",
}
WEBHOOKS = {
    "jobset": "config/components/webhook/manifests.yaml",
    "trainer": "manifests/base/webhook/manifests.yaml",
}
USERS = {"jobset": controlplane.JOBSET, "trainer": controlplane.TRAINER}

CERTIFICATES = "k8s-webhook-server/serving-certs"
"""Where controller-runtime looks for a webhook's certificate, below the directory for temporary
files; Trainer cannot be told another place."""


def before(name: str, built: Built) -> list[Object]:
    """What has to be there before a controller starts: its CRDs, and what it may do."""
    definitions = [read_yaml(path) for path in sorted(built.path.glob(DEFINITIONS[name]))]
    (role,) = (
        found for found in _documents(built.path / ROLES[name]) if found["kind"] == "ClusterRole"
    )
    metadata = {"name": f"{name}-manager"}
    binding = {
        "apiVersion": role["apiVersion"],
        "kind": "ClusterRoleBinding",
        "metadata": metadata,
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": metadata["name"],
        },
        "subjects": [
            {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": USERS[name]}
        ],
    }
    return [*definitions, {**role, "metadata": metadata}, binding]


def after(name: str, built: Built, url: str, ca_bundle: bytes) -> list[Object]:
    """The webhooks of a controller that is ready, called by URL.

    JobSet's for pods are left out: they place a Job on a domain of its own, which nobody asks for
    here, and while JobSet is away no pod of it could be made.
    """
    return [
        {
            **found,
            "metadata": {"name": f"{name}-{found['metadata']['name']}"},
            "webhooks": [
                {**each, "clientConfig": by_url(each["clientConfig"], url, ca_bundle)}
                for each in found["webhooks"]
                if "pods" not in each["rules"][0]["resources"]
            ],
        }
        for found in _documents(built.path / WEBHOOKS[name])
        if found["kind"] in WEBHOOK_KINDS
    ]


def prepare(instance: Instance, name: str, certificates: Certificates) -> None:
    """The directory that a controller runs in, with the webhook's certificate."""
    directory = _directory(instance, name) / CERTIFICATES
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    shutil.copyfile(certificates.webhook.cert, directory / "tls.crt")
    (directory / "tls.key").touch(mode=0o600)
    shutil.copyfile(certificates.webhook.key, directory / "tls.key")


def jobset(instance: Instance, built: Built) -> Component:
    """JobSet's controller manager."""
    released = read_yaml(built.path / "config/components/manager/controller_manager_config.yaml")
    return _controller(instance, built, released, "internalCertManagement")


def trainer(instance: Instance, built: Built) -> Component:
    """Trainer's controller manager."""
    released = read_yaml(built.path / "manifests/base/manager/controller_manager_config.yaml")
    return _controller(instance, built, released, "certManagement")


def configuration(
    instance: Instance, name: str, released: Mapping[str, Any], own_certificates: str
) -> Object:
    """A controller's Configuration: the release's, on this instance's ports."""
    local = {
        "health": {"healthProbeBindAddress": f"127.0.0.1:{instance.ports[f'{name}-health']}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {"host": "127.0.0.1", "port": instance.ports[f"{name}-webhook"]},
        "leaderElection": {"leaderElect": False},
        own_certificates: {"enable": False},
    }
    merged: Object = merge(released, local)
    return merged


def _controller(
    instance: Instance, built: Built, released: Mapping[str, Any], own_certificates: str
) -> Component:
    name = built.product
    config = instance.etc / f"{name}.yaml"
    health = instance.url(f"{name}-health", "http")
    directory = _directory(instance, name)
    return Component(
        name=name,
        argv=(
            str(built.binary(name)),
            f"--config={config}",
            f"--kubeconfig={instance.pki / f'{name}.kubeconfig'}",
        ),
        ready=lambda _: answers(f"{health}/readyz"),
        directory=directory,
        files={config: json.dumps(configuration(instance, name, released, own_certificates))},
        environment={"TMPDIR": str(directory)},
    )


def _directory(instance: Instance, name: str) -> Path:
    return instance.directory / name


def _documents(path: Path) -> list[Object]:
    return [found for found in YAML(typ="safe").load_all(path) if found]
