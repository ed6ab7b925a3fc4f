"""Kueue's manifests and configuration for a Kueue that runs beside the cluster."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any

import pytest
from localcluster.instance import PORT_NAMES, Instance
from localcluster.kueue import Manifests, configuration, is_visibility, merge, rewrite
from localcluster.spec import Spec

URL = "https://127.0.0.1:20001"
CA = base64.b64encode(b"the CA").decode()


def by_service(path: str) -> dict[str, Any]:
    return {"service": {"name": "kueue-webhook-service", "namespace": "kueue-system", "path": path}}


def webhooks(kind: str) -> dict[str, Any]:
    hooks = [{"name": name, "clientConfig": by_service(f"/{name}")} for name in ("one", "two")]
    return {"kind": kind, "metadata": {"name": "kueue"}, "webhooks": hooks}


CONVERTED = {
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "clusterqueues.kueue.x-k8s.io"},
    "spec": {
        "group": "kueue.x-k8s.io",
        "conversion": {"strategy": "Webhook", "webhook": {"clientConfig": by_service("/convert")}},
    },
}
PLAIN = {
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "topologies.kueue.x-k8s.io"},
    "spec": {"group": "kueue.x-k8s.io", "conversion": {"strategy": "None"}},
}
API_SERVICE = {
    "kind": "APIService",
    "metadata": {"name": "v1beta2.visibility.kueue.x-k8s.io"},
    "spec": {"service": {"name": "kueue-visibility-server", "port": 443}},
}


def rewritten(*objects: dict[str, Any]) -> Manifests:
    return rewrite(objects, webhook_url=URL, ca_bundle=b"the CA", visibility_port=20002)


@pytest.mark.parametrize("kind", ["Deployment", "ConfigMap", "Secret", "Service"])
def test_what_only_a_kueue_inside_needs_is_left_out(kind: str) -> None:
    assert rewritten({"kind": kind}).before == ()
    assert [item["kind"] for item in rewritten({"kind": kind}).after] == ["Service"]


@pytest.mark.parametrize("kind", ["Namespace", "ClusterRole", "ClusterRoleBinding", "Role"])
def test_what_it_needs_before_it_starts_is_as_released(kind: str) -> None:
    item = {"kind": kind, "metadata": {"name": "kueue-system"}}
    assert rewritten(item).before == (item,)


@pytest.mark.parametrize("kind", ["MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"])
def test_webhooks_are_called_by_url_once_kueue_answers(kind: str) -> None:
    manifests = rewritten(webhooks(kind))
    assert manifests.before == ()
    (configured,) = (item for item in manifests.after if item["kind"] == kind)
    assert [hook["clientConfig"] for hook in configured["webhooks"]] == [
        {"url": f"{URL}/one", "caBundle": CA},
        {"url": f"{URL}/two", "caBundle": CA},
    ]


def test_conversion_is_called_by_url() -> None:
    converted, plain = rewritten(CONVERTED, PLAIN).before
    conversion = converted["spec"]["conversion"]
    assert conversion["webhook"] == {"clientConfig": {"url": f"{URL}/convert", "caBundle": CA}}
    assert plain == PLAIN


def test_the_visibility_api_is_on_this_machine() -> None:
    service, api_service = rewritten(API_SERVICE).after
    assert service["spec"]["externalName"] == "localhost"
    assert service["metadata"]["name"] == api_service["spec"]["service"]["name"]
    assert service["spec"]["ports"][0]["port"] == 20002
    assert api_service["spec"]["service"]["port"] == 20002


def test_the_api_services_of_the_visibility_api() -> None:
    assert is_visibility(API_SERVICE)
    assert not is_visibility({"kind": "APIService", "spec": {"group": "batch", "version": "v1"}})


def test_the_given_objects_stay_as_they_are() -> None:
    given = webhooks("MutatingWebhookConfiguration")
    rewritten(given)
    assert given == webhooks("MutatingWebhookConfiguration")


@pytest.mark.parametrize(
    ("base", "patch", "merged"),
    [
        # RFC 7386, appendix A.
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"a": "foo"}, "bar", "bar"),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_merge(base: Any, patch: Any, merged: Any) -> None:
    assert merge(base, patch) == merged


def instance(spec: Spec) -> Instance:
    ports = {name: 20000 + number for number, name in enumerate(PORT_NAMES)}
    return Instance("dev-1", Path("/state/dev-1"), ports, 7, spec)


def test_the_configuration_is_the_release_s_on_private_ports() -> None:
    released = {"kind": "Configuration", "waitForPodsReady": {"enable": True}, "webhook": {"a": 1}}
    found = configuration(instance(Spec()), released)
    assert found["kind"] == "Configuration"
    assert found["waitForPodsReady"] == {"enable": True}
    webhook_port = 20000 + PORT_NAMES.index("kueue-webhook")
    certificates = "/state/dev-1/kueue/webhook"
    assert found["webhook"] == {
        "a": 1,
        "host": "127.0.0.1",
        "port": webhook_port,
        "certDir": certificates,
    }
    assert found["integrations"] == {"frameworks": ["batch/job"]}


def test_the_spec_has_the_last_word_on_the_configuration() -> None:
    spec = Spec(kueue_config={"integrations": {"frameworks": ["pod"]}, "metrics": None})
    found = configuration(instance(spec), {})
    assert found["integrations"] == {"frameworks": ["pod"]}
    assert "metrics" not in found
