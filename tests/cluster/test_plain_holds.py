"""Holds without a queue on what starts pods by way of others: TrainJobs of the real Trainer.

And how often pods come of a start: of a TrainJob's and of a Job's.
"""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import pytest
from cluster.team import IMAGE, SLOW, Object, condition, eventually
from conftest import RunningCluster
from localcluster.errors import ClusterError
from unit.holds.state_table import Outcome, ends, outcome_of, outcomes

from converter.cluster.client import Client
from converter.errors import Conflict, Invalid
from converter.holds.carry_out import carry_out
from converter.holds.deadline import deadline_in
from converter.holds.errors import HoldError
from converter.holds.kinds import OWNERS
from converter.holds.plain import PlainStore
from converter.holds.rules import Action, Call
from converter.names import (
    HOLD_ANNOTATION,
    OPENED_ANNOTATION,
    STARTS_ANNOTATION,
    SUSPEND_ANNOTATION,
    WAS_INACTIVE_ANNOTATION,
)

HOLD, RELEASE, OPEN = Action.HOLD, Action.RELEASE, Action.OPEN
# A pod that does not end when it is asked to.
STUBBORN = "trap '' TERM; while :; do sleep 1; done"
FIRST_FAILS = (
    'if [ "$JOB_COMPLETION_INDEX" = 0 ]; then sleep 1; exit 1; fi; '
    "trap '' TERM; while :; do sleep 1; done"
)
TRAINER = "trainer.kubeflow.org/v1alpha1"
NUMBERS = itertools.count()
# What comes of a call only where somebody has written the object beside it.
ELSEWHERE = {Outcome.STOPPED_AGAIN, Outcome.PLACED_ON_INACTIVE}


@dataclass(frozen=True)
class Plain:
    """A namespace without a queue, and calls on what is in it as the administrator."""

    cluster: RunningCluster
    namespace: str
    client: Client
    met: set[Outcome] = field(default_factory=set)

    def create(self, kind: str, name: str, script: str, **spec: object) -> None:
        """A Job, or a TrainJob with a runtime of its own, at its start gate."""
        made = _job(name, script, **spec) if kind == "Job" else _train_job(name, script)

        def is_there() -> bool:
            try:
                self.cluster.local.kubectl.apply(
                    {**each, "metadata": {**each["metadata"], "namespace": self.namespace}}
                    for each in made
                )
            except ClusterError as error:
                # Trainer's webhook hears of the runtime a moment after the API server has it.
                if "specified trainingRuntime must be created before" in str(error):
                    return False
                raise
            return True

        eventually(is_there, f"{kind}/{name} is there")

    def call(self, action: Action, kind: str, name: str, instance: int = 0) -> str:
        """How a call ends: "wrote", "stands", or the name of its error."""
        store = PlainStore(self.client, self.namespace, OWNERS[kind], name)
        outcome = outcome_of(store.read(deadline_in(30)), action, instance)
        call = Call(action, instance, at="2026-01-01T00:00:00Z", by="tests")
        try:
            ended = "wrote" if carry_out(store, call, deadline_in(30)).wrote else "stands"
        except HoldError as error:
            ended = type(error).__name__
        assert ends(outcome) == ended
        self.met.add(outcome)
        return ended

    def get(self, kind: str, name: str) -> dict[str, Any]:
        return dict(self.client.get(OWNERS[kind].resource, self.namespace, name))

    def version(self, kind: str, name: str) -> str:
        return str(self.get(kind, name)["metadata"]["resourceVersion"])

    def update_spec(self, kind: str, name: str, **keys: Any) -> Object:
        """Update these keys of an object's spec, whatever its controller writes meanwhile."""
        while True:
            found = self.get(kind, name)
            changed = {**found, "spec": {**found["spec"], **keys}}
            try:
                return self.client.replace(OWNERS[kind].resource, self.namespace, changed)
            except Conflict:
                continue

    def looks(self, kind: str, name: str) -> tuple[bool, str, str, str]:
        """Whether it is suspended, the hold, whether it was opened, and its starts."""
        found = self.get(kind, name)
        annotations = found["metadata"].get("annotations", {})
        said = (HOLD_ANNOTATION, OPENED_ANNOTATION, STARTS_ANNOTATION)
        hold, opened, starts = (annotations.get(key, "") for key in said)
        return found["spec"]["suspend"], hold, opened, starts

    def pods(self, kind: str, name: str) -> list[Object]:
        """Its pods, by the label that the product knows them by."""
        selector = f"--selector={OWNERS[kind].pods_label}={name}"
        found = self.kubectl("get", "pods", selector, "--output=json")
        items: list[Object] = json.loads(found)["items"]
        return items

    def runs(self, kind: str, name: str) -> bool:
        return any(pod["status"]["phase"] == "Running" for pod in self.pods(kind, name))

    def pods_created(self, since: int, name: str) -> int:
        """How many pods were created after a mark whose name begins like this."""
        self.cluster.local.audit_mark()
        created = self.cluster.local.audit_log.events(
            since, verbs=("create",), resource="pods", subresource="", namespace=self.namespace
        )
        names = [
            event.name or (event.body or {}).get("metadata", {}).get("generateName", "")
            for event in created
            if event.code == 201
        ]
        return sum(found.startswith(f"{name}-") for found in names)

    def writes(self, since: int, name: str) -> list[str]:
        """The verbs of what the product wrote of an object after a mark."""
        self.cluster.local.audit_mark()
        asked = self.cluster.local.audit_log.events(
            since, user_agent="campaigns/", namespace=self.namespace
        )
        return [event.verb for event in asked if event.is_write and event.name == name]

    def kubectl(self, *arguments: str) -> str:
        return self.cluster.kubectl(f"--namespace={self.namespace}", *arguments)


