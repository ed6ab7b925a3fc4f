"""Campaigns in the queue: what the queue lacks, and what is before them."""

from collections.abc import Mapping
from dataclasses import replace

import pytest
from unit.explain.scene import (
    BEFORE,
    FILE,
    NOW,
    ROOMY,
    Scene,
    a_queue,
    condition,
    manifests,
    repository,
    waits,
    with_conditions,
)
from unit.reconcile.live_objects import Object, queued, workload
from unit.reconcile.queue_objects import (
    chain,
    cluster_queue,
    flavor,
    group,
    inactive,
    local_queue,
)

from converter.observe.places import Place
from converter.reconcile.queue_chain import Missing, QueueChain, Read, Unknown

URGENT = repository(priority="urgent", priority_classes=("urgent",))
PLACE = "job-letters"


def with_class(read: Read) -> QueueChain:
    return replace(a_queue(), classes={"urgent": read})


def without_workload(chain: QueueChain, created: str = BEFORE) -> Scene:
    scene = waits(URGENT, workloads=(), chain=chain)
    scene.jobs[0]["metadata"]["creationTimestamp"] = created
    return scene


STOPPED = cluster_queue(group({"a100": ROOMY}), stopPolicy="HoldAndDrain")
ELSEWHERE = {"matchLabels": {"kubernetes.io/metadata.name": "elsewhere"}}
TAINT = {"key": "gpu", "value": "a100", "effect": "NoSchedule"}


@pytest.mark.parametrize(
    ("of", "code", "words"),
    [
        (chain(queue=Missing()), "queue-missing", "there is no LocalQueue gpu in namespace batch"),
        (chain(Missing()), "queue-missing", "ClusterQueue gpu-cq, which does not exist"),
        (chain(queue=local_queue(stopPolicy="Hold")), "queue-stopped", "LocalQueue gpu is stopped"),
        (chain(cluster_queue(namespaceSelector=None)), "queue-closed", "from namespace batch"),
        (chain(cluster_queue(namespaceSelector=ELSEWHERE)), "queue-closed", "takes nothing"),
        (chain(STOPPED, [flavor("a100")]), "queue-stopped", "(stopPolicy HoldAndDrain)"),
        (
            chain(inactive(cluster_queue(), "FlavorNotFound", "no flavor a100")),
            "queue-inactive",
            "ClusterQueue gpu-cq is not active (FlavorNotFound): no flavor a100",
        ),
        (
            chain(Unknown("forbidden"), queue=inactive(local_queue(), "Stopped", "it rests")),
            "queue-inactive",
            "LocalQueue gpu is not active",
        ),
        (chain(Unknown("forbidden")), "inadmissible", "Kueue does not admit it: no room"),
        (None, "inadmissible", "Kueue does not admit it: no room"),
    ],
)
def test_a_queue_that_does_not_work(of: QueueChain | None, code: str, words: str) -> None:
    first = waits(chain=of).first()
    assert (first.code, words in first.sentence) == (code, True), first


@pytest.mark.parametrize(
    ("scene", "code", "words"),
    [
        (without_workload(with_class(Missing())), "priority-class-missing", "urgent"),
        (without_workload(with_class(Unknown("forbidden"))), "no-workload", "most likely"),
        (without_workload(with_class({})), "no-workload", f"since {BEFORE}"),
        (without_workload(with_class({}), NOW.isoformat()), "new", "0 seconds ago"),
    ],
)
def test_a_job_without_a_workload(scene: Scene, code: str, words: str) -> None:
    assert scene.first().code == code
    assert words in scene.first().sentence


def quota(**less: str) -> Mapping[str, str]:
    return {**ROOMY, **{name.replace("gpu", "nvidia.com/gpu"): each for name, each in less.items()}}


@pytest.mark.parametrize(
    ("of", "code", "sentence", "remedy"),
    [
        (
            a_queue(quota(gpu="1")),
            "never-fits",
            "its pods at once need 2 x 1 nvidia.com/gpu, and the quota of flavor a100",
            f"write window: 1 in {FILE}",
        ),
        (
            a_queue(quota(memory="1Gi")),
            "never-fits",
            "one of its pods needs 2Gi memory",
            "ask for less in size s in converter.yaml, in a new campaign file",
        ),
        (
            a_queue(used={"nvidia.com/gpu": "7", "cpu": "1"}),
            "queue-full",
            "it needs 2 x 1 nvidia.com/gpu at once, and 1 is free in flavor a100",
            "wait until others end; window: 1 would start now",
        ),
        (
            a_queue(used={"cpu": "7500m"}),
            "queue-full",
            "it needs 2 x 1 cpu at once, and 500m is free",
            "wait until others end",
        ),
        (
            chain(cluster_queue(group({"a100": {"cpu": "8"}})), [flavor("a100", {"gpu": "a100"})]),
            "resource-without-quota",
            "its pods ask for memory and nvidia.com/gpu, of which",
            "ask for none of it in size s",
        ),
        (
            chain(cluster_queue(group({"a100": ROOMY})), [flavor("a100", {"gpu": "old"})]),
            "no-flavor",
            "may land on no flavor of ClusterQueue gpu-cq: flavor a100 has node labels {gpu: old}",
            "have to be the same",
        ),
        (
            chain(
                cluster_queue(group({"a100": ROOMY})),
                [flavor("a100", {"gpu": "a100"}, nodeTaints=[TAINT])],
            ),
            "no-flavor",
            "flavor a100 has the taint gpu=a100:NoSchedule",
            "tolerations",
        ),
        (a_queue(), "inadmissible", "Kueue has not admitted it yet", ""),
    ],
)
def test_without_quota(of: QueueChain, code: str, sentence: str, remedy: str) -> None:
    first = waits(chain=of).first()
    assert first.code == code, first
    assert sentence in first.sentence
    assert remedy in first.remedy
    assert first.details[-1] == "Kueue says: no room"


