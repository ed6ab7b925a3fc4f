"""Whole applies under faults: killed between any two writes, refused, raced (apply.md, Order)."""

from collections.abc import Callable
from contextlib import suppress

import pytest
from unit.cluster.api_server import ApiServer, Object, Request, serve
from unit.cluster.lease_store import LeaseStore
from unit.reconcile.applies import ACTIVE, PAUSED, applying, details, refuse, with_running
from unit.reconcile.live_objects import (
    applied,
    campaign,
    ended,
    foreign,
    job,
    managed,
    pipeline,
    stamped_volumes,
    volumes,
    warmup,
    workload,
)
from unit.reconcile.namespace_store import Namespace

from converter.errors import ClusterUnavailable, LeaseHeld, Refused
from converter.manifest import Manifest
from converter.names import KUEUE_QUEUE_LABEL
from converter.reconcile.outcome import Fate

# Where an apply starts from, and what it is given: (made before, manifests, prune).
Start = Callable[[Namespace, ApiServer], None]


def from_nothing(namespace: Namespace, api: ApiServer) -> None:
    del namespace, api


def from_new_and_paused(namespace: Namespace, api: ApiServer) -> None:
    del namespace
    applying(api, PAUSED)


def from_running(namespace: Namespace, api: ApiServer) -> None:
    del api
    with_running(namespace)


def from_paused_while_waiting(namespace: Namespace, api: ApiServer) -> None:
    applying(api, ACTIVE)
    namespace.add(workload(namespace.job()))
    applying(api, PAUSED)


def from_finished(namespace: Namespace, api: ApiServer) -> None:
    del api
    live = ended(job())
    namespace.add(applied(pipeline()), live, stamped_volumes(volumes(), "uid-scan"))


WAYS = [
    (from_nothing, ACTIVE),
    (from_nothing, PAUSED),
    (from_new_and_paused, ACTIVE),
    (from_paused_while_waiting, ACTIVE),
    (from_running, PAUSED),
    (from_running, [pipeline(), *campaign("other")]),
    (from_finished, ACTIVE),
    (from_finished, [pipeline(), *campaign("other")]),
]


@pytest.mark.parametrize(("start", "manifests"), WAYS)
def test_killed_after_any_write_the_next_apply_finishes(
    start: Start, manifests: list[Manifest]
) -> None:
    finished = _interrupted(start, manifests, None)
    for writes in range(1, len(finished.written) + 1):
        again = _interrupted(start, manifests, writes)
        assert _essence(again) == _essence(finished), f"killed after {writes} writes"
        assert again.started_unadmitted == []


def _interrupted(start: Start, manifests: list[Manifest], writes: int | None) -> Namespace:
    namespace = Namespace()
    with serve(namespace) as api:
        start(namespace, api)
        namespace.written.clear()
        if writes is not None:
            namespace.writes_left = writes
            with suppress(ClusterUnavailable):
                applying(api, manifests, prune=True)
            namespace.writes_left = None
            # Five minutes later.
            namespace.leases = LeaseStore()
        outcome = applying(api, manifests, prune=True)
        assert outcome.exit_code == 0
        before = list(namespace.written)
        assert applying(api, manifests, prune=True).exit_code == 0
        assert namespace.written == before, "an apply of the same again writes nothing"
    return namespace


def _essence(namespace: Namespace) -> object:
    """All that is stored, but not who owns it."""
    return {
        (plural, name): {
            key: value
            for key, value in {**body, **body["metadata"]}.items()
            if key not in ("metadata", "managedFields")
        }
        for plural, objects in namespace.objects.items()
        for name, body in objects.items()
    }


def test_a_new_paused_campaign_cannot_start(namespace: Namespace, api: ApiServer) -> None:
    assert applying(api, PAUSED).exit_code == 0
    assert namespace.job()["spec"]["suspend"] is True
    assert KUEUE_QUEUE_LABEL not in namespace.job()["metadata"]["labels"]


