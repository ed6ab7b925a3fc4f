"""The whole report on a cluster of which everything, or one thing, can be read."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from unit.cli.commands import NAMESPACE
from unit.cluster.api_server import Answer, ApiServer, failure, serve
from unit.doctor.doctor_site import (
    ADMITTED,
    JOBS,
    KUEUE,
    LEASE,
    QUEUE,
    QUEUES,
    REVIEWS,
    FitCluster,
)

from converter.cluster.client import Client
from converter.cluster.resources import WORKLOADS
from converter.doctor.examine import examine
from converter.doctor.finding import Finding
from converter.doctor.needs import Purpose
from converter.doctor.repository import Clone
from converter.errors import ClusterUnavailable
from converter.git import Order
from converter.model import Settings

SETTINGS = Settings(namespace=NAMESPACE, queue=QUEUE)
CLONE = Clone(".", SETTINGS, name="git.example.com/team/campaigns", commit="c" * 40)


@pytest.fixture
def cluster() -> FitCluster:
    return FitCluster()


@pytest.fixture
def api(cluster: FitCluster) -> Iterator[ApiServer]:
    with serve(cluster) as running:
        running.now = datetime.now(UTC)
        yield running


def report(api: ApiServer, clone: Clone = CLONE, wish: Purpose | None = None) -> dict[str, Finding]:
    found = examine(api.client, clone, lambda other: Order.SAME, wish)
    return {finding.check: finding for finding in found}


def bad(findings: dict[str, Finding]) -> dict[str, str]:
    return {name: str(each.status) for name, each in findings.items() if each.status != "ok"}


def test_a_fit_cluster(api: ApiServer) -> None:
    findings = report(api)
    assert bad(findings) == {}
    assert len(findings) == 29
    assert "ci" in findings["reachable"].found


def test_nothing_that_is_sent_is_stored(api: ApiServer) -> None:
    report(api)
    writes = [request for request in api.requests if request.method != "GET"]
    stored = [each for each in writes if each.query.get("dryRun") != "All"]
    assert {each.path.rpartition("/")[2] for each in stored} == {
        "selfsubjectaccessreviews",
        "selfsubjectreviews",
    }
    assert all(each.body["metadata"] == {"name": ""} for each in stored)
    assert len([each for each in writes if each.path == JOBS]) == 2


NOT_READ = {
    "/version": {"server-version": "unknown"},
    KUEUE: {"kueue-api": "unknown"},
    WORKLOADS.api: {"kueue-kinds": "unknown"},
    "/apis/visibility.kueue.x-k8s.io/v1beta2": {"kueue-visibility": "warning"},
    "/apis/authentication.k8s.io/v1/selfsubjectreviews": {},
    f"/api/v1/namespaces/{NAMESPACE}": {"namespace": "unknown"},
    LEASE: {"lease": "unknown", "commit": "unknown"},
    QUEUES: {"queue": "unknown"},
    ADMITTED: {"usage": "unknown"},
    f"{WORKLOADS.api}/resourceflavors/any": {},
    JOBS: {"queued-job": "fault"},
    REVIEWS: {
        **dict.fromkeys(
            ("may-apply", "may-diff", "may-status", "may-explain", "may-report"), "unknown"
        ),
        "excess": "unknown",
        "queued-job": "unknown",
        "plain-job": "unknown",
    },
}


@pytest.mark.parametrize("answer", [failure(403, "Forbidden"), failure(418, "Odd")])
@pytest.mark.parametrize(("path", "expected"), NOT_READ.items())
def test_what_cannot_be_read_keeps_nothing_else_from_being_checked(
    path: str, expected: dict[str, str], answer: Answer, api: ApiServer, cluster: FitCluster
) -> None:
    cluster.spoilt[path] = answer
    findings = report(api)
    assert bad(findings) == expected
    assert "repository-name" in findings


@pytest.mark.parametrize(("wish", "applies"), [(None, True), (Purpose.VIEW, False)])
def test_without_kueue_all_but_the_queue_is_checked(
    api: ApiServer, cluster: FitCluster, wish: Purpose | None, applies: bool
) -> None:
    del cluster.documents[KUEUE]
    findings = report(api, wish=wish)
    assert bad(findings) == {"kueue-api": "fault", "queue": "unknown"}
    assert findings["queue"].group == "Kueue"
    assert findings.keys() >= {"may-status", "excess", "namespace", "pod-security"}
    assert {"queued-job", "lease", "commit"}.issubset(findings) is applies
    assert {"flavor", "quota", "size", "priority-class"}.isdisjoint(findings)


def test_without_a_date_the_lease_is_judged_by_this_machines_clock(api: ApiServer) -> None:
    api.now = None
    assert bad(report(api)) == {"clock": "unknown"}


def test_a_clock_that_is_off(api: ApiServer) -> None:
    api.now = datetime.now(UTC) - timedelta(hours=1)
    assert bad(report(api)) == {"clock": "fault"}


def test_without_settings_the_rest_is_checked(api: ApiServer) -> None:
    findings = report(api, Clone(".", None, errors=("converter.yaml is missing",)))
    assert bad(findings) == {"settings": "unknown", "files": "fault", "repository-name": "warning"}
    assert findings["server-version"].status == findings["kueue-api"].status == "ok"


@pytest.mark.parametrize(
    ("wish", "there"), [(Purpose.VIEW, False), (Purpose.APPLY, True), (None, True)]
)
def test_who_only_looks_is_not_asked_about_applies(
    wish: Purpose | None, there: bool, api: ApiServer
) -> None:
    findings = report(api, wish=wish)
    assert {name in findings for name in ("queued-job", "lease", "commit", "may-apply")} == {there}


def test_an_identity_that_may_create_no_jobs_tries_none(
    api: ApiServer, cluster: FitCluster
) -> None:
    cluster.denied = (*cluster.denied, "jobs/create")
    findings = report(api)
    assert findings["queued-job"].status == findings["plain-job"].status == "unknown"
    assert findings["may-apply"].status == "warning"
    assert not [request for request in api.requests if request.path == JOBS]


def test_credentials_that_have_expired_are_all_there_is_to_say(
    api: ApiServer, cluster: FitCluster
) -> None:
    cluster.spoilt["/version"] = failure(401, "Unauthorized", "Unauthorized")
    findings = report(api)
    assert bad(findings) == {"reachable": "fault"}
    assert "has the token expired?" in findings["reachable"].found
    assert len(api.requests) == 1


def test_without_credentials_the_repository_is_checked() -> None:
    def connect() -> Client:
        raise ClusterUnavailable("no credentials for a cluster")

    found = examine(connect, CLONE, lambda other: Order.SAME, None)
    assert [finding.check for finding in found] == [
        "reachable",
        "files",
        "repository-name",
        "history",
    ]
    assert found[0].status == "fault"
