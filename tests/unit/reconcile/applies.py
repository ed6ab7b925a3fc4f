"""Whole applies for tests."""

from collections.abc import Callable
from typing import Any

from unit.cluster.api_server import Answer, ApiServer, Object, Request, failure
from unit.reconcile.live_objects import (
    REPOSITORY,
    SETTINGS,
    applied,
    campaign,
    job,
    pipeline,
    running,
    stamped_volumes,
    volumes,
    workload,
)
from unit.reconcile.namespace_store import Namespace

from converter.manifest import Manifest
from converter.queues.kueue import Kueue
from converter.reconcile.apply import Options, apply
from converter.reconcile.outcome import Fate, Outcome, Report
from converter.reconcile.provenance import Provenance

PAUSED = [pipeline(), *campaign(suspended=True)]
ACTIVE = [pipeline(), *campaign()]


def applying(
    api: ApiServer,
    manifests: list[Manifest],
    report: Report = lambda event: None,
    **options: Any,
) -> Outcome:
    outcome = Outcome(report)
    chosen = Options(
        repository=REPOSITORY,
        identity="me",
        provenance=Provenance("c0ffee", "ada", "2026-01-01T00:00:00Z"),
        concurrency=1,
        **{"pause_wait": 0.0, **options},
    )
    apply(api.client(), manifests, SETTINGS, Kueue(), chosen, outcome)
    return outcome


def with_running(namespace: Namespace, name: str = "scan", **of_job: Any) -> Object:
    """A campaign that runs, with its pipeline and its Workload."""
    live = running(job(name, **of_job))
    of = stamped_volumes(volumes(name), live["metadata"]["uid"])
    namespace.add(applied(pipeline()), live, of, workload(live))
    return live


def details(outcome: Outcome, fate: Fate) -> list[tuple[str, str]]:
    return [(event.target, event.detail) for event in outcome.events if event.fate is fate]


def refuse(method: str, place: str, status: int = 403) -> Callable[[Request], Answer | None]:
    def answer(request: Request) -> Answer | None:
        is_it = request.method == method and request.path.endswith(place)
        return failure(status, "Forbidden", "policy") if is_it else None

    return answer