def test_a_new_paused_campaign_that_kueue_would_queue_is_held_back(
    namespace: Namespace, api: ApiServer
) -> None:
    namespace.default_queue = "default"
    outcome = applying(api, [pipeline(), *campaign(suspended=True), *campaign("other")])
    ((target, detail),) = details(outcome, Fate.HELD_BACK)
    assert target == "campaign scan"
    assert "LocalQueue default" in detail
    assert outcome.exit_code == 3
    assert list(namespace.objects["jobs"]) == ["other"]
    assert "campaign-scan" not in namespace.objects["configmaps"]


def test_a_second_apply_changes_nothing(namespace: Namespace, api: ApiServer) -> None:
    namespace.leases.take_over("other", api.now or pytest.fail("no clock"))
    with pytest.raises(LeaseHeld, match="other"):
        applying(api, ACTIVE)
    assert namespace.written == []


def test_a_refused_job_leaves_its_configmap_alone_and_all_else_goes_on(
    namespace: Namespace, api: ApiServer
) -> None:
    namespace.refuses = refuse("PATCH", "/jobs/scan")
    outcome = applying(api, [*ACTIVE, *campaign("other")])
    assert details(outcome, Fate.REFUSED) == [("Job/scan", "Forbidden: policy")]
    assert outcome.exit_code == 3
    assert set(namespace.objects["configmaps"]) == {"pipeline-ocr", "campaign-other"}


def test_a_refused_warmup_leaves_the_recipe_unchanged_too(
    namespace: Namespace, api: ApiServer
) -> None:
    namespace.add(applied(pipeline()))
    namespace.refuses = refuse("PATCH", "/jobs/warmup-ocr")
    outcome = applying(api, [pipeline(recipe="recipe-2"), warmup(recipe="recipe-2")])
    assert [target for target, _ in details(outcome, Fate.REFUSED)] == ["Job/warmup-ocr"]
    stored = namespace.objects["configmaps"]["pipeline-ocr"]
    assert stored["data"]["pipeline.yaml"] == "recipe-1"


def test_a_job_deleted_between_list_and_apply_is_not_made_again(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)

    def delete(request: Request) -> None:
        if request.method == "PATCH" and request.path.endswith("/jobs/scan"):
            namespace.objects["jobs"].pop("scan", None)

    namespace.refuses = delete
    outcome = applying(api, PAUSED)
    assert [target for target, _ in details(outcome, Fate.REFUSED)] == ["Job/scan"]
    namespace.refuses = lambda request: None
    outcome = applying(api, ACTIVE)
    assert "may have finished" in details(outcome, Fate.HELD_BACK)[0][1]
    assert namespace.objects["jobs"] == {}


def test_a_job_that_finished_between_list_and_apply_is_recorded_by_the_next(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)

    def finish(request: Request) -> None:
        if request.method == "PATCH" and request.path.endswith("/jobs/scan"):
            namespace.job()["status"] = ended(job())["status"]

    namespace.refuses = finish
    assert applying(api, PAUSED).exit_code == 0
    namespace.refuses = lambda request: None
    outcome = applying(api, ACTIVE)
    assert details(outcome, Fate.FINISHED) == [("campaign scan", "")]
    del namespace.objects["jobs"]["scan"]
    assert applying(api, ACTIVE).count(Fate.FINISHED) == 1
    assert namespace.objects["jobs"] == {}


def test_a_record_that_is_refused_does_not_stop_the_others(
    namespace: Namespace, api: ApiServer
) -> None:
    from_finished(namespace, api)
    namespace.refuses = refuse("PATCH", "/campaign-scan-status")
    outcome = applying(api, [*ACTIVE, *campaign("other")])
    assert [target for target, _ in details(outcome, Fate.REFUSED)] == [
        "ConfigMap/campaign-scan-status"
    ]
    assert "other" in namespace.objects["jobs"]
    del namespace.objects["jobs"]["scan"]
    assert "may have finished" in details(applying(api, ACTIVE), Fate.HELD_BACK)[0][1]


