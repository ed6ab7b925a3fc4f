"""Everything that happened in a namespace, in order, and what in it must never have.

The order is that of `resourceVersion`: all kinds are in one etcd, whose revision it is.
"""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cluster.team import Team

from converter.cluster.objects import (
    Object,
    annotation,
    controller_uid,
    index_ranges,
    is_active,
    is_suspended,
    job_end,
    label,
    name,
    true_condition,
    uid,
)

KINDS = {
    "pods": "/api/v1",
    "jobs": "/apis/batch/v1",
    "workloads": "/apis/kueue.x-k8s.io/v1beta2",
}
INDEX = "batch.kubernetes.io/job-completion-index"
REPORT = "report"


@dataclass(frozen=True)
class Change:
    """One write: an object as it was afterwards, or, of a REPORT, the paused campaigns as keys."""

    version: int
    kind: str
    type: str
    object: Object


def report(version: int, paused: Iterable[str]) -> Change:
    """An apply has ended and said that these are paused."""
    return Change(version, REPORT, "", dict.fromkeys(paused))


@dataclass(frozen=True)
class Watch:
    """The watches of a namespace, each into a file of its own."""

    team: Team
    files: dict[str, Path]

    def changes(self) -> list[Change]:
        """What was seen so far, the oldest first."""
        seen = [change for kind in self.files for change in self._read(kind)]
        return sorted(seen, key=lambda change: change.version)

    def is_up_to_date(self) -> bool:
        """Whether every object has been seen as it is now."""
        seen = {change.version for change in self.changes()}
        now = (each for kind in KINDS for each in _list(self.team, kind)["items"])
        return all(version_of(each) in seen for each in now)

    def _read(self, kind: str) -> Iterator[Change]:
        for line in self.files[kind].read_text().splitlines(keepends=True):
            # The last one can be one that is just being written.
            if line.endswith("\n"):
                event = json.loads(line)
                found = event["object"]
                assert event["type"] in ("ADDED", "MODIFIED", "DELETED"), event
                yield Change(version_of(found), kind, event["type"], found)


@contextmanager
def watched(team: Team, directory: Path) -> Iterator[Watch]:
    """Watch the namespace from now on, as the administrator."""
    kubectl = team.cluster.kubectl
    watch = Watch(team, {kind: directory / f"{kind}.json" for kind in KINDS})
    running = []
    try:
        for kind, file in watch.files.items():
            version = _list(team, kind)["metadata"]["resourceVersion"]
            path = f"{_path(team, kind)}?watch=1&timeoutSeconds=7200&resourceVersion={version}"
            with file.open("w") as output:
                command = (str(kubectl.command), f"--kubeconfig={kubectl.kubeconfig}")
                running.append(subprocess.Popen([*command, "get", "--raw", path], stdout=output))
        yield watch
    finally:
        for process in running:
            process.terminate()
            process.wait()


def version_of(found: Object) -> int:
    return int(found["metadata"]["resourceVersion"])


def _list(team: Team, kind: str) -> Any:
    return json.loads(team.kubectl("get", "--raw", _path(team, kind)))


def _path(team: Team, kind: str) -> str:
    return f"{KINDS[kind]}/namespaces/{team.namespace}/{kind}"


