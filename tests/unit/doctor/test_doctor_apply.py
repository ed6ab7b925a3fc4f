"""What is said of the Lease, of the Jobs that are tried, and of the repository."""

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from unit.doctor.findings import UNREAD, holds

from converter.doctor.lease import commit_finding, lease_finding
from converter.doctor.probe import (
    NotTried,
    Refusal,
    Tried,
    plain_finding,
    probe_findings,
    probe_job,
    queued_finding,
)
from converter.doctor.repository import Clone, repository_findings
from converter.git import Order
from converter.names import (
    APPLIED_COMMITS_ANNOTATION,
    KUEUE_QUEUE_LABEL,
    MANAGED_BY_LABEL,
    MANAGED_BY_VALUE,
    ROLE_LABEL,
)
from converter.reconcile.queue_chain import Missing, Read

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
REPOSITORY = "git.example.com/team/campaigns"
LAST = "a" * 40


def lease(holder: str = "", renewed: str = "", commits: str = "") -> dict[str, Any]:
    spec = {"holderIdentity": holder, "leaseDurationSeconds": 300}
    if renewed:
        spec |= {"acquireTime": "2026-01-01T10:00:00.000000Z", "renewTime": renewed}
    annotations = {APPLIED_COMMITS_ANNOTATION: commits} if commits else None
    return {"metadata": {"annotations": annotations}, "spec": spec}


@pytest.mark.parametrize(
    ("read", "status", "words"),
    [
        (Missing(), "ok", "nothing has been applied"),
        (lease(), "ok", "no apply is running"),
        (lease("ci@x", "2026-01-01T11:56:00.000000Z"), "ok", "running: ci@x, since 2026-01-01T10"),
        (lease("ci@x", "2026-01-01T11:54:00.000000Z"), "warning", "ci@x holds campaigns-apply"),
        (lease("ci@x"), "warning", "since unknown"),
        (UNREAD, "unknown", "no answer"),
    ],
)
def test_lease(read: Read, status: str, words: str) -> None:
    holds(lease_finding(read, NOW), status, words)


APPLIED = lease(commits=f'{{"{REPOSITORY}": "{LAST}", "other": "b"}}')


@pytest.mark.parametrize(
    ("read", "commit", "order", "status", "words"),
    [
        (Missing(), "c", Order.SAME, "ok", "not been applied in this namespace yet"),
        (lease(commits='{"other": "b"}'), "c", Order.SAME, "ok", "applied here too: other"),
        (lease(commits="[]"), "c", Order.SAME, "ok", "not been applied"),
        (APPLIED, LAST, Order.SAME, "ok", "the same as the one here; applied here too: other"),
        (APPLIED, "c", Order.NEWER, "ok", "older than the one here"),
        (APPLIED, "c", Order.DIVERGED, "ok", "on another line than the one here"),
        (APPLIED, "c", Order.OLDER, "warning", "--allow-older"),
        (APPLIED, "c", Order.UNKNOWN, "unknown", "not in this clone"),
        (APPLIED, "", Order.UNKNOWN, "unknown", "no commit here"),
        (UNREAD, "c", Order.SAME, "unknown", "not known"),
    ],
)
def test_commit(read: Read, commit: str, order: Order, status: str, words: str) -> None:
    def to(other: str) -> Order:
        assert other == LAST
        return order

    holds(commit_finding(read, REPOSITORY, commit, to), status, words)


def job(*, suspend: bool, queue: str = "") -> dict[str, Any]:
    made = probe_job("team", queue)
    return {**made, "spec": {**made["spec"], "suspend": suspend}}


DOWN = Refusal(500, 'Internal error occurred: failed calling webhook "mjob.kb.io": refused')
DENIED = Refusal(403, 'admission webhook "policy.example.com" denied the request: no team label')
POLICY = Refusal(422, "ValidatingAdmissionPolicy 'p' denied the request")
NO_NAMESPACE = Refusal(404, 'namespaces "team" not found')
REFUSALS = [
    (DOWN, "fault", "have the webhook mjob.kb.io and its Service repaired"),
    (DENIED, "fault", "ask who runs the webhook policy.example.com"),
    (POLICY, "fault", "which policy forbids it"),
    (NO_NAMESPACE, "fault", "have the namespace created"),
    (NotTried("may not create Jobs"), "unknown", "may not create Jobs"),
]


@pytest.mark.parametrize(
    ("tried", "status", "words"),
    [
        (job(suspend=True, queue="gpu"), "ok", "Kueue suspends it"),
        (job(suspend=False, queue="gpu"), "fault", "without quota"),
        *REFUSALS,
    ],
)
def test_queued_job(tried: Tried, status: str, words: str) -> None:
    holds(queued_finding(tried), status, words)


@pytest.mark.parametrize(
    ("tried", "status", "words"),
    [
        (job(suspend=False), "ok", "left alone"),
        (job(suspend=True, queue="default"), "warning", "LocalQueue default renamed"),
        (job(suspend=True), "warning", "manageJobsWithoutQueueName"),
        *REFUSALS,
    ],
)
def test_plain_job(tried: Tried, status: str, words: str) -> None:
    holds(plain_finding(tried), status, words)


def test_the_same_refusal_is_told_once() -> None:
    assert len(probe_findings(DOWN, DOWN)) == 1
    assert len(probe_findings(DOWN, DENIED)) == 2
    assert len(probe_findings(job(suspend=True), job(suspend=False))) == 2


def test_only_one_of_the_jobs_is_queued() -> None:
    assert probe_job("team", "gpu")["metadata"]["labels"] == {KUEUE_QUEUE_LABEL: "gpu"}
    plain = probe_job("team", "")
    # Policies may let nothing but a warm-up into a namespace without a queue.
    assert plain["metadata"]["name"] == "warmup-campaigns-doctor"
    assert plain["metadata"]["labels"] == {
        MANAGED_BY_LABEL: MANAGED_BY_VALUE,
        ROLE_LABEL: "warmup",
    }


FINE = Clone(".", None, name=REPOSITORY, commit=LAST)


@pytest.mark.parametrize(
    ("clone", "statuses", "words"),
    [
        (FINE, ["ok", "ok", "ok"], REPOSITORY),
        (replace(FINE, errors=("first", "b")), ["fault", "ok", "ok"], "first and 1 more"),
        (replace(FINE, errors=("only",)), ["fault", "ok", "ok"], "campaigns validate ."),
        (replace(FINE, name=""), ["ok", "warning", "ok"], "set `repository`"),
        (replace(FINE, name_error="git is gone"), ["ok", "unknown", "ok"], "git is gone"),
        (replace(FINE, has_whole_history=False), ["ok", "ok", "warning"], "fetch-depth: 0"),
        (replace(FINE, is_in_git=False), ["ok", "ok", "warning"], "not in git"),
    ],
)
def test_repository(clone: Clone, statuses: list[str], words: str) -> None:
    findings = repository_findings(clone)
    assert [finding.status for finding in findings] == statuses
    for finding in findings:
        holds(finding, finding.status)
    assert any(words in f"{each.found} {each.remedy}" for each in findings)
