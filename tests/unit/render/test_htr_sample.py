"""campaigns/htr, a repository in the format of htrflow-campaigns: what it renders to, word by word.

What is expected is written out here, names included, and not taken from the code.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml
from unit.render.shells import PRINT_ENVIRONMENT, SHELLS, run_script

from converter.checks import check
from converter.load import load_repo
from converter.render import render

SAMPLE = Path(__file__).parents[3] / "campaigns" / "htr"
IMAGE = (
    "registry.example.org/htr/batch@sha256:"
    "4d6a2e1f0b9c8d7e6f5a4b3c2d1e0f9a8b7c6d5e4f3a2b1c0d9e8f7a6b5c4d3e"
)
COMMAND = "command: [python, -m, htrflow_batch]\n"
WARMUP = "warmup: {command: [python, -m, htrflow_batch.warmup]}\n"
REGISTERS = """\
R0001203\thttps://iiif.example.org/R0001203/manifest
00012045\thttps://iiif.example.org/00012045/manifest
Bygdea_C-7.1688\thttps://iiif.example.org/parishes/bygdea%20C7/manifest.json
loose-leaves\timages:https://images.example.org/leaves/1.jpg \
https://images.example.org/leaves/2.jpg?rotate=90
"""
Objects = Mapping[str, Mapping[str, Any]]


def rendered(repo: Path = SAMPLE) -> Objects:
    """The objects by kind and name."""
    loaded = load_repo(repo)
    assert check(loaded) == ()
    assert loaded.repo is not None
    return {f"{each.kind}/{each.name}": each.body for each in render(loaded.repo)}


def without(directory: Path, *lines: str) -> Path:
    """The sample without lines of its converter.yaml."""
    repo = directory / "htr"
    shutil.copytree(SAMPLE, repo)
    text = (repo / "converter.yaml").read_text()
    for line in lines:
        assert text.count(line) == 1
        text = text.replace(line, "")
    (repo / "converter.yaml").write_text(text)
    return repo


def pod_of(job: Mapping[str, Any]) -> Any:
    return job["spec"]["template"]["spec"]


def env_of(container: Any) -> dict[str, Any]:
    return {each["name"]: each.get("valueFrom", each.get("value", "")) for each in container["env"]}


@pytest.fixture(scope="module")
def objects() -> Objects:
    return rendered()


@pytest.fixture(scope="module")
def registers(objects: Objects) -> Any:
    return objects["Job/parish-registers"]


def test_what_is_there(objects: Objects) -> None:
    assert list(objects) == [
        "ConfigMap/pipeline-court-1",
        "Job/warmup-court-1",
        "ConfigMap/pipeline-registers-1",
        "Job/warmup-registers-1",
        "ConfigMap/campaign-court-books",
        "Job/court-books",
        "ConfigMap/campaign-parish-registers",
        "Job/parish-registers",
    ]


def test_every_object_is_in_the_namespace_and_no_other_tool_adopts_it(objects: Objects) -> None:
    for body in objects.values():
        metadata = body["metadata"]
        assert metadata["namespace"] == "htr-batch"
        assert metadata["labels"]["gitops-campaigns.io/managed-by"] == "campaigns"
        assert metadata["annotations"]["argocd.argoproj.io/hook"] == "Skip"
        assert metadata["annotations"]["kustomize.toolkit.fluxcd.io/reconcile"] == "disabled"


def test_the_list_of_volumes(objects: Objects) -> None:
    data = objects["ConfigMap/campaign-parish-registers"]["data"]
    assert data == {"volumes.txt": REGISTERS}


def test_the_steps_are_those_of_the_file(objects: Objects) -> None:
    for pipeline in ("registers-1", "court-1"):
        found = objects[f"ConfigMap/pipeline-{pipeline}"]
        steps = yaml.safe_load((SAMPLE / f"pipelines/{pipeline}.yaml").read_text())["steps"]
        assert list(found["data"]) == ["pipeline.yaml"]
        assert yaml.safe_load(found["data"]["pipeline.yaml"]) == {"steps": steps}
        digest = found["metadata"]["annotations"]["gitops-campaigns.io/recipe-sha256"]
        assert len(bytes.fromhex(digest)) == 32


def test_labels_and_annotations_of_the_job(registers: Any) -> None:
    metadata = registers["metadata"]
    of_the_pod = {
        "gitops-campaigns.io/managed-by": "campaigns",
        "gitops-campaigns.io/campaign": "parish-registers",
        "gitops-campaigns.io/pipeline": "registers-1",
        "gitops-campaigns.io/role": "campaign",
    }
    assert metadata["labels"] == {
        **of_the_pod,
        "kueue.x-k8s.io/queue-name": "htr-batch",
        "kueue.x-k8s.io/priority-class": "htr-bulk",
    }
    assert registers["spec"]["template"]["metadata"] == {"labels": of_the_pod}
    assert not [name for name in metadata["annotations"] if "kueue" in name]
    assert "gitops-campaigns.io/suspend" not in metadata["annotations"]


def test_a_campaign_without_a_priority_that_is_paused(objects: Objects) -> None:
    job = objects["Job/court-books"]
    labels = job["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == "htr-batch"
    assert "kueue.x-k8s.io/priority-class" not in labels
    assert job["metadata"]["annotations"]["gitops-campaigns.io/suspend"] == "true"
    assert job["spec"]["suspend"] is True
    # min(of the campaign, of converter.yaml), and not the number of volumes.
    assert (job["spec"]["completions"], job["spec"]["parallelism"]) == (2, 20)


def test_the_job_s_own_fields(registers: Any) -> None:
    spec = {name: value for name, value in registers["spec"].items() if name != "template"}
    assert spec == {
        "completionMode": "Indexed",
        "completions": 4,
        "parallelism": 8,
        "backoffLimitPerIndex": 3,
        "maxFailedIndexes": 4,
        "ttlSecondsAfterFinished": 86400,
        "podFailurePolicy": {
            "rules": [
                {
                    "action": "Ignore",
                    "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
                },
                _fail_index("main"),
                _fail_index("warmup-wait"),
            ]
        },
    }


def _fail_index(container: str) -> dict[str, Any]:
    codes = {"containerName": container, "operator": "In", "values": [13]}
    return {"action": "FailIndex", "onExitCodes": codes}


def test_the_pod_s_own_fields(registers: Any) -> None:
    parts = ("volumes", "containers", "initContainers")
    assert {name: value for name, value in pod_of(registers).items() if name not in parts} == {
        "activeDeadlineSeconds": 43200,
        "terminationGracePeriodSeconds": 120,
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "enableServiceLinks": False,
        "securityContext": {
            "runAsNonRoot": True,
            "runAsUser": 1000,
            "runAsGroup": 1000,
            "fsGroup": 1000,
            "fsGroupChangePolicy": "OnRootMismatch",
            "seccompProfile": {"type": "RuntimeDefault"},
        },
        "runtimeClassName": "nvidia",
        "nodeSelector": {"kubernetes.io/arch": "amd64", "example.org/gpu": "h100"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
    }


def test_what_no_file_says_is_as_with_no_size(objects: Objects) -> None:
    pod = pod_of(objects["Job/court-books"])
    assert pod["activeDeadlineSeconds"] == 21600
    assert pod["nodeSelector"] == {"kubernetes.io/arch": "amd64"}
    assert pod["containers"][0]["resources"] == {
        "requests": {"cpu": "4", "memory": "8Gi", "nvidia.com/gpu": "1"},
        "limits": {"cpu": "4", "memory": "16Gi", "nvidia.com/gpu": "1"},
    }
    [work] = [each for each in pod["volumes"] if each["name"] == "work"]
    assert work["emptyDir"] == {"medium": "Memory", "sizeLimit": "2Gi"}


def test_a_container_is_confined(objects: Objects) -> None:
    jobs = [body for name, body in objects.items() if name.startswith("Job/")]
    containers = [
        each
        for pod in map(pod_of, jobs)
        for each in (*pod["containers"], *pod.get("initContainers", ()))
    ]
    assert len(containers) == 6
    for container in containers:
        assert container["image"] == IMAGE
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }


def test_the_environment_of_a_volume_s_pod(registers: Any) -> None:
    [container] = pod_of(registers)["containers"]
    assert container["name"] == "main"
    assert env_of(container) == {
        "CAMPAIGN": "parish-registers",
        "PIPELINE_ID": "registers-1",
        "PIPELINE_PATH": "/config/pipeline.yaml",
        "IMAGE_DIGEST": IMAGE,
        "INDEX_FAILURE_COUNT": {
            "fieldRef": {
                "apiVersion": "v1",
                "fieldPath": "metadata.annotations['batch.kubernetes.io/job-index-failure-count']",
            }
        },
        "BACKOFF_LIMIT_PER_INDEX": "3",
        "RESULTS_URL": "https://results.example.org/htr",
        "MANIFEST_MAX_BYTES": "16777216",
        "FETCH_MAX_BYTES": "67108864",
        "IMAGE_CACHE_BUCKET": "htr-pages",
        "AWS_SHARED_CREDENTIALS_FILE": "/secrets/s3/credentials",
        "S3_BUCKET": {"secretKeyRef": {"name": "htr-batch-s3", "key": "S3_BUCKET"}},
        "S3_ENDPOINT": {
            "secretKeyRef": {"name": "htr-batch-s3", "key": "S3_ENDPOINT", "optional": True}
        },
        "S3_PREFIX": "htr-batch/",
        "HF_HOME": "/data/hf",
        "HF_HUB_OFFLINE": "1",
        "HOME": "/work",
        "TMPDIR": "/work",
        "WORKDIR_PATH": "/work",
    }
    assert container["resources"] == {
        "requests": {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "1"},
        "limits": {"cpu": "8", "memory": "32Gi", "nvidia.com/gpu": "1"},
    }


def test_what_a_volume_s_pod_mounts(registers: Any) -> None:
    pod = pod_of(registers)
    volumes = {each.pop("name"): each for each in (dict(found) for found in pod["volumes"])}
    assert volumes == {
        "campaign": {"configMap": {"name": "campaign-parish-registers"}},
        "pipeline": {"configMap": {"name": "pipeline-registers-1"}},
        "work": {"emptyDir": {"medium": "Memory", "sizeLimit": "8Gi"}},
        "data": {"persistentVolumeClaim": {"claimName": "htr-models"}},
        "s3": {"secret": {"secretName": "htr-batch-s3", "defaultMode": 0o440}},
    }
    mounts = {each["mountPath"]: each for each in pod["containers"][0]["volumeMounts"]}
    assert {path: (each["name"], each.get("readOnly", False)) for path, each in mounts.items()} == {
        "/campaign": ("campaign", True),
        "/config": ("pipeline", True),
        "/work": ("work", False),
        "/data": ("data", True),
        "/secrets/s3": ("s3", True),
    }
    assert mounts["/data"]["subPath"].startswith("registers-1-")


@pytest.mark.parametrize(
    ("pipeline", "campaign", "seconds"),
    [("registers-1", "parish-registers", "900"), ("court-1", "court-books", "900")],
)
def test_a_volume_waits_for_the_warm_up_that_fills_its_directory(
    objects: Objects, pipeline: str, campaign: str, seconds: str
) -> None:
    [gate] = pod_of(objects[f"Job/{campaign}"])["initContainers"]
    assert gate["name"] == "warmup-wait"
    assert gate["command"][3:] == ["warmup-wait", seconds]
    [mount] = gate["volumeMounts"]
    [warmup] = pod_of(objects[f"Job/warmup-{pipeline}"])["containers"]
    [data] = [each for each in warmup["volumeMounts"] if each["mountPath"] == "/data"]
    assert (mount["subPath"], mount["readOnly"]) == (data["subPath"], True)
    assert "readOnly" not in data


def test_the_warm_up(objects: Objects) -> None:
    job = objects["Job/warmup-registers-1"]
    assert not [name for name in job["metadata"]["labels"] if "kueue" in name]
    pod = pod_of(job)
    [container] = pod["containers"]
    same = pod_of(objects["Job/parish-registers"])
    for member in ("runtimeClassName", "nodeSelector", "tolerations"):
        assert pod[member] == same[member]
    assert container["resources"] == {
        "requests": {"cpu": "2", "memory": "4Gi"},
        "limits": {"cpu": "2", "memory": "4Gi"},
    }
    assert container["command"][3:] == ["warmup", "python", "-m", "htrflow_batch.warmup"]
    assert env_of(container) == {
        "PIPELINE_ID": "registers-1",
        "PIPELINE_PATH": "/config/pipeline.yaml",
        "IMAGE_DIGEST": IMAGE,
        "CUDA_VISIBLE_DEVICES": "",
        "HF_HOME": "/data/hf",
        "HF_TOKEN": {"secretKeyRef": {"name": "htr-hf", "key": "token"}},
        "HOME": "/work",
        "TMPDIR": "/work",
        "WORKDIR_PATH": "/work",
    }


def test_only_the_warm_up_sees_the_token(objects: Objects) -> None:
    seen = [name for name, body in objects.items() if "htr-hf" in str(body)]
    assert seen == ["Job/warmup-court-1", "Job/warmup-registers-1"]
    assert not [name for name in seen if "htr-batch-s3" in str(objects[name])]


@pytest.mark.parametrize("shell", SHELLS)
@pytest.mark.parametrize(
    ("index", "expected"),
    [
        (
            0,
            {
                "VOLUME_ID": "R0001203",
                "IIIF_MANIFEST_URL": "https://iiif.example.org/R0001203/manifest",
            },
        ),
        (
            1,
            {
                "VOLUME_ID": "00012045",
                "IIIF_MANIFEST_URL": "https://iiif.example.org/00012045/manifest",
            },
        ),
        (
            2,
            {
                "VOLUME_ID": "Bygdea_C-7.1688",
                "IIIF_MANIFEST_URL": "https://iiif.example.org/parishes/bygdea%20C7/manifest.json",
            },
        ),
        (
            3,
            {
                "VOLUME_ID": "loose-leaves",
                "IMAGES": "https://images.example.org/leaves/1.jpg "
                "https://images.example.org/leaves/2.jpg?rotate=90",
            },
        ),
    ],
)
def test_what_the_command_finds_out_about_its_volume(
    objects: Objects, shell: tuple[str, ...], tmp_path: Path, index: int, expected: dict[str, str]
) -> None:
    (tmp_path / "dev").mkdir()
    (tmp_path / "campaign").mkdir()
    for key, text in objects["ConfigMap/campaign-parish-registers"]["data"].items():
        (tmp_path / "campaign" / key).write_text(text)
    ran = run_script(
        shell,
        "launcher",
        tmp_path,
        *PRINT_ENVIRONMENT,
        environment={"JOB_COMPLETION_INDEX": str(index)},
    )
    names = ("VOLUME_ID", "IIIF_MANIFEST_URL", "IMAGES")
    assert {name: ran.environment[name] for name in names if name in ran.environment} == expected
    assert ran.environment["VOLUME_REF"] == expected["VOLUME_ID"]
    [source] = [value for name, value in expected.items() if name != "VOLUME_ID"]
    assert ran.environment["VOLUME_SOURCE"] == source


def test_the_command_is_that_of_the_line_that_was_added(registers: Any) -> None:
    [container] = pod_of(registers)["containers"]
    assert container["command"][3:] == ["launcher", "python", "-m", "htrflow_batch"]


def test_without_a_command_validate_says_what_is_missing(tmp_path: Path) -> None:
    problems = check(load_repo(without(tmp_path, COMMAND, WARMUP)))
    assert [str(problem) for problem in problems] == [
        f"pipelines/{pipeline}.yaml:2:1: P003 it has no command, and neither has converter.yaml — "
        "write what runs for a volume, for example command: [python, -m, ocr]"
        for pipeline in ("court-1", "registers-1")
    ]


def test_a_command_is_the_one_line_that_has_to_be_added(tmp_path: Path) -> None:
    """There is no warm-up then: no Job of it, no wait, and nobody who needs the token."""
    objects = rendered(without(tmp_path, WARMUP))
    assert [name for name in objects if "warmup" in name or "htr-hf" in str(objects[name])] == []
    job = objects["Job/parish-registers"]
    assert "initContainers" not in pod_of(job)
    assert not {"HF_HOME", "HF_HUB_OFFLINE"} & env_of(pod_of(job)["containers"][0]).keys()
    assert len(job["spec"]["podFailurePolicy"]["rules"]) == 2


def test_the_older_name_of_results_url(tmp_path: Path, objects: Objects) -> None:
    repo = without(tmp_path)
    file = repo / "converter.yaml"
    file.write_text(file.read_text().replace("results_url:", "public_results_base:"))
    assert rendered(repo) == objects
