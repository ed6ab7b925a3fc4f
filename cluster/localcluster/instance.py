"""One instance on disk: what it was given at its first start, and where its files are."""

from __future__ import annotations

import json
import shutil
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from localcluster import network
from localcluster.errors import ClusterError
from localcluster.lock import held
from localcluster.paths import instance_id, state_dir, state_root
from localcluster.progress import Progress
from localcluster.spec import Spec, spec_from_json, spec_to_json

PORT_NAMES = (
    "etcd",
    "etcd-peer",
    "etcd-health",
    "apiserver",
    "controller-manager",
    "scheduler",
    "kueue-webhook",
    "kueue-health",
    "kueue-visibility",
    "kwok",
    "jobset-webhook",
    "jobset-health",
    "trainer-webhook",
    "trainer-health",
)


FORMER_SERVICE_RANGE = "10.96.0.0/16"
"""That of instances made before each had its own: etcd holds Services with addresses of it."""


@dataclass(frozen=True)
class Instance:
    """`ports` are on 127.0.0.1; `subnet` is the third byte of the real node's 198.18.N.0/24.

    `service_range` has the addresses of Services, of which pods reach the first alone.
    """

    id: str
    directory: Path
    ports: dict[str, int]
    subnet: int
    spec: Spec
    service_range: str = FORMER_SERVICE_RANGE

    def url(self, port_name: str, scheme: str = "https") -> str:
        """The address of a component on this machine."""
        return f"{scheme}://127.0.0.1:{self.ports[port_name]}"

    @property
    def pki(self) -> Path:
        """Keys, certificates and the kubeconfigs made of them."""
        return self.directory / "pki"

    @property
    def etc(self) -> Path:
        """The components' configuration files."""
        return self.directory / "etc"

    @property
    def logs(self) -> Path:
        """One log a component."""
        return self.directory / "logs"

    @property
    def run(self) -> Path:
        """One process record a component."""
        return self.directory / "run"

    @property
    def node(self) -> Path:
        """What the real node sees at the usual places of the file system."""
        return self.directory / "node"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.directory / "kubeconfig"

    @property
    def audit_log(self) -> Path:
        """The API server's audit log, a JSON value a line."""
        return self.directory / "audit" / "audit.log"

    @property
    def cgroup(self) -> str:
        """The name of the control group under which the real node's pods run."""
        return f"gitops-campaigns-{self.id}"

    @property
    def node_address(self) -> str:
        """The IP address of the real node."""
        return network.node_address(self.subnet)

    @property
    def service_address(self) -> str:
        """The IP address of the Service `kubernetes`."""
        return network.first_address(self.service_range)

    def save(self) -> None:
        """Write the state file, all or nothing."""
        for directory in (self.directory, self.pki, self.etc, self.logs, self.run):
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        (self.audit_log.parent).mkdir(exist_ok=True)
        state = {
            "ports": self.ports,
            "subnet": self.subnet,
            "spec": spec_to_json(self.spec),
            "service_range": self.service_range,
        }
        temporary = _state_file(self.directory).with_suffix(".new")
        temporary.write_text(json.dumps(state, indent=2) + "\n")
        temporary.rename(_state_file(self.directory))

    def with_spec(self, spec: Spec) -> Instance:
        """The same instance, asked for something else."""
        return replace(self, spec=spec)

    def remove(self) -> None:
        """Delete everything it has on disk."""
        shutil.rmtree(self.directory, ignore_errors=True)


def load(name: str) -> Instance | None:
    """The instance with this name, or None where there is none."""
    directory = state_dir(name)
    state = _read_state(directory)
    if state is None:
        return None
    return Instance(
        id=instance_id(name),
        directory=directory,
        ports=state["ports"],
        subnet=state["subnet"],
        spec=spec_from_json(state["spec"]),
        service_range=state.get("service_range", FORMER_SERVICE_RANGE),
    )


def create(name: str, spec: Spec) -> Instance:
    """A new instance, with ports and a subnet that no other instance of this user has."""
    with held(state_root() / ".instances.lock", "a new instance", Progress(quiet=True)):
        others = [state for path in state_root().iterdir() if (state := _read_state(path))]
        subnet = network.choose_subnet(
            instance_id(name),
            {other["subnet"] for other in others},
            lambda subnet: not network.has_address(network.node_address(subnet)),
        )
        instance = Instance(
            id=instance_id(name),
            directory=state_dir(name),
            ports=network.choose_ports(
                PORT_NAMES,
                instance_id(name),
                {port for other in others for port in other["ports"].values()},
                network.port_is_free,
            ),
            subnet=subnet,
            spec=spec,
            service_range=network.service_range(subnet),
        )
        instance.save()
    return instance


def with_every_port(instance: Instance) -> Instance:
    """The same instance, with ports also for what came after it was made."""
    missing = [name for name in PORT_NAMES if name not in instance.ports]
    if not missing:
        return instance
    with held(state_root() / ".instances.lock", "new ports", Progress(quiet=True)):
        others = [state for path in state_root().iterdir() if (state := _read_state(path))]
        taken = {port for other in others for port in other["ports"].values()}
        added = network.choose_ports(missing, instance.id, taken, network.port_is_free)
        complete = replace(instance, ports={**instance.ports, **added})
        complete.save()
    return complete


def locked(name: str, progress: Progress) -> AbstractContextManager[int]:
    """Hold an instance, so that two commands do not start and stop it at once."""
    what = f"`up` or `down` of {name}"
    return held(state_root() / f".{instance_id(name)}.lock", what, progress)


def _state_file(directory: Path) -> Path:
    return directory / "instance.json"


def _read_state(directory: Path) -> dict[str, Any] | None:
    try:
        state: dict[str, Any] = json.loads(_state_file(directory).read_text())
    except (FileNotFoundError, NotADirectoryError):
        return None
    except json.JSONDecodeError as error:
        raise ClusterError(
            f"{_state_file(directory)} is damaged: end the instance's processes, if there are any, "
            f"and delete {directory}"
        ) from error
    return state
