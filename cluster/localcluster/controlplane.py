"""The control plane: certificates, and the commands of etcd and Kubernetes' own components."""

from __future__ import annotations

import json
from dataclasses import dataclass

from localcluster import pki
from localcluster.api import answers
from localcluster.build import Built
from localcluster.instance import Instance
from localcluster.pki import Pair
from localcluster.supervisor import Component

CONTROLLER_MANAGER = "system:kube-controller-manager"
SCHEDULER = "system:kube-scheduler"
KUEUE = "system:serviceaccount:kueue-system:kueue-controller-manager"
KWOK = "system:serviceaccount:kube-system:kwok-controller"
# Not their ServiceAccounts: a name in a certificate has 64 characters at most.
JOBSET = "jobset-controller-manager"
TRAINER = "trainer-controller-manager"

AUDIT_LOG_MEGABYTES = 2048
"""The log is never rotated in practice: tests read it from an offset on."""

WEBHOOK_AUTHORITY = "kueue-ca"
WEBHOOK_HOST = "kueue-webhook-service.kueue-system.svc"
"""The names that Kueue's certificate rotator wants in its Secret's certificates, the CA's and the
server's: it keeps those that have them and are valid (cert-controller, refreshCertIfNeeded)."""


@dataclass(frozen=True)
class Certificates:
    """The pairs that more than one component names."""

    ca: Pair
    etcd_ca: Pair
    etcd: Pair
    apiserver: Pair
    kubelet_client: Pair
    front_proxy_ca: Pair
    front_proxy: Pair
    admin: Pair
    webhook_ca: Pair
    webhook: Pair


def ensure_certificates(instance: Instance) -> Certificates:
    """Write the certificates, kubeconfigs and keys that are not there yet."""
    directory = instance.pki
    ca = pki.ensure_authority(directory, "ca")
    # Its own authority: a user of the cluster must not be able to read etcd with a certificate.
    etcd_ca = pki.ensure_authority(directory, "etcd-ca")
    front_proxy_ca = pki.ensure_authority(directory, "front-proxy-ca")
    # RSA, the only kind of key that Kueue's rotator can read.
    webhook_ca = pki.ensure_authority(directory, WEBHOOK_AUTHORITY, rsa_key=True)
    webhook = pki.ensure_certificate(
        webhook_ca,
        directory,
        "kueue-webhook",
        common_name=WEBHOOK_HOST,
        dns_names=[WEBHOOK_HOST],
        addresses=["127.0.0.1"],
        rsa_key=True,
    )
    pki.ensure_key(directory / "service-account.key")
    certificates = Certificates(
        ca=ca,
        etcd_ca=etcd_ca,
        etcd=pki.ensure_certificate(
            etcd_ca, directory, "etcd", common_name="etcd", addresses=["127.0.0.1"]
        ),
        apiserver=pki.ensure_certificate(
            ca,
            directory,
            "apiserver",
            common_name="kube-apiserver",
            dns_names=["localhost", "kubernetes", "kubernetes.default", "kubernetes.default.svc"],
            addresses=["127.0.0.1", instance.service_address],
        ),
        kubelet_client=pki.ensure_certificate(
            ca,
            directory,
            "apiserver-kubelet-client",
            common_name="kube-apiserver-kubelet-client",
            organizations=["system:masters"],
        ),
        front_proxy_ca=front_proxy_ca,
        front_proxy=pki.ensure_certificate(
            front_proxy_ca, directory, "front-proxy-client", common_name="front-proxy-client"
        ),
        admin=pki.ensure_certificate(
            ca, directory, "admin", common_name="admin", organizations=["system:masters"]
        ),
        webhook_ca=webhook_ca,
        webhook=webhook,
    )
    _ensure_kubeconfig(instance, certificates, "kube-controller-manager", CONTROLLER_MANAGER)
    _ensure_kubeconfig(instance, certificates, "kube-scheduler", SCHEDULER)
    # The names of their ServiceAccounts, so that their own RBAC rules are what they run with.
    _ensure_kubeconfig(instance, certificates, "kueue", KUEUE, "system:serviceaccounts")
    _ensure_kubeconfig(instance, certificates, "kwok", KWOK, "system:serviceaccounts")
    _ensure_kubeconfig(instance, certificates, "jobset", JOBSET)
    _ensure_kubeconfig(instance, certificates, "trainer", TRAINER)
    if not instance.kubeconfig.exists():
        pki.write_kubeconfig(
            instance.kubeconfig,
            name=instance.id,
            server=instance.url("apiserver"),
            ca=ca.cert,
            client=certificates.admin,
        )
    return certificates


