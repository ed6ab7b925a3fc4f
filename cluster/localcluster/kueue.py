"""Kueue, run beside the cluster: its manifests rewritten for that, its configuration, command."""

from __future__ import annotations

import base64
import copy
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcluster.api import answers
from localcluster.build import Built
from localcluster.controlplane import Certificates
from localcluster.instance import Instance
from localcluster.spec import read_yaml
from localcluster.supervisor import Component

NAMESPACE = "kueue-system"
WEBHOOK_SERVICE = "kueue-webhook-service"
WEBHOOK_CERTIFICATE = "kueue-webhook-server-cert"
VISIBILITY_SERVICE = "kueue-visibility-server"

WEBHOOK_KINDS = frozenset({"MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"})

LEFT_OUT_KINDS = frozenset({"Deployment", "ConfigMap", "Secret", "Service"})
"""Kueue is a process here, with files for its configuration and certificates."""

Object = dict[str, Any]


@dataclass(frozen=True)
class Manifests:
    """Kueue's objects: what has to be there before it starts, and what after it is ready."""

    before: tuple[Object, ...]
    after: tuple[Object, ...]


def rewrite(
    objects: Iterable[Object], *, webhook_url: str, ca_bundle: bytes, visibility_port: int
) -> Manifests:
    """The manifests of Kueue's release for a Kueue outside the cluster.

    Webhooks and the CRDs' conversion are called by URL instead of by Service. The aggregated API
    goes to an ExternalName Service, which the API server resolves itself.
    """
    before: list[Object] = []
    after: list[Object] = []
    for original in objects:
        item = copy.deepcopy(original)
        kind = item["kind"]
        if kind in LEFT_OUT_KINDS:
            continue
        if kind in WEBHOOK_KINDS:
            for webhook in item["webhooks"]:
                webhook["clientConfig"] = by_url(webhook["clientConfig"], webhook_url, ca_bundle)
            after.append(item)
        elif kind == "APIService":
            item["spec"]["service"]["port"] = visibility_port
            after.append(item)
        else:
            conversion = item.get("spec", {}).get("conversion", {}).get("webhook")
            if kind == "CustomResourceDefinition" and conversion:
                conversion["clientConfig"] = by_url(
                    conversion["clientConfig"], webhook_url, ca_bundle
                )
            before.append(item)
    return Manifests(tuple(before), (_visibility_service(visibility_port), *after))


def by_url(client_config: Mapping[str, Any], url: str, ca_bundle: bytes) -> Object:
    """How a webhook is called at a URL that is called by its Service in a release."""
    path = client_config["service"]["path"]
    return {"url": f"{url}{path}", "caBundle": base64.b64encode(ca_bundle).decode()}


def _visibility_service(port: int) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": VISIBILITY_SERVICE, "namespace": NAMESPACE},
        "spec": {
            "type": "ExternalName",
            "externalName": "localhost",
            "ports": [{"name": "https", "port": port}],
        },
    }


def is_visibility(api_service: Mapping[str, Any]) -> bool:
    """Whether an APIService is one of the versions of Kueue's visibility API."""
    service = api_service["spec"].get("service") or {}
    return bool(service.get("name") == VISIBILITY_SERVICE)


def webhook_secret(certificates: Certificates) -> Object:
    """The Secret in which Kueue's rotator keeps its certificates, filled with ours beforehand."""
    content = {
        "ca.crt": certificates.webhook_ca.cert,
        "ca.key": certificates.webhook_ca.key,
        "tls.crt": certificates.webhook.cert,
        "tls.key": certificates.webhook.key,
    }
    return {
        "apiVersion": "v1",
        "kind": "Secret",
        "metadata": {"name": WEBHOOK_CERTIFICATE, "namespace": NAMESPACE},
        "data": {
            name: base64.b64encode(path.read_bytes()).decode() for name, path in content.items()
        },
    }


def merge(base: Any, patch: Any) -> Any:
    """A JSON merge patch (RFC 7386): null takes a key away, a list replaces a list."""
    if not isinstance(patch, Mapping):
        return patch
    merged = dict(base) if isinstance(base, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            merged.pop(key, None)
        else:
            merged[key] = merge(merged.get(key), value)
    return merged


def configuration(instance: Instance, released: Mapping[str, Any]) -> Object:
    """Kueue's Configuration: the release's, on this instance's ports, with the spec's changes.

    Its certificates are managed by Kueue itself, as in a release: without that it insists on
    files under /etc.
    """
    local = {
        "health": {"healthProbeBindAddress": f"127.0.0.1:{instance.ports['kueue-health']}"},
        "metrics": {"bindAddress": "0"},
        "webhook": {
            "host": "127.0.0.1",
            "port": instance.ports["kueue-webhook"],
            "certDir": str(_directory(instance) / "webhook"),
        },
        "leaderElection": {"leaderElect": False},
        "internalCertManagement": {
            "enable": True,
            "webhookServiceName": WEBHOOK_SERVICE,
            "webhookSecretName": WEBHOOK_CERTIFICATE,
        },
        "visibilityServer": {
            "bindAddress": "127.0.0.1",
            "bindPort": instance.ports["kueue-visibility"],
        },
        "manageJobsWithoutQueueName": False,
        "integrations": {"frameworks": ["batch/job"]},
    }
    merged: Object = merge(merge(released, local), instance.spec.kueue_config)
    return merged


def released_configuration(built: Built) -> Any:
    """The Configuration that the release ships."""
    return read_yaml(built.path / "config/components/manager/controller_manager_config.yaml")


def prepare(instance: Instance, certificates: Certificates) -> None:
    """The directory that Kueue runs in, with the webhook's certificate."""
    webhook = _directory(instance) / "webhook"
    webhook.mkdir(parents=True, exist_ok=True)
    for name, source in (
        ("tls.crt", certificates.webhook.cert),
        ("tls.key", certificates.webhook.key),
    ):
        target = webhook / name
        target.touch(mode=0o600)
        target.write_bytes(source.read_bytes())


def kueue(instance: Instance, built: Built) -> Component:
    """The kueue controller manager."""
    config = instance.etc / "kueue.yaml"
    health = instance.url("kueue-health", "http")
    return Component(
        name="kueue",
        argv=(
            str(built.binary("kueue")),
            f"--config={config}",
            f"--kubeconfig={instance.pki / 'kueue.kubeconfig'}",
            "--zap-log-level=2",
        ),
        ready=lambda _: answers(f"{health}/readyz"),
        directory=_directory(instance),
        files={config: json.dumps(configuration(instance, released_configuration(built)))},
    )


def _directory(instance: Instance) -> Path:
    return instance.directory / "kueue"
