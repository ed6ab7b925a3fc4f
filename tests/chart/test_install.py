"""The chart on a real cluster, by real helm: `cluster` is the fixture of the whole test suite.

What an identity does, it does with the kubeconfig that the chart's README makes.
"""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import pytest
from chart.helm import CHART, Object, permissions
from chart.identities import Permission, apply_in_namespace, in_cluster, viewer_in_namespace

from converter.cluster.client import Client
from converter.cluster.resources import WORKLOADS

NAMESPACE = "chart-test"
SECONDS = 60
VALUES: dict[str, Any] = {
    "queue": {
        "name": "chart-test",
        "priorityClasses": [{"name": "chart-test-urgent", "value": 1000}],
    },
    "viewer": {"enabled": True},
    # Several releases share the namespace, and Jobs are none of campaigns'.
    "security": {"policies": {"enabled": False}},
}
APPLY = "chart-test-apply"
VIEWER = "chart-test-viewer"
# Every authenticated user may ask about itself (ClusterRole system:basic-user).
ANYBODY = {
    ("authorization.k8s.io", "selfsubjectaccessreviews", "*", "create"),
    ("authorization.k8s.io", "selfsubjectrulesreviews", "*", "create"),
    ("authentication.k8s.io", "selfsubjectreviews", "*", "create"),
}


class Cluster(Protocol):
    """The running cluster, as its administrator. Both commands raise where they fail."""

    kubeconfig: Path

    def kubectl(self, *arguments: str) -> str: ...

    def helm(self, *arguments: str) -> str: ...


@dataclass(frozen=True)
class Identity:
    """One of the chart's identities, with a kubeconfig of its own."""

    kubectl_command: Path
    kubeconfig: Path

    def run(self, *arguments: str, given: Object | None = None) -> subprocess.CompletedProcess[str]:
        """kubectl as this identity; `given` is what it reads from `--filename=-`."""
        return subprocess.run(
            [self.kubectl_command, f"--kubeconfig={self.kubeconfig}", *arguments],
            input=json.dumps(given) if given else None,
            capture_output=True,
            text=True,
            check=False,
        )

    def kubectl(self, *arguments: str, given: Object | None = None) -> str:
        """The same, where it has to work."""
        done = self.run(*arguments, given=given)
        assert not done.returncode, done.stderr
        return done.stdout

    def apply(self, given: Object) -> None:
        """Server-side apply, as the field manager `campaigns`."""
        self.kubectl(
            "apply", "--server-side", "--field-manager=campaigns", "--filename=-", given=given
        )

    def permissions(self) -> set[Permission]:
        """What the API server says that it may do in its namespace and in the cluster."""
        review = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectRulesReview",
            "spec": {"namespace": NAMESPACE},
        }
        # kubectl validates a kind that cannot be patched only for users who may list CRDs.
        arguments = ("create", "--validate=false", "--filename=-", "--output=json")
        answer = json.loads(self.kubectl(*arguments, given=review))
        assert not answer["status"]["incomplete"]
        return permissions(answer["status"]["resourceRules"])


def eventually(found: Callable[[], bool], what: str) -> None:
    """Wait until `found` holds."""
    deadline = time.monotonic() + SECONDS
    while not found():
        assert time.monotonic() < deadline, f"not in {SECONDS} s: {what}"
        time.sleep(0.2)


def install(cluster: Cluster, release: str, values: Mapping[str, Any], *options: str) -> str:
    """Install or upgrade a release from values alone, never from those of the release before."""
    return cluster.helm(
        "upgrade",
        "--install",
        release,
        str(CHART),
        f"--namespace={NAMESPACE}",
        f"--set-json={_set_json(values)}",
        *options,
    )


def _set_json(values: Mapping[str, Any]) -> str:
    return ",".join(f"{key}={json.dumps(value)}" for key, value in values.items())


def remove(cluster: Cluster, release: str, namespace: str = NAMESPACE) -> None:
    """Delete a release's Jobs first: Kueue keeps a ClusterQueue whose Workloads have not ended."""
    cluster.kubectl("delete", "jobs", "--all", f"--namespace={namespace}", "--ignore-not-found")
    cluster.helm("uninstall", release, f"--namespace={namespace}", "--ignore-not-found")
    cluster.kubectl("delete", "namespace", namespace, "--ignore-not-found")


