"""What is said of the API server, of Kueue and of the namespace."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any

import pytest
from unit.doctor.findings import UNREAD, holds

from converter.doctor.api_server import clock_finding, parse_version, reached, version_finding
from converter.doctor.finding import Check, Group, counted, exit_code
from converter.doctor.kueue import (
    USED,
    KueueFacts,
    api_finding,
    kinds_finding,
    kueue_findings,
    release_finding,
    visibility_finding,
)
from converter.doctor.namespace import ENFORCE, namespace_findings
from converter.reconcile.queue_chain import Missing, Read, Unknown


@pytest.mark.parametrize(
    ("text", "version"),
    [
        ("v1.35.4", (1, 35)),
        ("v1.30.9-gke.1000", (1, 30)),
        ("v1.29+", (1, 29)),
        ("0.17.0", (0, 17)),
        ("main", None),
        ("", None),
    ],
)
def test_versions(text: str, version: tuple[int, int] | None) -> None:
    assert parse_version(text) == version


@pytest.mark.parametrize(
    ("version", "status", "word"),
    [
        ({"gitVersion": "v1.35.4"}, "ok", "v1.35.4"),
        ({"gitVersion": "v1.36.0"}, "ok", "newer than 1.35"),
        ({"gitVersion": "v1.33.0"}, "ok", "v1.33.0"),
        ({"gitVersion": "v1.32.9"}, "warning", "1.33 or later"),
        ({"gitVersion": "v1.29.0"}, "warning", "1.33 or later"),
        ({"gitVersion": "v1.28.15"}, "fault", "1.33 or later"),
        ({"gitVersion": "dev"}, "unknown", "'dev'"),
        ({}, "unknown", "''"),
        (UNREAD, "unknown", "no answer"),
    ],
)
def test_version_of_the_server(version: Read, status: str, word: str) -> None:
    holds(version_finding(version), status, word)


@pytest.mark.parametrize(
    ("skew", "status", "word"),
    [
        (timedelta(), "ok", "30 s"),
        (timedelta(seconds=-30), "ok", "30 s"),
        (timedelta(seconds=31), "warning", "31 s ahead of"),
        (timedelta(seconds=-300), "warning", "300 s behind"),
        (timedelta(seconds=301), "fault", "301 s ahead of"),
        (timedelta(days=-2), "fault", "172800 s behind"),
        (UNREAD, "unknown", "no answer"),
    ],
)
def test_clock(skew: timedelta | Unknown, status: str, word: str) -> None:
    holds(clock_finding(skew), status, word)


def test_who_is_asking() -> None:
    holds(reached({"status": {"userInfo": {"username": "ci"}}}), "ok", "as ci")
    holds(reached(UNREAD), "ok", "it answers")


def group(*versions: str) -> dict[str, Any]:
    return {"versions": [{"version": each} for each in versions]}


@pytest.mark.parametrize(
    ("served", "status", "word"),
    [
        (group("v1beta2", "v1beta1"), "ok", "served in v1beta2, v1beta1"),
        (group("v1beta1"), "ok", "served in v1beta1"),
        (group("v1"), "fault", "not in v1beta2"),
        (group(), "fault", "no version"),
        (Missing(), "fault", "have Kueue installed"),
        (UNREAD, "unknown", "no answer"),
    ],
)
def test_versions_of_kueues_api(served: Read, status: str, word: str) -> None:
    holds(api_finding(served), status, word)


def resources(*plurals: str) -> dict[str, Any]:
    return {"resources": [{"name": plural} for plural in plurals]}


ALL = resources(*(each.plural for each in USED), "cohorts")
SOME = resources("workloads", "localqueues", "clusterqueues", "workloads/status")


@pytest.mark.parametrize(
    ("wanted", "earlier", "status", "word"),
    [
        (ALL, ALL, "ok", "WorkloadPriorityClass: served in v1beta2"),
        (ALL, Missing(), "ok", "LocalQueue"),
        (ALL, UNREAD, "ok", "LocalQueue"),
        (SOME, ALL, "warning", "ResourceFlavor, WorkloadPriorityClass: served in v1beta1 alone"),
        (Missing(), ALL, "warning", "Workload, LocalQueue"),
        (SOME, SOME, "fault", "does not serve ResourceFlavor, WorkloadPriorityClass"),
        (Missing(), Missing(), "fault", "does not serve Workload"),
        (UNREAD, Missing(), "unknown", "no answer"),
        (SOME, UNREAD, "unknown", "no answer"),
    ],
)
def test_kinds_of_kueue(wanted: Read, earlier: Read, status: str, word: str) -> None:
    holds(kinds_finding(wanted, earlier), status, word)


def deployment(*images: str) -> dict[str, Any]:
    return {"spec": {"template": {"spec": {"containers": [{"image": each} for each in images]}}}}


def containers(**images: str) -> dict[str, Any]:
    """By their names."""
    listed = [{"name": name, "image": image} for name, image in images.items()]
    return {"spec": {"template": {"spec": {"containers": listed}}}}


@pytest.mark.parametrize(
    ("read", "status", "word"),
    [
        (deployment("registry.k8s.io/kueue/kueue:v0.17.0"), "ok", "v0.17.0"),
        (deployment("sidecar", "localhost:5000/kueue:v0.18.1@sha256:00"), "ok", "v0.18.1"),
        (deployment("registry.k8s.io/kueue/kueue:v0.14.3"), "warning", "v0.14.3"),
        (deployment("localhost:5000/kueue"), "unknown", "names no version: localhost:5000/kueue"),
        (deployment("kueue:main"), "unknown", "kueue:main"),
        (deployment(), "unknown", "none"),
        (deployment("kube-rbac-proxy:v0.8.0", "mirror/kueue:v0.17.1"), "ok", "Kueue v0.17.1"),
        (containers(kube_rbac_proxy="proxy:v0.8.0", manager="own:v0.17.2"), "ok", "Kueue v0.17.2"),
        (containers(kueue="kueue/viz:v0.1", manager="kueue:v0.17.3"), "ok", "Kueue v0.17.3"),
        (containers(proxy="kube-rbac-proxy:v0.8.0"), "unknown", "names no version: none"),
        (Missing(), "unknown", "no Deployment"),
        (UNREAD, "unknown", "no answer"),
    ],
)
def test_version_of_kueue(read: Read, status: str, word: str) -> None:
    holds(release_finding(read), status, word)


@pytest.mark.parametrize(
    ("read", "status", "word"),
    [
        ({"resources": []}, "ok", "served"),
        (Missing(), "warning", "not served"),
        (UNREAD, "warning", "does not answer"),
    ],
)
def test_visibility(read: Read, status: str, word: str) -> None:
    holds(visibility_finding(read), status, word)


def test_without_kueue_that_is_all_there_is_to_say_of_it() -> None:
    facts = KueueFacts(*[Missing()] * 5)
    assert [each.check for each in kueue_findings(facts)] == ["kueue-api"]
    facts = KueueFacts(*[UNREAD] * 5)
    checks = [each.check for each in kueue_findings(facts)]
    assert checks == ["kueue-api", "kueue-kinds", "kueue-version", "kueue-visibility"]


def namespace(labels: Mapping[str, str] | None = None, **metadata: str) -> dict[str, Any]:
    return {"metadata": {"name": "team", "labels": labels, **metadata}}


@pytest.mark.parametrize(
    ("read", "statuses", "word"),
    [
        (namespace({ENFORCE: "restricted"}), ["ok", "ok"], "restricted"),
        (namespace({ENFORCE: "privileged"}), ["ok", "warning"], "level privileged"),
        (namespace(), ["ok", "warning"], "no Pod Security level"),
        (namespace(deletionTimestamp="2026-01-01T00:00:00Z"), ["fault"], "being deleted"),
        (Missing(), ["fault"], "there is no namespace team"),
        (UNREAD, ["unknown"], "no answer"),
    ],
)
def test_namespace(read: Read, statuses: list[str], word: str) -> None:
    findings = namespace_findings("team", read)
    assert [finding.status for finding in findings] == statuses
    holds(findings[-1], statuses[-1], word)


def test_only_a_fault_changes_the_exit_code() -> None:
    check = Check(Group.QUEUE, "queue")
    fine = [check.ok("a"), check.warning("b", "c"), check.unknown("d", "e")]
    assert (exit_code([]), exit_code(fine)) == (0, 0)
    assert exit_code([*fine, check.fault("f", "g")]) == 1
    assert counted(fine) == {"ok": 1, "warning": 1, "fault": 0, "unknown": 1}
