"""What is asked of the API server, and what becomes of answers that a real one rarely gives."""

import copy
from collections.abc import Callable

import pytest
from unit.cluster.api_server import Answer, ApiServer, Object, Request, failure
from unit.reconcile.applies import with_running
from unit.reconcile.conftest import api, namespace
from unit.reconcile.live_objects import SETTINGS, applied, campaign, job, pipeline
from unit.reconcile.namespace_store import Namespace
from unit.reconcile.plans import live_campaign

from converter.cluster.resources import JOBS
from converter.diff.change import Action, Comparison
from converter.diff.compare import DryRunClient, compare
from converter.errors import Refused
from converter.manifest import Manifest
from converter.names import FIELD_MANAGER
from converter.reconcile.live import read_live

__all__ = ["api", "namespace"]


def client(of: ApiServer) -> DryRunClient:
    return DryRunClient(of.client()._configuration, request_timeout=5.0)


def compared(of: ApiServer, manifests: list[Manifest], *, prune: bool = False) -> Comparison:
    asking = client(of)
    live = read_live(asking, SETTINGS.namespace, SETTINGS.backend)
    return compare(asking, manifests, SETTINGS, live, prune=prune, concurrency=1)


def changes(found: Comparison) -> list[tuple[Action, str]]:
    return [(change.action, change.target) for change in found.changes]


def test_a_write_is_a_dry_run_whatever_was_asked_for(api: ApiServer, namespace: Namespace) -> None:
    asking = client(api)
    body = job().body
    asking.apply(JOBS, SETTINGS.namespace, body, manager=FIELD_MANAGER, dry_run=False)
    assert [request.query["dryRun"] for request in api.requests] == ["All"]
    assert namespace.written == []
    assert list(asking.answers) == ["Job/scan"]


def edited(namespace: Namespace) -> list[Manifest]:
    """A campaign that runs and whose Job differs from git's by a label."""
    with_running(namespace)
    manifests = [pipeline(), *campaign()]
    manifests[2].body["metadata"]["labels"]["team"] = "maps"
    return manifests


def test_what_has_changed_since_the_list_is_read_again(
    api: ApiServer, namespace: Namespace
) -> None:
    manifests = edited(namespace)
    live = namespace.job()
    live["metadata"]["resourceVersion"] = "1"

    def change(request: Request) -> Answer | None:
        if request.method == "PATCH":
            live["metadata"]["resourceVersion"] = "2"
            live["spec"]["backoffLimit"] = 3
        return None

    namespace.refuses = change
    [found] = compared(api, manifests).changes
    shown = [line for line in found.diff[2:] if line.startswith(("+", "-"))]
    assert shown == ["+    team: maps"]
    assert [path.rpartition("/")[2] for method, path in api.asked() if method == "GET"][3:] == [
        "scan"
    ]


def test_an_unchanged_resource_version_is_not_read_again(
    api: ApiServer, namespace: Namespace
) -> None:
    manifests = edited(namespace)
    assert changes(compared(api, manifests)) == [(Action.CHANGE, "Job/scan")]
    assert len([method for method, _ in api.asked() if method == "GET"]) == 3


def refusing(status: int, reason: str, words: str) -> Callable[[Request], Answer | None]:
    def answer(request: Request) -> Answer | None:
        return failure(status, reason, words) if request.method == "PATCH" else None

    return answer


@pytest.mark.parametrize(
    ("status", "words", "said"),
    [
        (401, "Unauthorized", "has the token expired?"),
        (403, 'User "ada" cannot patch resource "jobs" in API group "batch"', "verbs create and"),
        (403, 'User "ada" cannot create resource "jobs" in API group "batch"', "verbs create and"),
    ],
)
def test_without_permission_nothing_is_compared(
    api: ApiServer, namespace: Namespace, status: int, words: str, said: str
) -> None:
    namespace.refuses = refusing(status, "Forbidden", words)
    with pytest.raises(Refused, match=said):
        compared(api, [pipeline(), *campaign()])


def test_a_campaign_of_a_pipeline_that_is_refused_is_held_back(
    api: ApiServer, namespace: Namespace
) -> None:
    def refuse(request: Request) -> Answer | None:
        is_it = request.path.endswith("pipeline-ocr")
        return failure(422, "Invalid", "too long") if is_it else None

    namespace.refuses = refuse
    assert changes(compared(api, [pipeline(), *campaign()])) == [
        (Action.REFUSED, "ConfigMap/pipeline-ocr"),
        (Action.HELD_BACK, "campaign scan"),
    ]


def several(number: int) -> list[Object]:
    names = [f"c{n}" for n in range(number)]
    return [copy.deepcopy(each) for name in names for each in live_campaign(applied(job(name)))]


def test_a_prune_that_apply_would_refuse_is_refused_first(
    api: ApiServer, namespace: Namespace
) -> None:
    namespace.add(*several(6))
    found = compared(api, [pipeline(), *campaign()], prune=True)
    assert changes(found)[0] == (Action.REFUSED, "prune")
    assert "--prune-limit 6" in found.changes[0].detail
    assert found.counts[Action.PRUNE] == 6
    found = compared(api, [pipeline()], prune=True)
    assert "--allow-empty" in found.changes[0].detail
    assert compared(api, [pipeline(), *campaign()]).counts[Action.REFUSED] == 0
