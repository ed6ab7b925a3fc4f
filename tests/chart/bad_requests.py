"""Requests that the policies refuse, each with what the refusal says."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from chart.asking import Request, create
from chart.helm import Object
from chart.policy_objects import (
    APPLY,
    CI,
    CRONJOBS,
    DIGEST,
    IMAGE,
    JOBS,
    KUEUE,
    MAPS,
    MARIA,
    NAMESPACE,
    QUEUE,
    QUEUE_LABEL,
    REPLICAS,
    TOOL,
    UNMANAGED,
    Change,
    config_map,
    confined,
    job,
    labelled,
    main_with,
    named,
    owned,
    owner,
    paused,
    pod,
    pod_confined,
    pod_with,
    rendered,
    spec_with,
    unlabelled,
    unmarked,
    warmup,
    with_init,
    with_volume,
)

OTHER_TEAM = f"system:serviceaccount:{MAPS}:{QUEUE}-apply"

NO_QUEUE = (
    f"a Job of this namespace waits in a queue: give it the label {QUEUE_LABEL}: {QUEUE}; only a "
    "warm-up and a new paused campaign of campaigns apply have none"
)
OTHER_QUEUE = (
    f"a Job of this namespace waits in the queue {QUEUE} or second, and this one names {{}}: "
    "another one can be added to security.policies.queues of the chart"
)
LABEL_OFF = (
    f"the label {QUEUE_LABEL} cannot be taken off a Job: to stop the campaign, write "
    "suspend: true in its file and apply"
)
NOT_SUSPENDED = (
    "a Job with a queue label is suspended when it is created, and Kueue did not see to that: its "
    "webhook for Jobs is not there or leaves this namespace out, or the Job belongs to another Job"
)
STARTED = (
    "only Kueue starts a Job that is in a queue: to resume the campaign, take suspend: true out of "
    "its file and apply"
)
STARTED_UNQUEUED = (
    "this Job is in no queue, so it would run without an admission by Kueue: to resume the "
    "campaign, take suspend: true out of its file and apply"
)
UNPINNED = "an image is named by its digest, as host/path@sha256:<64 hex digits>: {}"
FOREIGN = (
    "an image comes from registry.example.com/ocr or registry.example.org/htr or "
    "mirror.example.com (security.allowedImageRepos of the chart): {}"
)
NO_JOB = (
    "only Jobs have pods in this namespace, and {} is not the controller of Jobs: write a campaign"
)
CHANGED = (
    "a pod stays as its Job made it: no other image, no container and no resources are added to "
    "what Kueue admitted"
)
PRIORITY = (
    "a pod has no priorityClassName, for which pods of others would be evicted: name a class of "
    "the queue as priority in the campaign's file"
)
HOST = "a pod shares nothing with its node: take out hostNetwork, hostPID and hostIPC"
HOST_PORT = "a container has no hostPort: main"
VOLUME = (
    "a volume is a configMap, csi, downwardAPI, emptyDir, ephemeral, persistentVolumeClaim, "
    "projected or secret, and no hostPath: bad"
)
AUTOMOUNT = "a pod has no service account token: set automountServiceAccountToken to false"
PROJECTED = (
    "a projected volume has only configMap, downwardAPI and secret, no service account token or "
    "certificate: bad"
)
ACCOUNT = "a pod runs as the service account default: take out serviceAccountName"
PRIVILEGED = "a container is not privileged and has allowPrivilegeEscalation: false: {}"
CAPABLE = "a container drops the capabilities ALL and adds none: main"
ROOT = "a container has runAsNonRoot: true and does not run as user 0: main"
SECCOMP = "a container has the seccompProfile RuntimeDefault or Localhost: main"
WRITER = (
    "only campaigns apply writes Jobs, campaigns and records here, and {} is not its identity: "
    "commit the change to the campaigns repository"
)
MANAGED = "the label gitops-campaigns.io/managed-by: campaigns cannot be taken off or changed"


@dataclass(frozen=True)
class Bad:
    """A request, the policy that refuses it, and what it says."""

    name: str
    policy: str
    request: Request
    message: str


def patch(user: str, kind: str, name: str, body: Object) -> Request:
    return Request(user, "PATCH", kind, NAMESPACE, name, body)


def delete(user: str, kind: str, name: str) -> Request:
    return Request(user, "DELETE", kind, NAMESPACE, name)


_UNCOUNTED = {"rules": [{"action": "Ignore", "onExitCodes": {"operator": "In", "values": [1]}}]}


def _queue() -> Iterator[tuple[str, Request, str]]:
    more = spec_with(completions=2, parallelism=2)
    gpu = {"limits": {"cpu": "1", "memory": "1Gi", "nvidia.com/gpu": "1"}}
    large = {"limits": {"cpu": "3", "memory": "1Gi"}}
    swollen = {"limits": {"cpu": "1", "memory": "5Gi"}}
    unlimited = {"limits": {"cpu": "1"}}
    no_cpu = {"limits": {"memory": "1Gi"}}
    claims = [{"name": "gpu", "resourceClaimName": "gpu"}]
    for name, made in {
        "no label": job(unlabelled(QUEUE_LABEL)),
        "paused, not suspended": paused(spec_with(suspend=False)),
        "suspended, not marked as paused": paused(unmarked),
        "paused, not managed": paused(UNMANAGED),
        "paused under a warm-up's name": paused(named("warmup-letters")),
        "role of a warm-up, not its name": warmup(named("letters")),
        "name of a warm-up, not its role": warmup(UNMANAGED),
        "warm-up of two pods": warmup(more),
        "warm-up by index": warmup(spec_with(completionMode="Indexed")),
        "warm-up with many tries": warmup(spec_with(backoffLimit=3)),
        "warm-up whose failures do not count": warmup(spec_with(podFailurePolicy=_UNCOUNTED)),
        "warm-up with a GPU": warmup(main_with(resources=gpu)),
        "warm-up of a larger size": warmup(main_with(resources=large)),
        "warm-up of more memory": warmup(main_with(resources=swollen)),
        "warm-up without a limit of memory": warmup(main_with(resources=unlimited)),
        "warm-up without a limit of cpu": warmup(main_with(resources=no_cpu)),
        "warm-up with a claimed device": warmup(pod_with(resourceClaims=claims)),
        "warm-up with a second container": warmup(with_init()),
        "warm-up for days": warmup(pod_with(activeDeadlineSeconds=90000)),
    }.items():
        yield name, create(APPLY, made), NO_QUEUE
    ours = job(unlabelled(QUEUE_LABEL), owned(owner("CronJob", f"{QUEUE}-apply")))
    yield "of the CronJob, not its image", create(CRONJOBS, ours), NO_QUEUE
    # Kueue leaves the Job of a Job that it manages alone.
    child = create(APPLY, job(owned(owner("Job", "queued"))))
    yield "Job of a queued Job", child, NOT_SUSPENDED
    for queue in ("other", "maps"):
        made = job(labelled(QUEUE_LABEL, queue))
        yield f"queue {queue}", create(APPLY, made), OTHER_QUEUE.format(queue)
    moved = {"metadata": {"labels": {QUEUE_LABEL: "other"}}}
    yield "moved", patch(APPLY, "Job", "queued", moved), OTHER_QUEUE.format("other")
    off = {"metadata": {"labels": {QUEUE_LABEL: None}}}
    yield "label taken off", patch(APPLY, "Job", "queued", off), LABEL_OFF
    start = {"spec": {"suspend": False}}
    yield "queued, started", patch(APPLY, "Job", "queued", start), STARTED
    yield "fresh, started", patch(APPLY, "Job", "fresh", start), STARTED_UNQUEUED
    posing = {"metadata": {"labels": {"gitops-campaigns.io/role": "warmup"}}, **start}
    yield "fresh, posing", patch(APPLY, "Job", "fresh", posing), STARTED_UNQUEUED
    queued = {"metadata": {"labels": {QUEUE_LABEL: QUEUE}}, **start}
    yield "fresh, queued and started", patch(APPLY, "Job", "fresh", queued), STARTED_UNQUEUED


def _images() -> Iterator[tuple[str, Request, str]]:
    pinned = "registry.example.com/{}@" + DIGEST
    for name, image in {
        "tag": "registry.example.com/ocr:1.2",
        "neither tag nor digest": "registry.example.com/ocr",
        "short digest": IMAGE[:-1],
        "more after the digest": f"{IMAGE}:1",
    }.items():
        yield name, create(APPLY, job(main_with(image=image))), UNPINNED.format(image)
    for name, image in {
        "longer name": pinned.format("ocr-evil"),
        "not below": pinned.format("other"),
        "no host": f"ocr@{DIGEST}",
        "a port that is not in the list": f"mirror.example.com:5000/ocr@{DIGEST}",
        "the list further on": f"evil.example.net/registry.example.com/ocr@{DIGEST}",
    }.items():
        yield name, create(APPLY, job(main_with(image=image))), FOREIGN.format(image)
    other = f"evil.example.net/x@{DIGEST}"
    yield "first container", create(APPLY, job(with_init(image=other))), FOREIGN.format(other)
    yield "pod", create(JOBS, pod(main_with(image=other))), FOREIGN.format(other)
    # The tool's image is the tool's own pods' alone.
    yield "tool's image", create(APPLY, job(main_with(image=TOOL))), UNPINNED.format(TOOL)


def _pods() -> Iterator[tuple[str, Request, str]]:
    token = {"projected": {"sources": [{"serviceAccountToken": {"path": "token"}}]}}
    certificate = {"projected": {"sources": [{"podCertificate": _CERTIFICATE}]}}
    cases: dict[str, tuple[Change, str]] = {
        "hostNetwork": (pod_with(hostNetwork=True), HOST),
        "hostPID": (pod_with(hostPID=True), HOST),
        "hostIPC": (pod_with(hostIPC=True), HOST),
        "hostPort": (main_with(ports=[{"containerPort": 80, "hostPort": 80}]), HOST_PORT),
        "hostPath": (with_volume("bad", hostPath={"path": "/"}), VOLUME),
        "nfs": (with_volume("bad", nfs={"server": "nfs.example.com", "path": "/"}), VOLUME),
        "token": (pod_with(automountServiceAccountToken=True), AUTOMOUNT),
        "token by default": (lambda body: _spec_without(body, "automount"), AUTOMOUNT),
        "projected token": (with_volume("bad", **token), PROJECTED),
        "projected certificate": (with_volume("bad", **certificate), PROJECTED),
        "service account": (pod_with(serviceAccountName=f"{QUEUE}-apply"), ACCOUNT),
        "escalation": (confined(allowPrivilegeEscalation=True), PRIVILEGED.format("main")),
        "escalation by default": (
            confined(allowPrivilegeEscalation=None),
            PRIVILEGED.format("main"),
        ),
        "no context": (with_init(securityContext={}), PRIVILEGED.format("first")),
        "capability added": (
            confined(capabilities={"drop": ["ALL"], "add": ["NET_RAW"]}),
            CAPABLE,
        ),
        "capabilities not dropped": (confined(capabilities={"drop": ["KILL"]}), CAPABLE),
        "root may run": (pod_confined(runAsNonRoot=None), ROOT),
        "root may run in a container": (confined(runAsNonRoot=False), ROOT),
        "user 0": (confined(runAsUser=0), ROOT),
        "user 0 of the pod": (pod_confined(runAsUser=0), ROOT),
        "no seccomp": (pod_confined(seccompProfile=None), SECCOMP),
        "unconfined": (confined(seccompProfile={"type": "Unconfined"}), SECCOMP),
    }
    for name, (change, message) in cases.items():
        yield f"Job, {name}", create(APPLY, job(change)), message
        yield f"Pod, {name}", create(JOBS, pod(change)), message
    yield "by a user", create(MARIA, pod()), NO_JOB.format(MARIA)
    yield "by apply", create(CI, pod()), NO_JOB.format(CI)
    yield "of no Job", create(JOBS, pod(owned())), NO_JOB.format(JOBS)
    replicas = pod(owned(owner("ReplicaSet", "letters")))
    yield "of a ReplicaSet", create(REPLICAS, replicas), NO_JOB.format(REPLICAS)
    debugger = {
        "name": "debugger",
        "image": IMAGE,
        "targetContainerName": "main",
        "terminationMessagePolicy": "File",
    }
    body = {"spec": {"ephemeralContainers": [debugger]}}
    ephemeral = Request(MARIA, "PATCH", "Pod", NAMESPACE, "kept", body, "ephemeralcontainers")
    yield "kubectl debug", ephemeral, CHANGED
    context = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
        "runAsNonRoot": True,
    }
    confined_one = {"spec": {"ephemeralContainers": [{**debugger, "securityContext": context}]}}
    yield "kubectl debug, confined", replace(ephemeral, body=confined_one), CHANGED
    resources = {"requests": {"cpu": "1"}}
    resized = {"spec": {"containers": [{"name": "main", "resources": resources}]}}
    yield "resize", replace(ephemeral, body=resized, below="resize"), CHANGED
    # One that the list has.
    image = {"spec": {"containers": [{"name": "main", "image": f"{IMAGE[:-1]}0"}]}}
    yield "another image", Request(MARIA, "PATCH", "Pod", NAMESPACE, "kept", image), CHANGED
    evicting = job(pod_with(priorityClassName="system-cluster-critical"))
    yield "a priority of the scheduler's", create(APPLY, evicting), PRIORITY


_CERTIFICATE = {"signerName": "example.com/signer", "keyType": "ED25519", "keyPath": "key.pem"}


def _spec_without(body: Object, prefix: str) -> None:
    spec = body["spec"]["template"]["spec"] if body["kind"] == "Job" else body["spec"]
    for name in [name for name in spec if name.startswith(prefix)]:
        del spec[name]


def _writers() -> Iterator[tuple[str, Request, str]]:
    maria = WRITER.format(MARIA)
    yield "Job created", create(MARIA, job()), maria
    note = {"metadata": {"annotations": {"note": "x"}}}
    yield "Job changed", patch(MARIA, "Job", "queued", note), maria
    yield "Job deleted", delete(MARIA, "Job", "queued"), maria
    yield "all Jobs deleted", Request(MARIA, "DELETE", "Job", NAMESPACE), maria
    yield "another team's apply", create(OTHER_TEAM, job()), WRITER.format(OTHER_TEAM)
    yield "Kueue creates", create(KUEUE, config_map("campaign-x")), WRITER.format(KUEUE)
    strange = job(owned(owner("CronJob", "other")))
    yield "of another CronJob", create(CRONJOBS, strange), WRITER.format(CRONJOBS)
    for name, body in {
        "volumes": rendered("minimal", "ConfigMap", "campaign-"),
        "pipeline": rendered("minimal", "ConfigMap", "pipeline-"),
        "record": config_map("campaign-letters-status"),
        "pipeline without labels": config_map("pipeline-letters"),
        "labelled": config_map("mine", **{"gitops-campaigns.io/managed-by": "campaigns"}),
    }.items():
        yield f"{name} created", create(MARIA, body), maria
    data = {"data": {"volumes.txt": "x"}}
    yield "volumes changed", patch(MARIA, "ConfigMap", "campaign-one", data), maria
    yield "volumes deleted", delete(MARIA, "ConfigMap", "campaign-one"), maria
    yield "labelled one deleted", delete(MARIA, "ConfigMap", "notes"), maria
    adopted = {"metadata": {"labels": {"gitops-campaigns.io/managed-by": "campaigns"}}}
    yield "labelled later", patch(MARIA, "ConfigMap", "theirs", adopted), maria
    off = {"metadata": {"labels": {"gitops-campaigns.io/managed-by": None}}}
    yield "label taken off by a user", patch(MARIA, "ConfigMap", "notes", off), maria
    yield "label taken off", patch(APPLY, "ConfigMap", "notes", off), MANAGED
    yield "label of a Job taken off", patch(APPLY, "Job", "queued", off), MANAGED
    other = {"metadata": {"labels": {"gitops-campaigns.io/managed-by": "me"}}}
    yield "label changed", patch(CI, "Job", "queued", other), MANAGED


BAD = [
    Bad(name, policy, request, message)
    for policy, cases in {
        "queue": _queue(),
        "images": _images(),
        "pods": _pods(),
        "writers": _writers(),
    }.items()
    for name, request, message in cases
]
