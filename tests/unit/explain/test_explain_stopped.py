"""Campaigns that git, a hold, a person or Kueue stopped."""

import pytest
from unit.explain.scene import FILE, Scene, condition, repository, rests, runs, waits
from unit.reconcile.live_objects import Object

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
    ],
)
def test_who_stopped_it(scene: Scene, code: str, words: str) -> None:
    assert scene.first().code == code
    assert words in scene.first().sentence


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
