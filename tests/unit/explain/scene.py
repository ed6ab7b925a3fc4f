"""One campaign in a state of its own, and the facts that come of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from unit.reconcile.live_objects import (
    NAMESPACE,
    REPOSITORY,
    Object,
    applied,
    ended,
    evicted,
    queued,
    running,
    state,
    workload,
)
from unit.reconcile.queue_objects import chain, cluster_queue, flavor, group

from converter.explain.cause import Cause
from converter.explain.facts import Facts, facts_of
from converter.explain.rules import causes
from converter.manifest import Manifest, Role
from converter.model import Campaign, Flavor, Pipeline, Repo, Settings, Size, SourceKind, Volume
from converter.observe.places import Place, Places
from converter.observe.refusal import By, Refusal
from converter.observe.snapshot import Snapshot
from converter.observe.status import statuses
from converter.observe.wanted import wanted_of
from converter.reconcile.queue_chain import QueueChain
from converter.render import render

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
BEFORE = "2026-01-01T11:00:00Z"
SIZE = Size("s", cpu="1", memory="2Gi", gpu=1, workdir="1Gi", flavor="a100")
SETTINGS = Settings(
    namespace=NAMESPACE,
    queue="gpu",
    repository=REPOSITORY,
    sizes={"s": SIZE},
    flavors=(Flavor("a100", {"gpu": "a100"}),),
)
ROOMY = {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "8"}
FILE = "campaigns/letters.yaml"


def repository(volumes: int = 4, **keys: Any) -> Repo:
    """A campaign `letters`. `keys` are the campaign's, the pipeline's or the settings'."""
    listed = tuple(Volume(f"v{n}", SourceKind.REFERENCE, f"v{n}") for n in range(volumes))
    campaign = Campaign("letters", FILE, "ocr", listed, window=2)
    pipeline = Pipeline("ocr", "pipelines/ocr.yaml", "ocr@sha256:1", ("ocr",), size="s")
    made: list[Any] = [campaign, pipeline, SETTINGS]
    for key, value in keys.items():
        at = next(number for number, each in enumerate(made) if hasattr(each, key))
        made[at] = replace(made[at], **{key: value})
    return Repo(made[2], {"ocr": made[1]}, {"letters": made[0]})


def held_back(why: str) -> Refusal:
    return Refusal(By.APPLY, why)


def refused(why: str) -> Refusal:
    return Refusal(By.API_SERVER, why)


@dataclass(frozen=True)
class Scene:
    """What is on the cluster of a repository."""

    repo: Repo = field(default_factory=repository)
    jobs: tuple[Object, ...] = ()
    workloads: tuple[Object, ...] = ()
    records: tuple[Object, ...] = ()
    pods: Mapping[str, tuple[Object, ...]] = field(default_factory=dict)
    events: Mapping[str, tuple[Object, ...]] = field(default_factory=dict)
    chain: QueueChain | None = None
    places: Mapping[str, Place] = field(default_factory=dict)
    refusals: Mapping[str, Refusal | None] = field(default_factory=dict)
    warmups_unread: bool = False

    def facts(self) -> Facts:
        live = state(*self.jobs, *self.records, workloads=self.workloads)
        snapshot = Snapshot(
            NOW, live, Places(self.places), self.chain, self.pods, self.events, self.refusals
        )
        snapshot = replace(snapshot, warmups_unread=self.warmups_unread)
        found = statuses(wanted_of(self.repo), live, REPOSITORY, self.places)
        return facts_of(self.repo, snapshot, found)["letters"]

    def causes(self) -> tuple[Cause, ...]:
        return causes(self.facts())

    def first(self) -> Cause:
        return self.causes()[0]

    def codes(self) -> list[str]:
        return [cause.code for cause in self.causes()]


def manifests(repo: Repo) -> list[Manifest]:
    """The Jobs of the campaign, as rendered."""
    return [each for each in render(repo) if each.role is Role.CAMPAIGN]


