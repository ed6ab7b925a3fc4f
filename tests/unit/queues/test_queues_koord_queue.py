"""What is sent to Koord-Queue so that no pod starts without an admission."""

from __future__ import annotations

import pytest
from unit.queues.suspended_jobs import (
    BOTH_WAYS,
    SUSPEND_FIELD,
    annotated_by,
    born,
    rendered,
    taken_over,
)
from unit.reconcile.live_objects import Object, managed

from converter.cluster.fields import applied_fields, matches
from converter.model import Backend, Campaign, Settings
from converter.names import (
    FIELD_MANAGER,
    HANDOFF_MANAGER,
    KOORD_ACTIVE_ANNOTATION,
    KOORD_MAX_EXECUTION_ANNOTATION,
    KOORD_PRIORITY_ANNOTATION,
    KOORD_QUOTA_LABEL,
    KUEUE_QUEUE_LABEL,
    PAUSED_ANNOTATION,
)
from converter.queues.koord_queue import KoordQueue

KOORD = KoordQueue()
SETTINGS = Settings(namespace="n", queue="gpu", backend=Backend.KOORD_QUEUE)
PLAIN = Campaign("scan", "p", "ocr", ())
BY_GIT = {KOORD_ACTIVE_ANNOTATION: "false", PAUSED_ANNOTATION: "true"}


def paused_by(body: object) -> dict[str, str]:
    assert isinstance(body, dict)
    found = body["metadata"].get("annotations") or {}
    return {key: value for key, value in found.items() if key in BY_GIT}


def test_the_quota_is_named_and_the_priority_never_left_open() -> None:
    """With none before and after, Koord-Queue overlooks a resume for up to a minute."""
    metadata = KOORD.job_metadata(PLAIN, SETTINGS, None)
    assert metadata.labels == {KOORD_QUOTA_LABEL: "gpu"}
    assert metadata.annotations == {KOORD_PRIORITY_ANNOTATION: "0"}
    assert KOORD.pod_priority_class(PLAIN) == ""


def test_a_priority_is_the_pods_own_class() -> None:
    urgent = Campaign("scan", "p", "ocr", (), priority="high")
    assert KOORD_PRIORITY_ANNOTATION not in KOORD.job_metadata(urgent, SETTINGS, None).annotations
    assert KOORD.pod_priority_class(urgent) == "high"
    job = {"spec": {"template": {"spec": {"priorityClassName": "high"}}}}
    assert KOORD.priority_of(job) == "high"
    assert KOORD.priority_of({"spec": {}}) == ""


def test_an_execution_time_is_an_annotation() -> None:
    metadata = KOORD.job_metadata(PLAIN, SETTINGS, 3600)
    assert metadata.annotations[KOORD_MAX_EXECUTION_ANNOTATION] == "3600"


def test_a_new_and_paused_job_is_born_inactive() -> None:
    paused = Campaign("scan", "p", "ocr", (), suspend=True)
    assert BY_GIT.items() <= KOORD.job_metadata(paused, SETTINGS, None).annotations.items()
    assert KOORD.starts_suspended(paused)
    assert KOORD.starts_suspended(PLAIN)


@pytest.mark.parametrize(
    ("manager", "is_controller"),
    [
        ("koord-queue-controllers", True),
        ("manager", True),
        ("kube-controller-manager", True),
        (FIELD_MANAGER, True),
        (HANDOFF_MANAGER, True),
        ("argocd-controller", True),
        ("", True),
        ("kubectl-edit", False),
        ("kubectl", False),
    ],
)
def test_who_is_never_overruled(manager: str, is_controller: bool) -> None:
    """Under which name Koord-Queue writes depends on its installation, so all unknown ones."""
    assert KOORD.is_controller(manager) is is_controller


@pytest.mark.parametrize(
    ("live", "suspend"),
    [
        (None, True),
        (born(), True),
        (taken_over(suspend=False), None),
        (taken_over(suspend=True), None),
        (taken_over("kubectl-edit", suspend=False), None),
        (taken_over(FIELD_MANAGER, suspend=True), None),
        (BOTH_WAYS, None),
        (managed(born(), HANDOFF_MANAGER, "Apply", SUSPEND_FIELD), None),
    ],
    ids=[
        "new",
        "ours alone, and still true: dropped it would be false",
        "started",
        "evicted",
        "started by hand",
        "suspended by our own update",
        "owned by apply and update: one remains",
        "owned by another apply as well",
    ],
)
@pytest.mark.parametrize("paused", [False, True])
def test_the_suspend_field_is_sent_while_it_is_ours_alone(
    paused: bool, live: Object | None, suspend: bool | None
) -> None:
    prepared = KOORD.prepare(rendered(BY_GIT if paused else {}).body, live)
    assert prepared.body["spec"].get("suspend") is suspend
    assert prepared.handoff is None


