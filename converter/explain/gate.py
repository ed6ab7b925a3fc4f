"""Pods that wait for their pipeline's warm-up."""

from collections.abc import Iterator
from typing import Final

from converter.cluster.objects import Object, job_end, true_condition
from converter.explain.cause import Cause
from converter.explain.facts import Part
from converter.explain.failed_pods import how_it_ended
from converter.explain.pods import Whose, not_started
from converter.explain.text import counted
from converter.names import warmup_job
from converter.observe.phase import Phase
from converter.wording import said

GATE: Final = "warmup-wait"


def behind_warmup(part: Part) -> Iterator[Cause]:
    """Pods whose gate has not opened, and what the warm-up is at."""
    waiting = [pod for pod in part.pods if _waits(pod)]
    if not waiting or part.status.phase is not Phase.RUNNING:
        return
    pods, snapshot, pipeline = (
        counted(len(waiting), "pod"),
        part.facts.snapshot,
        part.status.pipeline,
    )
    name = warmup_job(pipeline)
    job = snapshot.live.jobs.get(name)
    wait = "waits" if len(waiting) == 1 else "wait"
    if job is None:
        if snapshot.warmups_unread:
            yield Cause("warmup-running", f"{pods} {wait} for the warm-up Job {name}")
            return
        yield Cause(
            "warmup-missing",
            f"{pods} {wait} for the warm-up Job {name}, which is not on the cluster",
            "run `campaigns apply`, which creates it",
        )
        return
    yield from _of_warmup(part, job, f"{pods} {wait}")


def _of_warmup(part: Part, job: Object, waits: str) -> Iterator[Cause]:
    facts = part.facts
    name = warmup_job(part.status.pipeline)
    pods = facts.snapshot.pods.get(name, ())
    if true_condition(job, "Failed", "FailureTarget"):
        said_last = [how for pod in pods if (how := how_it_ended(pod))]
        yield Cause(
            "warmup-failed",
            f"{waits} for the warm-up Job {name}, which failed"
            + (f": {said_last[-1]}" if said_last else ""),
            f"correct what it says (warmup in {facts.pipeline_file} or converter.yaml, or what it "
            "downloads); `campaigns apply` makes a failed warm-up anew",
        )
        return
    if job_end(job) is not None:
        yield Cause("warmup-ended", f"{waits} for the warm-up Job {name}, which has just ended")
        return
    less = "wait for other pods to end, or have nodes added; a warm-up asks for cpu 2, memory 4Gi"
    events = facts.snapshot.events
    whose = Whose("pod of the warm-up", facts.pipeline_file, less, events)
    found = list(not_started(pods, whose))
    if found:
        for cause in found:
            yield Cause(
                "warmup-not-started",
                f"{waits} for the warm-up Job {name}, and {cause.sentence}",
                cause.remedy,
                cause.details,
            )
        return
    since = (job.get("status") or {}).get("startTime")
    failed = int((job.get("status") or {}).get("failed") or 0)
    again = f"; {counted(failed, 'pod')} of it failed before" if failed else ""
    yield Cause(
        "warmup-running",
        f"{waits} for the warm-up Job {name}, which runs since {said(since)}{again}",
        f"wait; they give up after {facts.settings.warmup_wait_seconds} s "
        "(warmup_wait_seconds in converter.yaml)",
    )


def _waits(pod: Object) -> bool:
    for container in (pod.get("status") or {}).get("initContainerStatuses") or ():
        if container.get("name") == GATE and (container.get("state") or {}).get("running"):
            return True
    return False
