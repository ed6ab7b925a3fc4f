"""New campaigns that this cluster's QueueUnits, or its PriorityClasses, have no place for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from unit.cluster.api_server import Answer, ApiServer, Request, failure, serve
from unit.reconcile.koord_store import JOB_PATH, SCHEMA_PATH, UNITS_PATH, KoordStore, koord_job
from unit.reconcile.live_objects import NAMESPACE, REPOSITORY, SETTINGS, campaign

from converter.errors import ApiError
from converter.koord_queue.unit import NO_ACTIVE
from converter.manifest import Manifest
from converter.model import Backend
from converter.names import KOORD_ACTIVE_ANNOTATION, KOORD_MAX_EXECUTION_ANNOTATION
from converter.queues import queue_for
from converter.reconcile.live import Live, read_live
from converter.reconcile.outcome import Fate
from converter.reconcile.rehearsal import Intent, intend
from converter.reconcile.undeclared import NOT_INSTALLED, undeclared

CLASS_PATH = "/apis/scheduling.k8s.io/v1/priorityclasses/urgent"


def asking(**annotations: str) -> list[Manifest]:
    """A new campaign with annotations of Koord-Queue's."""
    keys = {"active": KOORD_ACTIVE_ANNOTATION, "seconds": KOORD_MAX_EXECUTION_ANNOTATION}
    manifests = campaign(suspended="active" in annotations)
    for each in manifests:
        if each.kind == "Job":
            each.body["metadata"]["annotations"] |= {
                keys[key]: value for key, value in annotations.items()
            }
    return manifests


def served(
    answer: Callable[[Request], Answer | None], manifests: list[Manifest], live: Live
) -> tuple[dict[str, str], str]:
    store = KoordStore(before=answer)
    with serve(store) as api:
        return undeclared(api.client(), manifests, live)


@pytest.fixture
def live() -> Live:
    return Live(backend=Backend.KOORD_QUEUE)


def schema_is(answer: Answer) -> Callable[[Request], Answer | None]:
    return lambda request: answer if request.path == SCHEMA_PATH else None


@pytest.mark.parametrize(
    ("annotations", "declares", "words"),
    [
        ({}, False, ""),
        ({"active": "false"}, True, ""),
        ({"active": "false"}, False, NO_ACTIVE),
        ({"seconds": "60"}, False, "no spec.maximumExecutionTimeSeconds"),
    ],
)
def test_a_field_that_is_not_declared(
    annotations: dict[str, str], declares: bool, words: str, live: Live
) -> None:
    store = KoordStore(declares=declares)
    with serve(store) as api:
        found, unread = undeclared(api.client(), asking(**annotations), live)
    assert unread == ""
    assert words in found.get("scan", "")
    assert bool(found) is bool(words)


@pytest.mark.parametrize(
    "answer",
    [failure(403, "Forbidden", "no"), failure(503, "ServiceUnavailable"), Answer(200, b"<html>")],
    ids=["forbidden", "unavailable", "no API server"],
)
def test_what_may_run_though_it_is_paused_stays_back_where_the_cluster_does_not_say(
    answer: Answer, live: Live
) -> None:
    """The new campaign that runs goes out, and with a word."""
    found, unread = served(schema_is(answer), asking(active="false"), live)
    assert "could not be read" in unread
    assert found["scan"].startswith("it is new and paused, and which fields QueueUnits have could")
    found, unread = served(schema_is(answer), asking(), live)
    assert found == {}
    assert unread


def test_the_cluster_is_not_asked_about_campaigns_that_are_there() -> None:
    live = Live(jobs={"scan": koord_job()}, backend=Backend.KOORD_QUEUE)
    asked: list[str] = []

    def note(request: Request) -> None:
        asked.append(request.path)

    served(note, asking(active="false"), live)
    assert asked == []


def test_without_koord_queue_nothing_is_created_for_it() -> None:
    """The LIST of its QueueUnits says so first, and is no fault."""

    def absent(request: Request) -> Answer | None:
        gone = request.path in (SCHEMA_PATH, UNITS_PATH)
        return failure(404, "NotFound", "the server could not find it") if gone else None

    def of(request: Request) -> Answer | None:
        if request.path.endswith(("/configmaps", "/jobs")):
            return Answer(200, {"metadata": {}, "items": []})
        return absent(request)

    with serve(KoordStore(before=of)) as api:
        live = read_live(api.client(), NAMESPACE, Backend.KOORD_QUEUE)
        assert live.workloads == {}
        assert undeclared(api.client(), asking(), live) == ({"scan": NOT_INSTALLED}, "")


def test_without_kueue_the_list_of_workloads_is_a_fault() -> None:
    def of(request: Request) -> Answer | None:
        if request.path.endswith(("/configmaps", "/jobs")):
            return Answer(200, {"metadata": {}, "items": []})
        return failure(404, "NotFound", "the server could not find it")

    with serve(KoordStore(before=of)) as api, pytest.raises(ApiError):
        read_live(api.client(), NAMESPACE, Backend.KUEUE)


# PriorityClasses, of the backends that Kueue's are nothing to.


def of_a_class() -> list[Manifest]:
    manifests = campaign()
    for each in manifests:
        if each.kind == "Job":
            each.body["spec"]["template"]["spec"]["priorityClassName"] = "urgent"
    return manifests


def intended(api: ApiServer, backend: Backend, live: Live) -> Intent:
    settings = replace(SETTINGS, backend=backend, flavors=())
    return intend(
        api.client(),
        of_a_class(),
        settings,
        queue_for(backend),
        live,
        repository=REPOSITORY,
        concurrency=1,
    )


@pytest.mark.parametrize("backend", [Backend.KOORD_QUEUE, Backend.NONE])
@pytest.mark.parametrize(
    ("answer", "held", "note"),
    [
        (Answer(200, {"kind": "PriorityClass"}), "", ""),
        (failure(404, "NotFound"), "there is no PriorityClass urgent in the cluster", ""),
        (failure(403, "Forbidden"), "", "not permitted to read PriorityClass urgent"),
    ],
    ids=["there", "missing", "may not be read"],
)
def test_the_class_of_the_pods(backend: Backend, answer: Answer, held: str, note: str) -> None:
    """The API server takes no pod of a class that is not there, and the Job alone says so."""
    store = KoordStore(before=lambda request: answer if request.path == CLASS_PATH else None)
    with serve(store) as api:
        intent = intended(api, backend, Live(backend=backend))
    reasons = [each.reason for each in intent.plan.held_back]
    assert [each.partition(",")[0] for each in reasons] == ([held] if held else [])
    notes = [event for event in intent.unchecked if event.fate is Fate.NOTE]
    assert [note in event.detail for event in notes] == ([True] if note else [])


def test_the_class_of_what_runs_is_not_asked_for() -> None:
    running = koord_job(suspend=False)
    asked: list[str] = []

    def of(request: Request) -> None:
        asked.append(request.path)

    with serve(KoordStore(before=of)) as api:
        intended(api, Backend.NONE, Live(jobs={"scan": running}, backend=Backend.NONE))
    assert CLASS_PATH not in asked
    assert JOB_PATH not in asked