@pytest.fixture(scope="module")
def installed(cluster: Cluster) -> Iterator[Cluster]:
    """The release `chart-test` in a namespace that enforces the Pod Security level restricted."""
    remove(cluster, "chart-test")
    cluster.kubectl("create", "namespace", NAMESPACE)
    cluster.kubectl(
        "label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce=restricted"
    )
    install(cluster, "chart-test", VALUES)
    yield cluster
    remove(cluster, "chart-test")


@pytest.fixture(scope="module")
def identity(
    installed: Cluster, kubectl_command: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], Identity]:
    """An identity by its ServiceAccount, with the kubeconfig made as the README says."""
    script = (CHART / "README.md").read_text().partition("### A kubeconfig")[2]
    script = script.partition("```sh\n")[2].partition("```")[0]

    def make(account: str) -> Identity:
        directory = tmp_path_factory.mktemp(account)
        subprocess.run(
            ["bash", "-euo", "pipefail", "-c", script],
            cwd=directory,
            env={
                "PATH": f"{kubectl_command.parent}{os.pathsep}{os.environ['PATH']}",
                "KUBECONFIG": str(installed.kubeconfig),
                "NAMESPACE": NAMESPACE,
                "ACCOUNT": account,
            },
            check=True,
        )
        return Identity(kubectl_command, directory / "campaigns.kubeconfig")

    return make


@pytest.fixture(scope="module")
def apply(identity: Callable[[str], Identity]) -> Identity:
    return identity(APPLY)


@pytest.fixture(scope="module")
def viewer(identity: Callable[[str], Identity]) -> Identity:
    return identity(VIEWER)


def active(cluster: Cluster, kind: str, name: str) -> bool:
    path = '--output=jsonpath={.status.conditions[?(@.type=="Active")].status}'
    return cluster.kubectl("get", kind, name, f"--namespace={NAMESPACE}", path) == "True"


def job(name: str, *, queue: str = "chart-test", cpu: str = "1", **labels: str) -> Object:
    """A suspended Job of one pod that no node takes: admission alone is looked at here."""
    container = {
        "name": "main",
        "image": "example.invalid/none",
        "resources": {"requests": {"cpu": cpu, "memory": "64Mi"}},
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
        },
    }
    pod = {
        "restartPolicy": "Never",
        "nodeSelector": {"kubernetes.io/hostname": "none"},
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": {"kueue.x-k8s.io/queue-name": queue, **labels},
        },
        "spec": {"suspend": True, "template": {"spec": pod}},
    }


def workload_of(identity: Identity, name: str) -> Object | None:
    """The Workload of a Job, as the identity sees it."""
    # Who may list need not be allowed to get.
    named = f"--field-selector=metadata.name={name}"
    (job,) = json.loads(identity.kubectl("get", "jobs", named, "--output=json"))["items"]
    uid = job["metadata"]["uid"]
    found = identity.kubectl(
        "get", "workloads", f"--selector=kueue.x-k8s.io/job-uid={uid}", "--output=json"
    )
    workloads: list[Object] = json.loads(found)["items"]
    return workloads[0] if workloads else None


def admitted(identity: Identity, name: str) -> bool:
    workload = workload_of(identity, name) or {}
    conditions = workload.get("status", {}).get("conditions", [])
    return any(c["type"] == "Admitted" and c["status"] == "True" for c in conditions)


def test_queues_become_active(installed: Cluster) -> None:
    eventually(lambda: active(installed, "clusterqueue", "chart-test-cq"), "ClusterQueue active")
    eventually(lambda: active(installed, "localqueue", "chart-test"), "LocalQueue active")


def test_apply_may_do_exactly_what_the_table_says(apply: Identity) -> None:
    assert apply.permissions() - ANYBODY == apply_in_namespace(
        "chart-test", NAMESPACE
    ) | in_cluster("chart-test-cq", ["chart-test-flavor"], ["chart-test-urgent"])


def test_viewer_may_do_exactly_what_the_table_says(viewer: Identity) -> None:
    assert viewer.permissions() - ANYBODY == viewer_in_namespace(
        "chart-test", NAMESPACE
    ) | in_cluster("chart-test-cq", ["chart-test-flavor"], ["chart-test-urgent"])


