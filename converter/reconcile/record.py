"""How a campaign ended, kept beyond its Job.

A finished Job is reaped after its TTL. The record in ConfigMap ``campaign-<job>-status`` stays, and
a campaign that it calls finished is never run again.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from converter.cluster.objects import (
    Object,
    annotation,
    index_ranges,
    is_ours,
    job_end,
    label,
    name,
    uid,
)
from converter.manifest import Role
from converter.names import (
    CAMPAIGN_LABEL,
    COMMIT_ANNOTATION,
    FOREIGN_TOOL_ANNOTATIONS,
    HOLD_HISTORY_ANNOTATION,
    MANAGED_BY_LABEL,
    MANAGED_BY_VALUE,
    PIPELINE_LABEL,
    REPOSITORY_ANNOTATION,
    ROLE_LABEL,
    VOLUMES_ANNOTATION,
    campaign_configmap,
    status_configmap,
)
from converter.reconcile.live import Live, in_role, workloads_of
from converter.times import instant
from converter.volumes import VOLUMES_KEY, parse_volumes

FINISHED = "Finished"
PARTLY_FAILED = "PartlyFailed"
FAILED = "Failed"
PHASES = (FINISHED, PARTLY_FAILED, FAILED)


@dataclass(frozen=True, slots=True)
class Record:
    """How one campaign Job ended. Times are RFC 3339 as the API server wrote them, in UTC.

    `volumes_sha256` is the digest of the list that was run, `commit` the git commit whose apply
    last changed the campaign; each is empty where that is not known.
    """

    phase: str
    total: int
    done: int
    failed: int
    failed_volumes: tuple[str, ...]
    started_at: str
    finished_at: str
    job_uid: str
    volumes_sha256: str
    commit: str

    def to_data(self) -> dict[str, str]:
        """The ConfigMap's ``data``."""
        return {
            "phase": self.phase,
            "volumesTotal": str(self.total),
            "volumesDone": str(self.done),
            "volumesFailed": str(self.failed),
            "failedVolumes": "".join(f"{volume}\n" for volume in self.failed_volumes),
            "startedAt": self.started_at,
            "finishedAt": self.finished_at,
            "jobUid": self.job_uid,
            "volumesSha256": self.volumes_sha256,
            "commit": self.commit,
        }

    @classmethod
    def from_data(cls, data: Mapping[str, str]) -> "Record":
        """Read ``data`` back. Raises ValueError when it is not a record that we wrote."""
        if data.get("phase") not in PHASES or not data.get("jobUid"):
            raise ValueError("no phase or no jobUid")
        try:
            return cls(
                phase=data["phase"],
                total=int(data["volumesTotal"]),
                done=int(data["volumesDone"]),
                failed=int(data["volumesFailed"]),
                failed_volumes=tuple(filter(None, data["failedVolumes"].split("\n"))),
                started_at=_time(data, "startedAt"),
                finished_at=_time(data, "finishedAt"),
                job_uid=data["jobUid"],
                volumes_sha256=data["volumesSha256"],
                commit=data["commit"],
            )
        except KeyError as missing:
            raise ValueError(f"no {missing.args[0]}") from missing


def _time(data: Mapping[str, str], key: str) -> str:
    """A time with its zone, or an empty one: who reads a record counts on that."""
    if data[key] and instant(data[key]) is None:
        raise ValueError(f"{key} is {data[key]!r}, and no time such as 2026-01-31T09:00:00Z")
    return data[key]


def record_of(job: Object, volumes: Object | None) -> Record | None:
    """The record of a Job that has ended; None while it may still run.

    `volumes` is the campaign's ConfigMap: it gives the failed indexes their names; without it they
    are called by number. A Job with one failed index is Failed for Kubernetes, even when all
    others succeeded.
    """
    end = job_end(job)
    if end is None:
        return None
    status = job.get("status") or {}
    total = int(job["spec"].get("completions") or 0)
    completed = frozenset(index_ranges(status.get("completedIndexes") or ""))
    ids = _volume_ids(volumes)
    # An index that never ran is as little done as one that failed.
    undone = tuple(
        ids[index] if index < len(ids) else f"index {index}"
        for index in range(total)
        if index not in completed
    )
    partly = PARTLY_FAILED if completed else FAILED
    return Record(
        phase=FINISHED if end["type"] == "Complete" else partly,
        total=total,
        done=len(completed),
        failed=len(undone),
        failed_volumes=undone,
        started_at=status.get("startTime") or "",
        finished_at=status.get("completionTime") or end.get("lastTransitionTime") or "",
        job_uid=uid(job),
        volumes_sha256=annotation(volumes, VOLUMES_ANNOTATION) if volumes else "",
        commit=annotation(volumes, COMMIT_ANNOTATION) if volumes else "",
    )


def _volume_ids(volumes: Object | None) -> tuple[str, ...]:
    data = (volumes or {}).get("data") or {}
    try:
        return tuple(volume_id for volume_id, _ in parse_volumes(data.get(VOLUMES_KEY, "")))
    except ValueError:
        # Somebody edited it. How the Job ended is known all the same, and is what counts.
        return ()


def records_to_write(live: Live, repository: str) -> tuple[Object, ...]:
    """The record ConfigMaps that are missing or differ, for every Job of ours that has ended.

    The history of the Job's holds is kept with them, as an annotation.
    """
    wanted = []
    for job in in_role(live.jobs.values(), Role.CAMPAIGN, repository):
        volumes = live.configmaps.get(campaign_configmap(name(job)))
        record = record_of(job, volumes if volumes and is_ours(volumes, repository) else None)
        if record is None:
            continue
        present = live.configmaps.get(status_configmap(name(job)))
        if present is not None and not is_ours(present, repository):
            continue
        if present is not None and volumes is None and _is_of(present, record.job_uid):
            # Written while the volumes were still known: it says more than could be said now.
            continue
        # A Workload that is gone has taken its history with it.
        recorded = annotation(present, HOLD_HISTORY_ANNOTATION) if present else ""
        holds = _hold_history(job, live) or recorded
        if present is None or present.get("data") != record.to_data() or holds != recorded:
            wanted.append(_configmap(job, record, repository, holds))
    return tuple(wanted)


def _hold_history(job: Object, live: Live) -> str:
    carriers = (*workloads_of(job, live.workloads), job)
    return next(filter(None, (annotation(each, HOLD_HISTORY_ANNOTATION) for each in carriers)), "")


def _is_of(present: Object, job_uid: str) -> bool:
    try:
        return Record.from_data(present.get("data") or {}).job_uid == job_uid
    except ValueError:
        return False


def _configmap(job: Object, record: Record, repository: str, holds: str) -> Object:
    annotations = {REPOSITORY_ANNOTATION: repository, **FOREIGN_TOOL_ANNOTATIONS}
    if holds:
        annotations[HOLD_HISTORY_ANNOTATION] = holds
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": status_configmap(name(job)),
            "namespace": job["metadata"]["namespace"],
            "labels": {
                MANAGED_BY_LABEL: MANAGED_BY_VALUE,
                CAMPAIGN_LABEL: label(job, CAMPAIGN_LABEL),
                PIPELINE_LABEL: label(job, PIPELINE_LABEL),
                ROLE_LABEL: Role.STATUS.value,
            },
            "annotations": annotations,
        },
        "data": record.to_data(),
    }
