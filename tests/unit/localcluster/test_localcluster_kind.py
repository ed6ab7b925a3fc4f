"""What CLUSTER=kind and CLUSTER=current run."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from localcluster import current, kind
from localcluster.build import PRODUCTS, product_in_cache
from localcluster.controlplane import audit_policy
from localcluster.errors import ClusterError
from localcluster.kind import KindCluster, kind_config, with_kueue_config
from localcluster.progress import Progress
from localcluster.spec import KwokNode, RealNode, Spec

FAKE = """#!/bin/sh
echo "$(basename "$0") $*" >> "$CALLS"
case "$*" in
"get clusters") echo "$CLUSTERS" ;;
"config current-context") echo prod ;;
*--raw=/apis*) echo '{"groups": [{"name": "kueue.x-k8s.io", "versions": [{"version": "v1beta2"}]}]}' ;;
esac
"""  # noqa: E501 - a shell script


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> KindCluster:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return KindCluster("dev", Progress(quiet=True))


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """Commands that write down how they were called."""
    for name in ("docker", "kind", "kubectl"):
        command = tmp_path / "bin" / name
        command.parent.mkdir(exist_ok=True)
        command.write_text(FAKE)
        command.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:/usr/bin:/bin")
    monkeypatch.setenv("CALLS", str(tmp_path / "calls"))
    monkeypatch.setenv("CLUSTERS", "other")
    return tmp_path / "calls"


def test_the_commands_of_an_up(cluster: KindCluster, calls: Path) -> None:
    cluster.up(Spec(real_node=RealNode(gpus=3)))
    name, path = cluster.cluster_name, cluster.directory
    kubectl = f"kubectl --kubeconfig={cluster.kubeconfig}"
    count = {"nvidia.com/gpu": "3"}
    patch = json.dumps({"status": {"capacity": count, "allocatable": count}})
    assert calls.read_text().splitlines() == [
        "kind get clusters",
        f"kind create cluster --name={name} --config={path / 'kind.yaml'} "
        f"--kubeconfig={cluster.kubeconfig} --wait=180s",
        f"{kubectl} apply --server-side --filename={kind.kueue_manifests()}",
        f"{kubectl} rollout status --namespace=kueue-system deployment/kueue-controller-manager",
        f"{kubectl} patch node {name}-control-plane --subresource=status --patch={patch}",
    ]


def test_a_cluster_that_is_there_is_not_created(
    monkeypatch: pytest.MonkeyPatch, cluster: KindCluster, calls: Path
) -> None:
    monkeypatch.setenv("CLUSTERS", f"other\n{cluster.cluster_name}")
    cluster.up(Spec())
    assert "create" not in calls.read_text()


def test_down_deletes_the_cluster_and_its_files(cluster: KindCluster, calls: Path) -> None:
    cluster.up(Spec())
    cluster.down()
    assert calls.read_text().endswith(f"kind delete cluster --name={cluster.cluster_name}\n")
    assert not cluster.directory.exists()


def test_the_configuration_is_one_pinned_node_with_an_audit_log(tmp_path: Path) -> None:
    config = kind_config(tmp_path, Spec(real_node=RealNode(labels={"zone": "a"})))
    (node,) = config["nodes"]
    assert node["labels"] == {"zone": "a"}
    assert "@sha256:" in node["image"]
    (patch,) = map(json.loads, node["kubeadmConfigPatches"])
    arguments = patch["apiServer"]["extraArgs"]
    mounted = {mount["containerPath"]: mount["hostPath"] for mount in node["extraMounts"]}
    assert mounted[arguments["audit-policy-file"]] == str(tmp_path / "policy.yaml")
    assert mounted[str(Path(arguments["audit-log-path"]).parent)] == str(tmp_path / "audit")
    volumes = {volume["mountPath"] for volume in patch["apiServer"]["extraVolumes"]}
    assert volumes == set(mounted)


def test_the_node_image_is_of_the_minor_version_that_is_built() -> None:
    minor = product_in_cache(PRODUCTS["kubernetes"]).version.rpartition(".")[0]
    assert f":{minor}." in kind.NODE_IMAGE


def test_the_audit_policy_is_that_of_the_local_cluster(cluster: KindCluster, calls: Path) -> None:
    cluster.up(Spec())
    assert json.loads((cluster.directory / "policy.yaml").read_text()) == audit_policy()


def test_kueue_is_the_pinned_release() -> None:
    version = product_in_cache(PRODUCTS["kueue"]).version
    assert kind.kueue_manifests().endswith(f"/{version}/manifests.yaml")


def test_kueue_s_configuration_is_merged() -> None:
    key = kind.KUEUE_CONFIG_KEY
    config_map = {
        "metadata": {"name": "c"},
        "data": {key: "kind: Configuration\na: {b: 1, c: 2}\n"},
    }
    changed = with_kueue_config(config_map, {"a": {"b": 3}})
    assert json.loads(changed["data"][key]) == {"kind": "Configuration", "a": {"b": 3, "c": 2}}


def test_no_kwok_nodes(cluster: KindCluster) -> None:
    with pytest.raises(ClusterError, match="leave CLUSTER=kind out"):
        cluster.up(Spec(kwok_nodes=(KwokNode("a"),)))


def test_what_kind_lacks_is_said(
    monkeypatch: pytest.MonkeyPatch, cluster: KindCluster, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match="needs docker and kind and kubectl on the PATH"):
        cluster.up(Spec())
    with pytest.raises(ClusterError, match="needs docker and kind on the PATH"):
        cluster.down()


def test_the_current_context_is_looked_at(calls: Path) -> None:
    assert current.check() == "context prod: Kueue serves kueue.x-k8s.io/v1beta2"
    verbs = [line.split()[1] for line in calls.read_text().splitlines()]
    assert verbs == ["config", "get"]


def test_the_current_context_needs_kubectl(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(ClusterError, match="CLUSTER=current needs kubectl"):
        current.check()


def test_a_cluster_without_kueue_serves_no_version_of_it() -> None:
    assert current.served_versions('{"groups": [{"name": "apps", "versions": []}]}') == []