@dataclass
class Judge:
    """Goes through a history and collects what must not have happened.

    A Job may have pods from its start, which needs an admission, until its controller has
    acknowledged that it is suspended (condition Suspended). Kubernetes and Kueue do not stop in the
    same moment as they are told to:

    - The Job's controller can be at work on the Job as it was while it is suspended.
    - Kueue can be at work on an admission while the Workload is made inactive; it starts the Job,
      and stops it at once (`overtaken`, once in a pause at most).

    A pod that is made then is `late`: it must come to nothing.

    A volume is done when the Job counts its index. A pod that is stopped in the moment of its
    success is not counted, and its volume runs `again`.
    """

    faults: list[str] = field(default_factory=list)
    late: dict[str, str] = field(default_factory=dict)
    overtaken: int = 0
    again: int = 0
    stopped: int = 0
    _admitted: set[str] = field(default_factory=set)
    _queued: set[str] = field(default_factory=set)
    _inactive: set[str] = field(default_factory=set)
    _overtaken: set[str] = field(default_factory=set)
    _jobs: dict[str, Object] = field(default_factory=dict)
    _may_have_pods: set[str] = field(default_factory=set)
    _paused: set[str] = field(default_factory=set)
    _succeeded: set[str] = field(default_factory=set)
    _tried: set[tuple[str, int]] = field(default_factory=set)

    def hear(self, history: Iterable[Change]) -> Judge:
        of_kind = {
            "pods": self._pod,
            "jobs": self._job,
            "workloads": self._workload,
            REPORT: self._report,
        }
        for change in history:
            of_kind[change.kind](change)
        return self

    def _report(self, change: Change) -> None:
        self._paused = set(change.object)
        self._overtaken &= self._paused
        for key, job in self._jobs.items():
            if name(job) in self._paused and not self._is_paused(key, job):
                self._fault(change, f"Job {name(job)} was reported as paused, and is not")

    def _is_paused(self, key: str, job: Object) -> bool:
        """Whether nothing can start it from now on, or it has ended."""
        outside_queue = is_suspended(job) and key not in self._queued
        return outside_queue or key in self._inactive or job_end(job) is not None

    def _workload(self, change: Change) -> None:
        job = label(change.object, "kueue.x-k8s.io/job-uid")
        there = change.type != "DELETED"
        _keep(self._admitted, job, there and _is(change.object, "Admitted"))
        _keep(self._queued, job, there)
        _keep(self._inactive, job, there and not is_active(change.object))

    def _job(self, change: Change) -> None:
        job = change.object
        key = uid(job)
        before = self._jobs.get(key)
        self._jobs[key] = job
        if lost := completed(before) - completed(job):
            self._fault(change, f"Job {name(job)} lost the indexes {sorted(lost)}")
        if is_suspended(job):
            if _is(job, "Suspended") and not (before and _is(before, "Suspended")):
                self._may_have_pods.discard(key)
            return
        self._may_have_pods.add(key)
        if before is not None and not is_suspended(before):
            return
        if key not in self._admitted:
            self._fault(change, f"Job {name(job)} started with no admission")
        if name(job) not in self._paused:
            return
        if key in self._inactive and name(job) not in self._overtaken:
            self._overtaken.add(name(job))
            self.overtaken += 1
        else:
            self._fault(change, f"Job {name(job)} started after its pause was reported")

    def _pod(self, change: Change) -> None:
        pod = change.object
        key, owner, index = uid(pod), controller_uid(pod), int(annotation(pod, INDEX))
        if change.type == "ADDED":
            job = self._jobs[owner]
            if owner not in self._may_have_pods:
                self._fault(change, f"pod {name(pod)} of a Job that may have none")
            elif owner not in self._admitted or is_suspended(job) or name(job) in self._paused:
                self.late[key] = name(pod)
            if index in completed(job):
                self._fault(change, f"pod {name(pod)} of a volume that is done")
        if pod["status"].get("phase") != "Succeeded":
            self.stopped += change.type == "DELETED"
        elif key not in self._succeeded:
            self._succeeded.add(key)
            self.again += (owner, index) in self._tried
            self._tried.add((owner, index))
            if key in self.late:
                self._fault(change, f"pod {name(pod)}, made too late, ran to its end")

    def _fault(self, change: Change, what: str) -> None:
        self.faults.append(f"{change.version}: {what}")


def completed(job: Object | None) -> frozenset[int]:
    """The indexes that a Job counts as done."""
    status = (job or {}).get("status", {})
    return frozenset(index_ranges(status.get("completedIndexes", "")))


def _is(found: Object, condition: str) -> bool:
    return true_condition(found, condition) is not None


def _keep(members: set[str], member: str, is_member: bool) -> None:
    if is_member:
        members.add(member)
    else:
        members.discard(member)
