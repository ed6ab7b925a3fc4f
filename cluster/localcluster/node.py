"""The real node: containerd and the kubelet in a mount namespace of their own.

Both have paths that they cannot be told to change, such as /var/lib/kubelet/device-plugins and
/var/log/containers. In the namespace each is a directory of the instance, so that two instances and
whatever else runs containers on this machine do not meet. Whatever they mount is in there too, and
is gone when the last of their processes is.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from localcluster import cgroups, process
from localcluster.api import answers
from localcluster.build import Built
from localcluster.controlplane import Certificates
from localcluster.debian import DebianTools
from localcluster.errors import ClusterError
from localcluster.image import Image
from localcluster.instance import Instance
from localcluster.network import has_address, pod_subnet
from localcluster.process import ProcessId
from localcluster.supervisor import Component, Supervisor

NAMESPACE = "node-namespace"
CONTAINERD = "containerd"
KUBELET = "kubelet"

VOLATILE = ("/run/containerd", "/run/netns")
"""Empty after a boot, and after a start of the node."""

PRIVATE = ("/var/log", "/var/lib/kubelet", "/var/lib/containerd", "/var/lib/cni", *VOLATILE)
"""What the node has for itself; the last is mounted last."""

ENTER = """
set -e
node=$1
shift
for path; do
    mkdir -p "$path" "$node$path"
    mount -o bind "$node$path" "$path"
done
exec sleep inf
"""
"""Run in the new namespace with the node's directory and the paths; it stays to keep it alive."""

SOCKET = "/run/containerd/containerd.sock"
KUBELET_PORT = 10250
KUBELET_HEALTH_PORT = 10248


