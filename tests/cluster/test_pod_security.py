"""What `converter.checks.pod_security` says of a pod is what a real admission says of it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest
from conftest import RunningCluster
from localcluster.errors import ClusterError
from unit.checks.doctored_pods import BROKEN, KEPT, doctored
from unit.render.samples import SAMPLES

from converter.checks.pod_security import breaches
from converter.render import render

NAMESPACE = "pod-security-test"
LEVEL = {
    "pod-security.kubernetes.io/enforce": "restricted",
    "pod-security.kubernetes.io/enforce-version": "v1.35",
}
# The second is what an API server without --allow-privileged says before admission is asked.
VIOLATIONS = ('violates PodSecurity "restricted:v1.35"', "disallowed by cluster policy")
PODS = {name: doctored(change) for name, (_, change) in BROKEN.items()}
PODS |= {name: doctored(change) for name, change in KEPT.items()}


@pytest.fixture(scope="module")
def restricted(cluster: RunningCluster) -> Iterator[RunningCluster]:
    """The cluster, with a namespace that enforces "restricted"; nothing runs in it."""
    metadata = {"name": NAMESPACE, "labels": LEVEL}
    cluster.local.kubectl.apply([{"apiVersion": "v1", "kind": "Namespace", "metadata": metadata}])
    account = {"name": "default", "namespace": NAMESPACE}
    cluster.local.kubectl.apply(
        [{"apiVersion": "v1", "kind": "ServiceAccount", "metadata": account}]
    )
    yield cluster
    cluster.kubectl("delete", "namespace", NAMESPACE, "--wait=false")


def refusal(cluster: RunningCluster, pod: dict[str, Any]) -> str:
    """What the API server says to a pod; empty where it would take it."""
    metadata = {**pod.get("metadata", {}), "name": "pod", "namespace": NAMESPACE}
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": pod["spec"]}
    try:
        cluster.local.kubectl.run(
            "create", "--dry-run=server", "--filename=-", stdin=json.dumps(body)
        )
    except ClusterError as error:
        return str(error)
    return ""


@pytest.mark.parametrize("name", PODS)
def test_admission_says_the_same_of_a_doctored_pod(restricted: RunningCluster, name: str) -> None:
    pod = PODS[name]
    refused = refusal(restricted, pod)
    assert bool(refused) == bool(list(breaches(pod))), refused
    assert not refused or any(violation in refused for violation in VIOLATIONS), refused


@pytest.mark.parametrize("name", SAMPLES)
def test_admission_takes_every_rendered_pod(restricted: RunningCluster, name: str) -> None:
    repo = SAMPLES[name]
    # A RuntimeClass is another admission's concern, and has to be there.
    plain = replace(repo, settings=replace(repo.settings, runtime_class=""))
    for manifest in render(plain):
        if manifest.kind == "Job":
            template = dict(manifest.body["spec"]["template"])
            assert refusal(restricted, template) == "", manifest.target
