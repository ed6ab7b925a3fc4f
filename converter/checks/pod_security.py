"""Pod Security "restricted" as Kubernetes 1.35 has it: one function a control.

The controls are those of https://kubernetes.io/docs/concepts/security/pod-security-standards/, of
both levels: "restricted" includes "baseline". Where both have one of the same name the stricter
one is here, and hostPath is one of the volume types. What the page leaves open is decided as in
k8s.io/pod-security-admission/policy, which a test compares with on a cluster.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

Object = Mapping[str, Any]

_NOTHING: Final[Object] = {}
_CONTAINERS: Final = ("initContainers", "containers", "ephemeralContainers")
_VOLUME_TYPES: Final = frozenset(
    (
        "configMap",
        "csi",
        "downwardAPI",
        "emptyDir",
        "ephemeral",
        "image",
        "persistentVolumeClaim",
        "projected",
        "secret",
    )
)
_APPARMOR_ANNOTATION: Final = "container.apparmor.security.beta.kubernetes.io/"
_PROFILES: Final = ("RuntimeDefault", "Localhost")
_SELINUX_TYPES: Final = frozenset(
    ("", "container_t", "container_init_t", "container_kvm_t", "container_engine_t")
)
_SYSCTLS: Final = frozenset(
    (
        "kernel.shm_rmid_forced",
        "net.ipv4.ip_local_port_range",
        "net.ipv4.ip_local_reserved_ports",
        "net.ipv4.ip_unprivileged_port_start",
        "net.ipv4.ping_group_range",
        "net.ipv4.tcp_fin_timeout",
        "net.ipv4.tcp_keepalive_intvl",
        "net.ipv4.tcp_keepalive_probes",
        "net.ipv4.tcp_keepalive_time",
        "net.ipv4.tcp_rmem",
        "net.ipv4.tcp_syncookies",
        "net.ipv4.tcp_wmem",
    )
)


class Breach(NamedTuple):
    """A field that keeps a pod from being "restricted", and the control that it breaks.

    `field` is a path below the pod (or pod template), such as ``spec.hostNetwork``. `wanted` says
    what it must be instead.
    """

    control: str
    field: str
    wanted: str


class _Pod(NamedTuple):
    """A pod or pod template, with shorter ways to what the controls ask for."""

    annotations: Object
    spec: Object

    def containers(self) -> Iterator[tuple[str, Object]]:
        """Every container, and the path to it."""
        for kind in _CONTAINERS:
            for index, container in enumerate(self.spec.get(kind, ())):
                yield f"spec.{kind}[{index}]", container

    def container_contexts(self) -> Iterator[tuple[str, Object]]:
        """The security context of every container, empty for one without, and the path to it."""
        for place, container in self.containers():
            yield f"{place}.securityContext", container.get("securityContext", _NOTHING)

    def contexts(self) -> Iterator[tuple[str, Object]]:
        """Every security context, the pod's first, and the path to it."""
        yield "spec.securityContext", self.context
        yield from self.container_contexts()

    @property
    def context(self) -> Object:
        found: Object = self.spec.get("securityContext", _NOTHING)
        return found

    @property
    def is_windows(self) -> bool:
        return bool(self.spec.get("os", _NOTHING).get("name") == "windows")

    @property
    def has_own_users(self) -> bool:
        """In a user namespace root is not the node's root."""
        return self.spec.get("hostUsers") is False


_Control = Callable[[_Pod], Iterator[tuple[str, str]]]


def breaches(pod: Object) -> Iterator[Breach]:
    """What keeps a pod, or the pods of a template, from being "restricted".

    `pod` is as an API server takes it: ``metadata`` and ``spec``, of dicts, lists and scalars.
    """
    annotations = pod.get("metadata", _NOTHING).get("annotations", _NOTHING)
    seen = _Pod(annotations, pod["spec"])
    for name, control in CONTROLS.items():
        for field, wanted in control(seen):
            yield Breach(name, field, wanted)


def _host_process(pod: _Pod) -> Iterator[tuple[str, str]]:
    for place, context in pod.contexts():
        if context.get("windowsOptions", _NOTHING).get("hostProcess"):
            yield f"{place}.windowsOptions.hostProcess", "false"


def _host_namespaces(pod: _Pod) -> Iterator[tuple[str, str]]:
    for name in ("hostNetwork", "hostPID", "hostIPC"):
        if pod.spec.get(name):
            yield f"spec.{name}", "false"


def _privileged(pod: _Pod) -> Iterator[tuple[str, str]]:
    for place, context in pod.container_contexts():
        if context.get("privileged"):
            yield f"{place}.privileged", "false"


def _capabilities(pod: _Pod) -> Iterator[tuple[str, str]]:
    if pod.is_windows:
        return
    for place, context in pod.container_contexts():
        capabilities = context.get("capabilities", _NOTHING)
        if "ALL" not in capabilities.get("drop", ()):
            yield f"{place}.capabilities.drop", "[ALL]"
        if any(name != "NET_BIND_SERVICE" for name in capabilities.get("add", ())):
            yield f"{place}.capabilities.add", "nothing but NET_BIND_SERVICE"


