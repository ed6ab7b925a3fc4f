"""What a live campaign may not change of how it is queued, on each backend."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from unit.reconcile.koord_store import koord_job, queue_unit
from unit.reconcile.live_objects import Object, job, running

from converter.manifest import Manifest
from converter.model import Backend
from converter.names import (
    HOLD_ANNOTATION,
    KOORD_QUOTA_LABEL,
    KUEUE_QUEUE_LABEL,
    OPENED_ANNOTATION,
)
from converter.reconcile.live import Live
from converter.reconcile.queue_rules import queued_otherwise

KOORD, NONE = Backend.KOORD_QUEUE, Backend.NONE
ENDED = [{"type": "Complete", "status": "True"}]


def live_job(backend: Backend, priority: str = "", **state: Any) -> Object:
    if backend is Backend.KUEUE:
        return running(job())
    made = koord_job({OPENED_ANNOTATION: "true"} if backend is NONE else {}, **state)
    if backend is NONE:
        del made["metadata"]["labels"][KOORD_QUOTA_LABEL]
    if priority:
        made["spec"]["template"]["spec"]["priorityClassName"] = priority
    return made


def rendered(
    backend: Backend, *, window: int = 2, quota: str = "gpu", priority: str = ""
) -> Manifest:
    made = job(window=window)
    body: Object = copy.deepcopy(dict(made.body))
    if backend is not Backend.KUEUE:
        del body["metadata"]["labels"][KUEUE_QUEUE_LABEL]
        body["spec"]["suspend"] = True
    if backend is KOORD:
        body["metadata"]["labels"][KOORD_QUOTA_LABEL] = quota
    if priority:
        body["spec"]["template"]["spec"]["priorityClassName"] = priority
    return Manifest(made.role, body, made.pipeline, made.campaign)


def said(backend: Backend, of: Object, now: Manifest, *units: Object) -> str:
    found = {of["metadata"]["uid"]: units} if units else {}
    return queued_otherwise(now, Live({"scan": of}, {}, found, backend))


@pytest.mark.parametrize("backend", [KOORD, NONE])
@pytest.mark.parametrize("suspend", [False, True])
def test_nothing_is_said_of_what_is_the_same(backend: Backend, suspend: bool) -> None:
    assert said(backend, live_job(backend, suspend=suspend), rendered(backend)) == ""


@pytest.mark.parametrize(
    ("backend", "why"),
    [
        (KOORD, "Koord-Queue has a quota for the old one"),
        (NONE, "pods that are too many would be ended in the middle of a volume"),
    ],
)
def test_the_window_changes_while_it_is_suspended(backend: Backend, why: str) -> None:
    now = rendered(backend, window=1)
    reason = said(backend, live_job(backend, suspend=False), now)
    assert f"its window was 2 and is now 1, and {why}: set suspend: true and apply" in reason
    assert said(backend, live_job(backend), now) == ""
    assert said(backend, live_job(backend, suspend=False, conditions=ENDED), now) == ""


@pytest.mark.parametrize(
    ("phase", "active", "refused"),
    [
        ("Reserved", None, True),
        ("Dequeued", None, True),
        ("Running", True, True),
        ("Dequeued", False, False),
        ("Enqueued", None, False),
        ("", None, False),
        ("SchedFailed", None, False),
    ],
)
def test_it_does_not_change_while_koord_queue_starts_it(
    phase: str, active: bool | None, refused: bool
) -> None:
    of = live_job(KOORD)
    reason = said(KOORD, of, rendered(KOORD, window=1), queue_unit(of, phase, active=active))
    assert ("while Koord-Queue starts or stops it" in reason) is refused


@pytest.mark.parametrize(
    ("of_job", "of_unit", "expected"),
    [
        ("gpu", "gpu", ""),
        ("old", "old", "it is in the quota old, and converter.yaml says gpu"),
        ("old", "gpu", ""),
        ("gpu", "old", ""),
        ("", "", "it is in no quota, and converter.yaml says gpu"),
        ("", "gpu", ""),
        ("old", None, ""),
    ],
    ids=[
        "the same",
        "another one",
        "moved where it counts",
        "moved by hand: it was applied as git has it",
        "none",
        "taken off by hand: the QueueUnit has it",
        "no QueueUnit was made from it yet",
    ],
)
def test_the_quota_is_that_of_the_queue_unit(
    of_job: str, of_unit: str | None, expected: str
) -> None:
    of = live_job(KOORD)
    of["metadata"]["labels"][KOORD_QUOTA_LABEL] = of_job
    units = []
    if of_unit is not None:
        units = [queue_unit(of, "Enqueued")]
        units[0]["metadata"]["labels"][KOORD_QUOTA_LABEL] = of_unit
    reason = said(KOORD, of, rendered(KOORD), *units)
    assert expected in reason
    assert bool(reason) is bool(expected)


@pytest.mark.parametrize("was", [Backend.KUEUE, KOORD, NONE])
@pytest.mark.parametrize("now", [Backend.KUEUE, KOORD, NONE])
def test_no_two_backends_have_one_job(was: Backend, now: Backend) -> None:
    reason = said(now, live_job(was), rendered(now))
    words = f"its Job was made for backend: {was}, and converter.yaml says {now}"
    assert reason.startswith(words) if was is not now else reason == ""


@pytest.mark.parametrize("backend", [KOORD, NONE])
@pytest.mark.parametrize(("was", "now"), [("low", "high"), ("", "high"), ("low", "")])
def test_a_priority_that_is_the_pods_never_changes(backend: Backend, was: str, now: str) -> None:
    """It is in the template, which the API server lets nobody change, also while it is paused."""
    reason = said(backend, live_job(backend, was), rendered(backend, priority=now))
    assert f"its priority was {was or 'none'} and is now {now or 'none'}" in reason
    assert said(backend, live_job(backend, was), rendered(backend, priority=was)) == ""


def test_nothing_of_the_kind_changes_under_a_hold() -> None:
    of = live_job(KOORD)
    unit = queue_unit(of, "Enqueued", active=False, annotations={HOLD_ANNOTATION: "7"})
    assert "its window changed while hold 7" in said(KOORD, of, rendered(KOORD, window=1), unit)
    assert "its queue changed while hold 7" in said(KOORD, of, rendered(KOORD, quota="new"), unit)
    held = live_job(NONE)
    held["metadata"]["annotations"][HOLD_ANNOTATION] = "7"
    assert "its window changed while hold 7" in said(NONE, held, rendered(NONE, window=1))