def _pod(name: str, script: str) -> Object:
    container = {"name": name, "image": IMAGE, "command": ["/bin/sh", "-euc", script]}
    return {
        "restartPolicy": "Never",
        "terminationGracePeriodSeconds": 300,
        "containers": [container],
    }


def _job(name: str, script: str, **more: object) -> list[Object]:
    spec = {"suspend": True, "completionMode": "Indexed", "completions": 1, **more}
    spec["template"] = {"spec": _pod("main", script)}
    return [{"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}]


def _train_job(name: str, script: str) -> list[Object]:
    job = {"template": {"spec": _pod("node", script)}, "backoffLimit": 0}
    labels = {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}
    replicated = {"name": "node", "template": {"metadata": {"labels": labels}, "spec": job}}
    runtime = {
        "apiVersion": TRAINER,
        "kind": "TrainingRuntime",
        "metadata": {"name": name},
        "spec": {
            "mlPolicy": {"numNodes": 1},
            "template": {"spec": {"replicatedJobs": [replicated]}},
        },
    }
    train_job = {
        "apiVersion": TRAINER,
        "kind": "TrainJob",
        "metadata": {"name": name},
        "spec": {
            "suspend": True,
            "runtimeRef": {"kind": "TrainingRuntime", "name": name},
            "trainer": {"numNodes": 1},
        },
    }
    return [runtime, train_job]


@pytest.fixture
def plain(cluster: RunningCluster) -> Iterator[Plain]:
    cluster.local.add_trainer()
    namespace = f"plain-{os.getpid()}-{next(NUMBERS)}"
    cluster.kubectl("create", "namespace", namespace)
    yield Plain(cluster, namespace, Client.from_kubeconfig(kubeconfig=cluster.kubeconfig))
    everything = ("trainjobs,jobs", "--all", f"--namespace={namespace}", "--wait=false")
    cluster.kubectl("delete", *everything)
    cluster.kubectl("delete", "pods", "--all", f"--namespace={namespace}", "--force")
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")


@pytest.mark.parametrize("kind", ["Job", "TrainJob"])
def test_every_outcome_of_a_hold_without_a_queue(plain: Plain, kind: str) -> None:
    for name, script in (("one", STUBBORN), ("gated", SLOW), ("short", "true"), ("free", SLOW)):
        plain.create(kind, name, script)
    mark = plain.cluster.local.audit_mark()

    # No hold, at the gate; a hold there, which a release leaves shut.
    assert plain.call(RELEASE, kind, "gated", 1) == "StaleHold"
    assert plain.call(HOLD, kind, "gated", 1) == "wrote"
    assert plain.call(RELEASE, kind, "gated", 1) == "wrote"
    assert plain.looks(kind, "gated") == (True, "", "", "")
    assert plain.call(HOLD, kind, "gated", 2) == "wrote"
    assert plain.call(OPEN, kind, "gated") == "wrote"
    assert plain.looks(kind, "gated") == (True, "2", "true", "")
    assert plain.call(OPEN, kind, "gated") == "stands"
    assert plain.call(HOLD, kind, "gated", 3) == "wrote"
    assert plain.call(HOLD, kind, "gated", 2) == "StaleHold"
    assert plain.call(RELEASE, kind, "gated", 2) == "StaleHold"
    assert plain.writes(mark, "gated") == ["update"] * 5

    for name in ("one", "short", "free"):
        assert plain.call(OPEN, kind, name) == "wrote"
        assert plain.looks(kind, name) == (False, "", "true", "1")
    eventually(lambda: plain.runs(kind, "one"), "a pod that runs")
    eventually(lambda: plain.runs(kind, "free"), "another one")
    assert plain.call(HOLD, kind, "one", 7) == "wrote"
    assert plain.call(HOLD, kind, "free", 7) == "wrote"

    # Its pod does not end: nothing is written, and nothing runs beside it.
    eventually(
        lambda: "deletionTimestamp" in plain.pods(kind, "one")[0]["metadata"],
        "the pod was asked to end",
    )
    eventually(lambda: condition(plain.get(kind, "one"), "Suspended"), "and it said so")
    sent = plain.writes(mark, "one")

    def is_left_alone() -> bool:
        before = plain.version(kind, "one")
        assert plain.call(RELEASE, kind, "one", 7) == "PodsRemain"
        return plain.version(kind, "one") == before

    # Its controller may be writing the status still.
    eventually(is_left_alone, "a release that changes nothing")
    assert plain.writes(mark, "one") == sent
    assert plain.looks(kind, "one") == (True, "7", "true", "1")
    (left,) = plain.pods(kind, "one")
    plain.kubectl("delete", "pod", left["metadata"]["name"], "--force", "--grace-period=0")
    assert plain.call(RELEASE, kind, "one", 7) == "wrote"
    assert plain.looks(kind, "one") == (False, "", "true", "2")
    eventually(lambda: plain.runs(kind, "one"), "a pod after the release")
    assert plain.pods_created(mark, "one") == 2

    # What is held stays without pods meanwhile, and runs after its release alone.
    eventually(lambda: not plain.pods(kind, "free"), "no pod of what is held")
    assert plain.call(RELEASE, kind, "gated", 3) == "wrote"
    assert plain.looks(kind, "gated") == (False, "", "true", "1")
    eventually(lambda: plain.runs(kind, "gated"), "a pod of what was at its gate")
    assert plain.pods_created(mark, "gated") == 1
    assert plain.pods_created(mark, "free") == 1
    assert plain.looks(kind, "free") == (True, "7", "true", "1")

    eventually(lambda: condition(plain.get(kind, "short"), "Complete"), "its end")
    assert plain.call(HOLD, kind, "short", 5) == "Rejected"
    assert plain.call(OPEN, kind, "short") == "Rejected"
    plain.kubectl("annotate", kind, "short", f"{HOLD_ANNOTATION}=5")
    assert plain.call(HOLD, kind, "short", 5) == "stands"
    assert plain.call(RELEASE, kind, "short", 5) == "wrote"
    assert plain.looks(kind, "short") == (False, "", "true", "1")
    assert plain.pods_created(mark, "short") == 1
    # The others are of what others do beside a hold.
    assert plain.met >= outcomes(queued=False) - ELSEWHERE


def test_what_others_do_beside_a_hold(plain: Plain) -> None:
    for name in ("one", "paused", "going"):
        plain.create("Job", name, SLOW)
    plain.kubectl("annotate", "job", "paused", f"{SUSPEND_ANNOTATION}=true")
    assert plain.call(OPEN, "Job", "paused") == "wrote"
    assert plain.looks("Job", "paused") == (True, "", "true", "")

    # Somebody starts what is held: the same hold stops it once more.
    assert plain.call(OPEN, "Job", "one") == "wrote"
    assert plain.call(HOLD, "Job", "one", 51) == "wrote"
    plain.kubectl("patch", "job", "one", '--patch={"spec":{"suspend":false}}')
    assert plain.call(HOLD, "Job", "one", 51) == "wrote"
    assert plain.looks("Job", "one")[:2] == (True, "51")

    # It waited for somebody before the hold, and does so after it.
    plain.kubectl("annotate", "job", "one", f"{WAS_INACTIVE_ANNOTATION}=true")
    assert plain.call(HOLD, "Job", "one", 52) == "wrote"
    assert plain.call(RELEASE, "Job", "one", 52) == "wrote"
    assert plain.looks("Job", "one")[:2] == (True, "")

    # No call can be newer than a hold whose number nobody can read.
    plain.kubectl("annotate", "job", "one", "--overwrite", f"{HOLD_ANNOTATION}=soon")
    assert plain.call(HOLD, "Job", "one", 60) == "Rejected"
    assert plain.call(RELEASE, "Job", "one", 60) == "Rejected"

    plain.kubectl("patch", "job", "going", '--patch={"metadata":{"finalizers":["tests/stay"]}}')
    plain.kubectl("delete", "job", "going", "--wait=false")
    assert plain.call(HOLD, "Job", "going", 60) == "Rejected"
    assert plain.call(OPEN, "Job", "going") == "Rejected"
    plain.kubectl("patch", "job", "going", '--patch={"metadata":{"finalizers":null}}')

    # It is about to fail, and waits for a pod that does not end.
    plain.create("Job", "failing", FIRST_FAILS, completions=2, parallelism=2, backoffLimit=0)
    assert plain.call(OPEN, "Job", "failing") == "wrote"
    eventually(lambda: condition(plain.get("Job", "failing"), "FailureTarget"), "its failure")
    assert plain.call(HOLD, "Job", "failing", 60) == "Rejected"
    assert not condition(plain.get("Job", "failing"), "Failed")
    assert plain.met >= ELSEWHERE


def test_a_trainjob_is_suspended_by_an_update_of_nothing_else(plain: Plain) -> None:
    """What the CRD's rules let an update change: not who runs it, not what it runs."""
    plain.create("TrainJob", "one", "true")
    for key, other in (
        ("managedBy", "kueue.x-k8s.io/multikueue"),
        ("runtimeRef", {"kind": "TrainingRuntime", "name": "other"}),
        ("trainer", {"numNodes": 2}),
    ):
        with pytest.raises(Invalid, match="immutable"):
            plain.update_spec("TrainJob", "one", **{key: other})
    before = plain.get("TrainJob", "one")["spec"]
    answered = plain.update_spec("TrainJob", "one", suspend=False)
    assert answered["spec"] == {**before, "suspend": False}
    (pod,) = _once(lambda: plain.pods("TrainJob", "one"))
    assert pod["metadata"]["labels"]["jobset.sigs.k8s.io/jobset-name"] == "one"


def _once(found: Any) -> list[Object]:
    eventually(found, "a pod")
    pods: list[Object] = found()
    return pods
