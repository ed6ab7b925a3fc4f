"""The campaigns of an archive in every phase, as an API server would tell of them, and their page.

Always the same: the pictures in docs/images are of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from unit.reconcile.live_objects import (
    REPOSITORY,
    Object,
    queued,
    running,
    state,
    workload,
)
from unit.reconcile.queue_objects import chain, cluster_queue, flavor, group

from converter.explain.facts import facts_of
from converter.explain.rules import causes
from converter.manifest import Role
from converter.model import Campaign, Flavor, Pipeline, Repo, Settings, Size, SourceKind, Volume
from converter.names import (
    HELD_AT_ANNOTATION,
    HELD_BY_ANNOTATION,
    HOLD_ANNOTATION,
    HOLD_REASON_ANNOTATION,
    KUEUE_PRIORITY_LABEL,
    status_configmap,
)
from converter.observe.places import Place, Places
from converter.observe.refusal import Refusal
from converter.observe.snapshot import Snapshot
from converter.observe.status import statuses
from converter.observe.wanted import wanted_of
from converter.reconcile.record import Record
from converter.render import render
from converter.report.build import model_of
from converter.report.model import About, Model

NOW = datetime(2026, 3, 12, 9, 30, tzinfo=UTC)
SECRET = "s3cr3t-in-an-environment"  # noqa: S105 - it must not be on any page
SETTINGS = Settings(
    namespace="batch",
    queue="gpu",
    repository=REPOSITORY,
    window=20,
    priority_classes=("high", "low"),
    sizes={
        "small": Size("small", cpu="4", memory="16Gi", flavor="l40s"),
        "large": Size("large", cpu="8", memory="64Gi", flavor="a100"),
    },
    flavors=(Flavor("l40s", {"gpu": "l40s"}), Flavor("a100", {"gpu": "a100"})),
    env={"TOKEN": SECRET},
)


def at(day: int, hour: int = 9, month: int = 3) -> str:
    return f"2026-{month:02}-{day:02}T{hour:02}:00:00Z"


def campaign(
    name: str, volumes: int, pipeline: str = "ocr-small", stem: str = "", **keys: Any
) -> Campaign:
    ids = [f"{stem or name}-{number:04}" for number in range(1, volumes + 1)]
    listed = tuple(Volume(each, SourceKind.REFERENCE, each) for each in ids)
    return Campaign(name, f"campaigns/{name}.yaml", pipeline, listed, **keys)


def condition(
    kind: str, since: str, status: str = "True", reason: str = "", message: str = ""
) -> Object:
    return {
        "type": kind,
        "status": status,
        "reason": reason,
        "message": message,
        "lastTransitionTime": since,
    }


def failed_pod(job: str, index: int, code: int, message: str) -> Object:
    ended = {"exitCode": code, "reason": "Error", "message": message, "finishedAt": at(10)}
    return {
        "metadata": {
            "name": f"{job}-{index}",
            "annotations": {
                "batch.kubernetes.io/job-completion-index": str(index),
                "batch.kubernetes.io/job-index-failure-count": "0",
            },
        },
        "spec": {},
        "status": {
            "phase": "Failed",
            "containerStatuses": [{"name": "main", "state": {"terminated": ended}}],
        },
    }


@dataclass
class Site:
    """A repository and what is on the cluster of it."""

    repo: Repo
    jobs: list[Object] = field(default_factory=list)
    workloads: list[Object] = field(default_factory=list)
    records: list[Object] = field(default_factory=list)
    pods: dict[str, tuple[Object, ...]] = field(default_factory=dict)
    places: dict[str, Place] = field(default_factory=dict)
    places_unread: str = ""
    chain: Any = None
    refusals: Mapping[str, Refusal | None] = field(default_factory=dict)
    unread: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self._rendered = {m.name: m for m in render(self.repo) if m.role is Role.CAMPAIGN}

    def add(
        self,
        name: str,
        created: str,
        *conditions: Object,
        runs: bool = False,
        stays: bool | None = None,
        workload_status: Object | None = None,
        **status: Any,
    ) -> tuple[Object, Object]:
        """A Job with this status, and its Workload with these conditions."""
        manifest = self._rendered[name]
        job = (running if runs else queued)(manifest)
        job["metadata"]["creationTimestamp"] = created
        job["status"] = status
        made = workload(job, active=stays)
        made["status"] = {"conditions": list(conditions), **(workload_status or {})}
        self.jobs.append(job)
        self.workloads.append(made)
        return job, made

    def add_running(
        self, name: str, created: str, admitted: str, flavor_name: str, **status: Any
    ) -> Object:
        given = {
            "podSetAssignments": [{"flavors": {"cpu": flavor_name, "nvidia.com/gpu": flavor_name}}]
        }
        of = [condition(kind, admitted) for kind in ("QuotaReserved", "Admitted")]
        job, _ = self.add(
            name,
            created,
            *of,
            runs=True,
            workload_status={"admission": given},
            startTime=admitted,
            **status,
        )
        return job

    def add_waiting(
        self, name: str, created: str, place: int, ahead: Iterable[str] = (), **more: Any
    ) -> None:
        message = (
            "couldn't assign flavors to pod set main: insufficient unused quota for nvidia.com/gpu"
        )
        pending = condition("QuotaReserved", created, "False", "Pending", message)
        self.add(name, created, pending, **more)
        if place:
            priority = {"high": 1000, "low": 100}.get(self.repo.campaigns[name].priority, 0)
            before = tuple(f"job-{each}" for each in ahead)
            self.places[f"job-{name}"] = Place(len(before) + 1, place, priority, before)

    def record(
        self,
        name: str,
        phase: str,
        started: str,
        finished: str,
        done: int,
        lost: Iterable[str] = (),
    ) -> None:
        named = tuple(lost)
        total = done + len(named)
        record = Record(phase, total, done, len(named), named, started, finished, "uid", "", "")
        labels = {
            **self._rendered[name].body["metadata"]["labels"],
            "gitops-campaigns.io/role": "status",
        }
        labels.pop("kueue.x-k8s.io/queue-name", None)
        self.records.append(
            {
                "kind": "ConfigMap",
                "metadata": {
                    "name": status_configmap(name),
                    "labels": labels,
                    "annotations": {"gitops-campaigns.io/repository": REPOSITORY},
                },
                "data": record.to_data(),
            }
        )

    def model(self, commit: str = "4f1c09e2a7b35d68c0e19f42ab77d3f58e06c1b9") -> Model:
        live = state(*self.jobs, *self.records, workloads=tuple(self.workloads))
        snapshot = Snapshot(
            NOW,
            live,
            Places(self.places, self.places_unread),
            chain=self.chain,
            pods=self.pods,
            refusals=self.refusals,
            unread=self.unread,
        )
        found = statuses(wanted_of(self.repo), live, REPOSITORY, self.places)
        facts = facts_of(self.repo, snapshot, found)
        why = {name: causes(each) for name, each in facts.items()}
        about = About(REPOSITORY, commit, "0.6.0", NOW)
        return model_of(about, self.repo.settings, snapshot, facts, why)


def repository(*campaigns: Campaign) -> Repo:
    pipelines = {
        f"{kind}-{size}": Pipeline(
            f"{kind}-{size}", f"pipelines/{kind}-{size}.yaml", "ocr@sha256:1", ("run",), size=size
        )
        for kind in ("ocr", "layout")
        for size in ("small", "large")
    }
    return Repo(SETTINGS, pipelines, {each.name: each for each in campaigns})


def placed(site: Site, names: Sequence[str]) -> None:
    """All of these wait, one behind the other."""
    before: list[str] = []
    for place, name in enumerate(names, start=1):
        site.places[f"job-{name}"] = Place(place, place, 0, tuple(before))
        before.append(f"job-{name}")


def queue() -> Object:
    """l40s is full and borrows, a100 has some free."""
    made = cluster_queue(
        group(
            {
                "l40s": {"cpu": "96", "memory": "384Gi", "nvidia.com/gpu": "24"},
                "a100": {"cpu": "128", "memory": "1Ti", "nvidia.com/gpu": "16"},
            }
        ),
        cohortName="imaging",
    )
    used = {
        "l40s": {"cpu": ("112", "16"), "memory": ("448Gi", "64Gi"), "nvidia.com/gpu": ("28", "4")},
        "a100": {"cpu": ("80", ""), "memory": ("640Gi", ""), "nvidia.com/gpu": ("10", "")},
    }
    made["status"] = {
        "flavorsReservation": [
            {
                "name": each,
                "resources": [
                    {"name": resource, "total": total, **({"borrowed": more} if more else {})}
                    for resource, (total, more) in amounts.items()
                ],
            }
            for each, amounts in used.items()
        ]
    }
    return made


def archive() -> Site:
    """Every phase once or more."""
    site = Site(
        repository(
            campaign("letters-1890-1914", 1200, "ocr-small", "letters", priority="high"),
            campaign("newspapers-1848", 640, "layout-large"),
            campaign("parish-registers", 96, "ocr-small"),
            campaign("map-sheets", 18, "layout-large", "sheet"),
            campaign("court-records", 400, "ocr-small", priority="high"),
            campaign("glass-negatives", 260, "layout-large"),
            campaign("herbarium", 3000, "ocr-small", priority="low"),
            campaign("estate-inventories", 150, "ocr-small", priority="low"),
            campaign("census-1900", 820, "ocr-small"),
            campaign("council-minutes", 310, "ocr-small", suspend=True),
            campaign("manuscripts-latin", 75, "layout-large", suspend=True),
            campaign("postcards", 500, "ocr-small"),
            campaign("dissertations", 220, "ocr-small", window=8),
            campaign("incunabula", 64, "layout-large"),
            campaign("atlases", 40, "layout-large"),
        )
    )
    site.add_running(
        *("letters-1890-1914", at(5), at(6, 14), "l40s"),
        active=20,
        ready=18,
        completedIndexes="0-411,420",
        failedIndexes="412,415",
    )
    site.pods["letters-1890-1914"] = (
        failed_pod("letters", 412, 13, "page 7: no text lines were found"),
        failed_pod("letters", 415, 13, "https://archive.example.org/415: 404 Not Found"),
    )
    site.add_running(
        *("newspapers-1848", at(20, 8, 2), at(22, 6, 2), "a100"),
        active=10,
        ready=10,
        completedIndexes="0-501",
    )
    lost = condition("Failed", at(10, 17), reason="FailedIndexes")
    site.add_running(
        *("parish-registers", at(4), at(4, 11), "l40s"),
        completedIndexes="0-88",
        failedIndexes="89-95",
        conditions=[lost],
    )
    site.pods["parish-registers"] = tuple(
        failed_pod("parish-registers", index, 137, "") for index in range(89, 96)
    )
    site.add_running(
        *("map-sheets", at(9), at(9, 12), "a100"),
        failedIndexes="0-17",
        conditions=[condition("Failed", at(11, 2), reason="FailedIndexes")],
    )
    site.pods["map-sheets"] = tuple(
        failed_pod("map-sheets", index, 1, "FileNotFoundError: /models/layout-v3.safetensors")
        for index in range(18)
    )
    site.add_waiting("court-records", at(11), 1)
    site.add_waiting("glass-negatives", at(11, 13), 4, ["court-records"])
    site.add_waiting("herbarium", at(12, 7), 7, ["court-records", "glass-negatives"])
    site.add(
        "estate-inventories",
        at(2),
        condition(
            "Evicted", at(11, 9), reason="Preempted", message="Preempted to accommodate a workload"
        ),
        condition("QuotaReserved", at(11, 9), "False", "Pending", "waiting"),
        workload_status={"accumulatedPastExecutionTimeSeconds": 259_200},
        completedIndexes="0-57",
    )
    site.places["job-estate-inventories"] = Place(
        4, 8, 100, ("job-court-records", "job-glass-negatives", "job-herbarium")
    )
    _, held = site.add(
        "census-1900",
        at(25, 9, 2),
        condition("Evicted", at(9, 15), reason="Deactivated"),
        stays=False,
        completedIndexes="0-300",
        workload_status={"accumulatedPastExecutionTimeSeconds": 700_000},
    )
    held["metadata"]["annotations"] = {
        HOLD_ANNOTATION: "7",
        HELD_BY_ANNOTATION: "imaging-ops@example.org",
        HELD_AT_ANNOTATION: at(9, 15),
        HOLD_REASON_ANNOTATION: "the shelf is moved to another room",
    }
    site.add(
        "council-minutes",
        at(3),
        condition("Evicted", at(8), reason="Deactivated"),
        stays=False,
        completedIndexes="0-119",
        workload_status={"accumulatedPastExecutionTimeSeconds": 320_000},
    )
    job = site.add_running(
        "manuscripts-latin", at(6), at(6, 20), "a100", active=3, ready=3, completedIndexes="0-40"
    )
    site.workloads[-1]["spec"]["active"] = False
    site.workloads[-1]["status"]["conditions"].append(
        condition("Evicted", at(12, 9), reason="Deactivated")
    )
    job = site.add_running(
        "dissertations", at(7), at(8, 3), "l40s", active=8, ready=8, completedIndexes="0-69"
    )
    job["metadata"]["annotations"]["gitops-campaigns.io/window"] = "4"
    site.add_running(
        *("incunabula", at(27, 9, 2), at(27, 12, 2), "a100"),
        completedIndexes="0-63",
        conditions=[condition("Complete", at(3, 4))],
        completionTime=at(3, 4),
    )
    site.record("atlases", "Finished", at(16, 9, 2), at(19, 18, 2), 40)
    for each in site.jobs:
        priority = site.repo.campaigns[each["metadata"]["name"]].priority
        if priority:
            each["metadata"]["labels"][KUEUE_PRIORITY_LABEL] = priority
    flavors = [flavor(each, {"gpu": each}) for each in ("l40s", "a100")]
    site.chain = chain(queue(), flavors)
    site.refusals = {"postcards": None, "dissertations": None}
    return site
