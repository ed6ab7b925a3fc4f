"""Which API server is asked, and with which credentials."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from kubernetes import config
from kubernetes.config import incluster_config, kube_config

from converter.cluster.kubeconfig import load_configuration
from converter.errors import ClusterUnavailable

IN_POD = "https://192.0.2.1:443"
IN_FILE = "https://192.0.2.2:6443"


@pytest.fixture
def pod(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """What the kubelet gives to a pod, and no kubeconfig; where one would be."""
    token, certificates = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("of-the-pod")
    certificates.write_text("certificates")
    monkeypatch.setattr(incluster_config, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(incluster_config, "SERVICE_CERT_FILENAME", str(certificates))
    default = tmp_path / "config"
    for module in (config, kube_config):
        monkeypatch.setattr(module, "KUBE_CONFIG_DEFAULT_LOCATION", str(default))
    monkeypatch.delenv("KUBECONFIG", raising=False)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "192.0.2.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    return default


def write(path: Path) -> None:
    """A kubeconfig."""
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "c",
        "clusters": [{"name": "c", "cluster": {"server": IN_FILE}}],
        "users": [{"name": "c", "user": {"token": "of-the-file"}}],
        "contexts": [{"name": "c", "context": {"cluster": "c", "user": "c"}}],
    }
    path.write_text(json.dumps(document))


@pytest.mark.usefixtures("pod")
def test_a_pod_asks_with_its_own_token() -> None:
    found = load_configuration(None, None)
    assert found.host == IN_POD
    assert found.api_key["BearerToken"] == "bearer of-the-pod"
    assert Path(str(found.ssl_ca_cert)).name == "ca.crt"


def test_a_kubeconfig_comes_before_the_pod(pod: Path) -> None:
    write(pod)
    assert load_configuration(None, None).host == IN_FILE


def test_one_that_is_named_comes_before_the_pod(pod: Path, tmp_path: Path) -> None:
    write(tmp_path / "named")
    assert load_configuration(tmp_path / "named", None).host == IN_FILE


@pytest.mark.usefixtures("pod")
def test_a_kubeconfig_that_is_named_and_not_there_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", "/not/there")
    with pytest.raises(ClusterUnavailable, match="there is no kubeconfig /not/there"):
        load_configuration(None, None)


@pytest.mark.usefixtures("pod")
def test_neither_a_kubeconfig_nor_a_pod(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST")
    with pytest.raises(ClusterUnavailable, match="set KUBECONFIG, or pass --kubeconfig"):
        load_configuration(None, None)
