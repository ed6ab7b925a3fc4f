"""The text of one object: what is shown of it, and what is not."""

import copy

import pytest
from unit.reconcile.live_objects import applied, job, pipeline, volumes, warmup

from converter.diff.objects import changed, created, replaced, without_noise
from converter.names import (
    APPLIED_AT_ANNOTATION,
    APPLIED_BY_ANNOTATION,
    COMMIT_ANNOTATION,
    JOB_UID_ANNOTATION,
)

NOISE = {
    "creationTimestamp": "2026-01-01T00:00:00Z",
    "deletionGracePeriodSeconds": 0,
    "deletionTimestamp": "2026-01-01T00:00:00Z",
    "generation": 7,
    "managedFields": [{"manager": "kueue"}],
    "resourceVersion": "99",
    "selfLink": "/api",
    "uid": "other",
}


@pytest.mark.parametrize("key", NOISE)
def test_what_the_server_writes_is_no_difference(key: str) -> None:
    live = applied(job())
    answered = copy.deepcopy(live)
    answered["metadata"][key] = NOISE[key]
    assert changed(job(), live, answered) == ()


@pytest.mark.parametrize(
    "key", [APPLIED_AT_ANNOTATION, APPLIED_BY_ANNOTATION, COMMIT_ANNOTATION, JOB_UID_ANNOTATION]
)
def test_who_applied_it_is_no_difference(key: str) -> None:
    live = applied(volumes())
    answered = copy.deepcopy(live)
    answered["metadata"]["annotations"][key] = "something"
    assert changed(volumes(), live, answered) == ()


def test_neither_is_the_status_nor_that_a_list_leaves_out_the_kind() -> None:
    live = applied(job())
    answered = {**copy.deepcopy(live), "status": {"active": 3}}
    del live["kind"], live["apiVersion"]
    assert changed(job(), live, answered) == ()


def test_neither_is_the_order_of_members() -> None:
    live = applied(job())
    answered = dict(reversed(copy.deepcopy(live).items()))
    assert changed(job(), live, answered) == ()


def test_an_object_without_annotations_gets_none() -> None:
    live = applied(pipeline())
    live["metadata"]["annotations"] = {COMMIT_ANNOTATION: "c0ffee"}
    assert "annotations" not in without_noise(live, pipeline())["metadata"]


def test_nothing_is_changed_in_place() -> None:
    live = applied(job())
    before = copy.deepcopy(live)
    without_noise(live, job())
    assert live == before


def test_a_change_is_a_unified_diff_of_what_is_live_and_what_git_says() -> None:
    live = applied(job())
    answered = copy.deepcopy(live)
    answered["spec"]["parallelism"] = 5
    lines = changed(job(), live, answered)
    assert lines[:2] == ("--- live/Job/scan", "+++ git/Job/scan")
    assert lines[2].startswith("@@ -")
    assert [line for line in lines[3:] if line[0] != " "] == [
        "-  parallelism: 2",
        "+  parallelism: 5",
    ]


def test_each_volume_is_a_line_though_there_are_tabs_in_it() -> None:
    live = applied(volumes(number=3))
    answered = copy.deepcopy(live)
    answered["data"]["volumes.txt"] = "scan-0\tsource\nscan-1\tother\nscan-2\tsource\n"
    lines = changed(volumes(), live, answered)
    taken, added = ([line for line in lines[2:] if line.startswith(sign)] for sign in ("-", "+"))
    assert (taken, added) == (["-    scan-1\tsource"], ["+    scan-1\tother"])


@pytest.mark.parametrize("end", ["\r", "\x0b", "\x0c", "\x85", "\u2028"])
def test_nothing_but_a_line_feed_ends_a_line(end: str) -> None:
    live = applied(pipeline())
    answered = copy.deepcopy(live)
    answered["data"]["pipeline.yaml"] = f"one{end}- two"
    lines = changed(pipeline(), live, answered)
    assert len([line for line in lines[2:] if line.startswith("+")]) == 1


def test_what_is_new_is_shown_as_it_is_sent() -> None:
    lines = created(pipeline(), pipeline().body)
    assert lines[:2] == ("--- /dev/null", "+++ git/ConfigMap/pipeline-ocr")
    assert lines[2] == f"@@ -0,0 +1,{len(lines) - 3} @@"
    assert all(line.startswith("+") for line in lines[3:])
    assert "+  pipeline.yaml: recipe-1" in lines


def test_what_is_made_anew_is_compared_with_what_was_applied_before() -> None:
    """The server's defaults, which the new one has not got yet, are left out."""
    live = applied(warmup(recipe="recipe-1"))
    live["spec"]["backoffLimit"] = 6
    live["spec"]["template"]["spec"]["dnsPolicy"] = "ClusterFirst"
    new = warmup(recipe="recipe-2")
    lines = replaced(new, live, new.body)
    assert lines[:2] == ("--- live/Job/warmup-ocr", "+++ git/Job/warmup-ocr")
    assert [line for line in lines[3:] if line[0] != " "] == [
        "-        gitops-campaigns.io/recipe-sha256: recipe-1",
        "+        gitops-campaigns.io/recipe-sha256: recipe-2",
    ]
    assert replaced(warmup(), live, warmup().body) == ()
