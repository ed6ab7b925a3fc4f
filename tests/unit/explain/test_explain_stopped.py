"""Campaigns that git, a hold, a person or Kueue stopped."""

from dataclasses import replace

import pytest
from unit.explain.scene import BEFORE, FILE, Scene, condition, repository, rests, runs, waits
from unit.reconcile.live_objects import Object, workload

from converter.explain.rules import first_sentence
from converter.names import (
    HELD_AT_ANNOTATION,
    HELD_BY_ANNOTATION,
    HOLD_ANNOTATION,
    HOLD_REASON_ANNOTATION,
)

PAUSED = repository(suspend=True)
HOLD = {
    HOLD_ANNOTATION: "7",
    HELD_BY_ANNOTATION: "ops",
    HELD_AT_ANNOTATION: "2026-01-01T10:00:00Z",
    HOLD_REASON_ANNOTATION: "node\x1b[31m lost\n",
}
LONG_AGO = condition("Evicted", reason="Deactivated")
JUST_NOW = {**LONG_AGO, "lastTransitionTime": "2026-01-01T11:59:58Z"}
TWO_MINUTES_AGO = {**LONG_AGO, "lastTransitionTime": "2026-01-01T11:58:00Z"}


def kueue(reason: str) -> Object:
    return condition("Evicted", reason=f"DeactivatedDueTo{reason}", message="it says why")


def going_on(scene: Scene) -> Scene:
    """The Job is not suspended, and has a pod."""
    (job,) = scene.jobs
    job["spec"]["suspend"] = False
    job["status"] = {"active": 1, "ready": 1}
    return scene


def active(scene: Scene) -> Scene:
    (workload,) = scene.workloads
    workload["spec"]["active"] = True
    return scene


def without_workload(scene: Scene) -> Scene:
    return replace(scene, workloads=())


def with_another(scene: Scene) -> Scene:
    """Its Job has a second Workload, which is active."""
    return replace(scene, workloads=(*scene.workloads, workload(scene.jobs[0], name="second")))


def long_ago(cause: str) -> Object:
    return {**LONG_AGO, "reason": f"DeactivatedDueTo{cause}"}


@pytest.mark.parametrize(
    ("scene", "code", "words"),
    [
        (rests(PAUSED), "paused-in-git", f"{FILE} says suspend: true"),
        (rests(), "paused-by-hand", "git lets it run"),
        (rests(annotations=HOLD), "held", "hold 7 of ops stops it since 2026-01-01T10:00:00Z: "),
        (rests(annotations=HOLD), "held", "node lost"),
        (rests(annotations={HOLD_ANNOTATION: "7"}), "held", "hold 7 stops it: no reason was given"),
        (rests(None, kueue("RequeuingLimitExceeded")), "deactivated", "were not ready in time"),
        (rests(None, kueue("MaximumExecutionTimeExceeded")), "deactivated", "max-exec-time"),
        (rests(None, kueue("AdmissionCheck")), "deactivated", "an admission check"),
        (rests(None, kueue("SomethingNew")), "deactivated", "(DeactivatedDueToSomethingNew)"),
        (going_on(rests(PAUSED)), "pause-not-enforced", "(1 pod on the cluster)"),
        (going_on(rests(PAUSED, LONG_AGO)), "pause-not-enforced", "Kueue has not stopped it"),
        (going_on(rests(PAUSED, JUST_NOW)), "pausing", "1 pod still ending"),
        (
            going_on(active(rests(PAUSED))),
            "pause-not-applied",
            "nothing on the cluster does: 1 pod",
        ),
        (rests(PAUSED, status={"terminating": 2}), "pausing", "2 pods still ending"),
        (
            active(rests(PAUSED)),
            "pause-not-applied",
            "nothing on the cluster does: Kueue may start it at any moment",
        ),
        (
            active(rests(PAUSED, status={"terminating": 1})),
            "pause-not-applied",
            "Kueue may start it at any moment",
        ),
        (without_workload(rests(PAUSED)), "pause-not-applied", "there is no Workload that could"),
        (
            without_workload(going_on(rests(PAUSED))),
            "pause-not-applied",
            "no Workload that could be paused: 1 pod there",
        ),
        (with_another(rests(PAUSED)), "pause-not-applied", "Kueue may start it at any moment"),
        (
            with_another(rests()),
            "pause-not-applied",
            "one of its Workloads is inactive, and another one is active: Kueue may start it",
        ),
        (
            with_another(rests(annotations=HOLD)),
            "hold-not-enforced",
            "hold 7 does not stop it: a Workload of it is active, and Kueue may start it",
        ),
        (rests(annotations={HOLD_ANNOTATION: "x"}), "held", "a hold whose instance cannot be read"),
        (
            rests(annotations=HOLD, status={"terminating": 2}),
            "pausing",
            "it is being held (hold 7): 2 pods still ending",
        ),
        (
            going_on(rests(None, LONG_AGO, annotations=HOLD)),
            "pause-not-enforced",
            "hold 7 is not carried out: its Workload is inactive, and Kueue has not stopped it",
        ),
        (active(rests(annotations=HOLD)), "hold-not-enforced", "Kueue may start it at any moment"),
        (going_on(active(rests(annotations=HOLD))), "hold-not-enforced", "is active, and 1 pod"),
        (going_on(active(rests(None, long_ago("X")))), "pause-not-enforced", "Workload is evicted"),
    ],
)
def test_who_stopped_it(scene: Scene, code: str, words: str) -> None:
    assert scene.first().code == code
    assert words in scene.first().sentence


