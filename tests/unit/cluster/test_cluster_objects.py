"""Readings of live objects, resources and failure answers."""

from typing import Any

import pytest

from converter.cluster.objects import (
    annotation,
    index_ranges,
    is_active,
    is_ours,
    is_suspended,
    job_end,
    label,
    true_condition,
)
from converter.cluster.resources import JOBS, Resource
from converter.cluster.status import MESSAGE_LIMIT, api_error
from converter.names import MANAGED_BY_LABEL, REPOSITORY_ANNOTATION

BARE: dict[str, Any] = {"metadata": {}, "spec": {}}


@pytest.mark.parametrize(
    ("text", "indexes"),
    [("", ()), ("0", (0,)), ("1,3-5,7", (1, 3, 4, 5, 7)), ("0-2", (0, 1, 2)), ("10-10", (10,))],
)
def test_index_ranges(text: str, indexes: tuple[int, ...]) -> None:
    assert index_ranges(text) == indexes


def test_an_object_without_labels_or_annotations_has_empty_ones() -> None:
    assert label(BARE, "x") == annotation(BARE, "x") == ""
    assert label({"metadata": {"labels": None}}, "x") == ""


@pytest.mark.parametrize(
    ("managed_by", "repository", "ours"),
    [
        ("campaigns", "r", True),
        ("helm", "r", False),
        ("campaigns", "other", False),
        ("campaigns", None, False),
        (None, "r", False),
    ],
)
def test_ours_is_what_this_repositorys_apply_made(
    managed_by: str | None, repository: str | None, ours: bool
) -> None:
    metadata = {
        "labels": {MANAGED_BY_LABEL: managed_by} if managed_by else {},
        "annotations": {REPOSITORY_ANNOTATION: repository} if repository else None,
    }
    assert is_ours({"metadata": metadata}, "r") is ours


@pytest.mark.parametrize(
    ("spec", "suspended", "active"),
    [
        ({}, False, True),
        ({"suspend": True, "active": True}, True, True),
        ({"suspend": False, "active": False}, False, False),
        ({"suspend": None, "active": None}, False, True),
    ],
)
def test_absent_is_not_suspended_and_active(
    spec: dict[str, Any], suspended: bool, active: bool
) -> None:
    assert is_suspended({"spec": spec}) is suspended
    assert is_active({"spec": spec}) is active


def conditions(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {"status": {"conditions": [{"type": t, "status": s} for t, s in pairs]}}


def test_a_condition_counts_while_it_is_true() -> None:
    both = conditions(("Evicted", "False"), ("Finished", "True"))
    assert true_condition(both, "Evicted") is None
    assert true_condition(both, "Evicted", "Finished") == {"type": "Finished", "status": "True"}
    assert true_condition(BARE, "Evicted") is None
    assert true_condition({"status": None}, "Evicted") is None


@pytest.mark.parametrize(
    ("condition", "ends"),
    [
        ("Complete", True),
        ("Failed", True),
        ("Suspended", False),
        ("SuccessCriteriaMet", False),
        ("FailureTarget", False),
    ],
)
def test_only_a_terminal_condition_ends_a_job(condition: str, ends: bool) -> None:
    assert (job_end(conditions((condition, "True"))) is not None) is ends
    assert job_end(conditions((condition, "False"))) is None


def test_paths() -> None:
    assert JOBS.path("n") == "/apis/batch/v1/namespaces/n/jobs"
    assert JOBS.path("n", "a/b") == "/apis/batch/v1/namespaces/n/jobs/a%2Fb"
    assert Resource("/api/v1", "nodes", "Node", namespaced=False).path("n", "x") == (
        "/api/v1/nodes/x"
    )


@pytest.mark.parametrize("document", [{}, {"details": None}, {"message": None, "reason": None}])
def test_a_failure_that_says_nothing_still_reads_well(document: dict[str, Any]) -> None:
    error = api_error("patch", "Job/x", 418, document)
    assert str(error) == "patch Job/x: 418 Unknown: no message"


def test_a_long_message_is_cut() -> None:
    error = api_error("patch", "Job/x", 422, {"message": "x" * 9000})
    assert len(error.message) == MESSAGE_LIMIT
