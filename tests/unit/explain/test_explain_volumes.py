"""Volumes that failed or are tried again, and how campaigns have ended."""

from dataclasses import replace
from typing import Any

import pytest
from unit.explain.scene import (
    Scene,
    condition,
    exited,
    has_ended,
    pod,
    repository,
    runs,
)
from unit.reconcile.live_objects import REPOSITORY, Object, applied, stamped_volumes, state

from converter.manifest import Role
from converter.reconcile.live import Live
from converter.reconcile.record import records_to_write
from converter.render import render

RETRY = "`campaigns retry letters` writes a campaign file of what failed"


def failed(index: int = 1, code: int = 1, **how: Any) -> Object:
    reason, message = how.pop("reason", "Error"), how.pop("message", "")
    at = how.pop("at", "2026-01-01T11:00:00Z")
    main = exited(code, reason, message, at)
    return pod(f"letters-{index}-x", phase="Failed", index=index, **{"main": main, **how})


def failing(*pods: Object, lost: str = "", **status: Any) -> Scene:
    return runs(
        status={"active": 2, "ready": 2, "failedIndexes": lost, **status}, pods={"letters": pods}
    )


@pytest.mark.parametrize(
    ("pods", "how", "remedy"),
    [
        ([failed(code=3)], "exit 3", ""),
        ([failed(code=13, message="torn")], "exit 13: given up without another try: torn", ""),
        (
            [failed(code=137, reason="OOMKilled")],
            "exit 137: out of memory (OOMKilled)",
            "more memory to size s",
        ),
        ([failed(code=137)], "exit 137: killed", ""),
        ([failed(code=143)], "exit 143: ended by SIGTERM", ""),
        ([failed(code=127)], "exit 127: the command was not found", ""),
        (
            [failed(main=None)],
            "failed",
            "",
        ),
        (
            [{**failed(), "status": {"phase": "Failed", "reason": "DeadlineExceeded"}}],
            "ran longer than 300 s (max_seconds)",
            "write a larger max_seconds in pipelines/ocr.yaml",
        ),
        (
            [{**failed(), "status": {"phase": "Failed", "reason": "Evicted", "message": "disk"}}],
            "evicted by its node: disk",
            "",
        ),
        (
            [pod("p", phase="Failed", index=1, init=exited(13, message="no marker"))],
            "exit 13: gave up waiting for the warm-up: no marker",
            "see why the warm-up Job warmup-ocr did not end in time",
        ),
        (
            [
                failed(code=1, at="2026-01-01T10:00:00Z", message="early"),
                failed(code=2, at="2026-01-01T11:00:00Z", message="late"),
            ],
            "exit 2: late",
            "",
        ),
        ([], "", ""),
    ],
)
def test_how_a_volume_failed(pods: list[Object], how: str, remedy: str) -> None:
    first = failing(*pods, lost="1").first()
    tail = f": {how}" if how else ""
    assert first.code == "volumes-failed"
    assert first.details == (f"v1 (index 1){tail}",)
    assert first.sentence == f"1 of 4 volumes failed for good, first v1 (index 1){tail}"
    assert remedy in first.remedy
    assert first.remedy.endswith(f"when it has ended, {RETRY}")


def test_the_last_lines_of_what_was_written_are_told_on_one() -> None:
    message = "a\nb\n\x1b[31mc\x1b[0m\x00\nd\n\n" + "e" * 400
    (line,) = failing(failed(message=message), lost="1").first().details
    assert line.startswith("v1 (index 1): exit 1: c / d / eee")
    assert line.isprintable()
    assert len(line) < 340


def test_what_is_tried_again_says_how_often() -> None:
    scene = failing(failed(0, 3, failures=1), failed(2, 3), lost="")
    first = scene.first()
    assert first.code == "volumes-retried"
    assert first.sentence.startswith("2 of 4 volumes failed and are tried again (try 3 of 4)")


def test_what_succeeded_since_or_was_disrupted_did_not_fail() -> None:
    disrupted = failed(2, conditions=(condition("DisruptionTarget"),))
    scene = failing(failed(0), disrupted, completedIndexes="0")
    assert scene.codes() == ["running"]


def test_an_index_has_no_name_where_git_has_moved_on() -> None:
    scene = failing(failed(), lost="1")
    moved = repository(volumes=5)
    (drifted, found, _) = replace(scene, repo=moved).causes()
    assert drifted.code == "drifted"
    assert found.details[0].startswith("index 1: ")


def test_of_many_failed_volumes_the_first_are_told() -> None:
    repo = repository(volumes=50)
    first = runs(repo, status={"active": 2, "ready": 2, "failedIndexes": "0-29"}).first()
    assert len(first.details) == 21
    assert first.details[-1] == "and 10 more"


def test_one_that_has_finished() -> None:
    found = has_ended("Complete", {"completedIndexes": "0-3"}).first()
    assert found.code == "finished"
    assert found.sentence == "it has finished at 2026-01-02T00:00:00Z: 4 of 4 volumes done"


def test_one_that_ended_with_failed_volumes() -> None:
    (found,) = has_ended(
        "Failed", {"completedIndexes": "0,2-3", "failedIndexes": "1"}, pods={"letters": (failed(),)}
    ).causes()
    assert found.code == "partly-failed"
    assert found.sentence.endswith("1 of 4 volumes failed, first v1 (index 1): exit 1")
    assert found.remedy == RETRY


def reaped(how: str, completed: str) -> Scene:
    """Only the record is left."""
    scene = has_ended(how, {"completedIndexes": completed})
    volumes = next(each for each in render(scene.repo) if each.role is Role.VOLUMES)
    known = stamped_volumes(volumes, scene.jobs[0]["metadata"]["uid"])
    live: Live = state(*scene.jobs, known)
    (record,) = records_to_write(live, REPOSITORY)
    return Scene(scene.repo, records=(applied(record),))


@pytest.mark.parametrize(
    ("completed", "code", "words"),
    [
        (
            "0-3",
            "finished",
            "(its Job was removed after its time to live, and the record of its end is kept): "
            "4 of 4 volumes done",
        ),
        ("0-2", "partly-failed", "is kept): 1 of 4 volumes failed, first v3"),
        ("", "failed", "is kept): 4 of 4 volumes failed, first v0"),
    ],
)
def test_one_whose_job_is_gone(completed: str, code: str, words: str) -> None:
    first = reaped("Complete" if code == "finished" else "Failed", completed).first()
    assert first.code == code
    assert words in first.sentence


@pytest.mark.parametrize(
    ("status", "words"),
    [
        ({"active": 2, "ready": 2}, "it runs: 2 pods, 0 of 4 volumes done"),
        ({"active": 2, "ready": 1}, "it runs: 2 pods (1 of them started), 0 of 4"),
        ({"active": 0}, "it is admitted and has no pod at the moment, 0 of 4"),
        (
            {"active": 1, "ready": 1, "completedIndexes": "0-2"},
            "3 of 4 volumes done; about 20 minutes left (between ",
        ),
    ],
)
def test_one_that_runs(status: Object, words: str) -> None:
    (found,) = runs(status=status).causes()
    assert found.code == "running"
    assert words in found.sentence
