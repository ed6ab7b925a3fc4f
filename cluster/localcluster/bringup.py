"""The order in which an instance is started and ended."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

from localcluster import controlplane, image, kueue, kwok, process, trainer
from localcluster.api import Api
from localcluster.build import Built
from localcluster.controlplane import Certificates
from localcluster.debian import DebianTools
from localcluster.errors import ClusterError
from localcluster.instance import Instance
from localcluster.kubectl import Kubectl
from localcluster.node import CONTAINERD, KUBELET, NAMESPACE, Node
from localcluster.progress import Progress
from localcluster.relay import RELAY, relay
from localcluster.spec import GPU, KwokNode, Mode, Spec
from localcluster.supervisor import Component, Supervisor

CONTROL_PLANE = ("etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler")
KUEUE, KWOK = "kueue", "kwok"
# JobSet first: Trainer looks for its CRD as it starts.
TRAINER = ("jobset", "trainer")
REAL_NODE = (RELAY, NAMESPACE, CONTAINERD, KUBELET)

API_SERVICES = "/apis/apiregistration.k8s.io/v1/apiservices"

WAIT = 120.0
"""Seconds for the cluster to show the effect of what was started."""


def component_names(spec: Spec) -> tuple[str, ...]:
    """The components of a cluster, in the order of their start."""
    real_node = REAL_NODE if spec.mode is Mode.FULL else ()
    # Without fake nodes there is no need to build kwok, which takes minutes.
    fake_nodes = (KWOK,) if spec.kwok_nodes or spec.mode is Mode.KWOK else ()
    # The node before the controllers: it starts while their objects are applied.
    training = TRAINER if spec.trainer else ()
    return (*CONTROL_PLANE, *real_node, KUEUE, *fake_nodes, *training)


def product_names(spec: Spec) -> tuple[str, ...]:
    """What has to be built for a cluster."""
    kwok_too = (KWOK,) if KWOK in component_names(spec) else ()
    training = TRAINER if spec.trainer else ()
    return ("etcd", "kubernetes", KUEUE, *kwok_too, *training)


def supervisor_of(instance: Instance) -> Supervisor:
    """The processes of an instance."""
    return Supervisor(instance.directory, instance.run, instance.logs)


def wait_until(what: str, condition: Callable[[], bool], timeout: float = WAIT) -> None:
    """Ask until the condition holds; raises ClusterError after `timeout` seconds.

    A question that fails is asked again: a server that has just started refuses some.
    """
    deadline = time.monotonic() + timeout
    while True:
        try:
            reason = ""
            if condition():
                return
        except ClusterError as error:
            reason = f": {error}"
        if time.monotonic() > deadline:
            raise ClusterError(f"{what}: not within {timeout:.0f} s{reason}")
        time.sleep(0.1)


@dataclass(frozen=True)
class Bringup:
    """Starts and ends one instance.

    `build` and `fetch_tools` are called when something needs what they give: an instance can be
    looked at and ended without them.
    """

    instance: Instance
    build: Callable[[], Mapping[str, Built]]
    fetch_tools: Callable[[], DebianTools]
    progress: Progress

    @cached_property
    def binaries(self) -> Mapping[str, Built]:
        """What the components run."""
        return self.build()

    @cached_property
    def supervisor(self) -> Supervisor:
        """Its processes."""
        return supervisor_of(self.instance)

    @cached_property
    def certificates(self) -> Certificates:
        """Its certificates, written at the first start."""
        return controlplane.ensure_certificates(self.instance)

    @cached_property
    def kubectl(self) -> Kubectl:
        """kubectl as its administrator."""
        command = self.binaries["kubernetes"].binary("kubectl")
        return Kubectl(command, self.instance.kubeconfig)

    @cached_property
    def api(self) -> Api:
        """Its API, as its administrator."""
        certificates = self.certificates
        return Api(self.instance.url("apiserver"), certificates.ca.cert, certificates.admin)

    @cached_property
    def _launched(self) -> dict[str, float]:
        """When each component that is not known to be ready was started, in monotonic seconds."""
        return {}

    @cached_property
    def node(self) -> Node:
        """The real node; raises ClusterError where there is none."""
        if self.instance.spec.mode is not Mode.FULL:
            raise ClusterError("this cluster has no real node: it was started with `--mode kwok`")
        return Node(self.instance, self.fetch_tools(), self.supervisor)

    def start(self) -> None:
        """Start what does not run, each as soon as what it needs is ready; wait for all of it."""
        for name in ("etcd", "kube-apiserver"):
            self._launch(name)
            if name == "kube-apiserver" and not self._is_done("kueue objects"):
                _ = self._kueue_manifests  # The processor is free while the server starts.
            self._settle(name)
        others = component_names(self.instance.spec)[2:]
        for name in others:
            self._launch(name)
            if name in (NAMESPACE, CONTAINERD):
                self._settle(name)
        for name in others:
            self._settle(name)
        nodes = self.instance.spec.kwok_nodes
        if nodes:
            with self.progress.step(f"{len(nodes)} kwok nodes"):
                self.apply_kwok_nodes(nodes)

    def start_component(self, name: str) -> None:
        """Start one component if it does not run, and wait until it is ready."""
        self._launch(name)
        self._settle(name)

    def _launch(self, name: str) -> None:
        """Start one component unless it runs as it should, after what has to be there before it."""
        if name == KUEUE:
            self._once("kueue objects", self._apply_before_kueue)
            kueue.prepare(self.instance, self.certificates)
        elif name == KWOK:
            self._once("kwok objects", self._apply_before_kwok)
        elif name in TRAINER:
            self._once(f"{name} objects", lambda: self._apply_before_trainer(name))
            trainer.prepare(self.instance, name, self.certificates)
        elif name == RELAY:
            self.node.add_address(self.instance.service_address)
        elif name == NAMESPACE and self.supervisor.running(NAMESPACE) is None:
            self.node.prepare()
        elif name == KUBELET:
            controlplane.ensure_node_kubeconfig(
                self.instance, self.certificates, self.instance.spec.real_node.name
            )
        component = self._component(name)
        if not self.supervisor.is_current(component):
            self._launched[name] = time.monotonic()
            self.supervisor.start(component)

    def _settle(self, name: str) -> None:
        """Wait until a component is ready, and do what follows on that."""
        self.supervisor.wait(self._component(name))
        if name in self._launched:
            self.progress.done(name, since=self._launched.pop(name))
        if name == "kube-controller-manager":
            path = "/api/v1/namespaces/default/serviceaccounts/default"
            wait_until("the default service account", lambda: self.api.get(path) is not None)
        elif name == KUEUE:
            self._once("kueue webhooks", self._apply_after_kueue)
            wait_until("Kueue's visibility API", self._serves_visibility)
        elif name in TRAINER:
            self._once(f"{name} webhooks", lambda: self._apply_after_trainer(name))
        elif name == CONTAINERD:
            self._import_images()
        elif name == KUBELET:
            self._settle_node()

    def stop(self) -> None:
        """End every process, and take away what the real node has outside the state directory."""
        if self.instance.spec.mode is Mode.FULL:
            with self.progress.step("ending the real node and its containers"):
                self.supervisor.stop(RELAY)
                self.node.remove()
        with self.progress.step("ending the control plane"):
            for name in reversed((*CONTROL_PLANE, KUEUE, KWOK, *TRAINER)):
                self.supervisor.stop(name)
            process.kill(process.marked_with(self.instance.directory))

    def apply_kwok_nodes(self, nodes: Iterable[KwokNode]) -> None:
        """Create or change fake nodes, and wait until they are ready."""
        manifests = {node.name: kwok.node_manifest(node) for node in nodes}
        self.api.apply(manifests.values())
        # Of a node that was there before, its status is as it was.
        for found in self.api.get("/api/v1/nodes")["items"]:
            name = found["metadata"]["name"]
            status = manifests.get(name, {}).get("status", {})
            if status and status["capacity"].items() - found["status"]["capacity"].items():
                self.api.merge(f"/api/v1/nodes/{name}/status", {"status": status})
        wanted = set(manifests)
        wait_until(
            f"nodes ready: {', '.join(sorted(wanted))}",
            lambda: wanted <= {name for name, ready in self.nodes().items() if ready},
        )

    def nodes(self) -> dict[str, bool]:
        """Each node, and whether it is ready."""
        listed = self.api.get("/api/v1/nodes")["items"]
        return {item["metadata"]["name"]: has_condition(item, "Ready") for item in listed}

    def _component(self, name: str) -> Component:
        instance, certificates = self.instance, self.certificates
        kubernetes = self.binaries["kubernetes"]
        make: dict[str, Callable[[], Component]] = {
            "etcd": lambda: controlplane.etcd(instance, certificates, self.binaries["etcd"]),
            "kube-apiserver": lambda: controlplane.apiserver(instance, certificates, kubernetes),
            "kube-controller-manager": lambda: controlplane.controller_manager(
                instance, certificates, kubernetes
            ),
            "kube-scheduler": lambda: controlplane.scheduler(instance, kubernetes),
            KUEUE: lambda: kueue.kueue(instance, self.binaries[KUEUE]),
            KWOK: lambda: kwok.kwok(instance, self.binaries[KWOK]),
            "jobset": lambda: trainer.jobset(instance, self.binaries["jobset"]),
            "trainer": lambda: trainer.trainer(instance, self.binaries["trainer"]),
            RELAY: lambda: relay(instance),
            NAMESPACE: lambda: self.node.namespace(),
            CONTAINERD: lambda: self.node.containerd(self._images()[2]),
            KUBELET: lambda: self.node.kubelet(kubernetes, certificates),
        }
        return make[name]()

    @cached_property
    def _kueue_manifests(self) -> kueue.Manifests:
        documents = self.kubectl.kustomize(self.binaries[KUEUE].path / "config/default")
        return kueue.rewrite(
            [document for document in YAML(typ="safe").load_all(documents) if document],
            webhook_url=self.instance.url("kueue-webhook"),
            ca_bundle=self.certificates.webhook_ca.cert.read_bytes(),
            visibility_port=self.instance.ports["kueue-visibility"],
        )

    def _apply_before_kueue(self) -> None:
        before = [*self._kueue_manifests.before, kueue.webhook_secret(self.certificates)]
        self.api.apply(before)
        self._wait_for_definitions(before)

    def _apply_after_kueue(self) -> None:
        self.api.apply(self._kueue_manifests.after)

    def _apply_before_kwok(self) -> None:
        definitions = kwok.manifests(self.binaries[KWOK], kwok.DEFINITIONS)
        self.api.apply(definitions)
        self._wait_for_definitions(definitions)
        self.api.apply(kwok.stages(self.binaries[KWOK]))

    def _apply_before_trainer(self, name: str) -> None:
        before = trainer.before(name, self.binaries[name])
        self.api.apply(before)
        self._wait_for_definitions(before)

    def _apply_after_trainer(self, name: str) -> None:
        ca_bundle = self.certificates.webhook_ca.cert.read_bytes()
        url = self.instance.url(f"{name}-webhook")
        self.api.apply(trainer.after(name, self.binaries[name], url, ca_bundle))

    def _wait_for_definitions(self, objects: Iterable[Mapping[str, Any]]) -> None:
        for item in objects:
            if item["kind"] == "CustomResourceDefinition":
                name = item["metadata"]["name"]
                path = f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}"
                wait_until(f"{name} served", partial(self._has, path, "Established"))

    def _has(self, path: str, condition: str) -> bool:
        return has_condition(self.api.get(path) or {}, condition)

    def _images(self) -> tuple[bytes, image.Image, image.Image]:
        return image.busybox_archive(self.node.tools)

    def _import_images(self) -> None:
        content, busybox, sandbox = self._images()
        if self.node.has_image(busybox) and self.node.has_image(sandbox):
            return
        with self.progress.step(f"image {busybox.references[0]}"):
            archive = self.instance.directory / "busybox.tar"
            archive.write_bytes(content)
            self.node.import_archive(archive)

    def _settle_node(self) -> None:
        """Wait for the real node, and give it the labels and GPUs of the spec."""
        wanted = self.instance.spec.real_node
        path = f"/api/v1/nodes/{wanted.name}"
        wait_until(f"node {wanted.name} ready", lambda: self._has(path, "Ready"))
        found = self.api.get(path)
        if any(found["metadata"]["labels"].get(k) != v for k, v in wanted.labels.items()):
            self.api.merge(path, {"metadata": {"labels": dict(wanted.labels)}})
        if found["status"]["capacity"].get(GPU, "0") != str(wanted.gpus):
            count = {GPU: str(wanted.gpus)}
            self.api.merge(f"{path}/status", {"status": {"capacity": count, "allocatable": count}})

    def _serves_visibility(self) -> bool:
        """Whether requests get through to Kueue's visibility API; if not, have it looked for.

        The API server waits longer after each time that it did not find it there, up to half a
        minute, but looks at once when the APIService changes. Until it finds every one, no
        namespace can be deleted.
        """
        services = self.api.get(API_SERVICES)["items"]
        missing = [
            item["metadata"]["name"]
            for item in services
            if kueue.is_visibility(item) and not has_condition(item, "Available")
        ]
        for name in missing:
            asked = {"gitops-campaigns.local/asked": str(time.time())}
            self.api.merge(f"{API_SERVICES}/{name}", {"metadata": {"annotations": asked}})
        return not missing

    def _once(self, what: str, action: Callable[[], None]) -> None:
        """Do it, unless it was done with the same binaries for what etcd holds."""
        if not self._is_done(what):
            with self.progress.step(what):
                action()
            self._mark(what).write_text(self._mark_text(what))

    def _is_done(self, what: str) -> bool:
        mark = self._mark(what)
        return mark.exists() and mark.read_text() == self._mark_text(what)

    def _mark(self, what: str) -> Path:
        return self.instance.run / f"{what.replace(' ', '-')}.applied"

    def _mark_text(self, what: str) -> str:
        return str(self.binaries[what.partition(" ")[0]].path)


def has_condition(item: Mapping[str, Any], condition: str) -> bool:
    """Whether a condition of the object's status is true."""
    # A new CRD has `conditions: null`.
    conditions = item.get("status", {}).get("conditions") or []
    return any(c["type"] == condition and c["status"] == "True" for c in conditions)
