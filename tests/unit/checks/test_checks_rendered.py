"""Rules R001 and R002: what is rendered is what a cluster takes. No file should break them."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from copy import deepcopy
from dataclasses import replace
from pathlib import Path
from typing import Any

import jsonschema
import jsonschema_rs
import pytest
import yaml
from hypothesis import HealthCheck, assume, given, settings
from unit.checks.documents import repositories
from unit.render.samples import SAMPLES

from converter.checks import check
from converter.checks.rendered import MAX_ANNOTATIONS, MAX_DATA, faults, problems, sample_problems
from converter.load import load_repo
from converter.manifest import Manifest
from converter.model import Repo
from converter.problem import Level
from converter.render import render
from converter.resources import schema_text

ROOT = Path(__file__).parents[3]
SCHEMA = json.loads(schema_text("kubernetes"))
REPO = SAMPLES["warmup"]
OBJECTS = {manifest.target: manifest for manifest in render(REPO)}
LETTERS, VOLUMES, WARMUP, STEPS = (
    "Job/letters",
    "ConfigMap/campaign-letters",
    "Job/warmup-ocr-1",
    "ConfigMap/pipeline-ocr-1",
)
POD = "spec.template.spec"
MAIN = f"{POD}.containers[0]"
HOST_PATH = {"name": "campaign", "hostPath": {"path": "/"}}
LONG_KEY = ".".join(["a" * 63] * 4) + "/b"


def changed(target: str, path: str, value: Any) -> Manifest:
    """An object of `REPO` with another value in one place; a path as messages have it."""
    manifest = OBJECTS[target]
    body: Any = deepcopy(dict(manifest.body))
    *way, last = (int(s) if s.isdigit() else s for s in re.findall(r"[^.\[\]]+", path))
    place = body
    for step in way:
        place = place[step]
    place[last] = value
    return replace(manifest, body=body)


def without(target: str, path: str) -> Manifest:
    """An object of `REPO` that lacks a field."""
    manifest = changed(target, path, None)
    place: Any = manifest.body
    *way, last = path.split(".")
    for step in way:
        place = place[step]
    del place[last]
    return manifest


@pytest.mark.parametrize("name", SAMPLES)
def test_nothing_is_wrong_with_the_samples(name: str) -> None:
    repo = SAMPLES[name]
    assert problems(repo, render(repo)) == ()
    assert sample_problems(repo) == ()


# Object, field that is changed, its new value; field that is named, words that are said.
INVALID: list[tuple[str, str, Any, str, str]] = [
    (LETTERS, "spec.paralelism", 3, "spec.paralelism", "is no field that may be written"),
    (LETTERS, f"{MAIN}.securityContext.root", 1, f"{MAIN}.securityContext.root", "is no field"),
    (LETTERS, "status", {}, "status", "is no field"),
    (LETTERS, "metadata.resourceVersion", "1", "metadata.resourceVersion", "is no field"),
    (VOLUMES, "spec", {}, "spec", "is no field"),
    (VOLUMES, "data.number", 3, "data.number", "may not be 3"),
    (VOLUMES, "data", {"a/b": "x"}, "data", 'has a key that it may not have, "a/b"'),
    (VOLUMES, "kind", "Secret", "kind", 'may not be "Secret"'),
    (VOLUMES, "apiVersion", "v2", "apiVersion", 'may not be "v2"'),
    (LETTERS, "spec.completions", "2", "spec.completions", 'may not be "2"'),
    (LETTERS, "spec.completions", None, "spec.completions", "may not be null"),
    (LETTERS, "spec.completions", 1.5, "spec.completions", "may not be 1.5"),
    (LETTERS, "spec.parallelism", -1, "spec.parallelism", "may not be -1"),
    (LETTERS, "spec.parallelism", 100_001, "spec.parallelism", "may not be 100001"),
    (LETTERS, "spec.backoffLimitPerIndex", 2**31, "spec.backoffLimitPerIndex", "may not be"),
    (LETTERS, "spec.maxFailedIndexes", 3, "spec.maxFailedIndexes", "more than completions"),
    (LETTERS, f"{POD}.activeDeadlineSeconds", 0, f"{POD}.activeDeadlineSeconds", "may not be 0"),
    (LETTERS, f"{POD}.restartPolicy", "Always", f"{POD}.restartPolicy", 'may not be "Always"'),
    (LETTERS, f"{POD}.containers", [], f"{POD}.containers", "may not be []"),
    (LETTERS, f"{POD}.runtimeClassName", "N", f"{POD}.runtimeClassName", 'may not be "N"'),
    (LETTERS, f"{POD}.nodeSelector", {"a b": "c"}, f"{POD}.nodeSelector", "has a key"),
    (LETTERS, f"{POD}.nodeSelector", {"a": "-"}, f"{POD}.nodeSelector.a", 'may not be "-"'),
    (LETTERS, f"{POD}.nodeSelector", {LONG_KEY: ""}, f"{POD}.nodeSelector", "more than 253"),
    (LETTERS, f"{POD}.tolerations", [{"key": LONG_KEY}], f"{POD}.tolerations", "more than 253"),
    (
        LETTERS,
        f"{POD}.tolerations",
        [{"operator": "Is"}],
        f"{POD}.tolerations[0].operator",
        'may not be "Is"',
    ),
    (LETTERS, "metadata.labels.a", "x" * 64, "metadata.labels.a", "may not be"),
    (LETTERS, "metadata.labels", {"": "x"}, "metadata.labels", "has a key"),
    (LETTERS, "metadata.annotations", {LONG_KEY: ""}, "metadata.annotations", "more than 253"),
    (LETTERS, "metadata.name", "Letters", "metadata.name", 'may not be "Letters"'),
    (LETTERS, "metadata.namespace", "a.b", "metadata.namespace", 'may not be "a.b"'),
    (LETTERS, f"{MAIN}.name", "a.b", f"{MAIN}.name", 'may not be "a.b"'),
    (LETTERS, f"{MAIN}.name", "warmup-wait", f"{POD}.containers[1].name", "is there already"),
    (LETTERS, f"{MAIN}.image", " a", f"{MAIN}.image", 'may not be " a"'),
    (LETTERS, f"{MAIN}.env[0].name", "A=B", f"{MAIN}.env[0].name", 'may not be "A=B"'),
    (LETTERS, f"{MAIN}.env[0].value", 3, f"{MAIN}.env[0].value", "may not be 3"),
    (LETTERS, f"{MAIN}.env[2].name", "CAMPAIGN", f"{MAIN}.env[2].name", "is there already"),
    (
        LETTERS,
        f"{MAIN}.resources.limits.memory",
        "8GB",
        f"{MAIN}.resources.limits.memory",
        'may not be "8GB"',
    ),
    (
        LETTERS,
        f"{MAIN}.volumeMounts[2].mountPath",
        "/config",
        f"{MAIN}.volumeMounts[2].mountPath",
        "is there already",
    ),
    (
        LETTERS,
        f"{MAIN}.volumeMounts[0].name",
        "nowhere",
        f"{MAIN}.volumeMounts[0].name",
        "is no volume of the pod",
    ),
    (LETTERS, f"{POD}.volumes[2].name", "pipeline", f"{POD}.volumes[2].name", "there already"),
    (WARMUP, "spec.backoffLimit", True, "spec.backoffLimit", "may not be true"),
    (STEPS, "data", {"a": "x" * MAX_DATA + "x"}, "data", "takes 1025 KiB"),
    (STEPS, "data", {"a": "é" * (MAX_DATA // 2), "b": "x"}, "data", "takes 1025 KiB"),
    (STEPS, "data", {"a": "\x01" * 600_000}, "data", "takes 3517 KiB"),
    (LETTERS, f"{MAIN}.command", ["x" * 2**20], "spec.template", "takes 1028 KiB"),
    (
        LETTERS,
        "metadata.annotations",
        {"a": "x" * MAX_ANNOTATIONS},
        "metadata.annotations",
        "takes 257 KiB",
    ),
]


@pytest.mark.parametrize(
    ("target", "path", "value", "field", "words"), INVALID, ids=[each[3] for each in INVALID]
)
def test_an_object_that_no_cluster_takes(
    target: str, path: str, value: Any, field: str, words: str
) -> None:
    manifest = changed(target, path, value)
    found = dict(faults(manifest.body))
    assert words in found[field]
    (problem,) = (p for p in problems(REPO, [manifest]) if f" {field} " in p.message)
    assert problem.code == "R001"
    assert problem.message.startswith(f"{manifest.target}: {field} ")
    assert problem.level is Level.ERROR


def test_as_much_as_kubernetes_takes() -> None:
    assert list(faults(changed(STEPS, "data", {"a": "x" * MAX_DATA}).body)) == []


@pytest.mark.parametrize(
    ("target", "field"),
    [
        (LETTERS, "metadata.name"),
        (LETTERS, "spec.template"),
        (LETTERS, "apiVersion"),
        (VOLUMES, "metadata"),
    ],
)
def test_what_is_missing(target: str, field: str) -> None:
    assert (field, "is missing") in faults(without(target, field).body)


def test_an_indexed_job_has_completions() -> None:
    body = without(LETTERS, "spec.completions").body
    assert list(faults(body)) == [("spec.completions", "is missing")]


@pytest.mark.parametrize(("target", "path", "value", "_field", "_words"), INVALID)
def test_another_library_reads_the_schema_alike(
    target: str, path: str, value: Any, _field: str, _words: str
) -> None:
    body = changed(target, path, value).body
    plain = jsonschema.Draft202012Validator(SCHEMA)
    assert plain.is_valid(body) == jsonschema_rs.Draft202012Validator(SCHEMA).is_valid(body)


def test_the_schema_is_one_and_of_the_pinned_kubernetes() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    pinned = (ROOT / "cluster" / "modules" / "kubernetes" / "go.mod").read_text("utf-8")
    (version,) = re.findall(r"^\tk8s\.io/kubernetes (\S+)", pinned, re.MULTILINE)
    assert SCHEMA["title"] == f"Job and ConfigMap of Kubernetes {version}"


def test_every_object_of_the_schema_refuses_unknown_fields() -> None:
    for name, definition in SCHEMA["$defs"].items():
        assert definition.get("additionalProperties") is False or "properties" not in definition, (
            name
        )


@pytest.mark.parametrize(
    ("target", "field", "value", "path"),
    [
        (LETTERS, "spec.completions", -1, "campaigns/letters.yaml"),
        (LETTERS, "metadata.labels.a", "-", "campaigns/letters.yaml"),
        (VOLUMES, "data.a", 1, "campaigns/letters.yaml"),
        (LETTERS, "metadata.namespace", "-", "converter.yaml"),
        (LETTERS, f"{POD}.nodeSelector", {"a": "-"}, "converter.yaml"),
        (LETTERS, f"{POD}.volumes[0].name", "", "converter.yaml"),
        (LETTERS, f"{MAIN}.image", "", "pipelines/ocr-1.yaml"),
        (LETTERS, "spec.ttlSecondsAfterFinished", -1, "pipelines/ocr-1.yaml"),
        (WARMUP, f"{MAIN}.image", "", "pipelines/ocr-1.yaml"),
        (WARMUP, "metadata.name", "", "pipelines/ocr-1.yaml"),
        (STEPS, "data.a", 1, "pipelines/ocr-1.yaml"),
        (LETTERS, f"{POD}.hostNetwork", True, "pipelines/ocr-1.yaml"),
        (
            LETTERS,
            f"{POD}.volumes[0]",
            HOST_PATH,
            "converter.yaml",
        ),
    ],
)
def test_a_problem_is_in_the_file_that_says_it(
    target: str, field: str, value: Any, path: str
) -> None:
    (problem,) = problems(REPO, [changed(target, field, value)])
    assert (problem.path, problem.line, problem.column) == (path, 0, 0)


def test_a_pod_that_is_not_restricted() -> None:
    (problem,) = problems(REPO, [changed(LETTERS, f"{POD}.hostNetwork", True)])
    assert problem.code == "R002"
    assert problem.message == (
        "Job/letters: spec.template.spec.hostNetwork must be false (Host Namespaces)"
    )


def test_what_is_wrong_with_the_pods_of_a_pipeline_is_said_once() -> None:
    first = changed(LETTERS, f"{POD}.hostNetwork", True)
    assert len(problems(REPO, [first, replace(first), first])) == 1


def test_one_job_a_pipeline_and_pause_stands_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    letters = REPO.campaigns["letters"]
    names = {"a": False, "b": False, "c": True, "d": True}
    campaigns = {n: replace(letters, name=n, suspend=s) for n, s in names.items()}
    seen: list[Repo] = []

    def noted(repo: Repo) -> tuple[Manifest, ...]:
        seen.append(repo)
        return render(repo)

    monkeypatch.setattr("converter.render.render", noted)
    assert sample_problems(replace(REPO, campaigns=campaigns)) == ()
    (rendered,) = seen
    kinds = [(each.pipeline, each.suspend) for each in rendered.campaigns.values()]
    assert kinds == [(each, suspend) for each in REPO.pipelines for suspend in (False, True)]
    assert rendered.pipelines == REPO.pipelines


def test_a_window_that_no_indexed_job_has_is_found() -> None:
    wide = replace(REPO, settings=replace(REPO.settings, window=100_001))
    (problem,) = sample_problems(wide)
    assert problem.code == "R001"
    assert "spec.parallelism may not be 100001" in problem.message


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(repositories())
def test_what_the_other_rules_let_through_a_cluster_takes(
    tmp_path_factory: pytest.TempPathFactory, documents: Mapping[str, Any]
) -> None:
    root = tmp_path_factory.mktemp("repo")
    for path, document in documents.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(yaml.safe_dump(document, allow_unicode=True), encoding="utf-8")
    loaded = load_repo(root)
    repo = loaded.repo
    assume(repo is not None and all(p.level is not Level.ERROR for p in check(loaded)))
    assert repo is not None
    assert problems(repo, render(repo)) == ()
    assert sample_problems(repo) == ()
