"""Configurations of the real node, its control groups, and the fake nodes."""

from __future__ import annotations

import ipaddress
import tomllib
from pathlib import Path
from typing import Any

import pytest
from localcluster import bringup, controlplane
from localcluster.build import Built
from localcluster.cgroups import Hierarchy, parse_mounts
from localcluster.debian import DebianTools
from localcluster.image import Image
from localcluster.instance import PORT_NAMES, Instance
from localcluster.kwok import node_manifest
from localcluster.node import containerd_config, kubelet_config, network_config
from localcluster.spec import KwokNode, Mode, Spec

INSTANCE = Instance(
    id="dev-1",
    directory=Path("/state/dev-1"),
    ports={name: 20000 + number for number, name in enumerate(PORT_NAMES)},
    subnet=7,
    spec=Spec(),
)


@pytest.fixture(scope="module")
def instance(tmp_path_factory: pytest.TempPathFactory) -> Instance:
    directory = tmp_path_factory.mktemp("instance")
    made = Instance("dev-1", directory, INSTANCE.ports, 7, Spec())
    made.save()
    return made


def test_the_mounts_of_control_groups() -> None:
    mountinfo = (
        "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
        "31 23 0:27 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n"
        "32 23 0:28 / /tmp rw shared:1 master:2 - tmpfs cgroup rw\n"
    )
    assert parse_mounts(mountinfo) == [
        Hierarchy(Path("/sys/fs/cgroup"), unified=True),
        Hierarchy(Path("/sys/fs/cgroup/memory"), unified=False),
    ]


def test_containerd_uses_the_unpacked_packages_and_the_local_sandbox() -> None:
    sandbox = Image("example.local/pause", ("stable",), "sha256:1")
    config = tomllib.loads(containerd_config(INSTANCE, DebianTools(Path('/a "b"')), sandbox))
    cri = config["plugins"]["io.containerd.grpc.v1.cri"]
    assert cri["sandbox_image"] == "example.local/pause:stable"
    assert cri["restrict_oom_score_adj"] is True
    assert cri["cni"] == {"bin_dir": '/a "b"/usr/lib/cni', "conf_dir": "/state/dev-1/etc/cni"}
    runc = cri["containerd"]["runtimes"]["runc"]["options"]
    assert runc == {"BinaryName": '/a "b"/usr/sbin/runc', "SystemdCgroup": False}


def test_pods_get_addresses_that_are_not_the_node_s() -> None:
    (plugin,) = network_config(INSTANCE)["plugins"]
    pods = ipaddress.ip_network(plugin["ipam"]["ranges"][0][0]["subnet"])
    assert ipaddress.ip_address(INSTANCE.node_address) not in pods


def test_the_kubelet_is_in_a_control_group_of_its_instance(instance: Instance) -> None:
    certificates = controlplane.ensure_certificates(instance)
    config = kubelet_config(instance, certificates, Path("/etc/resolv.conf"))
    assert config["cgroupRoot"] == "/gitops-campaigns-dev-1"
    assert config["address"] == config["healthzBindAddress"] == "198.18.7.254"
    assert config["authentication"]["anonymous"] == {"enabled": False}


def test_certificates_are_written_once(instance: Instance) -> None:
    first = controlplane.ensure_certificates(instance)
    content = {path: path.read_bytes() for path in instance.pki.iterdir()}
    assert controlplane.ensure_certificates(instance) == first
    assert {path: path.read_bytes() for path in instance.pki.iterdir()} == content
    assert {path.stat().st_mode & 0o777 for path in content} == {0o600}


def test_every_server_is_on_loopback(instance: Instance) -> None:
    certificates = controlplane.ensure_certificates(instance)
    kubernetes = Built("kubernetes", "v1", Path("/cache/kubernetes"))
    argv = controlplane.apiserver(instance, certificates, kubernetes).argv
    assert "--bind-address=127.0.0.1" in argv
    assert f"--secure-port={instance.ports['apiserver']}" in argv
    assert "--authorization-mode=Node,RBAC" in argv


def test_a_fake_node_with_everything() -> None:
    taints = ("dedicated=ml:NoExecute", "spot:NoSchedule")
    manifest = node_manifest(KwokNode("gpu-1", {"gpu": "a100"}, taints, 96, "1Ti", 8, 50))
    capacity = {"cpu": "96", "memory": "1Ti", "pods": "50", "nvidia.com/gpu": "8"}
    assert manifest["status"] == {"capacity": capacity, "allocatable": capacity}
    assert manifest["metadata"]["labels"]["gpu"] == "a100"
    assert manifest["metadata"]["annotations"] == {"kwok.x-k8s.io/node": "fake"}
    assert manifest["spec"]["taints"] == [
        {"key": "dedicated", "value": "ml", "effect": "NoExecute"},
        {"key": "spot", "effect": "NoSchedule"},
    ]


def test_a_fake_node_without_gpus_and_taints() -> None:
    manifest = node_manifest(KwokNode("cpu-1", taints=()))
    assert manifest["status"]["capacity"]["nvidia.com/gpu"] == "0"
    assert manifest["spec"] == {"taints": []}


def test_the_components_of_each_mode() -> None:
    nodes = (KwokNode("gpu-1"),)
    full, kwok = (
        bringup.component_names(Spec(mode=mode, kwok_nodes=nodes))
        for mode in (Mode.FULL, Mode.KWOK)
    )
    real_node = {"apiserver-relay", "node-namespace", "containerd", "kubelet"}
    assert set(full) - set(kwok) == real_node
    assert kwok[:2] == full[:2] == ("etcd", "kube-apiserver")


def test_kwok_is_built_where_there_are_fake_nodes() -> None:
    needed = {"etcd", "kubernetes", "kueue"}
    assert set(bringup.product_names(Spec())) == needed
    for spec in (Spec(kwok_nodes=(KwokNode("gpu-1"),)), Spec(mode=Mode.KWOK)):
        assert set(bringup.product_names(spec)) == {*needed, "kwok"}


def test_trainer_is_built_and_started_where_it_is_asked_for() -> None:
    spec = Spec(trainer=True)
    assert bringup.component_names(spec)[-2:] == ("jobset", "trainer")
    assert set(bringup.product_names(spec)) - set(bringup.product_names(Spec())) == {
        "jobset",
        "trainer",
    }


@pytest.mark.parametrize(
    ("status", "found"),
    [
        ({}, False),
        ({"conditions": None}, False),
        ({"conditions": [{"type": "Ready", "status": "Unknown"}]}, False),
        ({"conditions": [{"type": "Other", "status": "True"}]}, False),
        ({"conditions": [{"type": "Ready", "status": "True"}]}, True),
    ],
)
def test_a_condition(status: dict[str, Any], found: bool) -> None:
    assert bringup.has_condition({"status": status}, "Ready") is found
