"""Pod Security "restricted", a control at a time; the same pods are tried on a cluster."""

from __future__ import annotations

import pytest
from unit.checks.doctored_pods import BROKEN, KEPT, POD, doctored
from unit.render.samples import SAMPLES

from converter.checks.pod_security import CONTROLS, Breach, breaches
from converter.render import render

# What the API server itself wants of a pod that breaks a control, and is a breach of another.
IMPLIED = {
    "HostProcess": {"Host Namespaces", "Running as Non-root"},
    "Privileged Containers": {"Privilege Escalation"},
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_pod_that_breaks_a_control_breaks_no_other(name: str) -> None:
    control, change = BROKEN[name]
    found = {breach.control for breach in breaches(doctored(change))}
    assert found == {control} | IMPLIED.get(control, set())


@pytest.mark.parametrize("name", KEPT)
def test_a_pod_that_keeps_them_all(name: str) -> None:
    assert list(breaches(doctored(KEPT[name]))) == []


def test_every_control_has_a_pod_that_breaks_it() -> None:
    assert {control for control, _ in BROKEN.values()} == set(CONTROLS)


def test_a_breach_says_where_and_what_would_be_right() -> None:
    pod = doctored({"spec.hostPID": True, "spec.containers.0.securityContext": None})
    assert list(breaches(pod)) == [
        Breach("Host Namespaces", "spec.hostPID", "false"),
        Breach(
            "Privilege Escalation",
            "spec.containers[0].securityContext.allowPrivilegeEscalation",
            "false",
        ),
        Breach("Capabilities", "spec.containers[0].securityContext.capabilities.drop", "[ALL]"),
    ]


def test_a_pod_that_says_nothing_is_not_restricted() -> None:
    bare = {"spec": {"containers": [{"name": "main", "image": "registry.example/main:1"}]}}
    assert {breach.control for breach in breaches(bare)} == {
        "Capabilities",
        "Privilege Escalation",
        "Running as Non-root",
        "Seccomp",
    }


def test_ephemeral_containers_count_too() -> None:
    spec = {**POD["spec"], "ephemeralContainers": [{"name": "debug", "image": "debug:1"}]}
    fields = {breach.field for breach in breaches({"spec": spec})}
    assert fields == {
        "spec.ephemeralContainers[0].securityContext.allowPrivilegeEscalation",
        "spec.ephemeralContainers[0].securityContext.capabilities.drop",
    }


@pytest.mark.parametrize("name", SAMPLES)
def test_every_rendered_pod_is_restricted(name: str) -> None:
    for manifest in render(SAMPLES[name]):
        if manifest.kind == "Job":
            assert list(breaches(manifest.body["spec"]["template"])) == []