def ensure_node_kubeconfig(instance: Instance, certificates: Certificates, node: str) -> None:
    """The kubelet's identity (Node authorizer) and its serving certificate."""
    _ensure_kubeconfig(
        instance, certificates, f"kubelet-{node}", f"system:node:{node}", "system:nodes"
    )
    pki.ensure_certificate(
        certificates.ca,
        instance.pki,
        f"kubelet-{node}-server",
        common_name=node,
        addresses=[instance.node_address],
    )


def _ensure_kubeconfig(
    instance: Instance, certificates: Certificates, name: str, user: str, *groups: str
) -> None:
    target = instance.pki / f"{name}.kubeconfig"
    if not target.exists():
        client = pki.ensure_certificate(
            certificates.ca, instance.pki, name, common_name=user, organizations=groups
        )
        pki.write_kubeconfig(
            target,
            name=instance.id,
            server=instance.url("apiserver"),
            ca=certificates.ca.cert,
            client=client,
        )


def audit_policy() -> dict[str, object]:
    """What the API server writes down; the first rule that fits counts.

    Bodies of requests only for what the product writes and the pods that come of it; no
    heartbeats, no Events.
    """
    return {
        "apiVersion": "audit.k8s.io/v1",
        "kind": "Policy",
        "omitStages": ["RequestReceived"],
        "omitManagedFields": True,
        "rules": [
            {
                "level": "None",
                "resources": [
                    {"group": "", "resources": ["events", "nodes/status"]},
                    {"group": "events.k8s.io", "resources": ["events"]},
                ],
            },
            {
                "level": "None",
                "namespaces": ["kube-node-lease", "kube-system"],
                "resources": [{"group": "coordination.k8s.io", "resources": ["leases"]}],
            },
            {
                "level": "Request",
                "resources": [
                    {"group": "batch", "resources": ["jobs", "jobs/status"]},
                    {"group": "", "resources": ["configmaps", "pods"]},
                    {"group": "coordination.k8s.io", "resources": ["leases"]},
                    {"group": "kueue.x-k8s.io", "resources": ["workloads", "workloads/status"]},
                ],
            },
            {"level": "Metadata"},
        ],
    }


def etcd(instance: Instance, certificates: Certificates, built: Built) -> Component:
    """etcd, on loopback and for its own certificates only; writes are not synced to the disk."""
    peer = instance.url("etcd-peer")
    pair = certificates.etcd
    health = instance.url("etcd-health", "http")
    return Component(
        name="etcd",
        argv=(
            str(built.binary("etcd")),
            f"--data-dir={instance.directory / 'etcd'}",
            f"--listen-client-urls={instance.url('etcd')}",
            f"--advertise-client-urls={instance.url('etcd')}",
            f"--listen-peer-urls={peer}",
            f"--initial-advertise-peer-urls={peer}",
            f"--initial-cluster=default={peer}",
            f"--listen-metrics-urls={health}",
            f"--cert-file={pair.cert}",
            f"--key-file={pair.key}",
            f"--trusted-ca-file={certificates.etcd_ca.cert}",
            "--client-cert-auth",
            f"--peer-cert-file={pair.cert}",
            f"--peer-key-file={pair.key}",
            f"--peer-trusted-ca-file={certificates.etcd_ca.cert}",
            "--peer-client-cert-auth",
            "--unsafe-no-fsync",
            "--log-level=warn",
        ),
        ready=lambda _: answers(f"{health}/health"),
        directory=instance.directory,
    )


