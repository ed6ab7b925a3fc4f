"""Holds on a real Job that no queue has: its own ``spec.suspend``, and its pods."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from cluster.team import IMAGE, SLOW, Object, condition, eventually
from conftest import RunningCluster

from converter.cluster.client import Client
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
)

# A pod that does not end when it is asked to.
STUBBORN = "trap '' TERM; while :; do sleep 1; done"


@dataclass(frozen=True)
class Plain:
    """A namespace, its Jobs, and calls on them as the administrator."""

    cluster: RunningCluster
    namespace: str
    client: Client

    def create(self, name: str, script: str, **annotations: str) -> None:
        """A Job at its start gate."""
        container = {"name": "main", "image": IMAGE, "command": ["/bin/sh", "-euc", script]}
        pod = {
            "restartPolicy": "Never",
            "terminationGracePeriodSeconds": 300,
            "containers": [container],
        }
        job = {
            "apiVersion": "batch/v1",
            "kind": "Job",
            "metadata": {"name": name, "namespace": self.namespace, "annotations": annotations},
            "spec": {"suspend": True, "template": {"spec": pod}},
        }
        self.cluster.local.kubectl.apply([job])

    def call(self, action: Action, job: str, instance: int = 0) -> str:
        """How a call ends: "wrote", "stands", or the name of its error."""
        store = PlainStore(self.client, self.namespace, OWNERS["Job"], job)
        call = Call(action, instance, at="2026-01-01T00:00:00Z", by="tests")
        try:
            return "wrote" if carry_out(store, call, deadline_in(30)).wrote else "stands"
        except HoldError as error:
            return type(error).__name__

    def job(self, name: str) -> Object:
        return self.client.get(OWNERS["Job"].resource, self.namespace, name)

    def looks(self, name: str) -> tuple[bool, str, str, str]:
        """Whether it is suspended, the hold, whether it was opened, and its starts."""
        job = self.job(name)
        annotations = job["metadata"].get("annotations", {})
        said = (HOLD_ANNOTATION, OPENED_ANNOTATION, STARTS_ANNOTATION)
        hold, opened, starts = (annotations.get(key, "") for key in said)
        return job["spec"]["suspend"], hold, opened, starts

    def pods(self, job: str) -> list[Object]:
        found = self.kubectl(
            "get", "pods", f"--selector=batch.kubernetes.io/job-name={job}", "--output=json"
        )
        items: list[Object] = json.loads(found)["items"]
        return items

    def runs(self, job: str) -> bool:
        return any(pod["status"]["phase"] == "Running" for pod in self.pods(job))

    def kubectl(self, *arguments: str) -> str:
        return self.cluster.kubectl(f"--namespace={self.namespace}", *arguments)


@pytest.fixture
def plain(cluster: RunningCluster) -> Iterator[Plain]:
    namespace = f"plain-{os.getpid()}"
    cluster.kubectl("create", "namespace", namespace)
    yield Plain(cluster, namespace, Client.from_kubeconfig(kubeconfig=cluster.kubeconfig))
    cluster.kubectl(
        "delete", "pods", "--all", f"--namespace={namespace}", "--force", "--wait=false"
    )
    cluster.kubectl("delete", "namespace", namespace, "--wait=false")


def test_every_outcome_on_a_job_without_a_queue(plain: Plain) -> None:
    plain.create("one", STUBBORN)
    plain.create("gated", SLOW)
    plain.create("paused", SLOW, **{SUSPEND_ANNOTATION: "true"})
    plain.create("short", "true")
    hold, release, start = Action.HOLD, Action.RELEASE, Action.OPEN

    # Held before it was opened: at its start gate after the release, and opened once.
    assert plain.call(hold, "gated", 1) == "wrote"
    assert plain.call(release, "gated", 1) == "wrote"
    assert plain.looks("gated") == (True, "", "", "")
    assert plain.call(hold, "gated", 2) == "wrote"
    assert plain.call(start, "gated") == "wrote"
    assert plain.looks("gated") == (True, "2", "true", "")
    assert plain.call(release, "gated", 2) == "wrote"
    assert plain.looks("gated") == (False, "", "true", "1")
    assert plain.call(start, "gated") == "stands"

    assert plain.call(start, "paused") == "wrote"
    assert plain.looks("paused") == (True, "", "true", "")

    for name in ("one", "short"):
        assert plain.call(start, name) == "wrote"
        assert plain.looks(name) == (False, "", "true", "1")
    eventually(lambda: plain.runs("one"), "a pod that runs")
    assert plain.call(hold, "one", 20) == "wrote"
    assert plain.call(hold, "one", 50) == "wrote"
    assert plain.call(hold, "one", 50) == "stands"
    assert plain.call(hold, "one", 20) == "StaleHold"
    assert plain.call(release, "one", 20) == "StaleHold"

    # Its pod does not end: nothing is written, and nothing runs beside it.
    eventually(lambda: "terminating" in plain.job("one")["status"], "the pod was asked to end")
    eventually(lambda: not plain.job("one")["status"].get("active"), "the Job controller said so")
    eventually(lambda: condition(plain.job("one"), "Suspended"), "and has suspended it")
    before = plain.job("one")["metadata"]["resourceVersion"]
    assert plain.call(release, "one", 50) == "PodsRemain"
    assert plain.job("one")["metadata"]["resourceVersion"] == before
    assert plain.looks("one") == (True, "50", "true", "1")
    (left,) = plain.pods("one")
    plain.kubectl("delete", "pod", left["metadata"]["name"], "--force", "--grace-period=0")
    assert plain.call(release, "one", 50) == "wrote"
    assert plain.looks("one") == (False, "", "true", "2")
    eventually(lambda: plain.runs("one"), "another pod")

    # Suspended by others beside the hold, or started; and what nobody can read.
    assert plain.call(hold, "one", 51) == "wrote"
    plain.kubectl("patch", "job", "one", '--patch={"spec":{"suspend":false}}')
    assert plain.call(hold, "one", 51) == "wrote"
    assert plain.looks("one")[:2] == (True, "51")
    plain.kubectl("annotate", "job", "one", "--overwrite", f"{HOLD_ANNOTATION}=soon")
    assert plain.call(hold, "one", 60) == "Rejected"
    assert plain.call(release, "one", 60) == "Rejected"

    eventually(lambda: condition(plain.job("short"), "Complete"), "its end")
    assert plain.call(hold, "short", 5) == "Rejected"
    assert plain.call(release, "short", 5) == "StaleHold"
    plain.kubectl("annotate", "job", "short", f"{HOLD_ANNOTATION}=5")
    assert plain.call(hold, "short", 5) == "stands"
    assert plain.call(release, "short", 5) == "wrote"
    assert plain.looks("short") == (False, "", "true", "1")
    plain.kubectl("delete", "job", "gated", "--cascade=foreground", "--wait=false")
    if plain.kubectl("get", "job", "gated", "--ignore-not-found"):
        assert plain.call(hold, "gated", 60) == "Rejected"
