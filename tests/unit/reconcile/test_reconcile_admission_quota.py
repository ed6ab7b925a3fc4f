"""On which flavors a campaign may land, and whether they can ever hold it (apply.md 5)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
from unit.reconcile.live_objects import SETTINGS, Object, job
from unit.reconcile.queue_objects import PLENTY, chain, cluster_queue, flavor, group

from converter.manifest import Manifest
from converter.model import Flavor, Size
from converter.names import KUEUE_MIN_PARALLELISM_ANNOTATION
from converter.reconcile.admission import (
    Waiting,
    flavor_objection,
    objections,
    quota_objection,
)
from converter.reconcile.landing import pod_requests
from converter.reconcile.queue_chain import QueueChain, Unknown

GPU = "nvidia.com/gpu"
ROOM = {"cpu": "1", "memory": "1Gi", GPU: "2"}


def asking(
    requests: Mapping[str, str] | None = None,
    *,
    window: int = 4,
    least: int = 0,
    volumes: int = 9,
    selector: Mapping[str, str] | None = None,
    tolerations: tuple[Object, ...] = (),
    size: str = "s",
) -> Manifest:
    """A campaign's Job whose pods ask for this."""
    made = job(window=window, volumes=volumes)
    pod = made.body["spec"]["template"]["spec"]
    pod["containers"][0]["resources"] = {"requests": requests or {"cpu": "250m"}}
    pod["nodeSelector"] = dict(selector or {})
    pod["tolerations"] = list(tolerations)
    if least:
        made.body["metadata"]["annotations"][KUEUE_MIN_PARALLELISM_ANNOTATION] = str(least)
    return replace(made, size=size)


def objection(of: Manifest, *groups: Object, flavors: Any = (), **queue: Any) -> str:
    known = flavors or [flavor(each["name"]) for one in groups for each in one["flavors"]]
    found = quota_objection(Waiting(of), chain(cluster_queue(*groups, **queue), known))
    return str(found or "")


def room(**quota: Any) -> Object:
    """A group with one flavor; a name's ``gpu`` stands for the resource."""
    named = {GPU if key == "gpu" else key: value for key, value in quota.items()}
    return group({"any": {**ROOM, **named}})


@pytest.mark.parametrize(
    ("requests", "fitting", "lacks"),
    [
        (
            {"cpu": "250m"},
            4,
            "5 x 250m cpu, and the quota of flavor any in ClusterQueue gpu-cq is 1",
        ),
        ({"cpu": "0.3"}, 3, "4 x 300m cpu"),
        ({"memory": "300Mi"}, 3, "4 x 300Mi memory"),
        ({"memory": "1G"}, 1, "2 x 1G memory"),
        ({GPU: "1"}, 2, "3 x 1 nvidia.com/gpu"),
        ({"cpu": "100m", "memory": "128Mi", GPU: "1"}, 2, "3 x 1 nvidia.com/gpu"),
        # Kueue counts thousandths of a cpu, rounded up.
        ({"cpu": "0.3331"}, 2, "3 x 334m cpu"),
    ],
)
def test_the_largest_window_that_fits_is_told(
    requests: Mapping[str, str], fitting: int, lacks: str
) -> None:
    assert objection(asking(requests, window=fitting), room()) == ""
    reason = objection(asking(requests, window=fitting + 1), room())
    assert reason.startswith("its pods at once need ")
    assert lacks in reason
    assert reason.endswith(
        f"so it would be queued for ever: write window: {fitting} in campaigns/scan.yaml, or "
        f"min_window: {fitting} to start with fewer"
    )


@pytest.mark.parametrize(
    ("least", "said"), [(4, ""), (5, "write min_window: 4 or less in campaigns/scan.yaml")]
)
def test_with_a_min_window_that_many_have_to_fit(least: int, said: str) -> None:
    reason = objection(asking(window=9, least=least), room())
    assert bool(reason) is bool(said)
    assert said in reason


def test_there_are_no_more_pods_than_volumes() -> None:
    assert objection(asking(window=9, volumes=4), room()) == ""
    assert objection(asking(window=9, volumes=5), room()) != ""


@pytest.mark.parametrize(("succeeded", "fits"), [(5, True), (4, False)])
def test_indexes_that_are_done_need_no_pod(succeeded: int, fits: bool) -> None:
    waiting = Waiting(asking(window=9), {"status": {"succeeded": succeeded}})
    found = chain(cluster_queue(room()), [flavor()])
    assert (quota_objection(waiting, found) is None) is fits


