"""Doctor's try of a hold against servers that do not keep to what they answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from unit.cli.commands import NAMESPACE
from unit.cluster.api_server import Answer, ApiServer, Request, failure, serve

from converter.doctor.finding import Finding, Status
from converter.doctor.hold_probe import (
    LEFT_BEHIND,
    NAME,
    TOKEN_ANNOTATION,
    hold_findings,
    hold_job,
    is_left_behind,
)
from converter.model import Backend, Settings
from converter.names import HOLD_ANNOTATION, KUEUE_QUEUE_LABEL, MANAGED_BY_LABEL

PLAIN = Settings(namespace=NAMESPACE, queue="", backend=Backend.NONE)
QUEUED = Settings(namespace=NAMESPACE, queue="batch")
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
JOB = f"{JOBS}/{NAME}"
WORKLOADS = f"/apis/kueue.x-k8s.io/v1beta2/namespaces/{NAMESPACE}/workloads"
EMPTY = Answer(200, {"metadata": {}, "items": []})
NOW = datetime(2026, 1, 1, tzinfo=UTC)

Change = Callable[[dict[str, Any]], None]


def as_it_is(body: dict[str, Any]) -> None:
    """No webhook and no controller changes it."""


@dataclass
class OneJob:
    """A server with room for one Job. `stored` changes what is kept of an update."""

    stored: Change = as_it_is
    fenced: bool = True
    refused: dict[str, Answer] = field(default_factory=dict)
    job: dict[str, Any] | None = None
    version: int = 0
    updates: int = 0

    def __call__(self, request: Request) -> Answer:
        if request.method in self.refused:
            return self.refused[request.method]
        if request.method == "POST":
            return self._create(request.body)
        if not request.path.endswith(NAME):
            return EMPTY
        if self.job is None:
            return failure(404, "NotFound")
        if request.method == "PUT":
            return self._update(request.body)
        if request.method == "DELETE":
            assert request.body["preconditions"] == {"uid": self.job["metadata"]["uid"]}
            self.job = None
            return Answer(200, {})
        return Answer(200, self.job)

    def _create(self, body: dict[str, Any]) -> Answer:
        if self.job is not None:
            return failure(409, "AlreadyExists", "there is one")
        self.job = body
        self._keep()
        return Answer(201, body)

    def _update(self, body: dict[str, Any]) -> Answer:
        if self.fenced and body["metadata"]["resourceVersion"] != str(self.version):
            return failure(409, "Conflict", "changed")
        self.updates += 1
        self.stored(body)
        self.job = body
        self._keep()
        return Answer(200, body)

    def _keep(self) -> None:
        assert self.job is not None
        self.version += 1
        self.job["metadata"] |= {"uid": "u-1", "resourceVersion": str(self.version)}
        self.job["metadata"].setdefault("creationTimestamp", f"{NOW:%Y-%m-%dT%H:%M:%SZ}")


@contextmanager
def served(cluster: Callable[[Request], Answer]) -> Iterator[ApiServer]:
    with serve(cluster) as api:
        api.now = NOW
        yield api


def tried(
    cluster: Callable[[Request], Answer], settings: Settings = PLAIN, *, other: bool = False
) -> tuple[Finding, ...]:
    with served(cluster) as api:
        client = api.client()
        return hold_findings(client, api.client() if other else client, settings, "")


def test_a_job_is_held_and_released_and_gone() -> None:
    cluster = OneJob()
    (found,) = tried(cluster)
    assert (found.status, found.check) == (Status.OK, "holds")
    assert (cluster.job, cluster.updates) == (None, 2)


def without_annotations(body: dict[str, Any]) -> None:
    body["metadata"]["annotations"].pop(HOLD_ANNOTATION, None)


def not_suspended(body: dict[str, Any]) -> None:
    body["spec"]["suspend"] = False


def always_held(body: dict[str, Any]) -> None:
    body["metadata"]["annotations"][HOLD_ANNOTATION] = "1"


@pytest.mark.parametrize(
    ("cluster", "why"),
    [
        (OneJob(without_annotations), "after it was placed no hold is in force"),
        (OneJob(not_suspended), "hold 1 is in force and the object is not stopped"),
        (OneJob(always_held), "after release 1, hold 1 is in force"),
        (OneJob(fenced=False), "a late call can undo a newer hold"),
    ],
    ids=["annotations", "suspend", "release", "version"],
)
def test_what_does_not_stay_is_a_fault(cluster: OneJob, why: str) -> None:
    (found,) = tried(cluster)
    assert found.status is Status.FAULT
    assert why in found.found
    assert cluster.job is None


FORBIDDEN = failure(403, "Forbidden", "may not")


@pytest.mark.parametrize(
    ("cluster", "other", "status", "words"),
    [
        (OneJob(refused={"POST": FORBIDDEN}), False, Status.UNKNOWN, "--holder-kubeconfig"),
        (OneJob(refused={"PUT": FORBIDDEN}), False, Status.UNKNOWN, "--holder-kubeconfig"),
        (OneJob(refused={"PUT": FORBIDDEN}), True, Status.FAULT, "may not be updated"),
        (
            OneJob(refused={"POST": failure(422, "Invalid", "policy")}),
            True,
            Status.UNKNOWN,
            "policy",
        ),
        (
            OneJob(refused={"PUT": failure(422, "Invalid", "policy")}),
            True,
            Status.FAULT,
            "policy",
        ),
        (OneJob(refused={"PUT": failure(500, "InternalError")}), True, Status.UNKNOWN, "not known"),
        (OneJob(job={"metadata": {}}), False, Status.UNKNOWN, "wait for the other doctor"),
    ],
)
def test_what_cannot_be_tried(cluster: OneJob, other: bool, status: Status, words: str) -> None:
    before = cluster.job
    if before is not None:
        cluster._keep()
    (found,) = tried(cluster, other=other)
    assert found.status is status
    assert words in f"{found.found} -> {found.remedy}"
    assert cluster.job == before


def test_a_job_that_cannot_be_deleted_is_said() -> None:
    cluster = OneJob(refused={"DELETE": FORBIDDEN})
    first, second = tried(cluster)
    assert first.status is Status.OK
    assert second.status is Status.WARNING
    assert f"kubectl --namespace={NAMESPACE} delete job {NAME}" in second.remedy


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize(
    "at",
    ["doctor.hold_probe._tried", "doctor.hold_probe.uid", "holds.probe._expect_refused"],
    ids=["made", "made, its uid not known", "held"],
)
def test_an_interrupt_leaves_nothing(
    monkeypatch: pytest.MonkeyPatch, stop: type[BaseException], at: str
) -> None:
    cluster = OneJob()
    with served(cluster) as api:
        client = api.client()

        def interrupted(*_: object, **__: object) -> object:
            monkeypatch.undo()
            raise stop

        monkeypatch.setattr(f"converter.{at}", interrupted)
        with pytest.raises(stop):
            hold_findings(client, client, PLAIN, "")
    assert cluster.version > 0
    assert cluster.job is None


def test_one_that_was_left_behind_is_replaced() -> None:
    old = NOW - LEFT_BEHIND - timedelta(seconds=1)
    metadata = {
        "name": NAME,
        "annotations": {TOKEN_ANNOTATION: "other"},
        "creationTimestamp": f"{old:%Y-%m-%dT%H:%M:%SZ}",
    }
    cluster = OneJob(job={"metadata": metadata, "spec": {}})
    cluster._keep()
    (found,) = tried(cluster)
    assert found.status is Status.OK
    assert cluster.job is None


@pytest.mark.parametrize(
    ("annotations", "age", "left"),
    [
        ({TOKEN_ANNOTATION: "x"}, LEFT_BEHIND + timedelta(seconds=1), True),
        ({TOKEN_ANNOTATION: "x"}, LEFT_BEHIND, False),
        ({}, LEFT_BEHIND * 2, False),
    ],
)
def test_what_was_left_behind(annotations: dict[str, str], age: timedelta, left: bool) -> None:
    made = f"{NOW - age:%Y-%m-%dT%H:%M:%SZ}"
    job = {"metadata": {"annotations": annotations, "creationTimestamp": made}}
    assert is_left_behind(job, NOW) is left


def test_kueue_that_makes_no_workload_is_a_fault() -> None:
    waits: list[float] = []
    cluster = OneJob()
    with served(cluster) as api:
        client = api.client()

        def sleep(seconds: float) -> None:
            waits.append(seconds)
            monkeypatch.setattr("converter.doctor.hold_probe.WORKLOAD_SECONDS", 0.0)

        with pytest.MonkeyPatch.context() as monkeypatch:
            monkeypatch.setattr("converter.doctor.hold_probe.WORKLOAD_SECONDS", 0.05)
            (found,) = hold_findings(client, client, QUEUED, "", sleep)
    assert found.status is Status.FAULT
    assert "Kueue made no Workload" in found.found
    assert waits
    assert cluster.job is None


def test_the_job_runs_nothing() -> None:
    queued, plain = hold_job(QUEUED, "", "t"), hold_job(PLAIN, "", "t")
    for job in (queued, plain):
        assert (job["spec"]["parallelism"], job["spec"]["suspend"]) == (0, True)
        # No apply takes it for one of its own.
        assert MANAGED_BY_LABEL not in job["metadata"].get("labels", {})
    assert queued["metadata"]["labels"] == {KUEUE_QUEUE_LABEL: "batch"}
    assert "labels" not in plain["metadata"]
