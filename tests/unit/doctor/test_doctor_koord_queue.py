"""What doctor says of Koord-Queue, and of a cluster without a queue."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from unit.cli.commands import NAMESPACE
from unit.cluster.api_server import Answer, Request, failure, serve
from unit.doctor.doctor_site import QUEUE, REVIEWS, FitCluster
from unit.reconcile.live_objects import Object

from converter.capabilities import CAPABILITIES
from converter.doctor.examine import examine
from converter.doctor.finding import Finding, Status
from converter.doctor.koord_queue import KoordQueueFacts, koord_queue_findings
from converter.doctor.needs import KOORD, KUEUE, NEEDS, Command, needs_of
from converter.doctor.repository import Clone
from converter.git import Order
from converter.koord_queue.definition import SCHEMA
from converter.model import Backend, Settings
from converter.reconcile.queue_chain import Missing, Unknown

LATER = ("active", "maximumExecutionTimeSeconds", "priority")


def schema(*fields: str) -> Object:
    """The OpenAPI document of the group."""
    spec: Object = {"properties": {each: {} for each in fields}}
    kinds = [{"group": "scheduling.x-k8s.io", "version": "v1alpha1", "kind": "QueueUnit"}]
    unit = {"properties": {"spec": spec}, "x-kubernetes-group-version-kind": kinds}
    return {"components": {"schemas": {"io.k8s.x-k8s.scheduling.v1alpha1.QueueUnit": unit}}}


def deployment(*words: str, at: str = "command") -> Object:
    return {"spec": {"template": {"spec": {"containers": [{at: list(words)}]}}}}


GATED = (
    deployment("/usr/bin/koord-queue", "--feature-gates=QueueUnitActive=true"),
    deployment("koord-queue-controllers", "--feature-gates", "A=true,QueueUnitActive=true"),
)
GATED_WORDS = ("--feature-gates=QueueUnitActive=true",)
FIT = KoordQueueFacts(schema(*LATER), GATED, {"kind": "Queue"}, Missing())


def found(facts: KoordQueueFacts) -> dict[str, Finding]:
    return {each.check: each for each in koord_queue_findings(facts, "gpu")}


def test_all_is_there() -> None:
    assert {str(each.status) for each in found(FIT).values()} == {"ok"}
    assert len(found(FIT)) == 5


@pytest.mark.parametrize(
    ("change", "check", "status", "words"),
    [
        ({"schema": Missing()}, "koord-queue-api", Status.FAULT, "serves no QueueUnits"),
        ({"schema": Unknown("no")}, "koord-queue-api", Status.UNKNOWN, "is not known: no"),
        (
            {"schema": schema("priority")},
            "koord-queue-fields",
            Status.FAULT,
            "no spec.active, so nothing can be paused",
        ),
        (
            {"schema": schema("active")},
            "koord-queue-fields",
            Status.WARNING,
            "max_execution_seconds is refused",
        ),
        ({"queue": Missing()}, "koord-queue", Status.FAULT, "no Queue gpu"),
        ({"queue": Unknown("no")}, "koord-queue", Status.UNKNOWN, "is not known: no"),
        ({"kueue": {"kind": "APIGroup"}}, "kueue-beside", Status.WARNING, "both would start"),
        ({"deployments": Unknown("no")}, "koord-queue-gates", Status.UNKNOWN, "not known: no"),
        (
            {"deployments": GATED[:1]},
            "koord-queue-gates",
            Status.UNKNOWN,
            "koord-queue: on, koord-queue-controllers: not found",
        ),
        (
            {"deployments": (GATED[0], deployment("koord-queue-controllers", "-v=4"))},
            "koord-queue-gates",
            Status.UNKNOWN,
            "koord-queue-controllers: not named",
        ),
        (
            {
                "deployments": (
                    GATED[0],
                    deployment("koord-queue-controllers", "--feature-gates=QueueUnitActive=false"),
                )
            },
            "koord-queue-gates",
            Status.UNKNOWN,
            "koord-queue-controllers: not named",
        ),
        (
            {"deployments": (*GATED, deployment("koord-queue"))},
            "koord-queue-gates",
            Status.UNKNOWN,
            "koord-queue: not named, koord-queue-controllers: on",
        ),
        (
            {"deployments": (GATED[1], deployment("proxy", *GATED_WORDS, "koord-queue"))},
            "koord-queue-gates",
            Status.UNKNOWN,
            "koord-queue: not found, koord-queue-controllers: on",
        ),
    ],
)
def test_what_is_missing(change: dict[str, Any], check: str, status: Status, words: str) -> None:
    finding = found(replace(FIT, **change))[check]
    assert finding.status is status
    assert words in finding.found
    assert finding.remedy


def report(backend: Backend, document: Answer) -> dict[str, Finding]:
    """The whole report; what is asked of QueueUnits gets this answer."""
    fit = FitCluster()

    def handle(request: Request) -> Answer:
        return document if request.path == SCHEMA else fit(request)

    settings = Settings(namespace=NAMESPACE, queue=QUEUE, backend=backend)
    clone = Clone(".", settings, name="git.example.com/team/campaigns", commit="c" * 40)
    with serve(handle) as api:
        api.now = datetime.now(UTC)
        findings = examine(api.client, clone, lambda other: Order.SAME, None)
        asked = [each.body for each in api.requests if each.path == REVIEWS]
    groups = {each["spec"]["resourceAttributes"]["group"] for each in asked}
    assert (KOORD in groups) is (backend is Backend.KOORD_QUEUE)
    return {finding.check: finding for finding in findings}


def test_with_koord_queue_nothing_is_said_of_kueues_queue() -> None:
    findings = report(Backend.KOORD_QUEUE, Answer(200, schema(*LATER)))
    assert findings["koord-queue-fields"].status is Status.OK
    assert findings["kueue-beside"].status is Status.WARNING
    assert findings["may-apply"].status is Status.OK
    assert not [check for check in findings if check.startswith("kueue-") and "beside" not in check]
    assert "queued-job" not in findings


def test_without_koord_queue_that_is_the_fault() -> None:
    findings = report(Backend.KOORD_QUEUE, failure(404, "NotFound"))
    assert findings["koord-queue-api"].status is Status.FAULT
    assert "koord-queue-fields" not in findings


def test_without_a_queue_nothing_is_said_of_one() -> None:
    findings = report(Backend.NONE, failure(404, "NotFound"))
    assert not [check for check in findings if "queue" in check]
    assert findings["may-apply"].status is Status.OK


@pytest.mark.parametrize(
    "backend", [each for each in CAPABILITIES if CAPABILITIES[each].kubernetes]
)
def test_each_backend_asks_for_its_own_objects_alone(backend: Backend) -> None:
    groups = {need.group for need in needs_of(backend)}
    assert (KUEUE in groups) is (backend is Backend.KUEUE)
    assert (KOORD in groups) is (backend is Backend.KOORD_QUEUE)
    shared = {need for need in NEEDS if need.resource == "leases"}
    assert shared <= set(needs_of(backend))
    holding = {need.resource for need in needs_of(backend) if Command.HOLD in need.needed_by}
    written = {Backend.KUEUE: "workloads", Backend.KOORD_QUEUE: "queueunits", Backend.NONE: "jobs"}
    assert written[backend] in holding
