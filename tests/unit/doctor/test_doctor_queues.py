"""What is said of the queue, its flavors and quotas, and the priority classes."""

from collections.abc import Mapping
from typing import Any

import pytest
from unit.doctor.findings import UNREAD, holds
from unit.reconcile.queue_objects import (
    chain,
    cluster_queue,
    flavor,
    group,
    inactive,
    local_queue,
)

from converter.doctor.queues import (
    class_finding,
    flavor_finding,
    queue_finding,
    queue_findings,
    quota_findings,
    size_findings,
)
from converter.model import Flavor, Settings, Size
from converter.reconcile.queue_chain import Missing, QueueChain, Read

A100 = {"gpu": "a100"}
OTHERS = {"kubernetes.io/metadata.name": "another"}
QUOTA = {"cpu": "8", "memory": "64Gi", "nvidia.com/gpu": "2"}
TAINT = {"key": "gpu", "value": "a100", "effect": "NoSchedule"}
OURS = Flavor("a100", A100, quota=QUOTA)
SMALL = Size("small", cpu="2", memory="8Gi", gpu=0)
LARGE = Size("large", cpu="2", memory="8Gi", gpu=1, flavor="a100")
HUGE = Size("huge", cpu="2", memory="65Gi", gpu=0)


def settings(*sizes: Size, **more: Any) -> Settings:
    return Settings(
        namespace="team",
        queue="gpu",
        **{"sizes": {size.name: size for size in sizes}, "flavors": (OURS,)} | more,
    )


def whole(quota: Mapping[str, str] = QUOTA, **spec: Any) -> QueueChain:
    return chain(cluster_queue(group({"a100": quota})), [flavor("a100", A100, **spec)])


@pytest.mark.parametrize(
    ("read", "status", "words"),
    [
        (whole(), "ok", "LocalQueue gpu leads to ClusterQueue gpu-cq, which is active"),
        (chain(queue=Missing()), "fault", "-> have it created, or correct queue"),
        (chain(queue=local_queue(stopPolicy="Hold")), "fault", "-> have stopPolicy set to None"),
        (chain(Missing()), "fault", "ClusterQueue gpu-cq, which does not exist -> have it"),
        (chain(cluster_queue(stopPolicy="HoldAndDrain")), "fault", "HoldAndDrain"),
        (
            chain(cluster_queue(namespaceSelector={"matchLabels": OTHERS})),
            "fault",
            "takes nothing from namespace team",
        ),
        (
            chain(inactive(cluster_queue(), "FlavorNotFound", "no flavor: a100")),
            "fault",
            "no flavor: a100) -> have it repaired",
        ),
        (
            chain(inactive(cluster_queue(), "Odd", "see https://kueue: a: b")),
            "fault",
            "(Odd: see https://kueue: a: b) -> have it repaired",
        ),
        (chain(queue=UNREAD), "unknown", "no answer"),
        (chain(UNREAD), "unknown", "no answer"),
    ],
)
def test_queue(read: QueueChain, status: str, words: str) -> None:
    holds(queue_finding(read, settings()), status, words)


@pytest.mark.parametrize(
    ("read", "ours", "sizes", "status", "words"),
    [
        (whole(), OURS, (LARGE,), "ok", "the same"),
        (whole(), Flavor("a100", {"gpu": "h100"}), (), "warning", "{gpu: h100} in converter.yaml"),
        (
            whole(),
            Flavor("a100", {"gpu": "h100"}),
            (LARGE,),
            "fault",
            "size large names flavor a100, {gpu: h100} in converter.yaml",
        ),
        (whole(), Flavor("v100", A100), (), "warning", "take it out of flavors"),
        (
            whole(),
            Flavor("v100", A100),
            (Size("s", cpu="1", memory="1Gi", flavor="v100"),),
            "fault",
            "has no flavor of that name",
        ),
        (whole(nodeTaints=[TAINT]), OURS, (), "warning", "gpu=a100:NoSchedule on the cluster"),
        (whole(nodeTaints=[TAINT]), Flavor("a100", A100, (TAINT,)), (), "ok", "the same"),
        (chain(UNREAD), OURS, (LARGE,), "unknown", "not read"),
        (
            chain(cluster_queue(group({"a100": QUOTA})), unread={"a100": UNREAD}),
            OURS,
            (LARGE,),
            "unknown",
            "no answer",
        ),
    ],
)
def test_flavor(
    read: QueueChain, ours: Flavor, sizes: tuple[Size, ...], status: str, words: str
) -> None:
    holds(flavor_finding(ours, read, settings(*sizes, flavors=(ours,))), status, words)