def a_queue(quota: Mapping[str, str] = ROOMY, used: Mapping[str, str] | None = None) -> QueueChain:
    """A ClusterQueue with the flavor a100, so much of which is in use."""
    queue = cluster_queue(group({"a100": quota}))
    in_use = [{"name": each, "total": total} for each, total in (used or {}).items()]
    queue["status"] = {"flavorsReservation": [{"name": "a100", "resources": in_use}]}
    return chain(queue, [flavor("a100", {"gpu": "a100"})])


def condition(kind: str, status: str = "True", reason: str = "", message: str = "") -> Object:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": BEFORE,
    }


def with_conditions(of: Object, *conditions: Object, **more: Any) -> Object:
    """A Workload with these conditions and these members of its status."""
    made = copy.deepcopy(of)
    made["status"] = {"conditions": list(conditions), **more}
    return made


def waits(repo: Repo | None = None, **scene: Any) -> Scene:
    """It is in the queue and has no quota."""
    repo = repo or repository()
    job = queued(manifests(repo)[0])
    job["metadata"]["creationTimestamp"] = BEFORE
    pending = condition("QuotaReserved", "False", "Pending", "no room")
    given = {"workloads": (with_conditions(workload(job), pending),), "chain": a_queue(), **scene}
    return Scene(repo, (job,), **given)


def runs(repo: Repo | None = None, status: Object | None = None, **scene: Any) -> Scene:
    """It was admitted an hour ago, and its Job has this status."""
    repo = repo or repository()
    job = {**running(manifests(repo)[0]), "status": status or {"active": 2, "ready": 2}}
    reserved = [condition(kind) for kind in ("QuotaReserved", "Admitted")]
    return Scene(repo, (job,), (with_conditions(workload(job), *reserved),), **scene)


def rests(
    repo: Repo | None = None,
    *conditions: Object,
    annotations: Mapping[str, str] | None = None,
    status: Object | None = None,
    **scene: Any,
) -> Scene:
    """Its Workload is inactive, with these conditions and annotations."""
    repo = repo or repository()
    job = {**evicted(manifests(repo)[0]), "status": status or {}}
    made = with_conditions(workload(job, active=False), *conditions)
    made["metadata"]["annotations"] = dict(annotations or {})
    return Scene(repo, (job,), (made,), **scene)


def has_ended(how: str, status: Object, repo: Repo | None = None, **scene: Any) -> Scene:
    repo = repo or repository()
    job = ended(manifests(repo)[0], how)
    job["status"] |= status
    return Scene(repo, (job,), **scene)


def warmup_job(repo: Repo, **status: Any) -> Object:
    made = next(each for each in render(repo) if each.role is Role.WARMUP)
    return {**applied(made), "status": status}


def pod(
    name: str,
    *,
    phase: str = "Pending",
    index: int = 0,
    failures: int = 0,
    conditions: tuple[Object, ...] = (),
    init: Object | None = None,
    main: Object | None = None,
    **status: Any,
) -> Object:
    """A pod; `init` and `main` are states of its containers."""
    containers = {
        "initContainerStatuses": ("warmup-wait", init),
        "containerStatuses": ("main", main),
    }
    return {
        "metadata": {
            "name": name,
            "annotations": {
                "batch.kubernetes.io/job-completion-index": str(index),
                "batch.kubernetes.io/job-index-failure-count": str(failures),
            },
        },
        "spec": {
            "activeDeadlineSeconds": 300,
            "nodeSelector": {"gpu": "a100"},
            "containers": [{"name": "main", "image": "ocr:1"}],
        },
        "status": {
            "phase": phase,
            "conditions": list(conditions),
            **{
                key: [{"name": of, "image": "ocr:1", "state": state}]
                for key, (of, state) in containers.items()
                if state
            },
            **status,
        },
    }


def exited(code: int, reason: str = "Error", message: str = "", at: str = BEFORE) -> Object:
    return {
        "terminated": {"exitCode": code, "reason": reason, "message": message, "finishedAt": at}
    }
