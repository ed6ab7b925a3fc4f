"""Pods that are not created, or do not start."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import pytest
from unit.explain.scene import (
    BEFORE,
    Scene,
    condition,
    exited,
    pod,
    repository,
    runs,
    waits,
    warmup_job,
)
from unit.reconcile.live_objects import Object

from converter.model import Warmup

STARTING = {"active": 1, "ready": 0}
WARM = repository(warmup=Warmup(("fill",)), data_pvc="models")
AT_THE_GATE = {"running": {"startedAt": BEFORE}}
NO_ROOM = "0/9 nodes are available: 9 Insufficient nvidia.com/gpu. preemption: 0/9 nodes are bad."


def with_pods(*pods: Object, events: Sequence[Object] = (), **more: Any) -> Scene:
    found = {"letters": pods}
    by_name = {"letters-0-x": tuple(events)}
    return runs(status={**STARTING, "active": len(pods)}, pods=found, events=by_name, **more)


def unscheduled(message: str) -> Object:
    why = condition("PodScheduled", "False", "Unschedulable", message)
    return pod("letters-0-x", conditions=(why,))


def waiting(reason: str, message: str = "") -> Object:
    state = {"waiting": {"reason": reason, "message": message}}
    return pod("letters-0-x", main=state)


def mount_failure(message: str) -> Object:
    return {"reason": "FailedMount", "message": message, "lastTimestamp": BEFORE}


@pytest.mark.parametrize(
    ("scene", "code", "sentence", "remedy"),
    [
        (
            with_pods(unscheduled(NO_ROOM), unscheduled(NO_ROOM)),
            "unschedulable",
            "no node takes 2 pods: 0/9 nodes are available: 9 Insufficient nvidia.com/gpu",
            "less room than the quota promises: wait for other pods to end, ask for less in size s",
        ),
        (
            with_pods(unscheduled("0/1 nodes: 1 node(s) had untolerated taint {gpu: a}.")),
            "unschedulable",
            "had untolerated taint {gpu: a}",
            "tolerations in converter.yaml",
        ),
        (
            with_pods(unscheduled("1 node(s) didn't match Pod's node affinity/selector.")),
            "unschedulable",
            "node affinity/selector",
            "node_selector or flavors in converter.yaml",
        ),
        (
            with_pods(unscheduled('persistentvolumeclaim "data" not found. not found')),
            "volume-claim",
            "there is no PersistentVolumeClaim data for 1 pod",
            "data_pvc in converter.yaml",
        ),
        (
            with_pods(unscheduled("pod has unbound immediate PersistentVolumeClaims.")),
            "volume-claim",
            "unbound immediate PersistentVolumeClaims",
            "access mode",
        ),
        (
            with_pods(unscheduled("1 node(s) had volume node affinity conflict")),
            "volume-claim",
            "volume node affinity conflict",
            "data_pvc",
        ),
        (
            with_pods(
                pod("p", conditions=(condition("PodScheduled", "False", "SchedulingGated"),))
            ),
            "scheduling-gate",
            "a scheduling gate keeps 1 pod",
            "",
        ),
        (
            with_pods(waiting("ErrImagePull", "no such\nhost")),
            "image",
            "1 pod cannot get the image ocr:1",
            "correct image in pipelines/ocr.yaml",
        ),
        (
            with_pods(waiting("CreateContainerConfigError", 'secret "s3" not found')),
            "container-config",
            '1 pod cannot start (CreateContainerConfigError): secret "s3" not found',
            "secrets in converter.yaml",
        ),
        (
            with_pods(
                waiting("ContainerCreating"),
                events=[mount_failure("old"), mount_failure('secret "batch/s3" not found')],
            ),
            "volume-mount",
            '1 pod cannot mount a volume: secret "s3" not found',
            "correct secrets",
        ),
        (
            with_pods(
                waiting("ContainerCreating"),
                events=[{"reason": "FailedCreatePodSandBox", "message": "no runtime nvidia"}],
            ),
            "sandbox",
            "a node cannot make a sandbox for 1 pod: no runtime nvidia",
            "wrong with the node",
        ),
        (with_pods(waiting("ContainerCreating")), "running", "it runs: 1 pod (0 of them", ""),
        (with_pods(waiting("PodInitializing")), "running", "it runs", ""),
    ],
)
def test_why_pods_do_not_start(scene: Scene, code: str, sentence: str, remedy: str) -> None:
    first = scene.first()
    assert first.code == code, first
    assert sentence in first.sentence
    assert remedy in first.remedy


def test_what_most_pods_wait_for_comes_first() -> None:
    scene = with_pods(waiting("ErrImagePull"), unscheduled(NO_ROOM), unscheduled(NO_ROOM))
    assert scene.codes() == ["unschedulable", "image", "running"]


def test_a_pod_that_is_being_deleted_says_nothing() -> None:
    gone = waiting("ErrImagePull")
    gone["metadata"]["deletionTimestamp"] = BEFORE
    assert with_pods(gone).codes() == ["running"]


def refusal(message: str, uid: str = "uid-letters") -> Object:
    said = f'Error creating: pods "letters-0-x" is forbidden: {message}'
    return {"reason": "FailedCreate", "message": said, "involvedObject": {"uid": uid}}


@pytest.mark.parametrize(
    ("message", "code", "remedy"),
    [
        ("exceeded quota: q, requested: cpu=1", "namespace-quota", "size s in converter.yaml"),
        ('violates PodSecurity "restricted:latest": x', "pod-security", "Pod Security level"),
        ('failed calling webhook "w"', "webhook-down", "this webhook answers"),
        ("ValidatingAdmissionPolicy 'p' denied request: no", "refused-by-policy", "excepted"),
        ("minimum cpu usage per LimitRange", "limit-range", "LimitRange allows in size s"),
        ("something else", "pod-refused", "has to see why"),
    ],
)
def test_why_pods_are_not_created(message: str, code: str, remedy: str) -> None:
    events = {"letters": (refusal("an older one"), refusal(message))}
    first = runs(status={"active": 1, "ready": 1}, events=events).first()
    assert first.code == code
    assert first.sentence == f"the API server lets it have 1 of 2 pods: {message}"
    assert remedy in first.remedy


@pytest.mark.parametrize(
    "scene",
    [
        runs(events={"letters": (refusal("exceeded quota"),)}),
        runs(status={"active": 1}, events={"letters": (refusal("exceeded quota", uid="old"),)}),
        runs(status={"active": 1, "terminating": 1}, events={"letters": (refusal("x"),)}),
        runs(status={"active": 1, "succeeded": 3}, events={"letters": (refusal("x"),)}),
        waits(events={"letters": (refusal("exceeded quota"),)}),
    ],
    ids=["has all its pods", "of an earlier Job", "pods ending", "nothing more to start", "waits"],
)
def test_an_event_of_the_past_is_no_cause(scene: Scene) -> None:
    assert {"namespace-quota", "pod-refused"}.isdisjoint(scene.codes())


def said_at(time: str, key: str = "lastTimestamp") -> Object:
    times: Object = {"series": {key: time}} if key == "lastObservedTime" else {key: time}
    return {**refusal("exceeded quota"), **times}


@pytest.mark.parametrize(
    ("event", "code"),
    [
        (said_at("2026-01-01T11:03:00Z"), "running"),
        (said_at("2026-01-01T11:44:59Z"), "running"),
        (said_at("2026-01-01T11:46:00Z"), "namespace-quota"),
        (said_at("2026-01-01T11:03:00.000000Z", "eventTime"), "running"),
        (said_at("2026-01-01T11:50:00.000000Z", "eventTime"), "namespace-quota"),
        (
            {**said_at(BEFORE), **said_at("2026-01-01T11:59:00Z", "lastObservedTime")},
            "namespace-quota",
        ),
        (refusal("exceeded quota"), "namespace-quota"),
    ],
)
def test_a_refusal_of_long_ago_is_no_cause(event: Object, code: str) -> None:
    """The pod that is not there may wait for its time to be tried again."""
    scene = runs(status={"active": 1, "ready": 1}, events={"letters": (event,)})
    assert scene.first().code == code


def behind(warmup: Object | None, *pods: Object, unread: bool = False) -> Scene:
    made = runs(
        WARM,
        status=STARTING,
        pods={"letters": (pod("letters-0-x", init=AT_THE_GATE),), "warmup-ocr": pods},
        warmups_unread=unread,
    )
    return made if warmup is None else replace(made, jobs=(*made.jobs, warmup))


FAILED = pod("w", phase="Failed", main=exited(13, message="no such model\n"))


@pytest.mark.parametrize(
    ("scene", "code", "words"),
    [
        (behind(None), "warmup-missing", "which is not on the cluster"),
        (behind(None, unread=True), "warmup-running", "1 pod waits for"),
        (
            behind(warmup_job(WARM, conditions=[condition("Failed")]), FAILED),
            "warmup-failed",
            "which failed: exit 13: given up without another try: no such model",
        ),
        (
            behind(warmup_job(WARM, conditions=[condition("FailureTarget")])),
            "warmup-failed",
            "warmup-ocr, which failed",
        ),
        (
            behind(warmup_job(WARM, conditions=[condition("Complete")])),
            "warmup-ended",
            "which has just ended",
        ),
        (
            behind(warmup_job(WARM, active=1), unscheduled(NO_ROOM)),
            "warmup-not-started",
            "1 pod waits for the warm-up Job warmup-ocr, and no node takes 1 pod of the warm-up: ",
        ),
        (
            behind(warmup_job(WARM, active=1, failed=2, startTime=BEFORE)),
            "warmup-running",
            f"which runs since {BEFORE}; 2 pods of it failed before",
        ),
    ],
)
def test_what_the_warmup_is_at(scene: Scene, code: str, words: str) -> None:
    first = scene.first()
    assert (first.code, words in first.sentence) == (code, True), first


def test_a_gate_that_opened_is_nothing_to_wait_for() -> None:
    through = pod("letters-0-x", init=exited(0), main={"waiting": {"reason": "PodInitializing"}})
    scene = runs(WARM, status=STARTING, pods={"letters": (through,)})
    assert scene.codes() == ["running"]
