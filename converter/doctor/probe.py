"""Small Jobs that are only tried: webhooks and policies see them, and nothing is stored."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from converter.cluster.objects import Object, is_suspended, label
from converter.doctor.finding import Check, Finding, Group
from converter.manifest import Role
from converter.names import (
    KUEUE_QUEUE_LABEL,
    MANAGED_BY_LABEL,
    MANAGED_BY_VALUE,
    ROLE_LABEL,
    warmup_job,
)

_QUEUED: Final = Check(Group.ADMISSION, "queued-job")
_PLAIN: Final = Check(Group.ADMISSION, "plain-job")
_NAME: Final = "campaigns-doctor"
_IMAGE: Final = f"campaigns.invalid/probe@sha256:{'0' * 64}"
_WEBHOOK: Final = re.compile(r'webhook "(?P<name>[^"]+)"')


@dataclass(frozen=True, slots=True)
class Refusal:
    """The API server did not take a Job: the HTTP status and its words."""

    status: int
    message: str


@dataclass(frozen=True, slots=True)
class NotTried:
    """It was not asked, or did not answer."""

    why: str


Tried = Object | Refusal | NotTried


def probe_job(namespace: str, queue: str, image: str = "") -> dict[str, Any]:
    """A Job as restricted as a campaign's; queued where `queue` is not empty, else like a warm-up.

    It is not suspended: what comes back tells whether Kueue would suspend it. A policy may refuse
    every other Job without a queue, and every image but those of the repository.
    """
    name = _NAME if queue else warmup_job(_NAME)
    ours = {MANAGED_BY_LABEL: MANAGED_BY_VALUE, ROLE_LABEL: Role.WARMUP.value}
    labels = {KUEUE_QUEUE_LABEL: queue} if queue else ours
    container = {
        "name": "main",
        "image": image or _IMAGE,
        "command": ["true"],
        "resources": {
            "requests": {"cpu": "1m", "memory": "1Mi"},
            "limits": {"cpu": "1m", "memory": "1Mi"},
        },
        "securityContext": {
            "allowPrivilegeEscalation": False,
            "capabilities": {"drop": ["ALL"]},
            "readOnlyRootFilesystem": True,
        },
    }
    pod = {
        "restartPolicy": "Never",
        "activeDeadlineSeconds": 60,
        "automountServiceAccountToken": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 65_532,
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "containers": [container],
    }
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"backoffLimit": 0, "completions": 1, "template": {"spec": pod}},
    }


def probe_findings(queued: Tried, plain: Tried) -> tuple[Finding, ...]:
    """What became of a Job with the queue label and of one without."""
    first = queued_finding(queued)
    if isinstance(queued, Refusal) and queued == plain:
        return (first,)
    return first, plain_finding(plain)


def queued_finding(tried: Tried) -> Finding:
    """Kueue suspends a queued Job as it is created; one that it does not runs without quota."""
    if not isinstance(tried, Mapping):
        return _not_accepted(_QUEUED, "a Job with the queue label", tried)
    if is_suspended(tried):
        return _QUEUED.ok("a Job with the queue label is accepted (dry run), and Kueue suspends it")
    return _QUEUED.fault(
        "a Job with the queue label is accepted (dry run), and Kueue does not suspend it: it would "
        "run at once, without quota",
        "have Kueue's webhooks installed, with batch/job among integrations.frameworks in its "
        "Configuration and this namespace not left out",
    )


def plain_finding(tried: Tried) -> Finding:
    """A Job without the queue label: a warm-up, and a new campaign that is paused."""
    if not isinstance(tried, Mapping):
        return _not_accepted(_PLAIN, "a Job without the queue label", tried)
    if queue := label(tried, KUEUE_QUEUE_LABEL):
        return _PLAIN.warning(
            f"Kueue puts a Job without the queue label into the LocalQueue {queue} of this "
            "namespace: new campaigns that are paused are held back, and warm-ups are queued",
            f"have the LocalQueue {queue} renamed",
        )
    if is_suspended(tried):
        return _PLAIN.warning(
            "Kueue suspends a Job without the queue label and never starts it: warm-ups would wait "
            "for ever",
            "have manageJobsWithoutQueueName set to false in Kueue's Configuration, or this "
            "namespace left out of managedJobsNamespaceSelector",
        )
    return _PLAIN.ok("a Job without the queue label is accepted (dry run) and left alone")


def _not_accepted(check: Check, what: str, tried: Refusal | NotTried) -> Finding:
    if isinstance(tried, NotTried):
        return check.unknown(f"{what} was not tried: {tried.why}", "run it as the apply identity")
    found = f"{what} is not accepted (dry run): {tried.message}"
    if tried.status == 404:
        return check.fault(found, "have the namespace created, or correct it in converter.yaml")
    webhook = _WEBHOOK.search(tried.message)
    if webhook is None:
        return check.fault(found, "ask who runs the cluster which policy forbids it")
    if tried.status >= 500:
        return check.fault(found, f"have the webhook {webhook['name']} and its Service repaired")
    return check.fault(found, f"ask who runs the webhook {webhook['name']}")
