"""How a campaign ended, written down before its Job is reaped (apply.md 6)."""

import pytest
from unit.reconcile.live_objects import (
    REPOSITORY,
    Object,
    applied,
    ended,
    foreign,
    job,
    pipeline,
    running,
    stamped_volumes,
    state,
    volumes,
    warmup,
    workload,
)

from converter.names import COMMIT_ANNOTATION, HOLD_HISTORY_ANNOTATION, VOLUMES_ANNOTATION
from converter.reconcile.record import Record, record_of, records_to_write

VOLUMES = stamped_volumes(volumes(), "uid-scan")


@pytest.mark.parametrize(
    ("how", "completed", "phase", "done", "failed"),
    [
        ("Complete", "0-2", "Finished", 3, ()),
        ("Failed", "0,2", "PartlyFailed", 2, ("scan-1",)),
        ("Failed", "", "Failed", 0, ("scan-0", "scan-1", "scan-2")),
        ("Failed", "0-2", "PartlyFailed", 3, ()),
    ],
)
def test_phase_and_counts(
    how: str, completed: str, phase: str, done: int, failed: tuple[str, ...]
) -> None:
    record = record_of(ended(job(), how, completed), VOLUMES)
    assert record is not None
    assert (record.phase, record.done, record.failed_volumes) == (phase, done, failed)
    assert (record.total, record.failed) == (3, len(failed))


@pytest.mark.parametrize("condition", ["SuccessCriteriaMet", "FailureTarget", "Suspended"])
def test_a_job_whose_last_pods_are_still_ending_has_no_record(condition: str) -> None:
    assert record_of(ended(job(), condition), VOLUMES) is None
    assert record_of(running(job()), VOLUMES) is None


def test_a_record_says_when_which_job_which_volumes_and_which_commit() -> None:
    made = stamped_volumes(volumes(), "uid-scan")
    made["metadata"]["annotations"] |= {COMMIT_ANNOTATION: "c0ffee", VOLUMES_ANNOTATION: "abc"}
    record = record_of(ended(job()), made)
    assert record is not None
    assert record.started_at == "2026-01-01T00:00:00Z"
    assert record.finished_at == "2026-01-02T00:00:00Z"
    assert record.job_uid == "uid-scan"
    assert record.volumes_sha256 == "abc"
    assert record.commit == "c0ffee"


def test_without_the_volumes_failed_indexes_are_called_by_number() -> None:
    record = record_of(ended(job(), "Failed", "0,2"), None)
    assert record is not None
    assert record.failed_volumes == ("index 1",)
    assert (record.volumes_sha256, record.commit) == ("", "")


@pytest.mark.parametrize("blank", ["\f", "\u2028", "\x85", "\r"])
def test_a_line_ends_in_a_newline_and_in_nothing_else(blank: str) -> None:
    made = stamped_volumes(volumes(), "uid-scan")
    made["data"]["volumes.txt"] = f"v0\ta{blank}b\nv1\tsource\nv2{blank}\tsource\n"
    record = record_of(ended(job(), "Failed", "0"), made)
    assert record is not None
    assert record.failed_volumes == ("v1", f"v2{blank}")
    assert Record.from_data(record.to_data()) == record


def test_volumes_that_somebody_spoilt_leave_the_failed_indexes_their_numbers() -> None:
    made = stamped_volumes(volumes(), "uid-scan")
    made["data"]["volumes.txt"] = "v0\n"
    record = record_of(ended(job(), "Failed", "0,2"), made)
    assert record is not None
    assert record.failed_volumes == ("index 1",)


def test_a_record_is_read_back_as_it_was_written() -> None:
    record = record_of(ended(job(), "Failed", "0"), VOLUMES)
    assert record is not None
    assert Record.from_data(record.to_data()) == record


def _data(**changes: str | None) -> dict[str, str]:
    record = record_of(ended(job()), VOLUMES)
    assert record is not None
    merged = {**record.to_data(), **changes}
    return {key: value for key, value in merged.items() if value is not None}


