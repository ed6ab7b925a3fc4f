"""No fault of an apply keeps a campaign from being paused (apply.md 10)."""

import pytest
from unit.cluster.api_server import Answer, ApiServer, Request, failure
from unit.reconcile.applies import ACTIVE, PAUSED, applying, details, refuse, with_running
from unit.reconcile.live_objects import (
    applied,
    campaign,
    ended,
    foreign,
    job,
    pipeline,
    queued,
    running,
    stamped_volumes,
    volumes,
    warmup,
    workload,
)
from unit.reconcile.namespace_store import Namespace

from converter.errors import ClusterUnavailable, LeaseLost
from converter.names import SUSPEND_ANNOTATION
from converter.reconcile.outcome import Event, Fate


def test_a_refused_job_is_paused_all_the_same(namespace: Namespace, api: ApiServer) -> None:
    with_running(namespace)
    namespace.refuses = refuse("PATCH", "/jobs/scan")
    outcome = applying(api, PAUSED)
    assert outcome.count(Fate.PAUSED) == 1
    assert namespace.objects["workloads"]["job-scan"]["spec"]["active"] is False
    assert outcome.exit_code == 3


def test_a_refused_job_is_not_resumed(namespace: Namespace, api: ApiServer) -> None:
    with_running(namespace)
    applying(api, PAUSED)
    namespace.refuses = refuse("PATCH", "/jobs/scan")
    outcome = applying(api, ACTIVE)
    assert outcome.count(Fate.RESUMED) == 0
    assert namespace.objects["workloads"]["job-scan"]["spec"]["active"] is False


def test_a_campaign_of_a_refused_pipeline_is_paused_but_not_resumed(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace, "scan")
    with_running(namespace, "other")
    namespace.objects["workloads"]["job-other"]["spec"]["active"] = False
    namespace.refuses = refuse("PATCH", "/jobs/warmup-ocr")
    outcome = applying(api, [pipeline(), warmup(), *campaign(suspended=True), *campaign("other")])
    actives = {n: w["spec"]["active"] for n, w in namespace.objects["workloads"].items()}
    assert actives == {"job-scan": False, "job-other": False}
    assert [target for target, _ in details(outcome, Fate.HELD_BACK)] == [
        "campaign scan",
        "campaign other",
    ]


def test_a_record_without_an_answer_does_not_stop_the_pauses(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)
    namespace.add(ended(job("old")), stamped_volumes(volumes("old"), "uid-old"))
    namespace.refuses = lambda request: (
        Answer(200, b"<html>") if request.path.endswith("-status") else None
    )
    with pytest.raises(ClusterUnavailable):
        applying(api, [*campaign("old"), *PAUSED])
    assert namespace.objects["workloads"]["job-scan"]["spec"]["active"] is False


def test_a_request_without_an_answer_does_not_stop_the_pauses(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)
    namespace.refuses = lambda request: (
        Answer(200, b"<html>") if request.path.endswith("/jobs/new") else None
    )
    with pytest.raises(ClusterUnavailable):
        applying(api, [*campaign("new"), *PAUSED])
    assert namespace.objects["workloads"]["job-scan"]["spec"]["active"] is False


@pytest.mark.parametrize("fate", [Fate.CREATED, Fate.CONFIGURED, Fate.FINISHED])
def test_a_report_that_fails_does_not_stop_the_pauses(
    namespace: Namespace, api: ApiServer, fate: Fate
) -> None:
    """Nobody reads the pipe that standard output goes into."""
    with_running(namespace)
    namespace.add(ended(job("old")), stamped_volumes(volumes("old"), "uid-old"))

    def closed(event: Event) -> None:
        if event.fate is fate:
            raise BrokenPipeError

    with pytest.raises(BrokenPipeError):
        applying(api, [*campaign("new"), *campaign("old"), *PAUSED], report=closed)
    assert namespace.objects["workloads"]["job-scan"]["spec"]["active"] is False
    assert namespace.leases.spec["holderIdentity"] == ""


def test_a_report_that_never_works_does_not_end_the_wait_for_a_workload(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)
    late = workload(with_running(namespace, "late"))
    del namespace.objects["workloads"]["job-late"]
    reads: list[Request] = []

    def appear(request: Request) -> None:
        if request.path.endswith("/workloads"):
            reads.append(request)
        if len(reads) == 2:
            namespace.add(late)
            reads.append(request)

    def closed(event: Event) -> None:
        raise BrokenPipeError(event)

    namespace.refuses = appear
    with pytest.raises(BrokenPipeError):
        applying(api, [*PAUSED, *campaign("late", suspended=True)], closed, pause_wait=30.0)
    workloads = namespace.objects["workloads"]
    assert [workloads[name]["spec"]["active"] for name in ("job-scan", "job-late")] == [False] * 2


