"""Rules about quota: what Kueue would never admit is refused."""

from typing import Any

import pytest
from unit.checks.files import at, flavor, found, sizes, some_campaign, some_pipeline

from converter.model import Backend, Size

PAGE = sizes(Size("page", "200m", "128Mi", gpu=0, workdir="16Mi"))
GPUS = sizes(Size("large", "8", "64Gi", gpu=2))
QUOTA = {"cpu": "1", "memory": "4Gi", "nvidia.com/gpu": "1"}
TWENTY = [f"v{index}" for index in range(20)]


def fits(size: dict[str, Size], **changes: Any) -> bool:
    campaign = some_campaign(
        volumes=TWENTY, window=changes.pop("window", None), **changes.pop("own", {})
    )
    return (
        found("C011", campaign, some_pipeline(size=next(iter(size))), sizes=size, **changes) == []
    )


def test_a_window_fits_into_the_quota() -> None:
    campaign = some_campaign(volumes=TWENTY, window=6)
    assert found("C011", campaign, some_pipeline(size="page"), sizes=PAGE, quota=QUOTA) == [
        (
            campaign.path,
            at("window"),
            "its pods at once need 6 x 200m cpu, and the quota is 1: it would be queued for ever",
            "write window: 5, or min_window: 5 to start with fewer",
        )
    ]
    assert fits(PAGE, window=5, quota=QUOTA)


@pytest.mark.parametrize(
    ("volumes", "window", "limit", "right"),
    [
        (5, None, 20, True),  # as many pods as volumes
        (6, None, 20, False),
        (20, None, 5, True),  # converter.yaml's window
        (20, 20, 5, True),
        (20, 6, 20, False),
    ],
)
def test_what_runs_at_once_is_the_least_of_three(
    volumes: int, window: int | None, limit: int, right: bool
) -> None:
    campaign = some_campaign(volumes=TWENTY[:volumes], window=window)
    pipeline = some_pipeline(size="page")
    problems = found("C011", campaign, pipeline, sizes=PAGE, quota=QUOTA, window=limit)
    assert (problems == []) is right


def test_partial_admission_needs_only_min_window() -> None:
    assert fits(PAGE, window=20, quota=QUOTA, own={"min_window": 5})
    campaign = some_campaign(volumes=TWENTY, window=20, min_window=6)
    assert found("C011", campaign, some_pipeline(size="page"), sizes=PAGE, quota=QUOTA) == [
        (
            campaign.path,
            at("min_window"),
            "its pods at once need 6 x 200m cpu, and the quota is 1: it would be queued for ever",
            "write min_window: 5 or less",
        )
    ]


def test_a_named_flavors_quota_counts() -> None:
    flavors = (
        flavor(
            "a100", {"gpu": "a100"}, quota={"cpu": "64", "memory": "1Ti", "nvidia.com/gpu": "4"}
        ),
        flavor(
            "h100", {"gpu": "h100"}, quota={"cpu": "64", "memory": "1Ti", "nvidia.com/gpu": "8"}
        ),
    )
    on_a100 = sizes(Size("large", "8", "64Gi", gpu=2, flavor="a100"))
    campaign = some_campaign(volumes=TWENTY, window=3)
    assert found("C011", campaign, some_pipeline(size="large"), sizes=on_a100, flavors=flavors) == [
        (
            campaign.path,
            at("window"),
            "its pods at once need 3 x 2 nvidia.com/gpu, and the quota of flavor a100 is 4: it "
            "would be queued for ever",
            "write window: 2, or min_window: 2 to start with fewer",
        )
    ]
    # Without a name it may land on the larger one, unless the node selector forbids it.
    assert fits(GPUS, window=4, flavors=flavors)
    assert not fits(GPUS, window=5, flavors=flavors)
    assert not fits(GPUS, window=4, flavors=flavors, node_selector={"gpu": "a100"})


def test_an_unknown_quota_is_not_judged() -> None:
    known = flavor("a100", {"gpu": "a100"}, quota=QUOTA)
    unknown = flavor("h100", {"gpu": "h100"})
    assert fits(GPUS, window=20)
    assert fits(GPUS, window=20, flavors=(known, unknown))


def test_a_size_that_never_fits_is_reported_once() -> None:
    assert found("S001", sizes=GPUS, quota=QUOTA) == [
        (
            "converter.yaml",
            at("sizes", "large", "cpu"),
            "a pod of size large needs 8 cpu, and the quota is 1: its campaigns would be queued "
            "for ever",
            "make the size smaller, or correct the quota here and in the ClusterQueue",
        )
    ]
    assert fits(GPUS, window=4, quota=QUOTA)
    assert found("S001", sizes=PAGE, quota=QUOTA) == []


def test_a_resource_without_quota_is_never_admitted() -> None:
    quota = {"cpu": "64", "memory": "1Ti"}
    message = (
        "a pod of size large needs 2 nvidia.com/gpu, and the quota has none: its campaigns would "
        "be queued for ever"
    )
    [(_, position, found_message, _)] = found("S001", sizes=GPUS, quota=quota)
    assert (position, found_message) == (at("sizes", "large", "gpu"), message)
    assert found("S001", sizes=sizes(Size("cpu", "2", "4Gi", gpu=0)), quota=quota) == []


def test_the_built_in_size_must_fit_too() -> None:
    campaign = some_campaign()
    assert found("C011", campaign, some_pipeline(), quota=QUOTA) == [
        (
            campaign.path,
            at("window"),
            "its pods at once need 4 cpu, and the quota is 1: it would be queued for ever",
            "name a size in the pipeline, or a default_size in converter.yaml, that fits",
        )
    ]


def test_what_cannot_be_read_is_left_to_other_rules() -> None:
    unreadable = sizes(Size("large", "many", "64Gi"))
    assert found("S001", sizes=unreadable, quota=QUOTA) == []
    assert fits(unreadable, quota=QUOTA)
    assert found("C011", some_campaign(), some_pipeline(size="none"), quota=QUOTA) == []


def test_quota_is_kueues_alone() -> None:
    assert found("S001", sizes=GPUS, quota=QUOTA, backend=Backend.NONE) == []
    assert fits(PAGE, window=6, quota=QUOTA, backend=Backend.NONE)


def test_a_misspelt_resource_is_told_from_a_missing_one() -> None:
    quota = {"cpu": "64", "memory": "1Ti", "nvidia.com/gpus": "8"}
    [(_, _, _, remedy)] = found("S001", sizes=GPUS, quota=quota)
    assert remedy == "did you mean nvidia.com/gpu by nvidia.com/gpus?"


def test_where_no_flavor_fits_there_is_no_quota_to_judge() -> None:
    flavors = (flavor("a100", {"gpu": "a100"}, quota=QUOTA),)
    assert found("S001", sizes=GPUS, flavors=flavors, node_selector={"gpu": "v100"}) == []
