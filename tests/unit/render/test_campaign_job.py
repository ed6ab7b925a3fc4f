"""The Job and ConfigMap of a campaign, rule by rule."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest
import yaml
from unit.render.samples import (
    CAMPAIGN,
    FULL_CAMPAIGN,
    FULL_PIPELINE,
    IMAGE,
    PIPELINE,
    SAMPLES,
    SETTINGS,
    SIZED,
    long_campaign,
    repository,
)

from converter.manifest import Manifest, Role
from converter.model import Campaign, Pipeline, Settings, Size, Warmup
from converter.names import FOREIGN_TOOL_ANNOTATIONS, RECIPE_ANNOTATION
from converter.render import render

PREFIX = "gitops-campaigns.io"
MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
WARM = replace(SETTINGS, data_pvc="models", warmup=Warmup(("warm",)))


def _manifests(
    settings: Settings = SETTINGS, pipeline: Pipeline = PIPELINE, campaign: Campaign = CAMPAIGN
) -> list[Manifest]:
    found = render(repository(settings, pipeline, campaign))
    return [manifest for manifest in found if manifest.role is Role.CAMPAIGN]


def _job(
    settings: Settings = SETTINGS, pipeline: Pipeline = PIPELINE, campaign: Campaign = CAMPAIGN
) -> dict[str, Any]:
    return dict(_manifests(settings, pipeline, campaign)[0].body)


def _pod(job: Mapping[str, Any]) -> dict[str, Any]:
    pod: dict[str, Any] = job["spec"]["template"]["spec"]
    return pod


def _env(job: dict[str, Any]) -> dict[str, Any]:
    return {e["name"]: e.get("value", "") for e in _pod(job)["containers"][0]["env"]}


@pytest.mark.parametrize("name", SAMPLES)
def test_every_object_is_labelled_and_kept_from_other_tools(name: str) -> None:
    for manifest in render(SAMPLES[name]):
        metadata = manifest.body["metadata"]
        expected = {
            f"{PREFIX}/managed-by": "campaigns",
            f"{PREFIX}/pipeline": "ocr-1",
            f"{PREFIX}/role": manifest.role.value,
        }
        if manifest.campaign:
            expected[f"{PREFIX}/campaign"] = "letters"
        assert expected.items() <= metadata["labels"].items()
        assert FOREIGN_TOOL_ANNOTATIONS.items() <= metadata["annotations"].items()
        assert metadata["annotations"][f"{PREFIX}/repository"] == "git.example.com/team/campaigns"
        assert metadata["namespace"] == "team"


@pytest.mark.parametrize("name", SAMPLES)
def test_no_member_is_empty(name: str) -> None:
    """The API server drops what is empty, and the object would look changed for ever."""

    def members(value: Any) -> list[Any]:
        inner = value.values() if isinstance(value, dict) else value
        return [value] + [
            found
            for member in (inner if isinstance(value, dict | list) else ())
            for found in members(member)
        ]

    for manifest in render(SAMPLES[name]):
        assert not [m for m in members(manifest.body) if m in ("", None, {}, [])]


def test_the_order_is_that_of_creation() -> None:
    roles = [manifest.role for manifest in render(SAMPLES["split"])]
    assert roles == [Role.PIPELINE, *[Role.VOLUMES, Role.CAMPAIGN] * 2]
    assert [m.role for m in render(SAMPLES["warmup"])][:2] == [Role.PIPELINE, Role.WARMUP]


@pytest.mark.parametrize(
    ("window", "cap", "parallelism"), [(None, 20, 20), (5, 20, 5), (30, 20, 20), (1, 1, 1)]
)
def test_window(window: int | None, cap: int, parallelism: int) -> None:
    job = _job(replace(SETTINGS, window=cap), campaign=replace(CAMPAIGN, window=window))
    assert job["spec"]["parallelism"] == parallelism
    assert job["metadata"]["annotations"][f"{PREFIX}/window"] == str(parallelism)


@pytest.mark.parametrize(
    ("volumes", "window", "minimum", "annotation"),
    [
        (8, 4, None, None),
        (8, 4, 1, "1"),
        (8, 4, 3, "3"),
        (8, 4, 4, None),
        (2, 4, 1, "1"),
        (2, 4, 2, None),
        (1, 4, 1, None),
        (8, 40, 30, None),
    ],
)
def test_min_window(volumes: int, window: int, minimum: int | None, annotation: str | None) -> None:
    """Kueue refuses a minimum that is not below the number of pods at once."""
    campaign = replace(long_campaign(volumes), window=window, min_window=minimum)
    assert _job(campaign=campaign)["metadata"]["annotations"].get(MIN_PARALLELISM) == annotation


def test_a_paused_campaign_is_suspended_and_says_so() -> None:
    manifest = _manifests(campaign=replace(CAMPAIGN, suspend=True))[0]
    assert manifest.suspended
    assert manifest.body["spec"]["suspend"] is True
    assert manifest.body["metadata"]["annotations"][f"{PREFIX}/suspend"] == "true"


def test_a_campaign_that_runs_leaves_suspend_to_the_queue() -> None:
    manifest = _manifests()[0]
    assert not manifest.suspended
    assert "suspend" not in manifest.body["spec"]
    assert f"{PREFIX}/suspend" not in manifest.body["metadata"]["annotations"]


def test_queue_labels() -> None:
    labels = _job()["metadata"]["labels"]
    assert {k: v for k, v in labels.items() if "kueue" in k} == {
        "kueue.x-k8s.io/queue-name": "batch"
    }
    with_priority = _job(campaign=replace(CAMPAIGN, priority="high"))
    assert with_priority["metadata"]["labels"]["kueue.x-k8s.io/priority-class"] == "high"
    for job in (_job(), with_priority):
        assert not [k for k in job["spec"]["template"]["metadata"]["labels"] if "kueue" in k]


def test_every_part_is_a_job_of_its_own_volumes() -> None:
    jobs = [m.body for m in _manifests(campaign=long_campaign(20_001))]
    assert [job["metadata"]["name"] for job in jobs] == [f"letters-part{n}" for n in (1, 2, 3)]
    assert [job["spec"]["completions"] for job in jobs] == [10_000, 10_000, 1]
    assert [job["spec"]["maxFailedIndexes"] for job in jobs] == [10_000, 10_000, 1]
    assert [_pod(dict(job))["volumes"][0]["configMap"]["name"] for job in jobs] == [
        f"campaign-letters-part{n}" for n in (1, 2, 3)
    ]
    assert {_env(dict(job))["CAMPAIGN"] for job in jobs} == {"letters"}


@pytest.mark.parametrize("gated", [False, True])
def test_pod_failure_policy(gated: bool) -> None:
    rules = _job(WARM if gated else SETTINGS)["spec"]["podFailurePolicy"]["rules"]
    assert rules[0] == {
        "action": "Ignore",
        "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
    }
    containers = [rule["onExitCodes"]["containerName"] for rule in rules[1:]]
    assert containers == ["main", "warmup-wait"][: 1 + gated]
    for rule in rules[1:]:
        assert rule["action"] == "FailIndex"
        assert (rule["onExitCodes"]["operator"], rule["onExitCodes"]["values"]) == ("In", [13])


@pytest.mark.parametrize("name", SAMPLES)
def test_pod_security_restricted(name: str) -> None:
    """https://kubernetes.io/docs/concepts/security/pod-security-standards/#restricted"""
    jobs = [m.body for m in render(SAMPLES[name]) if m.kind == "Job"]
    for pod in (_pod(dict(job)) for job in jobs):
        assert pod["securityContext"]["runAsNonRoot"] is True
        assert pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
        assert pod["automountServiceAccountToken"] is False
        for container in [*pod["containers"], *pod.get("initContainers", [])]:
            assert container["securityContext"] == {
                "allowPrivilegeEscalation": False,
                "readOnlyRootFilesystem": True,
                "capabilities": {"drop": ["ALL"]},
            }