@dataclass(frozen=True)
class Node:
    """The real node of an instance, and what it is made of."""

    instance: Instance
    tools: DebianTools
    supervisor: Supervisor

    def namespace(self) -> Component:
        """The process that holds the mount namespace."""
        busybox = str(self.tools.busybox)
        return Component(
            name=NAMESPACE,
            argv=(
                *(busybox, "unshare", "--mount", "--propagation", "slave"),
                *(busybox, "sh", "-c", ENTER, "sh", str(self.instance.node), *PRIVATE),
            ),
            ready=_is_mounted,
            directory=self.instance.directory,
        )

    def containerd(self, sandbox: Image) -> Component:
        """The container runtime."""
        config = self.instance.etc / "containerd.toml"
        network = self.instance.etc / "cni" / "10-pods.conflist"
        network.parent.mkdir(exist_ok=True)
        text = containerd_config(self.instance, self.tools, sandbox)
        return Component(
            name=CONTAINERD,
            argv=self.inside(str(self.tools.bin / "containerd"), f"--config={config}"),
            ready=lambda _: self._ctr("version", fatal=False) is not None,
            directory=self.instance.directory,
            files={config: text, network: json.dumps(network_config(self.instance))},
            environment={
                # Its own shims, before those of another containerd on this machine.
                "PATH": f"{self.tools.bin}:{os.environ['PATH']}",
                process.MARKER: str(self.instance.node),
            },
        )

    def kubelet(self, kubernetes: Built, certificates: Certificates) -> Component:
        """The kubelet."""
        config = self.instance.etc / "kubelet.yaml"
        resolv_conf = self.instance.etc / "resolv.conf"
        name = self.instance.spec.real_node.name
        health = f"http://{self.instance.node_address}:{KUBELET_HEALTH_PORT}/healthz"
        return Component(
            name=KUBELET,
            argv=self.inside(
                str(kubernetes.binary("kubelet")),
                f"--config={config}",
                f"--kubeconfig={self.instance.pki / f'kubelet-{name}.kubeconfig'}",
                f"--hostname-override={name}",
                f"--node-ip={self.instance.node_address}",
            ),
            ready=lambda _: answers(health),
            directory=self.instance.directory,
            files={
                config: json.dumps(kubelet_config(self.instance, certificates, resolv_conf)),
                resolv_conf: "# there is no name server for the pods\n",
            },
        )

    def inside(self, *command: str) -> tuple[str, ...]:
        """A command that runs in the node's namespace, under the same pid."""
        holder = self.supervisor.running(NAMESPACE)
        if holder is None:
            raise ClusterError("the real node does not run")
        return (str(self.tools.busybox), "nsenter", "-t", str(holder.pid), "-m", "--", *command)

    def prepare(self) -> None:
        """As after a boot: nothing of an earlier start runs, and its sockets are gone."""
        self.end_containers()
        for path in VOLATILE:
            shutil.rmtree(f"{self.instance.node}{path}", ignore_errors=True)
        cgroups.create(self.instance.cgroup)
        self.add_address(self.instance.node_address)

    def end_containers(self) -> None:
        """End the kubelet, containerd, its shims and every container.

        Pods get no more than SIGKILL: a test cluster does not wait for them.
        """
        self.supervisor.stop(KUBELET)
        self.supervisor.stop(CONTAINERD)
        process.kill(process.marked_with(self.instance.node))
        cgroups.remove(self.instance.cgroup)

    def remove(self) -> None:
        """End the node, and take away what it had outside its directory."""
        self.end_containers()
        self.supervisor.stop(NAMESPACE)
        for address in (self.instance.node_address, self.instance.service_address):
            if has_address(address):
                self._ip("del", address)

    def add_address(self, address: str) -> None:
        """Have an address on `lo`, where pods reach it through this machine."""
        if not has_address(address):
            self._ip("add", address)

    def has_image(self, image: Image) -> bool:
        """Whether the node resolves every reference of this image."""
        known = (self._ctr("images", "list", "--quiet") or "").split()
        return all(reference in known for reference in image.references)

    def import_archive(self, archive: Path) -> None:
        """Give the node the images of an OCI archive."""
        self._ctr("images", "import", str(archive))

    def _ctr(self, *arguments: str, fatal: bool = True) -> str | None:
        done = subprocess.run(
            self.inside(str(self.tools.bin / "ctr"), "--namespace=k8s.io", *arguments),
            capture_output=True,
            text=True,
            check=False,
        )
        if done.returncode and fatal:
            raise ClusterError(f"ctr {' '.join(arguments)}: {done.stderr.strip()[-1000:]}")
        return None if done.returncode else done.stdout

    def _ip(self, verb: str, address: str) -> None:
        command = [str(self.tools.busybox), "ip", "address", verb, f"{address}/32", "dev", "lo"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ClusterError(f"ip address {verb} {address}: {done.stderr.strip()}")


def _is_mounted(holder: ProcessId) -> bool:
    try:
        mounts = Path(f"/proc/{holder.pid}/mountinfo").read_text().splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return any(line.split(" ")[4] == PRIVATE[-1] for line in mounts)


def containerd_config(instance: Instance, tools: DebianTools, sandbox: Image) -> str:
    """containerd's configuration, in its version 2, which 1.x and 2.x both read."""
    cri = "io.containerd.grpc.v1.cri"
    quoted = json.dumps  # TOML's basic strings are JSON's, for paths and references.
    return f"""\
version = 2
# Optional plugins that would make directories elsewhere or complain that they cannot work here.
disabled_plugins = [
    "io.containerd.internal.v1.opt",
    "io.containerd.snapshotter.v1.aufs",
    "io.containerd.snapshotter.v1.btrfs",
    "io.containerd.snapshotter.v1.devmapper",
    "io.containerd.snapshotter.v1.zfs",
]

[plugins."{cri}"]
# runc dies where it may not lower its score, which takes CAP_SYS_RESOURCE.
restrict_oom_score_adj = true
sandbox_image = {quoted(sandbox.references[0])}

[plugins."{cri}".cni]
bin_dir = {quoted(str(tools.cni_plugins))}
conf_dir = {quoted(str(instance.etc / "cni"))}

[plugins."{cri}".containerd.runtimes.runc]
runtime_type = "io.containerd.runc.v2"

[plugins."{cri}".containerd.runtimes.runc.options]
BinaryName = {quoted(str(tools.runc))}
SystemdCgroup = false
"""


def network_config(instance: Instance) -> dict[str, Any]:
    """The pods' network: a link from each pod to this machine, and no way further."""
    return {
        "cniVersion": "1.0.0",
        "name": "pods",
        "plugins": [
            {
                "type": "ptp",
                "ipMasq": False,
                "ipam": {
                    "type": "host-local",
                    "ranges": [[{"subnet": pod_subnet(instance.subnet)}]],
                    "routes": [{"dst": "0.0.0.0/0"}],
                },
            }
        ],
    }


def kubelet_config(
    instance: Instance, certificates: Certificates, resolv_conf: Path
) -> dict[str, Any]:
    """The KubeletConfiguration."""
    server = f"kubelet-{instance.spec.real_node.name}-server"
    return {
        "apiVersion": "kubelet.config.k8s.io/v1beta1",
        "kind": "KubeletConfiguration",
        "address": instance.node_address,
        "port": KUBELET_PORT,
        "readOnlyPort": 0,
        "healthzBindAddress": instance.node_address,
        "healthzPort": KUBELET_HEALTH_PORT,
        "authentication": {
            "anonymous": {"enabled": False},
            "webhook": {"enabled": True},
            "x509": {"clientCAFile": str(certificates.ca.cert)},
        },
        "authorization": {"mode": "Webhook"},
        "tlsCertFile": str(instance.pki / f"{server}.crt"),
        "tlsPrivateKeyFile": str(instance.pki / f"{server}.key"),
        "containerRuntimeEndpoint": f"unix://{SOCKET}",
        "cgroupDriver": "cgroupfs",
        "cgroupRoot": f"/{instance.cgroup}",
        "enforceNodeAllocatable": ["pods"],
        "failCgroupV1": False,
        "failSwapOn": False,
        "makeIPTablesUtilChains": False,
        "resolvConf": str(resolv_conf),
        "volumePluginDir": str(instance.directory / "volume-plugins"),
        # There is no registry to fetch a removed image from again, and a developer's disk is
        # often fuller than the defaults allow.
        "imageGCHighThresholdPercent": 100,
        "evictionHard": {
            "memory.available": "100Mi",
            "nodefs.available": "1%",
            "nodefs.inodesFree": "1%",
            "imagefs.available": "1%",
        },
    }
