"""What is sent of a Job that apply itself starts."""

from __future__ import annotations

import pytest
from unit.queues.suspended_jobs import (
    BOTH_WAYS,
    annotated_by,
    born,
    rendered,
    taken_over,
)
from unit.reconcile.live_objects import Object, managed

from converter.cluster.fields import matches
from converter.model import Backend, Campaign, Settings
from converter.names import (
    FIELD_MANAGER,
    HANDOFF_MANAGER,
    HOLD_ANNOTATION,
    KUEUE_QUEUE_LABEL,
    OPENED_ANNOTATION,
    STARTS_ANNOTATION,
)
from converter.queues.plain import Plain

PLAIN = Plain()
SETTINGS = Settings(namespace="n", queue="", backend=Backend.NONE)


def test_no_queue_is_named() -> None:
    campaign = Campaign("scan", "p", "ocr", (), suspend=True, priority="high")
    metadata = PLAIN.job_metadata(campaign, SETTINGS, None)
    assert metadata.labels == {}
    assert metadata.annotations == {}
    assert PLAIN.pod_priority_class(campaign) == "high"
    assert PLAIN.queue_of(rendered().body) == ""


def test_every_job_waits_at_its_gate() -> None:
    """A Job that started as it is created would run before its ConfigMap is there."""
    for suspend in (False, True):
        assert PLAIN.starts_suspended(Campaign("scan", "p", "ocr", (), suspend=suspend))


@pytest.mark.parametrize(
    ("live", "suspend"),
    [
        (None, True),
        (born(), True),
        (taken_over(FIELD_MANAGER, suspend=False), None),
        (taken_over(FIELD_MANAGER, suspend=True), None),
        (taken_over("kubectl-patch", suspend=True), None),
        (BOTH_WAYS, None),
    ],
    ids=["new", "at its gate", "started", "paused", "suspended by hand", "owned both ways"],
)
def test_the_suspend_field_is_sent_until_the_job_was_started(
    live: Object | None, suspend: bool | None
) -> None:
    prepared = PLAIN.prepare(rendered().body, live)
    assert prepared.body["spec"].get("suspend") is suspend
    assert prepared.handoff is None


def test_an_unchanged_job_is_not_sent_again() -> None:
    """Neither its starts nor a hold are git's."""
    started = {OPENED_ANNOTATION: "true", STARTS_ANNOTATION: "1"}
    for live in (
        born(),
        annotated_by(FIELD_MANAGER, started, taken_over(FIELD_MANAGER, suspend=False)),
        annotated_by(FIELD_MANAGER, started, taken_over(FIELD_MANAGER, suspend=True)),
        annotated_by(FIELD_MANAGER, {HOLD_ANNOTATION: "7"}),
    ):
        assert matches(live, PLAIN.prepare(rendered().body, live).body, FIELD_MANAGER)


@pytest.mark.parametrize(
    ("manager", "is_controller"),
    [
        ("kube-controller-manager", True),
        ("kueue", True),
        ("an-operator", True),
        (FIELD_MANAGER, True),
        (HANDOFF_MANAGER, True),
        ("kubectl-scale", False),
    ],
)
def test_who_is_never_overruled(manager: str, is_controller: bool) -> None:
    """A program that opens a Job between the read and the send is `campaigns` itself."""
    assert PLAIN.is_controller(manager) is is_controller


def test_an_edit_by_hand_is_put_right() -> None:
    live = taken_over(FIELD_MANAGER, suspend=False)
    edited = managed(live, "kubectl-edit", "Update", {"f:spec": {"f:parallelism": {}}})
    assert PLAIN.prepare(rendered().body, edited).body["spec"]["parallelism"] == 2


def test_a_job_that_kueue_would_take_is_not_created() -> None:
    sent = dict(rendered().body)
    labels = {**sent["metadata"]["labels"], KUEUE_QUEUE_LABEL: "default"}
    answered = {**sent, "metadata": {**sent["metadata"], "labels": labels}}
    assert "backend: none, but Kueue would" in PLAIN.dry_run_objection(sent, answered)
    assert PLAIN.dry_run_objection(sent, sent) == ""