TOLD = {"manager": "campaigns", "fieldsV1": {"f:spec": {"f:active": {}}}}
RESERVED = condition("QuotaReserved")


def told_to_stop(scene: Scene, time: str) -> Scene:
    (workload,) = scene.workloads
    workload["metadata"]["managedFields"] = [{**TOLD, "time": time}]
    return scene


def suspended(scene: Scene, time: str) -> Scene:
    scene.jobs[0]["status"]["conditions"] = [
        {"type": "Suspended", "status": "True", "lastTransitionTime": time}
    ]
    return scene


@pytest.mark.parametrize(
    ("scene", "code", "sentence"),
    [
        (
            rests(PAUSED, LONG_AGO, status={"terminating": 2}),
            "pause-not-enforced",
            f"it was stopped at {BEFORE}, and it still has 2 pods",
        ),
        (
            rests(PAUSED, TWO_MINUTES_AGO, status={"terminating": 2}),
            "pausing",
            "it is being stopped: 2 pods still ending",
        ),
        (
            suspended(rests(PAUSED, status={"active": 1}), BEFORE),
            "pause-not-enforced",
            f"it was stopped at {BEFORE}, and it still has 1 pod",
        ),
        (
            rests(PAUSED, RESERVED, JUST_NOW),
            "pausing",
            "it is being stopped: its quota is not free yet",
        ),
        (
            rests(PAUSED, RESERVED, LONG_AGO),
            "pause-not-enforced",
            f"it was stopped at {BEFORE}, and its quota is not free yet",
        ),
        (
            told_to_stop(rests(PAUSED, RESERVED), BEFORE),
            "pause-not-enforced",
            f"it was stopped at {BEFORE}, and its quota is not free yet",
        ),
        (
            suspended(told_to_stop(rests(PAUSED, RESERVED), "2026-01-01T11:59:58Z"), BEFORE),
            "pausing",
            "it is being stopped: its quota is not free yet",
        ),
        (rests(PAUSED, RESERVED), "pausing", "it is being stopped: its quota is not free yet"),
    ],
    ids=[
        "pods of a lost node",
        "pods that still have time",
        "pods without an eviction",
        "quota for a moment",
        "quota for an hour",
        "quota of one that never ran",
        "told to stop just now, suspended for an hour",
        "since nobody knows when",
    ],
)
def test_a_stop_that_takes_too_long_is_no_stop(scene: Scene, code: str, sentence: str) -> None:
    first = scene.first()
    assert (first.code, first.sentence) == (code, sentence)
    assert ("the platform team" in first.remedy) is (code == "pause-not-enforced")


def test_one_that_runs_in_spite_of_a_hold_says_so_in_the_table() -> None:
    scene = going_on(active(rests(annotations=HOLD)))
    assert scene.codes() == ["hold-not-enforced", "running"]
    assert first_sentence(scene.facts()).startswith("hold 7 does not stop it")


def without_queue(scene: Scene) -> Scene:
    """A Job that no queue system knows carries its hold itself."""
    (job,) = scene.jobs
    del job["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
    job["metadata"]["annotations"] |= HOLD
    return replace(scene, workloads=())


def test_a_hold_on_a_job_without_a_queue() -> None:
    assert without_queue(rests()).codes()[0] == "held"
    first = without_queue(going_on(rests())).first()
    assert first.code == "hold-not-enforced"
    assert first.sentence == "hold 7 does not stop it: its Job is not suspended, and 1 pod there"


def test_of_a_hold_that_no_call_can_name_an_administrator_is_asked() -> None:
    assert "ask an administrator" in rests(annotations={HOLD_ANNOTATION: "x"}).first().remedy
    assert rests(annotations=HOLD).first().remedy == (
        "ask ops to release hold 7; git cannot start it before"
    )


def test_what_is_to_be_lifted_is_named_all_of_it() -> None:
    scene = rests(PAUSED, annotations=HOLD)
    assert scene.codes() == ["held", "paused-in-git"]
    going = going_on(rests(PAUSED))
    assert going.codes() == ["pause-not-enforced", "paused-in-git"]


@pytest.mark.parametrize(
    ("reactivate", "remedy"),
    [
        (True, "the next `campaigns apply` queues it again"),
        (False, "write reactivate: always in converter.yaml"),
    ],
)
def test_how_a_deactivated_one_runs_again(reactivate: bool, remedy: str) -> None:
    scene = rests(repository(reactivate=reactivate), kueue("AdmissionCheck"))
    assert remedy in scene.first().remedy
    assert scene.first().details == ("Kueue says: it says why",)


def test_the_manager_that_paused_it_by_hand_is_named() -> None:
    scene = rests()
    (workload,) = scene.workloads
    fields: Object = {"f:spec": {"f:active": {}}}
    workload["metadata"]["managedFields"] = [{"manager": "kubectl-patch", "fieldsV1": fields}]
    assert "with kubectl-patch" in scene.first().sentence


def test_a_job_that_lost_its_queue_label_is_put_back_by_apply() -> None:
    scene = rests()
    del scene.jobs[0]["metadata"]["labels"]["kueue.x-k8s.io/queue-name"]
    outside = Scene(scene.repo, scene.jobs)
    assert outside.codes() == ["paused-by-hand"]
    assert "Kueue does not know it" in outside.first().sentence


@pytest.mark.parametrize("scene", [runs(), waits()])
def test_nothing_of_this_is_said_of_others(scene: Scene) -> None:
    said = {"held", "paused-in-git", "paused-by-hand", "deactivated", "pausing"}
    assert said.isdisjoint(scene.codes())