def test_apply_starts_pauses_and_deletes_a_job(installed: Cluster, apply: Identity) -> None:
    started = job("started", **{"kueue.x-k8s.io/priority-class": "chart-test-urgent"})
    apply.apply(started)
    eventually(lambda: admitted(apply, "started"), "Workload admitted")
    workload = workload_of(apply, "started")
    assert workload is not None
    assert workload["spec"]["priority"] == 1000
    (assignment,) = workload["status"]["admission"]["podSetAssignments"]
    assert assignment["flavors"] == {"cpu": "chart-test-flavor", "memory": "chart-test-flavor"}

    # Not by kubectl, which gets what it patches; apply has no need of that.
    client = Client.from_kubeconfig(kubeconfig=apply.kubeconfig)
    pause = {"spec": {"active": False}}
    client.merge_patch(WORKLOADS, NAMESPACE, workload["metadata"]["name"], pause, "campaigns")
    eventually(lambda: not admitted(apply, "started"), "Workload evicted")

    def pods() -> str:
        return installed.kubectl(
            "get",
            "pods",
            "--selector=job-name=started",
            "--output=name",
            f"--namespace={NAMESPACE}",
        )

    eventually(lambda: not pods(), "pods gone")
    apply.kubectl("delete", "job", "started")


def test_apply_writes_its_config_maps_and_its_lease(apply: Identity) -> None:
    metadata = {"name": "campaign-one", "namespace": NAMESPACE}
    volumes = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}
    for text in ("a\n", "b\n"):
        apply.apply({**volumes, "data": {"volumes.txt": text}})
    apply.kubectl("delete", "configmap", "campaign-one")
    lease: Object = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "campaigns-apply", "namespace": NAMESPACE},
        "spec": {"holderIdentity": "one"},
    }
    created = apply.kubectl("create", "--filename=-", "--output=json", given=lease)
    renewed = json.loads(created)
    renewed["spec"]["holderIdentity"] = "two"
    apply.kubectl("replace", "--filename=-", given=renewed)
    other: Object = {**lease, "metadata": {"name": "other", "namespace": NAMESPACE}}
    apply.kubectl("create", "--filename=-", given=other)
    assert "Forbidden" in apply.run("get", "lease", "other").stderr


@pytest.mark.parametrize("name", ["apply", "viewer"])
def test_reads_the_queue_objects_by_name_only(name: str, request: pytest.FixtureRequest) -> None:
    reader: Identity = request.getfixturevalue(name)
    for kind, named in (
        ("localqueue", "chart-test"),
        ("clusterqueue", "chart-test-cq"),
        ("resourceflavor", "chart-test-flavor"),
        ("workloadpriorityclass", "chart-test-urgent"),
    ):
        assert reader.kubectl("get", kind, named, "--output=name").endswith(f"/{named}\n")
        for refused in (reader.run("get", kind), reader.run("get", kind, "other")):
            assert "Forbidden" in refused.stderr


@pytest.mark.parametrize(
    "arguments",
    [
        ("get", "secrets"),
        ("get", "jobs", "--namespace=default"),
        ("patch", "workload", "any", "--subresource=status", "--type=merge", "--patch={}"),
        ("patch", "localqueue", "chart-test", "--type=merge", "--patch={}"),
        ("patch", "clusterqueue", "chart-test-cq", "--type=merge", "--patch={}"),
        ("delete", "lease", "campaigns-apply"),
        ("auth", "reconcile", "--filename=-"),
    ],
    ids=" ".join,
)
def test_apply_is_refused(arguments: tuple[str, ...], apply: Identity) -> None:
    role: Object = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": APPLY, "namespace": NAMESPACE},
        "rules": [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}],
    }
    assert "orbidden" in apply.run(*arguments, given=role).stderr


def test_viewer_follows_and_changes_nothing(apply: Identity, viewer: Identity) -> None:
    apply.apply(job("too-big", cpu="5"))
    eventually(lambda: workload_of(viewer, "too-big") is not None, "Workload")
    place = (
        "/apis/visibility.kueue.x-k8s.io/v1beta2/namespaces/chart-test"
        "/localqueues/chart-test/pendingworkloads"
    )

    def pending() -> list[Object]:
        items: list[Object] = json.loads(viewer.kubectl("get", "--raw", place))["items"]
        return items

    eventually(lambda: bool(pending()), "a place in the queue")
    assert pending()[0]["positionInLocalQueue"] == 0
    refused = viewer.run("patch", "job", "too-big", "--type=merge", "--patch={}")
    assert "Forbidden" in refused.stderr
    apply.kubectl("delete", "job", "too-big")


