"""What is sent to Kueue so that no pod starts without an admission (apply.md, Pause)."""

import pytest
from unit.reconcile.live_objects import (
    Object,
    applied,
    evicted,
    fields_of,
    job,
    managed,
    queued,
    running,
)

from converter.model import Campaign, Settings
from converter.names import (
    FIELD_MANAGER,
    HANDOFF_MANAGER,
    KUEUE_MIN_PARALLELISM_ANNOTATION,
    KUEUE_PRIORITY_LABEL,
    KUEUE_QUEUE_LABEL,
)
from converter.queues.kueue import Kueue

KUEUE = Kueue()
PAUSED = job(suspended=True)
ACTIVE = job()


def has_label(body: Object) -> bool:
    return KUEUE_QUEUE_LABEL in body["metadata"]["labels"]


def unqueued() -> Object:
    """A campaign that was created paused, as it is live."""
    return applied(KUEUE.prepare(PAUSED.body, None).body)


def paused_in_queue() -> Object:
    """Paused while it waited: Kueue never admitted it and we alone own the field."""
    return applied(PAUSED)


def unsuspended_by_hand() -> Object:
    """A campaign that was created paused, and that somebody started without Kueue."""
    live = unqueued()
    del live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:suspend"]
    edited = {**live, "spec": {**live["spec"], "suspend": False}}
    return managed(edited, "kubectl-edit", "Update", {"f:spec": {"f:suspend": {}}})


def handed_over() -> Object:
    """The run was killed after the hand-off."""
    return managed(unqueued(), HANDOFF_MANAGER, "Apply", {"f:spec": {"f:suspend": {}}})


def resumed() -> Object:
    """After hand-off and render: the hand-off manager alone keeps the field."""
    live = {**applied(ACTIVE), "spec": {**ACTIVE.body["spec"], "suspend": True}}
    return managed(live, HANDOFF_MANAGER, "Apply", {"f:spec": {"f:suspend": {}}})


def test_the_queue_label_always_and_a_priority_label_only_with_a_priority() -> None:
    settings = Settings(namespace="n", queue="gpu")
    plain = KUEUE.job_metadata(Campaign("scan", "p", "ocr", ()), settings, None)
    assert plain.labels == {KUEUE_QUEUE_LABEL: "gpu"}
    assert plain.annotations == {}
    urgent = Campaign("scan", "p", "ocr", (), priority="high", window=4, min_window=2)
    metadata = KUEUE.job_metadata(urgent, settings, None)
    assert metadata.labels[KUEUE_PRIORITY_LABEL] == "high"
    assert metadata.annotations == {KUEUE_MIN_PARALLELISM_ANNOTATION: "2"}


@pytest.mark.parametrize(
    ("manager", "is_controller"),
    [
        ("kueue", True),
        ("kueue-job-controller", True),
        ("kube-controller-manager", True),
        (HANDOFF_MANAGER, True),
        (FIELD_MANAGER, False),
        ("kubectl-edit", False),
        ("kubectl-client-side-apply", False),
    ],
)
def test_who_is_never_overruled(manager: str, is_controller: bool) -> None:
    assert KUEUE.is_controller(manager) is is_controller


@pytest.mark.parametrize(
    ("rendered", "live", "suspend", "label", "handoff"),
    [
        (ACTIVE, None, None, True, False),
        (PAUSED, None, True, False, False),
        (PAUSED, unqueued(), True, False, False),
        (PAUSED, unsuspended_by_hand(), True, False, False),
        (ACTIVE, unqueued(), None, True, True),
        (ACTIVE, handed_over(), None, True, False),
        (ACTIVE, resumed(), None, True, False),
        (PAUSED, handed_over(), True, False, False),
        (PAUSED, resumed(), None, True, False),
        (ACTIVE, queued(ACTIVE), None, True, False),
        (PAUSED, queued(ACTIVE), True, True, False),
        (PAUSED, paused_in_queue(), True, True, False),
        (ACTIVE, paused_in_queue(), None, True, True),
        (ACTIVE, running(ACTIVE), None, True, False),
        (PAUSED, running(ACTIVE), None, True, False),
        (PAUSED, evicted(PAUSED), None, True, False),
        (ACTIVE, evicted(PAUSED), None, True, False),
    ],
    ids=[
        "new",
        "new and paused: not queued",
        "still paused: still not queued",
        "still paused, and unsuspended by hand: suspended again",
        "resume of one that was never queued: hand-off, then the label",
        "the same, killed after the hand-off",
        "the same, done",
        "paused again, killed after the hand-off",
        "paused again after its resume: the hand-off still holds",
        "waits",
        "pause while it waits: the label stays",
        "paused while it waited",
        "resume of that: hand-off",
        "runs",
        "pause of one that runs: Kueue's field is not sent",
        "paused after it ran",
        "resume of that: the field is Kueue's",
    ],
)
def test_prepare(
    rendered: object, live: Object | None, suspend: bool | None, label: bool, handoff: bool
) -> None:
    assert isinstance(rendered, type(ACTIVE))
    prepared = KUEUE.prepare(rendered.body, live)
    assert prepared.body["spec"].get("suspend") is suspend
    assert has_label(dict(prepared.body)) is label
    assert (prepared.handoff is not None) is handoff


def test_the_handoff_names_the_suspend_field_and_nothing_else() -> None:
    handoff = KUEUE.prepare(ACTIVE.body, unqueued()).handoff
    assert handoff is not None
    assert fields_of(handoff) == {"f:spec": {"f:suspend": {}}}
    assert handoff["spec"] == {"suspend": True}


def test_a_window_that_partial_admission_lowered_is_not_sent() -> None:
    lowered = running(ACTIVE)
    del lowered["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:parallelism"]
    lowered = managed(lowered, "kueue", "Update", {"f:spec": {"f:parallelism": {}}})
    assert "parallelism" not in KUEUE.prepare(ACTIVE.body, lowered).body["spec"]


def answer(body: Object, queue: str = "") -> Object:
    """A dry run's answer: with `queue`, Kueue's webhook has put the Job into it."""
    labels = {**body["metadata"]["labels"], **({KUEUE_QUEUE_LABEL: queue} if queue else {})}
    return {**body, "metadata": {**body["metadata"], "labels": labels}}


def test_a_new_paused_job_that_kueue_would_queue_is_objected_to() -> None:
    sent = dict(KUEUE.prepare(PAUSED.body, None).body)
    said = KUEUE.dry_run_objection(sent, answer(sent, "default"))
    assert "LocalQueue default" in said
    assert "rename" in said
    assert "without suspend: true" in said


@pytest.mark.parametrize(
    ("sent", "queue"), [(KUEUE.prepare(PAUSED.body, None).body, ""), (ACTIVE.body, "gpu")]
)
def test_no_objection_to_a_job_that_stays_where_it_was_sent(sent: Object, queue: str) -> None:
    assert KUEUE.dry_run_objection(sent, answer(sent, queue)) == ""