@pytest.mark.parametrize("error", [LeaseLost("lost"), KeyboardInterrupt()])
def test_a_run_that_may_write_no_more_or_is_stopped_pauses_nothing(
    namespace: Namespace, api: ApiServer, error: BaseException
) -> None:
    with_running(namespace)

    def stop(event: Event) -> None:
        raise error

    with pytest.raises(type(error)):
        applying(api, [*campaign("new"), *PAUSED], report=stop)
    assert namespace.objects["workloads"]["job-scan"]["spec"].get("active") is not False


def test_a_foreign_job_that_git_wants_paused_is_a_pause_that_does_not_hold(
    namespace: Namespace, api: ApiServer
) -> None:
    live = with_running(namespace)
    namespace.add(foreign(live, "example.org/before-the-rename"))
    outcome = applying(api, PAUSED)
    ((target, detail),) = details(outcome, Fate.PAUSE_FAILED)
    assert target == "scan"
    assert "belongs to repository example.org/before-the-rename" in detail
    assert outcome.exit_code == 1
    assert "active" not in namespace.objects["workloads"]["job-scan"]["spec"]


def test_a_waiting_job_that_kueue_admits_meanwhile_is_paused_and_not_refused(
    namespace: Namespace, api: ApiServer
) -> None:
    live = queued(job())
    namespace.add(applied(pipeline()), live, workload(live))
    namespace.add(stamped_volumes(volumes(), live["metadata"]["uid"]))

    def admit(request: Request) -> None:
        if request.method == "PATCH" and request.path.endswith("/jobs/scan"):
            namespace.refuses = lambda request: None
            namespace.add(running(job()))

    namespace.refuses = admit
    outcome = applying(api, PAUSED)
    assert outcome.exit_code == 0
    assert outcome.count(Fate.PAUSED) == 1
    assert namespace.objects["workloads"]["job-scan"]["spec"]["active"] is False
    assert namespace.job()["metadata"]["annotations"][SUSPEND_ANNOTATION] == "true"


def test_workloads_that_cannot_be_read_again_are_paused_as_they_were_read_before(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)
    reads = iter([None, failure(403, "Forbidden")])
    namespace.refuses = lambda request: next(reads) if request.path.endswith("/workloads") else None
    assert applying(api, PAUSED).count(Fate.PAUSED) == 1


@pytest.mark.parametrize("stops", [True, False])
def test_a_pause_that_kueue_does_not_carry_out_does_not_hold(
    namespace: Namespace, api: ApiServer, stops: bool
) -> None:
    """Its webhook for Jobs may be away while that for Workloads answers."""
    with_running(namespace)
    namespace.stops = stops
    for again in (False, True):
        outcome = applying(api, PAUSED)
        failed = details(outcome, Fate.PAUSE_FAILED)
        assert [target for target, _ in failed] == ([] if stops else ["scan"])
        assert all("Kueue has not suspended the Job" in detail for _, detail in failed)
        assert outcome.exit_code == int(not stops)
        assert outcome.count(Fate.PAUSED) == (not again)
        assert f"{int(stops and not again)} paused" in outcome.summary()


def test_a_workload_that_kueue_makes_anew_is_paused_too(
    namespace: Namespace, api: ApiServer
) -> None:
    """As where it was just starting the Job whose number of pods this apply changes."""
    live = with_running(namespace)
    again = [workload(live), workload(live)]

    def make_anew(request: Request) -> Answer | None:
        paused = ("PATCH", "workloads/job-scan") in namespace.written
        if request.method == "GET" and request.path.endswith("/jobs") and paused and again:
            namespace.add(again.pop())
        return None

    namespace.refuses = make_anew
    assert applying(api, PAUSED, pause_wait=5.0).exit_code == 0
    assert again == []
    assert namespace.objects["workloads"]["job-scan"]["spec"]["active"] is False


def test_a_job_that_ends_while_it_is_paused_is_no_failed_pause(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)
    namespace.stops = False

    def finish(request: Request) -> None:
        if request.method == "PATCH" and "/workloads/" in request.path:
            namespace.job()["status"] = ended(job())["status"]

    namespace.refuses = finish
    assert applying(api, PAUSED).exit_code == 0


def test_the_pods_of_a_job_that_is_being_deleted_end_with_it(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)
    namespace.stops = False
    namespace.job()["metadata"]["deletionTimestamp"] = "2026-01-03T00:00:00Z"
    outcome = applying(api, PAUSED)
    assert outcome.count(Fate.PAUSE_FAILED) == 0
    assert outcome.exit_code == 3


def test_where_it_cannot_be_seen_whether_a_pause_holds_that_is_said(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)

    def unreadable(request: Request) -> Answer | None:
        paused = ("PATCH", "workloads/job-scan") in namespace.written
        if request.method == "GET" and request.path.endswith("/jobs") and paused:
            return failure(403, "Forbidden", "no more")
        return None

    namespace.refuses = unreadable
    ((_, detail),) = details(applying(api, PAUSED), Fate.PAUSE_FAILED)
    assert "whether the pause holds could not be read" in detail
