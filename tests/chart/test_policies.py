"""The policies on a real API server: what they refuse, in which words, and what they take."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from chart.asking import Asking, Request, create
from chart.bad_requests import BAD, Bad, delete, patch
from chart.helm import Helm, Object, of_kind
from chart.policy_objects import (
    APPLY,
    BACKUP,
    CI,
    CI_GROUP,
    CRONJOBS,
    DIGEST,
    GARBAGE,
    IMAGE,
    JOBS,
    KUEUE,
    MANAGER,
    MAPS,
    MARIA,
    NAMESPACE,
    QUEUE,
    QUEUE_LABEL,
    TOOL,
    TTL,
    VALUES,
    changed,
    config_map,
    confined,
    in_namespace,
    job,
    labelled,
    main_with,
    named,
    owned,
    owner,
    paused,
    pod,
    pod_with,
    settled,
    spec_with,
    unlabelled,
    warmup,
    with_init,
)
from conftest import RunningCluster
from unit.render.samples import SAMPLES

from converter.load import load_repo
from converter.model import Backend, Repo
from converter.render import render

REPOSITORIES = Path(__file__).parents[2] / "campaigns"
POLICIES = "/apis/admissionregistration.k8s.io/v1/validatingadmissionpolicies"
NAMES = {f"{NAMESPACE}.{QUEUE}.{policy}" for policy in ("queue", "images", "pods", "writers")}
SECONDS = 60
WRITTEN = (
    "configmaps",
    "cronjobs",
    "jobs",
    "jobs/status",
    "pods",
    "pods/ephemeralcontainers",
    "pods/resize",
    "pods/status",
)
GPU = {"cpu": "1", "memory": "64Mi", "nvidia.com/gpu": "1"}
LARGE = {"limits": {"cpu": "3", "memory": "64Mi"}}


@pytest.fixture(scope="module")
def asking(cluster: RunningCluster) -> Iterator[Asking]:
    """The release `policy-test` of two teams. Pod Security refuses nothing here, so policies do."""
    api = Asking(cluster.kubeconfig)
    tenant = cluster.tenant(QUEUE)
    for namespace in (NAMESPACE, MAPS):
        cluster.kubectl("delete", "namespace", namespace, "--ignore-not-found")
    cluster.local.kubectl.apply([_namespace(MAPS), _namespace(NAMESPACE), *_everybody()])
    tenant.install(VALUES)
    cluster.kubectl("label", "namespace", NAMESPACE, "pod-security.kubernetes.io/enforce-")
    for body in _existing():
        api.create(body)
    unlike = create(APPLY, job(unlabelled(QUEUE_LABEL)))
    deadline = time.monotonic() + SECONDS
    while "ValidatingAdmissionPolicy" not in api.refusal(unlike):
        assert time.monotonic() < deadline, "the policies are not in force"
        time.sleep(0.2)
    yield api
    tenant.remove()
    cluster.kubectl("delete", "namespace", MAPS, "--wait=false", "--ignore-not-found")


def _namespace(name: str) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}


def _everybody() -> Iterator[Object]:
    """Rights to all that is asked for, so that nothing but a policy refuses; Secrets for one."""
    yield from _right("written", [*WRITTEN], {"kind": "Group", "name": "system:authenticated"})
    yield from _right("secrets", ["secrets"], {"kind": "User", "name": MARIA})


def _right(name: str, resources: list[str], subject: Object) -> Iterator[Object]:
    group = "rbac.authorization.k8s.io"
    metadata = {"name": name, "namespace": NAMESPACE}
    rule = {"apiGroups": ["", "batch"], "resources": resources, "verbs": ["*"]}
    yield {"apiVersion": f"{group}/v1", "kind": "Role", "metadata": metadata, "rules": [rule]}
    yield {
        "apiVersion": f"{group}/v1",
        "kind": "RoleBinding",
        "metadata": metadata,
        "roleRef": {"apiGroup": group, "kind": "Role", "name": name},
        "subjects": [{"apiGroup": group, **subject}],
    }


def _existing() -> list[Object]:
    """What requests change or delete, made by the administrator, whom no policy binds."""
    return [
        job(named("queued")),
        paused(named("fresh")),
        warmup(named("warmup-old"), spec_with(suspend=True)),
        # No pod comes of it.
        job(named("unqueued"), unlabelled(QUEUE_LABEL), spec_with(parallelism=0)),
        job(named("elsewhere"), labelled(QUEUE_LABEL, "elsewhere")),
        config_map("campaign-one"),
        config_map("notes", **{"gitops-campaigns.io/managed-by": "campaigns"}),
        config_map("theirs"),
        pod(named("kept"), owned()),
        pod(named("old"), owned(), main_with(image="elsewhere.example.net/ocr:1")),
    ]


@pytest.mark.parametrize("bad", BAD, ids=[f"{each.policy}: {each.name}" for each in BAD])
def test_bad_request_is_refused_by_its_policy_in_its_words(asking: Asking, bad: Bad) -> None:
    refusal = asking.refusal(bad.request)
    assert f"ValidatingAdmissionPolicy '{NAMESPACE}.{QUEUE}.{bad.policy}'" in refusal
    assert refusal.endswith(f"denied request: {bad.message}")


def test_kubernetes_finds_no_mistake_in_a_type(asking: Asking) -> None:
    found = {each["metadata"]["name"]: each for each in asking.get(POLICIES)["items"]}
    assert found.keys() >= NAMES
    deadline = time.monotonic() + SECONDS
    for name in NAMES:
        policy = found[name]
        while "typeChecking" not in policy.get("status", {}):
            assert time.monotonic() < deadline, policy
            policy = asking.get(f"{POLICIES}/{name}")
        assert policy["status"]["typeChecking"] == {}, policy["status"]


def _repository(name: str) -> Repo:
    repo = load_repo(REPOSITORIES / name).repo
    assert repo is not None
    # The local image has no digest.
    pinned = {
        each.id: each if "@" in each.image else replace(each, image=IMAGE)
        for each in repo.pipelines.values()
    }
    return replace(settled(repo), pipelines=pinned)


OURS = {
    **{
        f"campaigns/{each.name}": repo
        for each in REPOSITORIES.iterdir()
        # The policies are about Jobs that Kueue queues.
        if (repo := _repository(each.name)).settings.backend is Backend.KUEUE
    },
    **{name: settled(repo) for name, repo in SAMPLES.items()},
}


@pytest.mark.parametrize("name", OURS)
def test_what_apply_sends_is_taken(asking: Asking, name: str) -> None:
    for manifest in render(OURS[name]):
        body = dict(manifest.body)
        if manifest.kind == "Job" and manifest.suspended:
            body = paused_as_sent(body)
        assert asking.refusal(create(APPLY, body)) == "", manifest.target
        if manifest.kind == "Job":
            made = pod_of(body)
            assert asking.refusal(create(JOBS, made)) == "", manifest.target


def paused_as_sent(body: Object) -> Object:
    metadata = body["metadata"]
    labels = {key: value for key, value in metadata["labels"].items() if key != QUEUE_LABEL}
    return {**body, "metadata": {**metadata, "labels": labels}}


def pod_of(body: Object) -> Object:
    """A pod as the controller of Jobs makes it, but for its RuntimeClass, which has to exist."""
    template = body["spec"]["template"]
    spec = {key: value for key, value in template["spec"].items() if key != "runtimeClassName"}
    metadata = {
        **template["metadata"],
        "name": "one",
        "namespace": NAMESPACE,
        "ownerReferences": [owner("Job", body["metadata"]["name"])],
    }
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


NOTE: Object = {"metadata": {"annotations": {"note": "x"}}}
START: Object = {"spec": {"suspend": False}}
SUSPENDED: Object = {"spec": {"suspend": True}}
GOOD: dict[str, Request] = {
    "second queue": create(APPLY, job(labelled(QUEUE_LABEL, "second"))),
    "queue changed": patch(
        APPLY, "Job", "queued", {"metadata": {"labels": {QUEUE_LABEL: "second"}}}
    ),
    "CI": create(CI, job()),
    "CI by its group": replace(create(MARIA, job()), group=CI_GROUP),
    "tag and digest": create(APPLY, job(main_with(image=f"registry.example.com/ocr/a:1@{DIGEST}"))),
    "host": create(APPLY, job(main_with(image=f"mirror.example.com/any/path@{DIGEST}"))),
    "localhost seccomp": create(
        APPLY, job(confined(seccompProfile={"type": "Localhost", "localhostProfile": "a.json"}))
    ),
    "resumed, still suspended": patch(
        APPLY, "Job", "fresh", {"metadata": {"labels": {QUEUE_LABEL: QUEUE}}, **SUSPENDED}
    ),
    "older than the policies": patch(APPLY, "Job", "unqueued", NOTE),
    "in a queue of old": patch(APPLY, "Job", "elsewhere", NOTE),
    "controllers without an account of their own": patch(MANAGER, "Job", "queued", START),
    "deleted by one of them": delete(MANAGER, "Job", "queued"),
    "finalizer of an old pod": patch(JOBS, "Pod", "old", NOTE),
    "the same by one of them": patch(MANAGER, "Pod", "old", NOTE),
    "suspended again": patch(APPLY, "Job", "fresh", SUSPENDED),
    "warm-up started": patch(APPLY, "Job", "warmup-old", {"spec": {"suspend": False}}),
    "priority": patch(
        APPLY, "Job", "queued", {"metadata": {"labels": {"kueue.x-k8s.io/priority-class": "x"}}}
    ),
    "apply deletes": delete(APPLY, "Job", "queued"),
    "apply records": create(APPLY, config_map("campaign-one-status")),
    "Kueue starts": patch(KUEUE, "Job", "queued", {"spec": {"suspend": False, "parallelism": 1}}),
    "TTL": delete(TTL, "Job", "queued"),
    "garbage": delete(GARBAGE, "ConfigMap", "campaign-one"),
    "somebody's ConfigMap": create(MARIA, config_map("mine")),
    "somebody's ConfigMap changed": patch(MARIA, "ConfigMap", "theirs", {"data": {"a": "b"}}),
    "pod deleted": delete(MARIA, "Pod", "kept"),
    "pod labelled": patch(MARIA, "Pod", "kept", NOTE),
}


@pytest.mark.parametrize("name", GOOD)
def test_good_request_is_taken(asking: Asking, name: str) -> None:
    assert asking.refusal(GOOD[name]) == ""


@pytest.mark.parametrize("user", ["", BACKUP])
def test_who_is_exempt_creates_any_job(asking: Asking, user: str) -> None:
    for bad in BAD:
        if bad.request.kind == "Job" and bad.request.method == "POST":
            refusal = asking.refusal(replace(bad.request, user=user))
            assert "ValidatingAdmissionPolicy" not in refusal, bad.name


def test_the_api_server_takes_the_network_policies(cluster: RunningCluster, helm: Helm) -> None:
    egress = [
        {"to": [{"ipBlock": {"cidr": "192.0.2.0/24", "except": ["192.0.2.1/32"]}}]},
        {"ports": [{"port": 443, "protocol": "TCP"}, {"port": 8000, "endPort": 8010}]},
    ]
    objects = helm.template({"network": {"enabled": True, "egress": egress}}, namespace="default")
    policies = list(of_kind(objects, "NetworkPolicy").values())
    assert len(policies) == 3
    given = json.dumps({"apiVersion": "v1", "kind": "List", "items": policies})
    cluster.local.kubectl.run("create", "--dry-run=server", "--filename=-", stdin=given)


@pytest.fixture
def tool(helm: Helm) -> list[Object]:
    """The Job of apply.inCluster as its CronJob makes it, its pod, and the pod of the helm test."""
    objects = helm.template(VALUES, release=QUEUE, namespace=NAMESPACE)
    cron = of_kind(objects, "CronJob")[f"{QUEUE}-apply"]
    template = cron["spec"]["jobTemplate"]
    run: Object = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            **template["metadata"],
            "name": f"{QUEUE}-apply-29000000",
            "namespace": NAMESPACE,
            "ownerReferences": [owner("CronJob", f"{QUEUE}-apply")],
        },
        "spec": template["spec"],
    }
    return [run, pod_of(run), of_kind(objects, "Pod")[f"{QUEUE}-doctor"]]


def test_the_tool_s_own_pods_are_taken(asking: Asking, tool: list[Object]) -> None:
    for user, body in zip((CRONJOBS, JOBS, MARIA), tool, strict=True):
        assert asking.refusal(create(user, body)) == ""


def test_nothing_else_passes_as_the_tool_s_own(asking: Asking, tool: list[Object]) -> None:
    run, its_pod, doctor = tool
    other_image = main_with(image=IMAGE)
    elsewhere = owned(owner("Job", "letters"))
    for name, user, body in (
        ("by apply", APPLY, run),
        ("of another CronJob", CRONJOBS, changed(run, owned(owner("CronJob", "other")))),
        (
            "owned, not controlled",
            CRONJOBS,
            changed(run, owned(owner("CronJob", f"{QUEUE}-apply", controller=False))),
        ),
        ("another image", CRONJOBS, changed(run, other_image)),
        ("another account", CRONJOBS, changed(run, pod_with(serviceAccountName="default"))),
        ("of another Job", JOBS, changed(its_pod, elsewhere)),
        ("pod of another image", JOBS, changed(its_pod, other_image)),
        ("pod of no Job", JOBS, changed(its_pod, owned())),
        ("pod by a user", MARIA, its_pod),
        ("test with a device", MARIA, changed(doctor, main_with(resources={"limits": GPU}))),
        ("test with another container", MARIA, changed(doctor, with_init(image=TOOL))),
        ("test for days", MARIA, changed(doctor, pod_with(activeDeadlineSeconds=90000))),
        ("test of any size", MARIA, changed(doctor, main_with(resources={}))),
        ("test of a larger size", MARIA, changed(doctor, main_with(resources=LARGE))),
        ("test by who may read no Secret", CI, doctor),
        ("another pod", MARIA, changed(doctor, named("other"))),
        ("test of another image", MARIA, changed(doctor, other_image)),
        ("test as apply", MARIA, changed(doctor, pod_with(serviceAccountName=f"{QUEUE}-apply"))),
        ("another team", CRONJOBS, changed(run, in_namespace(MAPS))),
    ):
        assert "ValidatingAdmissionPolicy" in asking.refusal(create(user, body)), name


def test_the_cron_job_is_changed_by_who_may_change_policies(asking: Asking) -> None:
    """Its pods have the token of apply."""
    often = {"spec": {"schedule": "* * * * *"}}
    name = f"{QUEUE}-apply"
    refusal = asking.refusal(patch(MARIA, "CronJob", name, often))
    assert f"'{NAMESPACE}.{QUEUE}.writers'" in refusal
    assert f"the CronJob {name} runs with the rights of apply" in refusal
    assert f"'{NAMESPACE}.{QUEUE}.writers'" in asking.refusal(delete(MARIA, "CronJob", name))
    assert asking.refusal(delete(GARBAGE, "CronJob", name)) == ""
    assert asking.refusal(patch("", "CronJob", name, often)) == ""


def test_a_namespace_ends(asking: Asking, cluster: RunningCluster) -> None:
    for body in (job(labelled(QUEUE_LABEL, "maps")), config_map("campaign-letters")):
        asking.create(changed(body, in_namespace(MAPS)))
    cluster.kubectl("delete", "namespace", MAPS, f"--timeout={SECONDS}s")