@pytest.mark.parametrize(
    "data",
    [
        {},
        _data(phase="Running"),
        _data(jobUid=""),
        _data(volumesDone="many"),
        _data(failedVolumes=None),
        _data(volumesSha256=None),
        _data(startedAt="yesterday"),
        _data(finishedAt="2026-01-02T00:00:00"),
        _data(startedAt="0001-01-01T00:00:00+01:00"),
    ],
)
def test_anything_else_is_no_record(data: dict[str, str]) -> None:
    with pytest.raises(ValueError, match=r"no |invalid literal"):
        Record.from_data(data)


@pytest.mark.parametrize("time", ["", "2026-01-02T00:00:00Z", "2026-01-02T02:00:00+02:00"])
def test_a_time_is_kept_as_it_was_written(time: str) -> None:
    read = Record.from_data(_data(startedAt=time, finishedAt=time))
    assert (read.started_at, read.finished_at) == (time, time)


def record(*objects: Object) -> Object:
    (body,) = records_to_write(state(*objects), REPOSITORY)
    return dict(body)


def test_an_ended_job_gets_a_record_once() -> None:
    written = record(ended(job()), VOLUMES)
    assert written["metadata"]["name"] == "campaign-scan-status"
    assert records_to_write(state(ended(job()), VOLUMES, applied(written)), REPOSITORY) == ()


def test_a_record_of_an_earlier_job_is_written_over() -> None:
    earlier = ended(job())
    earlier["metadata"]["uid"] = "uid-of-an-earlier-job"
    present = applied(record(earlier, VOLUMES))
    assert record(ended(job()), VOLUMES, present)["data"]["jobUid"] == "uid-scan"


def test_a_record_outlives_the_configmap_that_somebody_deleted() -> None:
    """Written again without the volumes, it would not keep the campaign from running again."""
    present = applied(record(ended(job()), VOLUMES))
    assert records_to_write(state(ended(job()), present), REPOSITORY) == ()


@pytest.mark.parametrize(
    "objects",
    [
        (running(job()), VOLUMES),
        (foreign(ended(job())), VOLUMES),
        (foreign(ended(job()), "example.org/other"), VOLUMES),
        (applied(warmup()) | {"status": ended(job())["status"]},),
        (applied(pipeline()),),
        (ended(job()), VOLUMES, foreign(applied(record(ended(job()), VOLUMES)))),
    ],
    ids=["runs", "not ours", "other repository", "warm-up", "no job", "record of others"],
)
def test_nothing_is_written_for(objects: tuple[Object, ...]) -> None:
    assert records_to_write(state(*objects), REPOSITORY) == ()


def test_a_record_keeps_the_history_of_holds_when_the_workload_is_gone() -> None:
    over = ended(job())
    made = workload(over)
    made["metadata"]["annotations"] = {HOLD_HISTORY_ANNOTATION: "[7]"}
    (written,) = records_to_write(state(over, VOLUMES, workloads=(made,)), REPOSITORY)
    assert written["metadata"]["annotations"][HOLD_HISTORY_ANNOTATION] == "[7]"
    record = applied(written)
    for workloads in ((made,), ()):
        assert records_to_write(state(over, VOLUMES, record, workloads=workloads), REPOSITORY) == ()
    (again,) = records_to_write(state(ended(job(), "Failed"), VOLUMES, record), REPOSITORY)
    assert again["metadata"]["annotations"][HOLD_HISTORY_ANNOTATION] == "[7]"
    without = records_to_write(state(over, VOLUMES), REPOSITORY)[0]
    assert HOLD_HISTORY_ANNOTATION not in without["metadata"]["annotations"]
    # Also a hold that was released after the record was written.
    (later,) = records_to_write(
        state(over, VOLUMES, applied(without), workloads=(made,)), REPOSITORY
    )
    assert later["metadata"]["annotations"][HOLD_HISTORY_ANNOTATION] == "[7]"
