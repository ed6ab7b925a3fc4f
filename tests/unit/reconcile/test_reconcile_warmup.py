"""What becomes of a warm-up that is there already, by what its Job says."""

from __future__ import annotations

from typing import Any

import pytest
from unit.cluster.api_server import ApiServer
from unit.reconcile.applies import applying, details
from unit.reconcile.live_objects import Object, applied, pipeline, warmup
from unit.reconcile.namespace_store import Namespace

from converter.reconcile.outcome import Fate
from converter.reconcile.warmup import hindrance, is_outdated

SINCE = "2026-01-01T00:00:00Z"
STARTED: Object = {"active": 1, "ready": 1, "startTime": SINCE}
STUCK: Object = {"active": 1, "ready": 0, "startTime": SINCE}
RETRIED: Object = {"failed": 1, "ready": 0, "startTime": SINCE}


def ended(kind: str, **status: Any) -> Object:
    return {"conditions": [{"type": kind, "status": "True"}], **status}


def live(status: Object, *, recipe: str = "recipe-1", claim: str = "models") -> Object:
    return filling(recipe, claim) | {"status": status}


def filling(recipe: str = "recipe-1", claim: str = "models") -> Object:
    """A warm-up that fills the directory of a recipe on a claim."""
    found = applied(warmup(recipe=recipe))
    data = {"name": "data", "persistentVolumeClaim": {"claimName": claim}}
    found["spec"]["template"]["spec"]["volumes"] = [{"name": "work", "emptyDir": {}}, data]
    return found


@pytest.mark.parametrize(
    ("status", "same", "changed"),
    [
        ({}, False, True),
        (STARTED, False, False),
        (STUCK, False, True),
        ({"active": 1}, False, True),
        (RETRIED, False, True),
        (ended("Complete"), False, True),
        (ended("Failed", failed=3), True, True),
        (ended("FailureTarget", active=1, ready=1), True, True),
        (ended("SuccessCriteriaMet", active=1, ready=1), False, False),
        (ended("Suspended"), False, True),
    ],
    ids=[
        "new",
        "running",
        "stuck",
        "not counted yet",
        "between two tries",
        "done",
        "failed",
        "failing",
        "about to be done",
        "suspended",
    ],
)
def test_which_warmups_are_made_anew(status: Object, same: bool, changed: bool) -> None:
    assert is_outdated(filling(), live(status)) is same
    assert is_outdated(filling(), live(status, recipe="recipe-0")) is changed
    assert is_outdated(filling(), live(status, claim="another")) is changed


@pytest.mark.parametrize("status", [STARTED, STUCK, ended("Complete")])
def test_one_that_is_being_deleted_does_not_count_as_there(status: Object) -> None:
    going = live(status)
    going["metadata"]["deletionTimestamp"] = SINCE
    assert is_outdated(filling(), going)


@pytest.mark.parametrize(
    ("status", "suspended", "says"),
    [
        (STARTED, False, ""),
        (ended("Complete"), False, ""),
        (ended("Complete"), True, ""),
        ({}, False, ""),
        (STUCK, False, f"its pod has not started since {SINCE}"),
        ({"active": 1}, False, "its pod has not started: "),
        (RETRIED, False, "1 of its pods failed, and it is tried again"),
        ({**RETRIED, "active": 1}, False, "1 of its pods failed, and it is tried again"),
        (ended("Suspended"), True, "it is suspended"),
    ],
)
def test_what_keeps_a_warmup_from_getting_on(status: Object, suspended: bool, says: str) -> None:
    found = live(status)
    found["spec"]["suspend"] = suspended
    assert hindrance(filling(), found).startswith(says)
    assert bool(hindrance(filling(), found)) is bool(says)


@pytest.mark.parametrize("change", [{"recipe": "recipe-0"}, {"claim": "another"}])
def test_one_that_runs_for_another_recipe_is_told_of(change: dict[str, str]) -> None:
    said = hindrance(filling(), live(STARTED, **change))
    assert said.startswith("it still fills the directory of another recipe")
    assert hindrance(filling(), live(ended("Complete"), **change)) == ""


def test_a_stuck_warmup_is_told_of_and_nothing_is_written(
    namespace: Namespace, api: ApiServer
) -> None:
    namespace.add(applied(pipeline()), applied(warmup()) | {"status": STUCK})
    outcome = applying(api, [pipeline(), warmup()])
    ((target, detail),) = details(outcome, Fate.NOTE)
    assert target == "Job/warmup-ocr"
    assert detail.startswith("its pod has not started")
    assert outcome.exit_code == 0
    assert namespace.written == []