@pytest.mark.parametrize(
    ("theirs", "more", "statuses", "words"),
    [
        (QUOTA, {}, ["ok"], "that of converter.yaml"),
        ({**QUOTA, "memory": "65536Mi"}, {}, ["ok"], "that of converter.yaml"),
        ({**QUOTA, "cpu": "4"}, {}, ["warning"], "cpu 8 and 4"),
        ({"cpu": "8", "memory": "64Gi"}, {}, ["warning"], "nvidia.com/gpu 2 and none"),
        ({**QUOTA, "pods": "0"}, {}, ["ok"], "that of converter.yaml"),
        ({"cpu": "4"}, {"flavors": (), "quota": {"cpu": "8"}}, ["warning"], "cpu 8 and 4"),
        ({"cpu": "8"}, {"flavors": (), "quota": {"cpu": "8"}}, ["ok"], "flavor a100"),
        ({"cpu": "4"}, {"flavors": ()}, [], ""),
        ({"cpu": "4"}, {"flavors": (Flavor("a100", A100),)}, [], ""),
    ],
)
def test_quota(
    theirs: Mapping[str, str], more: Mapping[str, Any], statuses: list[str], words: str
) -> None:
    findings = list(quota_findings(whole(theirs), settings(**more)))
    assert [finding.status for finding in findings] == statuses
    for finding in findings:
        holds(finding, finding.status, words)


@pytest.mark.parametrize(
    ("read", "size", "more", "status", "words"),
    [
        (whole(), SMALL, {}, "ok", "size small: 4 pods fit at once"),
        (whole(), LARGE, {}, "ok", "size large: 2 pods fit"),
        (whole(), HUGE, {}, "fault", "a pod of size huge needs 65Gi memory"),
        (whole({"cpu": "8", "memory": "64Gi"}), LARGE, {}, "fault", "nvidia.com/gpu, of which"),
        (whole(), SMALL, {"node_selector": {"gpu": "h100"}}, "fault", "on no flavor"),
        (whole(nodeTaints=[TAINT]), SMALL, {}, "fault", "gpu=a100:NoSchedule"),
        (
            whole(nodeTaints=[TAINT]),
            SMALL,
            {"tolerations": ({"key": "gpu", "operator": "Exists"},)},
            "ok",
            "4 pods",
        ),
        (
            chain(cluster_queue(group({"a100": QUOTA}), cohortName="all"), [flavor("a100", A100)]),
            HUGE,
            {},
            "ok",
            "any number of pods",
        ),
    ],
)
def test_size(
    read: QueueChain, size: Size, more: Mapping[str, Any], status: str, words: str
) -> None:
    (finding,) = size_findings(size, read, settings(size, **more))
    holds(finding, status, words)


@pytest.mark.parametrize(
    ("read", "status", "words"),
    [
        ({"metadata": {"name": "urgent"}}, "ok", "urgent exists"),
        (Missing(), "fault", "never queue a campaign of it -> have it created, or take it out"),
        (UNREAD, "unknown", "no answer"),
    ],
)
def test_priority_class(read: Read, status: str, words: str) -> None:
    holds(class_finding("urgent", chain(urgent=read)), status, words)


def test_everything_of_converter_yaml_is_looked_at_and_without_sizes_the_built_in_one() -> None:
    read = whole()
    checks = [each.check for each in queue_findings(read, settings(SMALL, LARGE))]
    assert checks == ["queue", "flavor", "quota", "size", "size"]
    plain = settings(flavors=(), priority_classes=("urgent",))
    without = chain(read.cluster_queue, [flavor("a100", A100)], urgent=Missing())
    findings = list(queue_findings(without, plain))
    assert [each.check for each in findings] == ["queue", "size", "priority-class"]


def test_without_the_cluster_queue_nothing_is_said_of_quota() -> None:
    findings = queue_findings(chain(UNREAD), settings(SMALL, flavors=(), quota={"cpu": "1"}))
    assert [each.check for each in findings] == ["queue"]
