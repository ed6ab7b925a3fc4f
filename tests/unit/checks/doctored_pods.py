"""Pods that are nearly "restricted": what is changed in one that is, and the control it breaks.

The unit tests and those on a cluster use the same ones.
"""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from typing import Any

# The fields that a change is about, each with its value; None takes the field out.
Change = Mapping[str, Any]

POD: dict[str, Any] = {
    "metadata": {"annotations": {}},
    "spec": {
        "restartPolicy": "Never",
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "volumes": [{"name": "work", "emptyDir": {}}],
        "initContainers": [
            {
                "name": "first",
                "image": "registry.example/first:1",
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
        "containers": [
            {
                "name": "main",
                "image": "registry.example/main:1",
                "securityContext": {
                    "allowPrivilegeEscalation": False,
                    "capabilities": {"drop": ["ALL"]},
                },
            }
        ],
    },
}

_POD = "spec.securityContext"
_MAIN = "spec.containers.0"
_FIRST = "spec.initContainers.0"
_OF_MAIN = f"{_MAIN}.securityContext"
_OF_FIRST = f"{_FIRST}.securityContext"
_TCP = {"tcpSocket": {"host": "10.0.0.1", "port": 80}}
_HTTP = {"httpGet": {"host": "10.0.0.1", "port": 80}}
_HERE = {"httpGet": {"host": "", "port": 80}}
_UNCONFINED = {"type": "Unconfined"}
_LOCAL = {"type": "Localhost", "localhostProfile": "ocr.json"}
_APPARMOR = "container.apparmor.security.beta.kubernetes.io/main"
_WINDOWS = {
    "spec.os": {"name": "windows"},
    f"{_POD}.seccompProfile": None,
    f"{_POD}.runAsUser": None,
    _OF_MAIN: None,
    _OF_FIRST: None,
}

BROKEN: dict[str, tuple[str, Change]] = {
    "host process": (
        "HostProcess",
        _WINDOWS
        | {
            "spec.hostNetwork": True,
            f"{_POD}.runAsNonRoot": None,
            f"{_POD}.windowsOptions": {"hostProcess": True, "runAsUserName": "user"},
        },
    ),
    "host network": ("Host Namespaces", {"spec.hostNetwork": True}),
    "host pid": ("Host Namespaces", {"spec.hostPID": True}),
    "host ipc": ("Host Namespaces", {"spec.hostIPC": True}),
    "privileged": (
        "Privileged Containers",
        {f"{_OF_MAIN}.privileged": True, f"{_OF_MAIN}.allowPrivilegeEscalation": None},
    ),
    "host port": (
        "Host Ports",
        {f"{_MAIN}.ports": [{"containerPort": 80, "hostPort": 8080}]},
    ),
    "host of a probe": ("Host Probes / Lifecycle Hooks", {f"{_MAIN}.livenessProbe": _TCP}),
    "host of a readiness probe": (
        "Host Probes / Lifecycle Hooks",
        {f"{_MAIN}.readinessProbe": _HTTP},
    ),
    "host of a hook": (
        "Host Probes / Lifecycle Hooks",
        {f"{_MAIN}.lifecycle": {"postStart": _HTTP}},
    ),
    "apparmor": ("AppArmor", {f"{_POD}.appArmorProfile": _UNCONFINED}),
    "apparmor of a container": ("AppArmor", {f"{_OF_FIRST}.appArmorProfile": _UNCONFINED}),
    "apparmor annotation": ("AppArmor", {"metadata.annotations": {_APPARMOR: "unconfined"}}),
    "selinux type": ("SELinux", {f"{_OF_MAIN}.seLinuxOptions": {"type": "spc_t"}}),
    "selinux user": ("SELinux", {f"{_POD}.seLinuxOptions": {"user": "system_u"}}),
    "selinux role": ("SELinux", {f"{_POD}.seLinuxOptions": {"role": "sysadm_r"}}),
    "proc mount": (
        "/proc Mount Type",
        {f"{_OF_MAIN}.procMount": "Unmasked", "spec.hostUsers": False},
    ),
    "sysctl": (
        "Sysctls",
        {f"{_POD}.sysctls": [{"name": "kernel.msgmax", "value": "65536"}]},
    ),
    "host path": (
        "Volume Types",
        {"spec.volumes": [{"name": "work", "hostPath": {"path": "/var/lib"}}]},
    ),
    "nfs": (
        "Volume Types",
        {"spec.volumes": [{"name": "work", "nfs": {"server": "nfs.example", "path": "/"}}]},
    ),
    "iscsi": (
        "Volume Types",
        {
            "spec.volumes": [
                {
                    "name": "work",
                    "iscsi": {
                        "targetPortal": "10.0.0.1",
                        "iqn": "iqn.2001-04.com.example:a",
                        "lun": 0,
                    },
                }
            ]
        },
    ),
    "privilege escalation": (
        "Privilege Escalation",
        {f"{_OF_MAIN}.allowPrivilegeEscalation": True},
    ),
    "privilege escalation not said": (
        "Privilege Escalation",
        {f"{_OF_FIRST}.allowPrivilegeEscalation": None},
    ),
    "root not refused": ("Running as Non-root", {f"{_POD}.runAsNonRoot": None}),
    "root allowed": ("Running as Non-root", {f"{_POD}.runAsNonRoot": False}),
    "root allowed in a container": (
        "Running as Non-root",
        {f"{_OF_MAIN}.runAsNonRoot": False},
    ),
    "root refused in one container alone": (
        "Running as Non-root",
        {f"{_POD}.runAsNonRoot": None, f"{_OF_MAIN}.runAsNonRoot": True},
    ),
    "root allowed by a pod that its containers overrule": (
        "Running as Non-root",
        {
            f"{_POD}.runAsNonRoot": False,
            f"{_OF_MAIN}.runAsNonRoot": True,
            f"{_OF_FIRST}.runAsNonRoot": True,
        },
    ),
    "user 0": ("Running as Non-root user", {f"{_POD}.runAsUser": 0}),
    "user 0 in a container": ("Running as Non-root user", {f"{_OF_MAIN}.runAsUser": 0}),
    "no seccomp": ("Seccomp", {f"{_POD}.seccompProfile": None}),
    "seccomp unconfined": ("Seccomp", {f"{_POD}.seccompProfile": _UNCONFINED}),
    "seccomp unconfined in a container": ("Seccomp", {f"{_OF_FIRST}.seccompProfile": _UNCONFINED}),
    "seccomp in one container alone": (
        "Seccomp",
        {f"{_POD}.seccompProfile": None, f"{_OF_FIRST}.seccompProfile": _LOCAL},
    ),
    "no capability dropped": ("Capabilities", {f"{_OF_MAIN}.capabilities": None}),
    "one capability dropped": ("Capabilities", {f"{_OF_MAIN}.capabilities.drop": ["NET_RAW"]}),
    "capability of baseline": ("Capabilities", {f"{_OF_MAIN}.capabilities.add": ["CHOWN"]}),
    "capability added": ("Capabilities", {f"{_OF_FIRST}.capabilities.add": ["SYS_ADMIN"]}),
}
KEPT: dict[str, Change] = {
    "nothing changed": {},
    "every container refuses root": {
        f"{_POD}.runAsNonRoot": None,
        f"{_OF_MAIN}.runAsNonRoot": True,
        f"{_OF_FIRST}.runAsNonRoot": True,
    },
    "every container has seccomp": {
        f"{_POD}.seccompProfile": None,
        f"{_OF_MAIN}.seccompProfile": _LOCAL,
        f"{_OF_FIRST}.seccompProfile": {"type": "RuntimeDefault"},
    },
    "root of a user namespace": {
        "spec.hostUsers": False,
        f"{_POD}.runAsNonRoot": False,
        f"{_POD}.runAsUser": 0,
        f"{_OF_MAIN}.runAsUser": 0,
    },
    "a capability that may be added": {f"{_OF_MAIN}.capabilities.add": ["NET_BIND_SERVICE"]},
    "volumes that may be": {
        "spec.volumes": [
            {"name": "a", "configMap": {"name": "a"}},
            {"name": "b", "secret": {"secretName": "b"}},
            {"name": "c", "persistentVolumeClaim": {"claimName": "c"}},
            {"name": "d", "projected": {"sources": []}},
            {"name": "e", "csi": {"driver": "e.example"}},
            {"name": "f", "downwardAPI": {}},
            {"name": "g", "image": {"reference": "registry.example/g:1"}},
            {"name": "h"},
        ]
    },
    "a port of its own": {f"{_MAIN}.ports": [{"containerPort": 80}]},
    "a probe of itself": {f"{_MAIN}.livenessProbe": _HERE},
    "a hook of itself": {f"{_MAIN}.lifecycle": {"preStop": _HERE}},
    "apparmor profiles": {
        "metadata.annotations": {_APPARMOR: "runtime/default"},
        f"{_OF_MAIN}.appArmorProfile": {"type": "RuntimeDefault"},
    },
    "selinux of containers": {f"{_POD}.seLinuxOptions": {"type": "container_engine_t"}},
    "a safe sysctl": {
        f"{_POD}.sysctls": [{"name": "net.ipv4.tcp_syncookies", "value": "1"}],
    },
    "the usual proc": {f"{_OF_MAIN}.procMount": "Default"},
    "windows": _WINDOWS,
}


def doctored(change: Change) -> dict[str, Any]:
    """`POD`, changed."""
    pod = deepcopy(POD)
    for path, value in change.items():
        *way, last = path.split(".")
        place: Any = pod
        for step in way:
            place = place[int(step)] if isinstance(place, list) else place[step]
        if value is None:
            del place[last]
        else:
            place[last] = deepcopy(value)
    return pod
