"""Why a campaign of Koord-Queue, or one without a queue, is where it is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
from unit.explain.scene import BEFORE, NOW, condition, manifests, repository
from unit.reconcile.koord_store import BY_GIT, queue_unit
from unit.reconcile.live_objects import REPOSITORY, Object, applied

from converter.explain.cause import Cause
from converter.explain.facts import facts_of
from converter.explain.rules import causes
from converter.model import Backend
from converter.names import (
    BUDGET_SPENT_ANNOTATION,
    HOLD_ANNOTATION,
    KOORD_QUOTA_LABEL,
    OPENED_ANNOTATION,
)
from converter.observe.places import Places
from converter.observe.snapshot import Snapshot
from converter.observe.status import statuses
from converter.observe.wanted import wanted_of
from converter.reconcile.live import Live

SPENT = condition("Evicted", reason="MaximumExecutionTimeExceeded")
NO_UNIT: Any = None
RUNS: dict[str, Any] = {"suspend": False, "active": 2}


def explained(
    backend: Backend,
    unit: Mapping[str, Any] | None = None,
    *,
    paused: bool = False,
    suspend: bool = True,
    active: int = 0,
    annotations: Mapping[str, str] | None = None,
    since: str = BEFORE,
    limit: int | None = None,
) -> tuple[Cause, ...]:
    """The causes of a campaign `letters`; `unit` are the QueueUnit's keys."""
    keys: dict[str, Any] = {"max_execution_seconds": limit} if limit else {}
    repo = repository(backend=backend, suspend=paused, **keys)
    job = applied(manifests(repo)[0])
    job["metadata"]["creationTimestamp"] = BEFORE
    job["metadata"]["annotations"] |= dict(annotations or {})
    job["spec"]["suspend"] = suspend
    stopped = {**condition("Suspended"), "lastTransitionTime": since}
    job["status"] = {"active": active, "conditions": [stopped] if suspend else []}
    units: dict[str, tuple[Object, ...]] = {}
    if unit is not None:
        given = {"lastUpdateTime": since, **unit}
        spec = {"maximumExecutionTimeSeconds": given.pop("limit")} if "limit" in given else {}
        labels = given.pop("labels", None)
        made = queue_unit(job, given.pop("phase", "Enqueued"), **given)
        made["spec"] |= spec
        if labels is not None:
            made["metadata"]["labels"] = labels
        units = {job["metadata"]["uid"]: (made,)}
    live = Live({"letters": job}, {}, units, backend)
    snapshot = Snapshot(NOW, live, Places({}))
    found = statuses(wanted_of(repo), live, REPOSITORY, now=NOW)
    return causes(facts_of(repo, snapshot, found)["letters"])


GIT = {"paused": True, "annotations": BY_GIT}
KOORD: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("paused in git", {"unit": {"active": False}, **GIT}, "paused-in-git", "suspend: true", ""),
    (
        "held",
        {"unit": {"active": False, "annotations": {HOLD_ANNOTATION: "7"}}},
        "held",
        "hold 7 stops it",
        "ask",
    ),
    (
        "its time is over",
        {"unit": {"active": False, "limit": 60, "conditions": [SPENT]}},
        "execution-time-over",
        "for the 60 s that pipelines/ocr.yaml gives it",
        "write suspend: true in campaigns/letters.yaml and apply, then take it out and apply",
    ),
    (
        "its time was over, which we noted",
        {
            "unit": {"active": False, "limit": 60},
            "annotations": {BUDGET_SPENT_ANNOTATION: BEFORE},
        },
        "execution-time-over",
        "60 s",
        "the whole time once more",
    ),
    ("stopped by somebody", {"unit": {"active": False}}, "paused-by-hand", "somebody", "suspend"),
    (
        "not stopped",
        {"unit": {"active": False, "phase": "Running"}, **GIT, **RUNS},
        "pause-not-enforced",
        "feature gate QueueUnitActive",
        "Koord-Queue's controllers",
    ),
    (
        "its pods do not end",
        {"unit": {"active": False}, **GIT, "active": 1},
        "pause-not-enforced",
        "its pods have not ended",
        "",
    ),
    (
        "its pods are ending",
        {"unit": {"active": False}, **GIT, "active": 1, "since": "2026-01-01T11:59:30Z"},
        "pausing",
        "1 pod still ending",
        "wait",
    ),
    ("active in a pause", {"unit": {}, **GIT}, "pause-not-applied", "is active", "apply` again"),
    ("a pause without a unit", GIT, "pause-not-applied", "no QueueUnit", "apply` again"),
    ("no unit", {}, "no-queue-unit", "has made no QueueUnit", "extension for batch/job"),
    (
        "in the queue",
        {"unit": {"message": "insufficient quota"}},
        "queued",
        "in the quota gpu: insufficient quota",
        "smaller window",
    ),
    ("no quota named", {"unit": {"labels": {}}}, "no-quota", "names no quota", KOORD_QUOTA_LABEL),
    (
        "evicted, and its pods are there yet",
        {"unit": {}, "active": 2},
        "starting",
        "evicted, 2 pods ending",
        "wait",
    ),
    (
        "running, for Koord-Queue",
        {"unit": {"phase": "Running"}},
        "starting",
        "Koord-Queue says Running",
        "wait",
    ),
    ("a phase of a later release", {"unit": {"phase": "New"}}, "starting", "says New", "wait"),
    (
        "its time is over, of which no length is known",
        {"unit": {"active": False, "conditions": [SPENT]}},
        "execution-time-over",
        "for all the time that",
        "",
    ),
    (
        "backing off",
        {
            "unit": {
                "phase": "TimeoutBackoff",
                "requeueState": {"count": 3, "requeueAt": "2026-01-01T12:02:40Z"},
            }
        },
        "backing-off",
        "try 3 in 2 min 40 s",
        "by itself",
    ),
    (
        "preempted",
        {
            "unit": {
                "phase": "Dequeued",
                "admissions": [{"name": "letters", "replicas": 2, "reclaimState": {"replicas": 1}}],
            }
        },
        "preempted",
        "higher priority",
        "wait",
    ),
    (
        "admission checks",
        {"unit": {"phase": "Reserved", "admissionChecks": [{"name": "net", "state": "Pending"}]}},
        "admission-check",
        "waits for the admission checks net",
        "platform team",
    ),
    (
        "stuck",
        {"unit": {"admissions": [{"name": "letters", "replicas": 2}]}},
        "stuck",
        "never starts it",
        "delete queueunit letters",
    ),
    ("about to start", {"unit": {"phase": "Dequeued"}}, "starting", "has admitted it", "wait"),
]