@pytest.mark.parametrize(
    ("wait", "deadline", "seconds"),
    [(900, 21_600, "900"), (900, 600, "590"), (900, 10, "0"), (900, 5, "0"), (1, 3600, "1")],
)
def test_the_gate_ends_before_the_pod_s_deadline(wait: int, deadline: int, seconds: str) -> None:
    settings = replace(WARM, warmup_wait_seconds=wait, max_seconds=deadline)
    gate = _pod(_job(settings))["initContainers"][0]
    assert gate["command"][3:] == ["warmup-wait", seconds]


def test_deadline_and_time_to_live() -> None:
    for job, deadline, ttl in (
        (_job(), 21_600, 604_800),
        (_job(SIZED, FULL_PIPELINE), 7_200, 3_600),
    ):
        assert "activeDeadlineSeconds" not in job["spec"]
        assert _pod(job)["activeDeadlineSeconds"] == deadline
        assert job["spec"]["ttlSecondsAfterFinished"] == ttl


@pytest.mark.parametrize(
    ("size", "requests", "limits"),
    [
        (
            None,
            {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "1"},
            {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"},
        ),
        (
            Size("s", "1500m", "4096Mi", 2),
            {"cpu": "1500m", "memory": "4Gi", "nvidia.com/gpu": "2"},
            {"cpu": "1500m", "memory": "4Gi", "nvidia.com/gpu": "2"},
        ),
        (
            Size("s", "0.25", "3G", 0),
            {"cpu": "250m", "memory": "3G"},
            {"cpu": "250m", "memory": "3G"},
        ),
    ],
)
@pytest.mark.parametrize("by_default", [False, True])
def test_resources(
    size: Size | None, requests: dict[str, str], limits: dict[str, str], by_default: bool
) -> None:
    settings, pipeline = SETTINGS, PIPELINE
    if size is not None:
        name = size.name
        settings = replace(settings, sizes={name: size}, default_size=name if by_default else None)
        pipeline = replace(pipeline, size=None if by_default else name)
    container = _pod(_job(settings, pipeline))["containers"][0]
    assert container["resources"] == {"requests": requests, "limits": limits}


def test_scheduling() -> None:
    assert not {"runtimeClassName", "nodeSelector", "tolerations"} & _pod(_job()).keys()
    pod = _pod(_job(SIZED, FULL_PIPELINE))
    assert pod["runtimeClassName"] == "nvidia"
    assert pod["nodeSelector"] == {"gpu": "a100", "zone": "north"}
    assert pod["tolerations"] == [
        {"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}
    ]


def test_environment_identifies_the_volume_s_campaign() -> None:
    env = _env(_job(SIZED, FULL_PIPELINE, FULL_CAMPAIGN))
    expected = {
        "CAMPAIGN": "letters",
        "PIPELINE_ID": "ocr-1",
        "PIPELINE_PATH": "/config/pipeline.yaml",
        "IMAGE_DIGEST": IMAGE,
        "BACKOFF_LIMIT_PER_INDEX": "3",
        "RESULTS_URL": "https://results.example.com",
    }
    assert expected.items() <= env.items()
    assert "HF_TOKEN" not in env


@pytest.mark.parametrize(
    ("of_settings", "of_pipeline", "seen"),
    [
        ({"A": "1"}, {}, "1"),
        ({"A": "1"}, {"A": "2"}, "2"),
        ({"A": "1"}, {"A": ""}, ""),
        ({"HOME": "/x"}, {}, None),
    ],
)
def test_environment_of_the_files(
    of_settings: dict[str, str], of_pipeline: dict[str, str], seen: str | None
) -> None:
    job = _job(replace(SETTINGS, env=of_settings), replace(PIPELINE, env=of_pipeline))
    assert _env(job).get("A") == seen
    assert _env(job)["HOME"] == of_settings.get("HOME", "/work")


def test_no_value_of_a_file_is_in_the_script() -> None:
    scripts = {_pod(_job())["containers"][0]["command"][2]}
    scripts.add(_pod(_job(SIZED, FULL_PIPELINE, FULL_CAMPAIGN))["containers"][0]["command"][2])
    assert len(scripts) == 1


def test_mounts() -> None:
    pod = _pod(_job(WARM))
    mounts = {mount["mountPath"]: mount for mount in pod["containers"][0]["volumeMounts"]}
    assert set(mounts) == {"/campaign", "/config", "/data", "/work"}
    assert [path for path, mount in mounts.items() if not mount.get("readOnly")] == ["/work"]
    assert pod["initContainers"][0]["volumeMounts"] == [mounts["/data"]]
    work = next(volume for volume in pod["volumes"] if volume["name"] == "work")
    assert work["emptyDir"] == {"medium": "Memory", "sizeLimit": "2Gi"}


def test_the_warmup_is_outside_the_queue_and_asks_for_no_gpu() -> None:
    settings = replace(SIZED, warmup=Warmup(("warm", "$(up)")))
    warmup, job = (
        dict(m.body) for m in render(repository(settings, FULL_PIPELINE)) if m.kind == "Job"
    )
    assert not [k for k in warmup["metadata"]["labels"] if "kueue" in k]
    container = _pod(warmup)["containers"][0]
    assert container["resources"]["requests"] == {"cpu": "2", "memory": "4Gi"}
    assert container["command"][-2:] == ["warm", "$$(up)"]
    for member in ("runtimeClassName", "nodeSelector", "tolerations"):
        assert _pod(warmup)[member] == _pod(job)[member]
    token = next(entry for entry in container["env"] if entry["name"] == "HF_TOKEN")
    assert token["valueFrom"] == {"secretKeyRef": {"name": "hf", "key": "token"}}


def _cache_directories(settings: Settings, pipeline: Pipeline) -> list[str]:
    """Of the pod of each Job: where on the data volume its /data is."""
    return [
        mount["subPath"]
        for manifest in render(repository(settings, pipeline))
        if manifest.kind == "Job"
        for mount in _pod(manifest.body)["containers"][0]["volumeMounts"]
        if mount["mountPath"] == "/data"
    ]


@pytest.mark.parametrize(
    ("settings", "pipeline"),
    [
        (replace(WARM, warmup=Warmup(("other",))), PIPELINE),
        (replace(WARM, warmup=Warmup(("warm",), ("--all",))), PIPELINE),
        (replace(WARM, env={"MODEL": "b"}), PIPELINE),
        (WARM, replace(PIPELINE, steps=["b"])),
    ],
)
def test_a_changed_warmup_fills_another_directory(settings: Settings, pipeline: Pipeline) -> None:
    before, changed = _cache_directories(WARM, PIPELINE), _cache_directories(settings, pipeline)
    assert len(set(before)) == len(set(changed)) == 1
    assert set(before).isdisjoint(changed)


def _recipe(steps: object) -> str:
    manifest = render(repository(pipeline=replace(PIPELINE, steps=steps)))[0]
    return str(manifest.body["metadata"]["annotations"][RECIPE_ANNOTATION])


def test_keys_of_steps_may_be_numbers() -> None:
    steps = [{1: {"b": 1.5, None: 2}, "a": {True: "x"}}]
    manifest = render(repository(pipeline=replace(PIPELINE, steps=steps)))[0]
    assert yaml.safe_load(manifest.body["data"]["pipeline.yaml"]) == {"steps": steps}
    texts = ({1: "a"}, {"1": "a"}, {1: "b"}, {2: "a"})
    assert len({_recipe(text) for text in texts}) == len(texts)