def apiserver(instance: Instance, certificates: Certificates, built: Built) -> Component:
    """kube-apiserver, with the audit log and the aggregation layer."""
    policy = instance.etc / "audit-policy.yaml"
    service_account_key = instance.pki / "service-account.key"
    return Component(
        name="kube-apiserver",
        argv=(
            str(built.binary("kube-apiserver")),
            f"--etcd-servers={instance.url('etcd')}",
            f"--etcd-cafile={certificates.etcd_ca.cert}",
            f"--etcd-certfile={certificates.etcd.cert}",
            f"--etcd-keyfile={certificates.etcd.key}",
            "--bind-address=127.0.0.1",
            "--advertise-address=127.0.0.1",
            # The reconciler refuses a loopback address; pods get to it by the relay.
            "--endpoint-reconciler-type=none",
            f"--secure-port={instance.ports['apiserver']}",
            f"--tls-cert-file={certificates.apiserver.cert}",
            f"--tls-private-key-file={certificates.apiserver.key}",
            f"--client-ca-file={certificates.ca.cert}",
            "--authorization-mode=Node,RBAC",
            "--enable-admission-plugins=NodeRestriction",
            "--service-account-issuer=https://kubernetes.default.svc",
            f"--service-account-key-file={service_account_key}",
            f"--service-account-signing-key-file={service_account_key}",
            f"--service-cluster-ip-range={instance.service_range}",
            f"--kubelet-certificate-authority={certificates.ca.cert}",
            f"--kubelet-client-certificate={certificates.kubelet_client.cert}",
            f"--kubelet-client-key={certificates.kubelet_client.key}",
            # The node's name does not resolve.
            "--kubelet-preferred-address-types=InternalIP",
            f"--requestheader-client-ca-file={certificates.front_proxy_ca.cert}",
            "--requestheader-allowed-names=front-proxy-client",
            "--requestheader-username-headers=X-Remote-User",
            "--requestheader-group-headers=X-Remote-Group",
            "--requestheader-extra-headers-prefix=X-Remote-Extra-",
            f"--proxy-client-cert-file={certificates.front_proxy.cert}",
            f"--proxy-client-key-file={certificates.front_proxy.key}",
            f"--audit-policy-file={policy}",
            f"--audit-log-path={instance.audit_log}",
            f"--audit-log-maxsize={AUDIT_LOG_MEGABYTES}",
            "--profiling=false",
        ),
        ready=lambda _: answers(f"{instance.url('apiserver')}/readyz"),
        directory=instance.directory,
        files={policy: json.dumps(audit_policy())},
    )


def controller_manager(instance: Instance, certificates: Certificates, built: Built) -> Component:
    """kube-controller-manager, each controller with its own service account."""
    return _controller(
        instance,
        built,
        "controller-manager",
        "--use-service-account-credentials=true",
        f"--service-account-private-key-file={instance.pki / 'service-account.key'}",
        f"--root-ca-file={certificates.ca.cert}",
        f"--cluster-signing-cert-file={certificates.ca.cert}",
        f"--cluster-signing-key-file={certificates.ca.key}",
    )


def scheduler(instance: Instance, built: Built) -> Component:
    """kube-scheduler."""
    return _controller(instance, built, "scheduler")


def _controller(instance: Instance, built: Built, port_name: str, *flags: str) -> Component:
    name = f"kube-{port_name}"
    kubeconfig = instance.pki / f"{name}.kubeconfig"
    return Component(
        name=name,
        argv=(
            str(built.binary(name)),
            f"--kubeconfig={kubeconfig}",
            f"--authentication-kubeconfig={kubeconfig}",
            f"--authorization-kubeconfig={kubeconfig}",
            "--bind-address=127.0.0.1",
            f"--secure-port={instance.ports[port_name]}",
            "--leader-elect=false",
            "--profiling=false",
            *flags,
        ),
        ready=lambda _: answers(f"{instance.url(port_name)}/healthz"),
        directory=instance.directory,
    )