def owned_by(manager: str, namespace: Namespace, name: str, value: str) -> None:
    configmap = namespace.objects["configmaps"][name]
    configmap["data"]["pipeline.yaml"] = value
    ours = configmap["metadata"]["managedFields"][0]["fieldsV1"]["f:data"]
    del ours["f:pipeline.yaml"]
    fields: Object = {"f:data": {"f:pipeline.yaml": {}}}
    namespace.add(managed(configmap, manager, "Update", fields))


@pytest.mark.parametrize(
    ("manager", "value", "refused"),
    [("kubectl-edit", "recipe-1", 0), ("kueue", "edited", 1), ("kueue-x", "edited", 1)],
)
def test_git_overrules_hand_edits_and_no_controller(
    namespace: Namespace, api: ApiServer, manager: str, value: str, refused: int
) -> None:
    namespace.add(applied(pipeline()))
    owned_by(manager, namespace, "pipeline-ocr", "edited")
    outcome = applying(api, [pipeline()])
    stored = namespace.objects["configmaps"]["pipeline-ocr"]
    assert stored["data"]["pipeline.yaml"] == value
    assert outcome.count(Fate.REFUSED) == refused


def test_a_warmup_that_does_not_go_away_is_not_called_replaced(
    namespace: Namespace, api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("converter.reconcile.execute.REPLACE_WAIT_SECONDS", 0.0)
    namespace.add(applied(pipeline()), applied(warmup(recipe="recipe-0")))
    outcome = applying(api, [pipeline(), warmup()])
    assert details(outcome, Fate.REFUSED)[0][0] == "Job/warmup-ocr"


def created_meanwhile(namespace: Namespace, name: str) -> None:
    """Somebody creates an object between the read of the live state and the send."""

    def create(request: Request) -> None:
        if request.method == "PATCH" and name not in namespace.objects["configmaps"]:
            body = foreign(applied({**pipeline().body, "data": {"pipeline.yaml": "theirs"}}))
            namespace.add({**body, "metadata": {**body["metadata"], "name": name}})

    namespace.refuses = create


@pytest.mark.parametrize("name", ["pipeline-ocr", "campaign-scan"])
def test_an_object_that_somebody_created_meanwhile_is_not_taken_over(
    namespace: Namespace, api: ApiServer, name: str
) -> None:
    created_meanwhile(namespace, name)
    outcome = applying(api, ACTIVE)
    refused = dict(details(outcome, Fate.REFUSED))
    assert "AlreadyExists: somebody has created it" in refused[f"ConfigMap/{name}"]
    assert namespace.objects["configmaps"][name]["data"] == {"pipeline.yaml": "theirs"}
    assert "scan" not in namespace.objects["jobs"]


def test_all_or_nothing_sends_nothing_when_a_campaign_is_held_back(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)
    manifests = [*PAUSED, *campaign("other", window=1), *campaign("new")]
    namespace.add(foreign(applied(job("other"))))
    with pytest.raises(Refused, match=r"\(campaign other\); not paused: scan: correct that"):
        applying(api, manifests, all_or_nothing=True)
    assert namespace.written == []
    namespace.objects["jobs"].pop("other")
    assert applying(api, manifests, all_or_nothing=True).exit_code == 0
    assert "new" in namespace.objects["jobs"]


def test_all_or_nothing_records_nothing_either(namespace: Namespace, api: ApiServer) -> None:
    namespace.add(applied(pipeline()), ended(job()), stamped_volumes(volumes(), "uid-scan"))
    namespace.refuses = refuse("PATCH", "/jobs/other")
    manifests = [*ACTIVE, *campaign("other")]
    with pytest.raises(Refused):
        applying(api, manifests, all_or_nothing=True)
    assert namespace.written == []
    namespace.refuses = lambda request: None
    applying(api, manifests, all_or_nothing=True)
    assert "campaign-scan-status" in namespace.objects["configmaps"]


def test_all_or_nothing_sends_nothing_when_a_dry_run_is_refused(
    namespace: Namespace, api: ApiServer
) -> None:
    namespace.refuses = refuse("PATCH", "/jobs/scan")
    with pytest.raises(Refused, match=r"\(Job/scan\): correct that"):
        applying(api, [*ACTIVE, *campaign("other")], all_or_nothing=True)
    assert namespace.written == []
