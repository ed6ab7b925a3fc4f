"""One local cluster: start it, change it, break it on purpose, end it."""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from functools import partial
from pathlib import Path

from localcluster import campaigns_image, image, instance
from localcluster.audit import AuditLog
from localcluster.bringup import (
    Bringup,
    component_names,
    product_names,
    supervisor_of,
    wait_until,
)
from localcluster.build import PRODUCTS, Built, build, product_in_cache
from localcluster.debian import ensure_tools, require_real_node_support
from localcluster.errors import ClusterError
from localcluster.image import Image
from localcluster.instance import Instance
from localcluster.kubectl import Kubectl
from localcluster.progress import Progress
from localcluster.spec import KwokNode, Mode, Spec


@dataclass(frozen=True)
class Status:
    """What an instance is now. `components` has the pid of each, or None where it does not run."""

    instance: str
    directory: str
    mode: str
    kubeconfig: str
    server: str
    components: Mapping[str, int | None]
    nodes: Mapping[str, bool]
    versions: Mapping[str, str]

    @property
    def running(self) -> bool:
        """Whether every component runs."""
        return all(self.components.values())

    def to_json(self) -> str:
        """For machines."""
        return json.dumps({**asdict(self), "running": self.running}, indent=2)


class Cluster:
    """A cluster by the name of its instance, which need not exist yet."""

    def __init__(self, name: str = "dev", progress: Progress | None = None) -> None:
        self.name = name
        self._progress = progress or Progress(quiet=True)
        self._built: dict[str, Built] = {}

    @property
    def instance(self) -> Instance:
        """Its state on disk; raises ClusterError where it was never started."""
        found = instance.load(self.name)
        if found is None:
            raise ClusterError(f"there is no instance {self.name!r}: start it with `up`")
        return found

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.instance.kubeconfig

    @property
    def kubectl(self) -> Kubectl:
        """kubectl as the administrator."""
        return self._bringup(self.instance).kubectl

    @property
    def audit_log(self) -> AuditLog:
        """What the API server was asked."""
        return AuditLog(self.instance.audit_log)

    @property
    def image(self) -> Image:
        """The busybox image of the real node, by tag and by digest."""
        return image.busybox_archive(ensure_tools(self._progress))[1]

    def _binaries(self, spec: Spec) -> dict[str, Built]:
        """What a cluster of this spec needs, built if the cache does not have it."""
        needed = product_names(spec)
        if not self._built.keys() >= set(needed):
            self._built = build(self._progress, *needed)
        return self._built

    def status(self) -> Status:
        """What runs now."""
        current = self.instance
        supervisor = supervisor_of(current)
        found = {name: supervisor.running(name) for name in component_names(current.spec)}
        bringup = self._bringup(current)
        return Status(
            instance=self.name,
            directory=str(current.directory),
            mode=current.spec.mode.value,
            kubeconfig=str(current.kubeconfig),
            server=current.url("apiserver"),
            components={name: record.pid if record else None for name, record in found.items()},
            nodes=_nodes(bringup),
            versions={name: product_in_cache(PRODUCTS[name]).version for name in PRODUCTS},
        )

    def up(self, spec: Spec | None = None) -> None:
        """Start what does not run and change what is not as asked; without a spec, as it was.

        Raises ClusterError, saying what is missing, or which component does not start and why.
        """
        with instance.locked(self.name, self._progress):
            current = instance.load(self.name)
            wanted = spec or (current.spec if current else Spec())
            if wanted.mode is Mode.FULL:
                require_real_node_support()
            if current and current.spec.mode is not wanted.mode:
                raise ClusterError(
                    f"{self.name} was started with --mode {current.spec.mode.value}: "
                    "end it with `down` before it is started with another mode"
                )
            self._binaries(wanted)
            current = current.with_spec(wanted) if current else instance.create(self.name, wanted)
            current.save()
            current = instance.with_every_port(current)
            self._bringup(current).start()

    def down(self, *, keep: bool = False) -> None:
        """End all of it and delete its state; `keep` leaves the state for a next `up`."""
        with instance.locked(self.name, self._progress):
            current = instance.load(self.name)
            if current is None:
                self._progress.say(f"there is no instance {self.name!r}: nothing to end")
                return
            self._bringup(current).stop()
            if not keep:
                current.remove()

    def start_component(self, name: str) -> None:
        """Start one component and wait until it is ready; nothing to do where it runs."""
        current = self.instance
        self._bringup(current).start_component(_known(current, name))

    def stop_component(self, name: str) -> None:
        """End one component in an orderly way."""
        current = self.instance
        supervisor_of(current).stop(_known(current, name))

    def kill_component(self, name: str) -> None:
        """End one component with SIGKILL."""
        current = self.instance
        supervisor_of(current).kill(_known(current, name))

    def add_kwok_node(self, *nodes: KwokNode) -> None:
        """Create or change fake nodes and wait until they are ready."""
        spec = self.instance.spec
        names = {node.name for node in nodes}
        others = (node for node in spec.kwok_nodes if node.name not in names)
        self.up(replace(spec, kwok_nodes=(*others, *nodes)))

    def add_trainer(self) -> None:
        """Start Kubeflow Trainer and JobSet too, and wait until they are ready."""
        self.up(replace(self.instance.spec, trainer=True))

    def load_image(self, archive: Path) -> None:
        """Give the real node the images of an OCI archive, made by `image.archive` or another."""
        self._bringup(self.instance).node.import_archive(archive)

    def load_campaigns_image(self) -> Image:
        """Give the real node the image of this checkout's campaigns command.

        Built by the Containerfile if the cache does not have it for these files: minutes for the
        first time. Raises ClusterError where it cannot be built, or where there is no real node.
        """
        node = self._bringup(self.instance).node
        archive, built = campaigns_image.ensure_archive(self._progress)
        if not node.has_image(built):
            with self._progress.step(f"image {built.references[0]}"):
                node.import_archive(archive)
        return built

    @property
    def pod_reachable_address(self) -> str:
        """The address of this machine for a server that pods of the real node are to reach.

        No other instance has it. A server that binds to it may take any port but the kubelet's.
        """
        return self.instance.node_address

    def audit_mark(self) -> int:
        """An offset of the audit log behind everything that has been answered up to now.

        A request is written down as it is answered, which its client can see a little earlier: so
        one more is made, and waited for.
        """
        log = self.audit_log
        before = log.end()
        token = f"/version?mark={uuid.uuid4()}"
        self._bringup(self.instance).api.get(token)
        wait_until("the audit log", lambda: any(e.uri == token for e in log.events(before)))
        return log.end()

    def _bringup(self, current: Instance) -> Bringup:
        fetch_tools = partial(ensure_tools, self._progress)
        binaries = partial(self._binaries, current.spec)
        return Bringup(current, binaries, fetch_tools, self._progress)


def _nodes(bringup: Bringup) -> Mapping[str, bool]:
    """The nodes; none where the API server cannot say, as while etcd does not run."""
    try:
        return bringup.nodes()
    except ClusterError:
        return {}


def _known(current: Instance, name: str) -> str:
    names = component_names(current.spec)
    if name not in names:
        raise ClusterError(f"there is no component {name!r}; there are {', '.join(names)}")
    return name
