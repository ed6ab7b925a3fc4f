"""How pods that did not succeed came to their end, in words. Pure."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final

from converter.cluster.objects import Object, annotation, label, true_condition
from converter.explain.pods import container_statuses
from converter.explain.text import last_words
from converter.wording import said

INDEX: Final = "batch.kubernetes.io/job-completion-index"
FAILURES: Final = "batch.kubernetes.io/job-index-failure-count"
GIVEN_UP: Final = 13

_EXITS: Final = {
    GIVEN_UP: "given up without another try",
    126: "the command cannot be executed",
    127: "the command was not found",
    137: "killed",
    139: "segmentation fault",
    143: "ended by SIGTERM",
}


@dataclass(frozen=True, slots=True)
class Failure:
    """The last failed pod of an index. `tries` counts the failures of that index so far.

    `kind` is a word for what happened: ``oom``, ``deadline``, ``gate``, ``evicted`` or ``exit``.
    """

    index: int
    kind: str
    how: str
    message: str
    tries: int

    @property
    def line(self) -> str:
        """With what it said last."""
        return f"{self.how}: {self.message}" if self.message else self.how


def failures(pods: Iterable[Object]) -> Mapping[int, Failure]:
    """The last failure of each index; what was disrupted by others is nobody's failure."""
    found: dict[int, tuple[str, Failure]] = {}
    for pod in pods:
        if (pod.get("status") or {}).get("phase") != "Failed":
            continue
        index = annotation(pod, INDEX) or label(pod, INDEX)
        if not index.isdigit() or true_condition(pod, "DisruptionTarget"):
            continue
        failure, ended = _failure(int(index), pod)
        if ended >= found.get(failure.index, ("",))[0]:
            found[failure.index] = (ended, failure)
    return {index: found[index][1] for index in sorted(found)}


def how_it_ended(pod: Object) -> str:
    """How one pod failed, with its last words; empty where it did not."""
    if (pod.get("status") or {}).get("phase") != "Failed":
        return ""
    return _failure(0, pod)[0].line


def meaning_of(code: int) -> str:
    """What an exit code says by itself; empty for most."""
    return _EXITS.get(code, "")


def _failure(index: int, pod: Object) -> tuple[Failure, str]:
    """And when it was, which is RFC 3339 and so sorts as text."""
    tried = annotation(pod, FAILURES)
    tries = int(tried) + 1 if tried.isdigit() else 1
    status = pod.get("status") or {}
    terminated = _terminated(pod)
    ended = str(terminated.get("finishedAt") or pod["metadata"].get("creationTimestamp") or "")
    message = last_words(terminated.get("message"))
    kind, how = _how(pod, terminated)
    if kind in ("deadline", "evicted") and not message:
        message = said(status.get("message"))
    return Failure(index, kind, how, message, tries), ended


def _how(pod: Object, terminated: Object) -> tuple[str, str]:
    reason, code = str((pod.get("status") or {}).get("reason") or ""), terminated.get("exitCode")
    if reason == "DeadlineExceeded":
        seconds = pod["spec"].get("activeDeadlineSeconds")
        return "deadline", f"ran longer than {seconds} s (max_seconds)"
    if reason == "Evicted":
        return "evicted", "evicted by its node"
    if terminated.get("reason") == "OOMKilled":
        return "oom", f"exit {code}: out of memory (OOMKilled)"
    if terminated.get("container") == "warmup-wait":
        return "gate", f"exit {code}: gave up waiting for the warm-up"
    if code is None:
        return "exit", said(reason) or "failed"
    meaning = meaning_of(int(code))
    return "exit", f"exit {code}" + (f": {meaning}" if meaning else "")


def _terminated(pod: Object) -> Object:
    """Of the container that made the pod fail: the first that did not end well."""
    for container in container_statuses(pod):
        ended = (container.get("state") or {}).get("terminated")
        if ended and ended.get("exitCode") != 0:
            return {**ended, "container": container.get("name")}
    return {}
