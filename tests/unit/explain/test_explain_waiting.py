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

from converter.names import KUEUE_QUEUE_LABEL
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
            "ClusterQueue gpu-cq is not active (FlavorNotFound: no flavor a100)",
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


SECONDS_AGO = "2026-01-01T11:59:58Z"


def suspended_at(scene: Scene, time: str) -> Scene:
    scene.jobs[0]["status"] = {
        "conditions": [{"type": "Suspended", "status": "True", "lastTransitionTime": time}]
    }
    return scene


def in_queue_since(scene: Scene, time: str) -> Scene:
    """Its queue label was written at this time."""
    entry = scene.jobs[0]["metadata"]["managedFields"][0]
    assert KUEUE_QUEUE_LABEL in str(entry)
    entry["time"] = time
    return scene


def with_old_workload(scene: Scene, gone_since: str) -> Scene:
    old = workload(scene.jobs[0], active=False)
    old["metadata"]["deletionTimestamp"] = gone_since
    return replace(scene, workloads=(old,))


@pytest.mark.parametrize(
    ("scene", "code", "words"),
    [
        (suspended_at(without_workload(with_class({})), SECONDS_AGO), "new", "put back"),
        (in_queue_since(without_workload(with_class({})), SECONDS_AGO), "new", "put back into the"),
        (with_old_workload(without_workload(with_class({})), SECONDS_AGO), "new", "2 seconds ago"),
        (
            with_old_workload(without_workload(with_class({})), "2026-01-01T11:30:00Z"),
            "no-workload",
            "since 2026-01-01T11:30:00Z",
        ),
        (
            suspended_at(without_workload(with_class({})), "2026-01-01T10:00:00Z"),
            "no-workload",
            f"since {BEFORE}",
        ),
    ],
    ids=["suspended", "resumed", "renewed", "renewed long ago", "suspended before it was made"],
)
def test_an_old_job_has_been_without_a_workload_since_it_lost_it(
    scene: Scene, code: str, words: str
) -> None:
    first = scene.first()
    assert (first.code, words in first.sentence) == (code, True), first


ELSE = repository(queue="other")


@pytest.mark.parametrize(
    ("of", "codes"),
    [
        (chain(queue=Missing()), ["inadmissible", "drifted"]),
        (chain(queue=local_queue(stopPolicy="Hold")), ["inadmissible", "drifted"]),
        (a_queue({**ROOMY, "cpu": "1"}), ["inadmissible", "drifted"]),
        (None, ["inadmissible", "drifted"]),
    ],
)
def test_a_job_is_not_judged_by_the_queue_that_git_has_by_now(
    of: QueueChain | None, codes: list[str]
) -> None:
    named = of and replace(of, queue="other")
    scene = replace(waits(chain=named), repo=ELSE)
    assert scene.codes() == codes
    assert scene.first().sentence == "Kueue does not admit it: no room"
    assert "it is in queue gpu, and git says other" in scene.causes()[1].sentence


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


LENT = "wait until others end; ask for less at once"


def in_cohort(borrowing: str | None = None, used: str = "0") -> QueueChain:
    """A queue that may borrow so many GPUs, or as many as there are."""
    limit: dict[str, str] = {} if borrowing is None else {"borrowingLimit": borrowing}
    gpus = {"nominalQuota": "8", **limit}
    quotas: dict[str, str | Mapping[str, str]] = {**ROOMY, "nvidia.com/gpu": gpus}
    queue = cluster_queue(group({"a100": quotas}), cohortName="all")
    in_use = [{"name": "nvidia.com/gpu", "total": used}]
    queue["status"] = {"flavorsReservation": [{"name": "a100", "resources": in_use}]}
    return chain(queue, [flavor("a100", {"gpu": "a100"})])


def without_message(scene: Scene) -> Scene:
    return replace(scene, workloads=(with_conditions(scene.workloads[0]),))


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
    scene = without_message(waits(places={PLACE: Place(1, 1, 0)}))
    assert scene.codes() == ["next-in-queue"]


@pytest.mark.parametrize(
    ("of", "places", "codes", "remedy"),
    [
        (a_queue(), {}, ["inadmissible"], ""),
        (in_cohort(used="8"), {PLACE: Place(1, 1, 0)}, ["queue-full", "next-in-queue"], LENT),
        (in_cohort(used="8"), {PLACE: Place(2, 2, 0)}, ["queue-full", "queue-position"], LENT),
        (in_cohort(used="8"), {}, ["queue-full"], LENT),
        (in_cohort(used="6"), {}, ["inadmissible"], ""),
        (in_cohort("4", used="7"), {}, ["queue-full"], LENT),
        (in_cohort("4", used="12"), {PLACE: Place(1, 1, 0)}, ["queue-full", "next-in-queue"], ""),
        (in_cohort("4", used="6"), {}, ["inadmissible"], ""),
    ],
    ids=[
        *("room for all", "next", "second", "without a place", "room of its own"),
        *("the cohort has less", "all is borrowed", "some is left"),
    ],
)
def test_kueues_reason_is_told_wherever_it_stands(
    of: QueueChain, places: Mapping[str, Place], codes: list[str], remedy: str
) -> None:
    scene = waits(chain=of, places=places)
    first = scene.first()
    assert scene.codes() == codes
    assert first.sentence.endswith(": no room") or "0 is free in flavor a100" in first.sentence
    assert first.remedy.startswith(remedy)
    assert any("nvidia.com/gpu: needs 2 x 1 = 2" in line for line in first.details)


@pytest.mark.parametrize(
    ("of", "line"),
    [
        (in_cohort(used="9"), "quota 8, in use 9, free 0"),
        (in_cohort("4", used="12"), "quota 8, with 4 to borrow, in use 12, free 0 (too little)"),
        (
            in_cohort("4", used="11"),
            "quota 8, with 4 to borrow, in use 11, free 0, with 1 to borrow (too little)",
        ),
        (in_cohort("4", used="10"), "in use 10, free 0, with 2 to borrow"),
        (in_cohort("4", used="3"), "in use 3, free 5, with 4 to borrow"),
        (in_cohort("4", used="20"), "in use 20, free 0 (too little)"),
    ],
)
def test_what_is_borrowed_is_off_the_limit(of: QueueChain, line: str) -> None:
    (found,) = (each for each in waits(chain=of).first().details if "gpu: needs" in each)
    assert found.endswith(line)


def test_one_that_kueue_has_not_tried_says_so() -> None:
    assert without_message(waits()).first().sentence == "Kueue has not tried it"


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