@pytest.mark.parametrize(
    ("size", "where"),
    [("large", "size large in converter.yaml"), ("", "a size that pipelines/ocr.yaml names")],
)
def test_where_not_one_pod_fits_the_size_is_at_fault(size: str, where: str) -> None:
    assert objection(asking({GPU: "3"}, size=size), room()) == (
        "one of its pods needs 3 nvidia.com/gpu, and the quota of flavor any in ClusterQueue "
        f"gpu-cq is 2, so it would be queued for ever: ask for less in {where}, or have the quota "
        "raised"
    )


@pytest.mark.parametrize(
    ("limits", "cohort", "fits"),
    [
        ({}, None, False),
        ({"borrowingLimit": "500m"}, "all", False),
        ({"borrowingLimit": "1"}, "all", True),
        ({}, "all", True),
        ({"borrowingLimit": "0"}, "all", False),
    ],
    ids=["alone", "borrows too little", "borrows", "borrows without limit", "borrows nothing"],
)
def test_what_can_be_borrowed_counts(
    limits: Mapping[str, str], cohort: str | None, fits: bool
) -> None:
    quota = room(cpu={"nominalQuota": "1", **limits})
    reason = objection(asking({"cpu": "500m"}, window=4), quota, cohortName=cohort)
    assert (reason == "") is fits


def test_a_limit_to_borrowing_is_told() -> None:
    quota = room(cpu={"nominalQuota": "1", "borrowingLimit": "500m"})
    reason = objection(asking({"cpu": "500m"}), quota, cohortName="all")
    assert "is 1, with 500m to borrow, so " in reason
    assert "write window: 3 " in reason


def test_a_resource_without_a_quota_is_never_admitted() -> None:
    assert objection(asking({"cpu": "1", GPU: "1"}), group({"any": {"cpu": "9"}})) == (
        "its pods ask for nvidia.com/gpu, of which ClusterQueue gpu-cq has no quota, so it would "
        "be queued for ever: ask for none of it in size s in converter.yaml, or have a quota added"
    )
    assert objection(asking({"cpu": "1", GPU: "0"}), group({"any": {"cpu": "9"}})) == ""


def test_the_number_of_pods_may_have_a_quota_too() -> None:
    assert "5 x 1 pods" in objection(asking(window=5), group({"any": {**PLENTY, "pods": "4"}}))


POOLS = {"a": flavor("a", {"pool": "a"}), "b": flavor("b", {"pool": "b"})}
TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
TOLERATION = {"key": "gpu", "operator": "Equal", "value": "yes", "effect": "NoSchedule"}


def two(a: str, b: str) -> Object:
    return group({"a": {"cpu": a}, "b": {"cpu": b}})


@pytest.mark.parametrize(
    ("of", "flavors", "said"),
    [
        (asking(), POOLS, ""),
        (asking(window=5), POOLS, "the quota of flavor b in ClusterQueue gpu-cq is 1, so "),
        (asking(selector={"pool": "b"}), POOLS, ""),
        (asking(selector={"pool": "a"}), POOLS, "write window: 2 "),
        # A label that no flavor names says nothing to Kueue.
        (asking(selector={"zone": "north"}), POOLS, ""),
        (
            asking(selector={"pool": "c"}),
            POOLS,
            "with node selector {pool: c}, may land on no flavor of ClusterQueue gpu-cq (a has "
            "node labels {pool: a}; b has node labels {pool: b})",
        ),
        (asking(), POOLS | {"b": flavor("b", {"pool": "b"}, nodeTaints=[TAINT])}, "window: 2 "),
        (
            asking(tolerations=(TOLERATION,)),
            POOLS | {"b": flavor("b", {"pool": "b"}, nodeTaints=[TAINT])},
            "",
        ),
        (
            asking(),
            POOLS | {"b": flavor("b", {"pool": "b"}, nodeTaints=[TAINT], tolerations=[TOLERATION])},
            "",
        ),
        (
            asking(),
            POOLS | {"b": flavor("b", {}, nodeTaints=[{**TAINT, "effect": "PreferNoSchedule"}])},
            "",
        ),
        (
            asking(selector={"pool": "b"}),
            POOLS | {"b": flavor("b", {"pool": "b"}, nodeTaints=[TAINT])},
            "b has the taint gpu=yes:NoSchedule, which they do not tolerate",
        ),
    ],
)
def test_only_the_flavors_that_it_may_land_on_count(
    of: Manifest, flavors: Mapping[str, Object], said: str
) -> None:
    reason = objection(of, two("500m", "1"), flavors=list(flavors.values()))
    assert bool(reason) is bool(said)
    assert said in reason