def _volume_types(pod: _Pod) -> Iterator[tuple[str, str]]:
    for index, volume in enumerate(pod.spec.get("volumes", ())):
        for kind in volume.keys() - _VOLUME_TYPES - {"name"}:
            yield f"spec.volumes[{index}].{kind}", f"one of {', '.join(sorted(_VOLUME_TYPES))}"


def _host_ports(pod: _Pod) -> Iterator[tuple[str, str]]:
    for place, container in pod.containers():
        for index, port in enumerate(container.get("ports", ())):
            if port.get("hostPort"):
                yield f"{place}.ports[{index}].hostPort", "0 or left out"


def _handler_hosts(pod: _Pod) -> Iterator[tuple[str, str]]:
    for place, container in pod.containers():
        lifecycle = container.get("lifecycle", _NOTHING)
        handlers = {
            name: container.get(name, _NOTHING)
            for name in ("livenessProbe", "readinessProbe", "startupProbe")
        }
        handlers |= {
            f"lifecycle.{name}": lifecycle.get(name, _NOTHING) for name in ("postStart", "preStop")
        }
        for name, handler in handlers.items():
            for action in ("httpGet", "tcpSocket"):
                if handler.get(action, _NOTHING).get("host"):
                    yield f"{place}.{name}.{action}.host", "left out"


def _apparmor(pod: _Pod) -> Iterator[tuple[str, str]]:
    for place, context in pod.contexts():
        profile = context.get("appArmorProfile")
        if profile is not None and profile.get("type") not in _PROFILES:
            yield f"{place}.appArmorProfile.type", " or ".join(_PROFILES)
    for name, profile in pod.annotations.items():
        allowed = profile in ("", "runtime/default") or profile.startswith("localhost/")
        if name.startswith(_APPARMOR_ANNOTATION) and not allowed:
            yield f"metadata.annotations[{name}]", "runtime/default or localhost/<profile>"


def _selinux(pod: _Pod) -> Iterator[tuple[str, str]]:
    for place, context in pod.contexts():
        options = context.get("seLinuxOptions", _NOTHING)
        if options.get("type", "") not in _SELINUX_TYPES:
            allowed = ", ".join(sorted(_SELINUX_TYPES - {""}))
            yield f"{place}.seLinuxOptions.type", f"one of {allowed}"
        for name in ("user", "role"):
            if options.get(name):
                yield f"{place}.seLinuxOptions.{name}", "left out"


def _proc_mount(pod: _Pod) -> Iterator[tuple[str, str]]:
    for place, context in pod.container_contexts():
        if context.get("procMount", "Default") != "Default":
            yield f"{place}.procMount", "Default"


def _seccomp(pod: _Pod) -> Iterator[tuple[str, str]]:
    if pod.is_windows:
        return
    yield from _inherited(pod, ("seccompProfile", "type"), _PROFILES, " or ".join(_PROFILES))


def _sysctls(pod: _Pod) -> Iterator[tuple[str, str]]:
    for index, sysctl in enumerate(pod.context.get("sysctls", ())):
        if sysctl["name"] not in _SYSCTLS:
            yield f"spec.securityContext.sysctls[{index}]", "one of those called safe"


def _privilege_escalation(pod: _Pod) -> Iterator[tuple[str, str]]:
    if pod.is_windows:
        return
    for place, context in pod.container_contexts():
        if context.get("allowPrivilegeEscalation") is not False:
            yield f"{place}.allowPrivilegeEscalation", "false"


def _run_as_non_root(pod: _Pod) -> Iterator[tuple[str, str]]:
    if not pod.has_own_users:
        yield from _inherited(pod, ("runAsNonRoot",), (True,), "true")


def _run_as_user(pod: _Pod) -> Iterator[tuple[str, str]]:
    for place, context in pod.contexts():
        if context.get("runAsUser") == 0 and not pod.has_own_users:
            yield f"{place}.runAsUser", "above 0"


def _inherited(
    pod: _Pod, path: tuple[str, ...], allowed: tuple[object, ...], wanted: str
) -> Iterator[tuple[str, str]]:
    """A value that every container needs, its own or the pod's. A wrong one is wrong on either."""
    of_pod = _member(pod.context, path)
    if of_pod is not None and of_pod not in allowed:
        yield ".".join(("spec.securityContext", *path)), wanted
    for place, context in pod.container_contexts():
        of_container = _member(context, path)
        if (of_pod if of_container is None else of_container) not in allowed:
            yield ".".join((place, *path)), wanted


def _member(context: Object, path: tuple[str, ...]) -> object:
    found: Any = context
    for name in path:
        found = found.get(name)
        if found is None:
            return None
    return found


CONTROLS: Final[Mapping[str, _Control]] = {
    "HostProcess": _host_process,
    "Host Namespaces": _host_namespaces,
    "Privileged Containers": _privileged,
    "Host Ports": _host_ports,
    "Host Probes / Lifecycle Hooks": _handler_hosts,
    "AppArmor": _apparmor,
    "SELinux": _selinux,
    "/proc Mount Type": _proc_mount,
    "Sysctls": _sysctls,
    "Volume Types": _volume_types,
    "Privilege Escalation": _privilege_escalation,
    "Running as Non-root": _run_as_non_root,
    "Running as Non-root user": _run_as_user,
    "Seccomp": _seccomp,
    "Capabilities": _capabilities,
}
