"""What is asked of the cluster for a page that is read again and again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from unit.cluster.api_server import ApiServer, serve
from unit.explain.scene import manifests, repository
from unit.reconcile.live_objects import running, workload
from unit.reconcile.namespace_store import Namespace
from unit.reconcile.queue_objects import PLENTY, cluster_queue, flavor, group

from converter.model import Repo, SourceKind, Volume
from converter.report import reading
from converter.report.model import Model
from converter.report.reading import Reading


@pytest.fixture
def namespace() -> Namespace:
    made = Namespace()
    made.queues |= {
        "clusterqueues/gpu-cq": cluster_queue(group({"a100": PLENTY})),
        "resourceflavors/a100": flavor("a100", {"gpu": "a100"}),
    }
    return made


@pytest.fixture
def api(namespace: Namespace) -> Iterator[ApiServer]:
    with serve(namespace) as served:
        yield served


def in_two_parts() -> Repo:
    volumes = tuple(Volume(f"v{n}", SourceKind.SOURCE, "x" * 500_000) for n in range(2))
    repo = repository()
    letters = replace(repo.campaigns["letters"], volumes=volumes, window=1)
    return replace(repo, campaigns={"letters": letters})


def codes(model: Model) -> list[str]:
    return [cause.code for card in model.cards for cause in card.causes]


@pytest.mark.parametrize("parts_there", [0, 1])
def test_what_an_apply_would_be_told_is_tried_out_now_and_then_only(
    api: ApiServer, namespace: Namespace, monkeypatch: pytest.MonkeyPatch, parts_there: int
) -> None:
    """Of a campaign that is missing, and of one of which a part is."""
    repo = in_two_parts()
    for manifest in manifests(repo)[:parts_there]:
        job = {**running(manifest), "status": {"active": 1, "ready": 1}}
        namespace.add(job, workload(job, QuotaReserved="x", Admitted="x"))
    follows = Reading(api.client(), lambda: (repo, ""))
    first = codes(follows.read())
    assert first[0] == "not-applied"
    assert [each for each in api.requests if each.method == "PATCH"]
    api.requests.clear()
    assert codes(follows.read()) == first
    assert {each.method for each in api.requests} == {"GET"}
    lists = [each for each in api.requests if each.path.endswith("/configmaps")]
    assert [each.query["labelSelector"] for each in lists] == ["gitops-campaigns.io/role=status"]
    monkeypatch.setattr(reading, "REFUSALS_SECONDS", 0.0)
    follows.read()
    assert [each for each in api.requests if each.method == "PATCH"]