@pytest.mark.parametrize(
    ("scene", "code", "words", "remedy"), [row[1:] for row in KOORD], ids=[row[0] for row in KOORD]
)
def test_koord_queue(scene: dict[str, Any], code: str, words: str, remedy: str) -> None:
    first = explained(Backend.KOORD_QUEUE, **scene)[0]
    assert first.code == code
    assert words in first.what
    assert remedy in first.remedy


def test_the_waits_before_a_try_are_those_of_koord_queue() -> None:
    unit = {"phase": "TimeoutBackoff", "requeueState": {"count": 3}}
    assert explained(Backend.KOORD_QUEUE, unit)[0].details == ("before try 3 it waits 36 to 44 s",)


def test_what_runs_says_how_much_of_its_time_it_has_had() -> None:
    ready = {**condition("PodsReady"), "lastTransitionTime": BEFORE}
    unit = {"phase": "Running", "limit": 7200, "conditions": [ready]}
    found = explained(Backend.KOORD_QUEUE, unit, **RUNS, limit=7200)
    assert found[-1].code == "execution-time"
    assert "60 minutes of the 2 hours" in found[-1].what


PLAIN: list[tuple[str, dict[str, Any], str, str, str]] = [
    ("paused in git", {"paused": True}, "paused-in-git", "suspend: true", ""),
    ("held", {"annotations": {HOLD_ANNOTATION: "7"}}, "held", "hold 7 stops it", "ask"),
    ("not started", {}, "not-started", "has not started it", "apply` again"),
    (
        "suspended by somebody",
        {"annotations": {OPENED_ANNOTATION: "true"}},
        "paused-by-hand",
        "somebody suspended its Job",
        "lets it go on",
    ),
    (
        "a pause that nobody carried out",
        {"paused": True, **RUNS},
        "pause-not-applied",
        "its Job is not suspended",
        "apply` again",
    ),
    (
        "a hold that somebody overrode",
        {"annotations": {HOLD_ANNOTATION: "7"}, **RUNS},
        "hold-not-enforced",
        "hold 7 does not stop it",
        "place it again",
    ),
    (
        "its pods are ending",
        {"paused": True, "active": 2, "since": "2026-01-01T11:59:30Z"},
        "pausing",
        "2 pods there",
        "wait",
    ),
    ("its pods do not end", {"paused": True, "active": 2}, "pause-not-enforced", "2 pods", "nodes"),
]


@pytest.mark.parametrize(
    ("scene", "code", "words", "remedy"), [row[1:] for row in PLAIN], ids=[row[0] for row in PLAIN]
)
def test_without_a_queue(scene: dict[str, Any], code: str, words: str, remedy: str) -> None:
    first = explained(Backend.NONE, **scene)[0]
    assert first.code == code
    assert words in first.what
    assert remedy in first.remedy