@pytest.mark.parametrize("paused", [False, True])
def test_no_apply_ever_takes_away_what_keeps_the_job_suspended(paused: bool) -> None:
    """Of a field that server-side apply alone owns, leaving it out is setting it to false."""
    for live in (born(), taken_over(suspend=True), BOTH_WAYS):
        body = KOORD.prepare(rendered(BY_GIT if paused else {}).body, live).body
        managers = [
            entry
            for entry in live["metadata"]["managedFields"]
            if "f:suspend" in entry["fieldsV1"].get("f:spec", {})
        ]
        kept = body["spec"].get("suspend") is True or any(
            (entry["manager"], entry["operation"]) != (FIELD_MANAGER, "Apply") for entry in managers
        )
        assert kept


def test_a_pause_of_a_live_job_is_left_to_the_lever() -> None:
    """Koord-Queue copies the annotation at once, before it is known whether the field exists."""
    assert paused_by(KOORD.prepare(rendered(BY_GIT).body, born()).body) == {}


@pytest.mark.parametrize("paused", [False, True])
def test_what_the_job_was_born_with_stays_until_the_lever_takes_it_away(paused: bool) -> None:
    body = KOORD.prepare(rendered(BY_GIT if paused else {}).body, born(BY_GIT)).body
    assert paused_by(body) == BY_GIT


@pytest.mark.parametrize("said", ["false", "true", "0"])
@pytest.mark.parametrize("manager", [FIELD_MANAGER, "kubectl-annotate", "koord-queue"])
def test_the_annotation_of_another_writer_is_never_made_ours(manager: str, said: str) -> None:
    """The lever's own is an update. "true" would undo what Koord-Queue itself has stopped."""
    live = annotated_by(manager, {KOORD_ACTIVE_ANNOTATION: said, PAUSED_ANNOTATION: "true"})
    for body in (rendered().body, rendered(BY_GIT).body):
        assert paused_by(KOORD.prepare(body, live).body) == {}


def test_an_unchanged_job_is_not_sent_again_after_a_pause_or_a_resume() -> None:
    for live in (
        annotated_by(FIELD_MANAGER, BY_GIT),
        born(BY_GIT),
        annotated_by(FIELD_MANAGER, BY_GIT, taken_over(suspend=True)),
        taken_over(suspend=False),
    ):
        body = KOORD.prepare(rendered().body, live).body
        ours = applied_fields(live, FIELD_MANAGER)
        assert ours
        assert matches(live, body, FIELD_MANAGER)


def test_what_koord_queue_has_taken_over_is_not_sent() -> None:
    live = taken_over(suspend=False)
    fields = live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    del fields["f:parallelism"]
    live = managed(live, "unknown", "Update", {"f:spec": {"f:parallelism": {}}})
    assert "parallelism" not in KOORD.prepare(rendered().body, live).body["spec"]
    by_hand = managed(
        taken_over(suspend=False), "kubectl", "Update", {"f:spec": {"f:parallelism": {}}}
    )
    assert KOORD.prepare(rendered().body, by_hand).body["spec"]["parallelism"] == 2


def test_a_job_that_kueue_would_take_as_well_is_not_created() -> None:
    sent = dict(rendered().body)
    labels = {**sent["metadata"]["labels"], KUEUE_QUEUE_LABEL: "default"}
    answered = {**sent, "metadata": {**sent["metadata"], "labels": labels}}
    said = KOORD.dry_run_objection(sent, answered)
    assert "backend: koord-queue, but Kueue would put it into the LocalQueue default" in said
    assert KOORD.dry_run_objection(sent, sent) == ""


def test_the_queue_is_the_quota() -> None:
    assert KOORD.queue_of(rendered().body) == "gpu"
    assert KOORD.queue_of({"metadata": {}}) == ""
