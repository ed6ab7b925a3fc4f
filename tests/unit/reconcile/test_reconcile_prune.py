"""What a whole apply deletes, and what it refuses to (apply.md, Prune)."""

import pytest
from unit.cluster.api_server import ApiServer
from unit.reconcile.applies import ACTIVE, applying, details, refuse, with_running
from unit.reconcile.live_objects import (
    campaign,
    ended,
    job,
    pipeline,
    stamped_volumes,
    volumes,
)
from unit.reconcile.namespace_store import Namespace

from converter.errors import Refused
from converter.reconcile.outcome import Fate


def test_prune_deletes_jobs_before_configmaps(namespace: Namespace, api: ApiServer) -> None:
    with_running(namespace)
    applying(api, [*campaign("other")], prune=True)
    deleted = [place for method, place in namespace.written if method == "DELETE"]
    assert deleted[0] == "jobs/scan"
    assert set(deleted[1:]) == {"configmaps/campaign-scan", "configmaps/pipeline-ocr"}


def test_while_a_job_cannot_be_deleted_no_configmap_is(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)
    namespace.refuses = refuse("DELETE", "/jobs/scan")
    outcome = applying(api, [*campaign("other")], prune=True)
    assert [target for target, _ in details(outcome, Fate.PRUNE_FAILED)] == ["Job/scan"]
    assert "campaign-scan" in namespace.objects["configmaps"]
    assert outcome.exit_code != 0


def test_without_prune_a_cancelled_campaign_is_named_and_kept(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)
    outcome = applying(api, [pipeline(), *campaign("other")])
    ((target, detail),) = details(outcome, Fate.NOTE)
    assert target == "campaign scan"
    assert "--prune" in detail
    assert "scan" in namespace.objects["jobs"]


def test_prune_of_an_empty_repository_is_refused_before_anything_is_asked(
    namespace: Namespace, api: ApiServer
) -> None:
    with_running(namespace)
    with pytest.raises(Refused, match="--allow-empty"):
        applying(api, [], prune=True)
    assert api.requests == []
    assert applying(api, [], prune=True, allow_empty=True).count(Fate.PRUNED) == 3


def test_prune_over_the_limit_sends_nothing(namespace: Namespace, api: ApiServer) -> None:
    for number in range(6):
        with_running(namespace, f"scan-{number}")
    with pytest.raises(Refused, match="--prune-limit 6"):
        applying(api, ACTIVE, prune=True)
    assert namespace.written == []
    assert applying(api, ACTIVE, prune=True, prune_limit=6).count(Fate.PRUNED) == 12


def test_finished_campaigns_count_among_those_of_which_half_may_be_pruned(
    namespace: Namespace, api: ApiServer
) -> None:
    names = [f"scan-{number}" for number in range(14)]
    for name in names:
        namespace.add(ended(job(name)), stamped_volumes(volumes(name), f"uid-{name}"))
    applying(api, [pipeline(), *(each for name in names for each in campaign(name))])
    namespace.objects["jobs"].clear()
    kept = [pipeline(), *(each for name in names[:7] for each in campaign(name))]
    assert "7 pruned" in applying(api, kept, prune=True).summary()


def test_records_of_finished_campaigns_are_not_pruned_by_the_dozen(
    namespace: Namespace, api: ApiServer
) -> None:
    """Their Jobs are reaped. Without its record each would run again from the next checkout."""
    names = [f"scan-{number}" for number in range(49)]
    for name in names:
        namespace.add(ended(job(name)), stamped_volumes(volumes(name), f"uid-{name}"))
    everything = [pipeline(), *(each for name in names for each in campaign(name))]
    applying(api, everything)
    namespace.objects["jobs"].clear()
    namespace.written.clear()
    with pytest.raises(Refused, match=r"49 campaigns .* nothing was changed: .*--prune-limit 49"):
        applying(api, ACTIVE, prune=True)
    assert namespace.written == []
    assert applying(api, everything).exit_code == 0
    assert namespace.objects["jobs"] == {}
    pruned = applying(api, ACTIVE, prune=True, prune_limit=49)
    assert "49 pruned" in pruned.summary()
