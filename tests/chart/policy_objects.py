"""Objects that the policies take, and what is done to them that the policies refuse."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chart.helm import Object, Values
from unit.render.samples import SAMPLES

from converter.model import Repo
from converter.names import MANAGED_BY_LABEL, SUSPEND_ANNOTATION
from converter.render import render

NAMESPACE = "policy-test"
QUEUE = "policy-test"
MAPS = "policy-test-maps"
TOOL = "registry.example.com/tool:0.1"
DIGEST = "sha256:" + "0123456789abcdef" * 4
IMAGE = f"registry.example.com/ocr@{DIGEST}"
QUEUE_LABEL = "kueue.x-k8s.io/queue-name"

APPLY = f"system:serviceaccount:{NAMESPACE}:{QUEUE}-apply"
MARIA = "maria"
CI = "ci"
CI_GROUP = "ci-jobs"
BACKUP = "backup"
JOBS = "system:serviceaccount:kube-system:job-controller"
CRONJOBS = "system:serviceaccount:kube-system:cronjob-controller"
REPLICAS = "system:serviceaccount:kube-system:replicaset-controller"
TTL = "system:serviceaccount:kube-system:ttl-after-finished-controller"
GARBAGE = "system:serviceaccount:kube-system:generic-garbage-collector"
MANAGER = "system:kube-controller-manager"
KUEUE = "system:serviceaccount:kueue-system:kueue-controller-manager"

VALUES: Values = {
    # Nothing is admitted here, so that what waits goes on waiting.
    "queue": {"quota": {"cpu": "1m", "memory": "1Mi"}},
    "teams": [{"namespace": MAPS, "queue": "maps"}],
    "viewer": {"enabled": True},
    "image": {"repository": "registry.example.com/tool", "tag": "0.1"},
    "apply": {
        "inCluster": {
            "enabled": True,
            "suspend": True,
            "repository": {"url": "https://git.example.com/team/campaigns"},
        }
    },
    "tests": {"converterConfigMap": "converter"},
    "security": {
        "policies": {
            "queues": ["second"],
            "applyUsers": [CI],
            "applyGroups": [CI_GROUP],
            "exemptUsers": [BACKUP],
        },
        "allowedImageRepos": [
            "registry.example.com/ocr",
            "registry.example.org/htr",
            "mirror.example.com",
        ],
        "allowImageTags": False,
    },
}

Change = Callable[[Object], object]


def settled(repo: Repo, namespace: str = NAMESPACE, queue: str = QUEUE) -> Repo:
    """A repository that is the test release's."""
    return replace(repo, settings=replace(repo.settings, namespace=namespace, queue=queue))


def rendered(sample: str, kind: str, prefix: str = "") -> Object:
    """The one object of this kind that a sample renders to, whose name begins so."""
    (found,) = (
        manifest.body
        for manifest in render(settled(SAMPLES[sample]))
        if manifest.kind == kind and manifest.body["metadata"]["name"].startswith(prefix)
    )
    return copy.deepcopy(dict(found))


def changed(body: Object, *changes: Change) -> Object:
    """A copy with what the changes make of it."""
    made = copy.deepcopy(body)
    for change in changes:
        change(made)
    return made


def job(*changes: Change) -> Object:
    """A campaign's Job, as apply sends it."""
    return changed(rendered("minimal", "Job"), *changes)


def paused(*changes: Change) -> Object:
    """The Job of a campaign that is new and paused, as apply sends it: without its queue label."""
    return changed(rendered("paused", "Job"), unlabelled(QUEUE_LABEL), *changes)


def warmup(*changes: Change) -> Object:
    """A warm-up, as apply sends it."""
    return changed(rendered("warmup", "Job", "warmup-"), *changes)


def pod(*changes: Change) -> Object:
    """A pod that the controller of Jobs makes of a campaign's Job."""
    template = job()["spec"]["template"]
    metadata = {
        **template["metadata"],
        "name": "letters-0-abcde",
        "namespace": NAMESPACE,
        "ownerReferences": [owner("Job", "letters")],
    }
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": template["spec"]}
    return changed(body, *changes)


def config_map(name: str, **labels: str) -> Object:
    """A ConfigMap of somebody's."""
    metadata = {"name": name, "namespace": NAMESPACE, "labels": labels}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata}


def owner(kind: str, name: str, *, controller: bool = True) -> Object:
    """An owner reference; the uid is nobody's."""
    return {
        "apiVersion": "batch/v1",
        "kind": kind,
        "name": name,
        "uid": "00000000-0000-0000-0000-000000000000",
        "controller": controller,
    }


def pod_spec(body: Object) -> Object:
    """The pod of a Job or a Pod."""
    spec: Object = body["spec"]
    return spec["template"]["spec"] if body["kind"] == "Job" else spec


def pod_with(**members: Any) -> Change:
    """Members of the pod."""
    return lambda body: pod_spec(body).update(members)


def main_with(**members: Any) -> Change:
    """Members of the first container."""
    return lambda body: pod_spec(body)["containers"][0].update(members)


def confined(**members: Any) -> Change:
    """Members of the first container's security context; None takes one away."""

    def change(body: Object) -> None:
        context = pod_spec(body)["containers"][0]["securityContext"]
        context.update(members)
        for name in [name for name, value in context.items() if value is None]:
            del context[name]

    return change


def pod_confined(**members: Any) -> Change:
    """Members of the pod's security context; None takes one away."""

    def change(body: Object) -> None:
        context = pod_spec(body)["securityContext"]
        context.update(members)
        for name in [name for name, value in context.items() if value is None]:
            del context[name]

    return change


def with_volume(name: str, **source: Any) -> Change:
    """One more volume."""
    return lambda body: pod_spec(body)["volumes"].append({"name": name, **source})


def with_init(**members: Any) -> Change:
    """An init container that is as the main one but for these members."""

    def change(body: Object) -> None:
        spec = pod_spec(body)
        spec["initContainers"] = [{**spec["containers"][0], "name": "first", **members}]

    return change


def named(name: str) -> Change:
    """Another name."""
    return lambda body: body["metadata"].update(name=name)


def in_namespace(name: str) -> Change:
    """Another namespace."""
    return lambda body: body["metadata"].update(namespace=name)


def labelled(key: str, value: str) -> Change:
    """One label."""
    return lambda body: body["metadata"]["labels"].update({key: value})


def unlabelled(key: str) -> Change:
    """Without a label, if it has it."""
    return lambda body: body["metadata"]["labels"].pop(key, None)


def owned(*owners: Object) -> Change:
    """These owners and no others."""
    return lambda body: body["metadata"].update(ownerReferences=list(owners))


def unmarked(body: Object) -> None:
    """Without what says that git paused it."""
    del body["metadata"]["annotations"][SUSPEND_ANNOTATION]


def spec_with(**members: Any) -> Change:
    """Members of the Job's spec."""
    return lambda body: body["spec"].update(members)


UNMANAGED = unlabelled(MANAGED_BY_LABEL)