def test_each_resource_is_set_against_quota_use_and_what_is_free() -> None:
    first = waits(chain=a_queue(used={"cpu": "7500m", "memory": "4Gi"})).first()
    assert first.details[:3] == (
        "flavor a100 in ClusterQueue gpu-cq: cpu: needs 2 x 1 = 2; quota 8, in use 7500m, free "
        "500m (too little)",
        "flavor a100 in ClusterQueue gpu-cq: memory: needs 2 x 2Gi = 4Gi; quota 32Gi, in use 4Gi, "
        "free 28Gi",
        "flavor a100 in ClusterQueue gpu-cq: nvidia.com/gpu: needs 2 x 1 = 2; quota 8, in use 0, "
        "free 8",
    )


def test_what_kueue_says_of_flavors_that_are_not_meant_is_left_out() -> None:
    scene = waits(chain=a_queue(quota(gpu="1")))
    message = (
        "couldn't assign flavors to pod set main: flavor b doesn't match node affinity, flavor c "
        "doesn't match node affinity, insufficient quota for cpu in flavor a"
    )
    scene.workloads[0]["status"]["conditions"][0]["message"] = message
    said = scene.first().details[-1]
    assert said.endswith("to pod set main: insufficient quota for cpu in flavor a")


def ahead(name: str) -> tuple[Object, Object]:
    job = queued(manifests(repository())[0])
    job["metadata"]["name"] = name
    job["metadata"]["uid"] = f"uid-{name}"
    job["metadata"]["labels"]["gitops-campaigns.io/campaign"] = name
    return job, workload(job, name=f"w-{name}")


def test_who_is_before_it_in_the_queue() -> None:
    scene = waits(URGENT, places={PLACE: Place(4, 7, 0, ("w-maps", "w-books", "unknown"))})
    (maps, of_maps), (books, of_books) = ahead("maps"), ahead("books")
    scene = replace(
        scene,
        jobs=(*scene.jobs, maps, books),
        workloads=(*scene.workloads, of_maps, of_books),
    )
    (found,) = (each for each in scene.causes() if each.code == "queue-position")
    assert found.sentence == (
        "it is number 7 in the queue, behind maps, books, 1 more in its LocalQueue and 3 in other "
        "queues"
    )
    assert f"write a higher priority in {FILE} (converter.yaml has urgent)" in found.remedy


def test_the_first_in_the_queue_is_behind_nobody() -> None:
    scene = waits(places={PLACE: Place(1, 1, 0)})
    assert scene.codes() == ["next-in-queue"]


def preempted(message: str) -> Scene:
    scene = waits(chain=a_queue(used={"cpu": "8"}))
    gone = condition("Evicted", reason="Preempted", message=message)
    waiting = scene.workloads[0]["status"]["conditions"]
    return replace(scene, workloads=(with_conditions(scene.workloads[0], *waiting, gone),))


def test_who_preempted_it() -> None:
    maps, of_maps = ahead("maps")
    maps["metadata"]["uid"] = "0a-1"
    scene = preempted("Preempted to accommodate a workload (UID: 9, JobUID: 0a-1) due to priority")
    scene = replace(scene, jobs=(*scene.jobs, maps), workloads=(*scene.workloads, of_maps))
    assert scene.codes() == ["preempted", "queue-full"]
    assert scene.first().sentence.startswith(f"campaign maps took its quota at {BEFORE}")
    assert scene.first().details == ()


def test_somebody_elses_preemption_is_told_in_kueues_words() -> None:
    first = preempted("for (UID: 9, JobUID: ff)").first()
    assert first.sentence.startswith("another Workload took its quota")
    assert first.details == ("Kueue says: for (UID: 9, JobUID: ff)",)


def test_one_that_is_queued_again_later_says_when() -> None:
    scene = waits()
    late = condition("Evicted", reason="PodsReadyTimeout", message="")
    again = {"requeueAt": "2026-01-01T12:05:00Z", "count": 2}
    changed = with_conditions(scene.workloads[0], late, requeueState=again)
    first = replace(scene, workloads=(changed,)).first()
    assert first.code == "evicted"
    assert "its pods were not ready in time" in first.sentence
    assert "Kueue queues it again at 2026-01-01T12:05:00Z" in first.sentence


@pytest.mark.parametrize(
    ("check", "code", "words"),
    [
        ({"state": "Pending", "message": "no nodes yet"}, "admission-check", "(Pending): no nodes"),
        ({"state": "Ready"}, "starting", "about to start"),
    ],
)
def test_one_that_has_its_quota(check: Object, code: str, words: str) -> None:
    scene = waits()
    checks = [{"name": "nodes", **check}]
    reserved = with_conditions(
        scene.workloads[0], condition("QuotaReserved"), admissionChecks=checks
    )
    first = replace(scene, workloads=(reserved,)).first()
    assert (first.code, words in first.sentence) == (code, True), first
