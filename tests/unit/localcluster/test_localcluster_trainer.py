"""Kubeflow Trainer and JobSet beside the cluster: their objects rewritten, their configuration."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from localcluster.build import Built
from localcluster.instance import PORT_NAMES, Instance
from localcluster.spec import Spec
from localcluster.trainer import (
    DEFINITIONS,
    ROLES,
    USERS,
    WEBHOOKS,
    after,
    before,
    configuration,
    jobset,
    trainer,
)

CONFIGURATIONS = {
    "jobset": "config/components/manager/controller_manager_config.yaml",
    "trainer": "manifests/base/manager/controller_manager_config.yaml",
}
ROLE = {"kind": "Role", "apiVersion": "rbac/v1", "metadata": {"name": "other"}, "rules": []}
CLUSTER_ROLE = {**ROLE, "kind": "ClusterRole", "rules": [{"verbs": ["get"]}]}


def webhook(path: str, resource: str) -> dict[str, object]:
    service = {"name": "s", "namespace": "n", "path": path}
    return {"clientConfig": {"service": service}, "rules": [{"resources": [resource]}]}


@pytest.fixture(params=["jobset", "trainer"])
def built(request: pytest.FixtureRequest, tmp_path: Path) -> Built:
    """A product in the cache, with as much of its release as is read; JSON is YAML too."""
    name = request.param
    definition = tmp_path / DEFINITIONS[name].replace("*", "kubeflow.org_things")
    other = definition.with_name("kustomization.yaml")
    hooks = {
        "kind": "MutatingWebhookConfiguration",
        "metadata": {"name": "mutating"},
        "webhooks": [webhook("/things", "trainjobs"), webhook("/pods", "pods")],
    }
    files: dict[Path, list[Any]] = {
        definition: [{"kind": "CustomResourceDefinition", "metadata": {"name": "things"}}],
        tmp_path / ROLES[name]: [ROLE, CLUSTER_ROLE],
        tmp_path / WEBHOOKS[name]: [hooks, {"kind": "Service"}],
        tmp_path / CONFIGURATIONS[name]: [{"kind": "Configuration", "health": {"a": 1}}],
    }
    for path, documents in files.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n---\n".join(json.dumps(each) for each in documents))
    if name == "trainer":
        other.write_text("kind: Kustomization")
    return Built(name, "v1", tmp_path)


def test_before_it_starts_it_may_do_what_its_release_lets_it(built: Built) -> None:
    definition, role, binding = before(built.product, built)
    assert definition["kind"] == "CustomResourceDefinition"
    assert role["rules"] == CLUSTER_ROLE["rules"]
    assert binding["roleRef"]["name"] == role["metadata"]["name"] == f"{built.product}-manager"
    assert [subject["name"] for subject in binding["subjects"]] == [USERS[built.product]]


def test_its_webhooks_are_called_by_url_and_never_for_pods(built: Built) -> None:
    (found,) = after(built.product, built, "https://127.0.0.1:1", b"ca")
    assert found["metadata"]["name"] == f"{built.product}-mutating"
    (only,) = found["webhooks"]
    assert only["clientConfig"] == {"url": "https://127.0.0.1:1/things", "caBundle": "Y2E="}


def test_the_configuration_is_the_release_s_on_private_ports(built: Built) -> None:
    ports = {name: 20000 + number for number, name in enumerate(PORT_NAMES)}
    instance = Instance("dev-1", Path("/state/dev-1"), ports, 7, Spec())
    found = configuration(instance, built.product, {"health": {"a": 1}, "k": 2}, "certificates")
    health = ports[f"{built.product}-health"]
    assert found["health"] == {"a": 1, "healthProbeBindAddress": f"127.0.0.1:{health}"}
    assert found["k"] == 2
    assert found["webhook"]["port"] == ports[f"{built.product}-webhook"]
    assert found["certificates"] == {"enable": False}
    make = {"jobset": jobset, "trainer": trainer}[built.product]
    component = make(instance, built)
    # Its certificate is below the directory for temporary files, which others have too.
    assert component.environment == {"TMPDIR": f"/state/dev-1/{built.product}"}
    assert component.argv[0] == str(built.path / "bin" / built.product)