def test_a_flavor_that_could_not_be_read_is_given_the_benefit() -> None:
    found = chain(cluster_queue(two("500m", "1")), [POOLS["a"]], unread={"b": Unknown("no")})
    assert quota_objection(Waiting(asking(selector={"pool": "c"})), found) is None
    assert "write window: 4 " in str(quota_objection(Waiting(asking(window=5)), found))


def test_one_flavor_gives_all_resources_of_its_group() -> None:
    split = group({"a": {"cpu": "9", GPU: "0"}, "b": {"cpu": "0", GPU: "9"}})
    reason = objection(asking({"cpu": "1", GPU: "1"}), split, flavors=list(POOLS.values()))
    assert reason.startswith("one of its pods needs ")


@pytest.mark.parametrize(("window", "said"), [(2, ""), (3, "3 x 1 nvidia.com/gpu")])
def test_groups_are_assigned_independently(window: int, said: str) -> None:
    """Only the keys of a group's own flavors are compared there."""
    groups = (group({"a": {"cpu": "9"}, "b": {"cpu": "0"}}), group({"cards": {GPU: "2"}}))
    flavors = [*POOLS.values(), flavor("cards", {"card": "a100"})]
    of = asking({"cpu": "1", GPU: "1"}, window=window, selector={"pool": "a"})
    reason = objection(of, *groups, flavors=flavors)
    assert bool(reason) is bool(said)
    assert said in reason


@pytest.mark.parametrize(
    ("pod", "counted"),
    [
        ({"containers": [{}]}, {}),
        (
            {"containers": [{"resources": {"limits": {"cpu": "2"}, "requests": {"cpu": "1"}}}]},
            {"cpu": "1"},
        ),
        ({"containers": [{"resources": {"limits": {"memory": "2Gi"}}}]}, {"memory": "2Gi"}),
        ({"containers": [{"resources": {"requests": {"cpu": "250m"}}}] * 3}, {"cpu": "750m"}),
        (
            {
                "containers": [{"resources": {"requests": {"cpu": "1", "memory": "1Gi"}}}],
                "initContainers": [
                    {"resources": {"requests": {"cpu": "50m", "memory": "64Mi"}}},
                    {"resources": {"requests": {"memory": "2Gi"}}},
                ],
            },
            {"cpu": "1", "memory": "2Gi"},
        ),
    ],
    ids=["nothing", "request before limit", "limit alone", "all containers", "init containers"],
)
def test_what_a_pod_asks_for_is_counted_as_kueue_does(pod: Object, counted: object) -> None:
    assert pod_requests(pod) == counted


OURS = replace(
    SETTINGS,
    sizes={"large": Size("large", "8", "64Gi", flavor="a"), "any": Size("any", "8", "64Gi")},
    flavors=(Flavor("a", {"pool": "a"}),),
)


@pytest.mark.parametrize(
    ("size", "flavors", "said"),
    [
        ("large", [POOLS["a"]], ""),
        (
            "large",
            [flavor("a", {"pool": "x"})],
            "size large names flavor a, {pool: a} in converter.yaml, and that flavor of "
            "ClusterQueue gpu-cq has node labels {pool: x}: ",
        ),
        (
            "large",
            [POOLS["b"]],
            "size large names flavor a, {pool: a} in converter.yaml, and ClusterQueue gpu-cq "
            "has no flavor of that name (it has b {pool: b}): ",
        ),
        ("any", [POOLS["b"]], ""),
        ("", [POOLS["b"]], ""),
    ],
    ids=["same", "other labels", "other name", "size without flavor", "no size"],
)
def test_a_size_s_flavor_has_to_be_the_cluster_s(
    size: str, flavors: list[Object], said: str
) -> None:
    reason = str(flavor_objection(size, chain(cluster_queue(), flavors), OURS) or "")
    assert bool(reason) is bool(said)
    assert said in reason


@pytest.mark.parametrize(
    "found",
    [
        chain(cluster_queue(), unread={"a": Unknown("no")}),
        chain(Unknown("no")),
        chain(),
    ],
    ids=["flavor", "ClusterQueue", "LocalQueue"],
)
def test_what_could_not_be_read_is_no_objection(found: QueueChain) -> None:
    assert flavor_objection("large", found, OURS) is None


def test_of_a_campaign_in_parts_one_objection_is_told() -> None:
    large = replace(asking(window=5), campaign="scan")
    small = replace(asking(window=1), campaign="scan")
    found = chain(cluster_queue(room()), [flavor()])
    waiting = [Waiting(small), Waiting(large), Waiting(large)]
    assert list(objections(waiting, found, SETTINGS)) == ["scan"]