def test_token_secret_is_filled(installed: Cluster, kubectl_command: Path) -> None:
    install(installed, "chart-test", {**VALUES, "apply": {"tokenSecret": {"create": True}}})
    path = "--output=jsonpath={.data.token}"

    def token() -> str:
        return installed.kubectl(
            "get", "secret", f"{APPLY}-token", f"--namespace={NAMESPACE}", path
        )

    eventually(lambda: bool(token()), "a token in the Secret")
    install(installed, "chart-test", VALUES)


def test_upgrades_to_less_than_is_in_use_leave_an_admitted_job_alone(
    installed: Cluster, apply: Identity
) -> None:
    apply.apply(job("long"))
    eventually(lambda: admitted(apply, "long"), "Workload admitted")
    before = workload_of(apply, "long")
    queue = {**VALUES["queue"], "quota": {"cpu": "500m"}, "priorityClasses": []}
    for values in ({**VALUES, "queue": queue}, VALUES):
        install(installed, "chart-test", values)
        eventually(lambda: active(installed, "clusterqueue", "chart-test-cq"), "queue active")
    after = workload_of(apply, "long")
    assert before is not None
    assert after is not None
    assert after["metadata"]["uid"] == before["metadata"]["uid"]
    assert after["status"]["admission"] == before["status"]["admission"]
    apply.kubectl("delete", "job", "long")


def test_second_release_beside_the_first(installed: Cluster, apply: Identity) -> None:
    theirs = [{"name": "chart-test-urgent", "create": False}]
    values = {"queue": {"priorityClasses": theirs}, "security": VALUES["security"]}
    install(installed, "chart-test-2", values)
    try:
        eventually(lambda: active(installed, "clusterqueue", "chart-test-2-cq"), "second queue")
        apply.apply(job("in-second", queue="chart-test-2"))
        eventually(lambda: admitted(apply, "in-second"), "Workload admitted")
        assert "Forbidden" in apply.run("get", "localqueue", "chart-test-2").stderr
        apply.kubectl("delete", "job", "in-second")
    finally:
        installed.helm("uninstall", "chart-test-2", f"--namespace={NAMESPACE}")


def test_namespace_of_the_chart_outlives_the_release(cluster: Cluster) -> None:
    namespace = "chart-test-owned"
    remove(cluster, "owned", namespace)
    cluster.helm(
        "install",
        "owned",
        str(CHART),
        f"--namespace={namespace}",
        "--create-namespace",
        "--take-ownership",
        "--set=namespace.create=true",
    )
    path = r"--output=jsonpath={.metadata.labels.pod-security\.kubernetes\.io/enforce}"
    assert cluster.kubectl("get", "namespace", namespace, path) == "restricted"
    cluster.helm("uninstall", "owned", f"--namespace={namespace}")
    assert cluster.kubectl("get", "namespace", namespace, path) == "restricted"
    remove(cluster, "owned", namespace)


def test_uninstalled_queue_goes_when_its_last_job_has(cluster: Cluster, apply: Identity) -> None:
    values = {"apply": {"enabled": False}, "security": VALUES["security"]}
    install(cluster, "chart-test-3", values)
    eventually(lambda: active(cluster, "clusterqueue", "chart-test-3-cq"), "third queue")
    apply.apply(job("last", queue="chart-test-3"))
    eventually(lambda: admitted(apply, "last"), "Workload admitted")
    cluster.helm("uninstall", "chart-test-3", f"--namespace={NAMESPACE}")

    def left() -> str:
        kinds = "clusterqueues,resourceflavors"
        names = "--selector=app.kubernetes.io/instance=chart-test-3"
        return cluster.kubectl("get", kinds, names, "--output=name")

    assert left()
    assert admitted(apply, "last")
    apply.kubectl("delete", "job", "last")
    eventually(lambda: not left(), "ClusterQueue and ResourceFlavor gone")
