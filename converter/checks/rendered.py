"""Rules about the objects that a repository stands for: R001 and R002.

The other rules are about files, and a file that keeps them should render to objects that a cluster
takes. These two look at the objects, so that a gap in the others is found before anything is sent.
"""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from typing import Any, Final

import jsonschema_rs

from converter.capabilities import CAPABILITIES
from converter.checks.pod_security import breaches
from converter.load.files import SETTINGS_FILE
from converter.load.wording import one_line, quoted, shown
from converter.manifest import Manifest
from converter.model import Campaign, Repo, SourceKind, Volume
from converter.problem import Problem
from converter.resources import schema_text
from converter.rule import Rule

_INVALID: Final = Rule(
    code="R001",
    name="invalid-object",
    what="What a file is rendered to is a Job or ConfigMap that an API server takes: it has no "
    "unknown field, and every value has the form and the size that Kubernetes asks for.",
    why="The API server would refuse it after the merge. The other rules should have found what is "
    "wrong in the file, so this is a mistake in one of them: please report it.",
    wrong="# Job/letters, as it is rendered\nspec:\n  parallelism: -1\n",
    right="# Job/letters, as it is rendered\nspec:\n  parallelism: 1\n",
    since="0.1.0",
)
_UNRESTRICTED: Final = Rule(
    code="R002",
    name="pod-not-restricted",
    what='The pods of every rendered Job keep Pod Security "restricted" as of Kubernetes 1.35.',
    why='In a namespace that enforces "restricted" a Job is accepted, and none of its pods is ever '
    "created. No file can ask for such a pod, so this is a mistake in rendering: please report it.",
    wrong="# Job/letters, as it is rendered\nspec:\n  template:\n    spec:\n"
    "      hostNetwork: true\n",
    right="# Job/letters, as it is rendered\nspec:\n  template:\n    spec:\n"
    "      hostNetwork: false\n",
    since="0.1.0",
)
RULES: Final = (_INVALID, _UNRESTRICTED)

# Kubernetes counts the values of a ConfigMap alone (core.MaxSecretSize), and the keys of
# annotations too (validation.TotalAnnotationSizeLimitB).
MAX_DATA: Final = 1024 * 1024
MAX_ANNOTATIONS: Final = 256 * 1024
# etcd takes no object above 1.5 MiB, in which what Kubernetes notes down about its fields counts
# too, and an API server no request above 3 MiB of JSON.
MAX_OBJECT: Final = 1024 * 1024
MAX_REQUEST: Final = 3 * 1024 * 1024
_MAX_PREFIX: Final = 253

_WORD: Final = re.compile(r"[A-Za-z0-9_]+\Z")
# Of what file a part of a Job speaks; what is not here comes from the file it is rendered from.
_OF_SETTINGS: Final = re.compile(
    r"metadata\.namespace|spec\.backoffLimitPerIndex"
    r"|spec\.template\.spec\.(?:nodeSelector|runtimeClassName|tolerations|volumes)\b"
)
_OF_PIPELINE: Final = re.compile(r"spec\.(?:template|ttlSecondsAfterFinished)\b")
_REPORT: Final = "no file should lead to this: please report it, with what the file says"

# A field, and what is wrong with it.
Fault = tuple[str, str]


def sample_problems(repo: Repo) -> tuple[Problem, ...]:
    """What is wrong with the objects of a valid repository, as far as they differ in kind.

    Of each pipeline all its objects, and those of a campaign that runs with it and of one that is
    paused, which stand for all: the pods of a pipeline's campaigns are the same, and what else is
    in a campaign's file is for other rules. So the answer depends on converter.yaml and pipelines
    alone. What is sent or written is looked at as a whole (`problems`).
    """
    if not CAPABILITIES[repo.settings.backend].kubernetes:
        return ()
    # Not needed before, and not where a file has a mistake.
    from converter.render import render

    volumes = (Volume("sample", SourceKind.SOURCE, "sample"),)
    campaigns = {}
    for number, pipeline in enumerate(repo.pipelines.values()):
        for suspend in (False, True):
            name = f"sample-{number}{'-paused' if suspend else ''}"
            campaigns[name] = Campaign(name, pipeline.path, pipeline.id, volumes, suspend=suspend)
    sample = replace(repo, campaigns=campaigns)
    return problems(sample, render(sample))


def problems(repo: Repo, manifests: Iterable[Manifest]) -> tuple[Problem, ...]:
    """What is wrong with objects that were rendered from `repo`, by path; empty if nothing is.

    What is wrong with the pods of a pipeline is said once, of the first of its Jobs.
    """
    found: dict[tuple[str, str, str], Problem] = {}
    for manifest in manifests:
        for rule, (field, what) in _findings(manifest.body):
            path = _path(repo, manifest, field)
            message = one_line(f"{manifest.target}: {field} {what}")
            problem = Problem(path, 0, 0, rule.code, message, _REPORT)
            found.setdefault((path, rule.code, field), problem)
    return tuple(sorted(found.values()))


def faults(body: Mapping[str, Any]) -> Iterator[Fault]:
    """What an API server would refuse in an object: of its form, or else of what it says."""
    if not _validator().is_valid(body):
        for error in _validator().iter_errors(body):
            yield from _refused(error)
    else:
        yield from _of_metadata("metadata", body["metadata"])
        yield from _of_data(body) if body["kind"] == "ConfigMap" else _of_job(body)


def _findings(body: Mapping[str, Any]) -> Iterator[tuple[Rule, Fault]]:
    invalid = False
    for fault in faults(body):
        invalid = True
        yield _INVALID, fault
    if body.get("kind") == "Job" and not invalid:
        for breach in breaches(body["spec"]["template"]):
            what = f"must be {breach.wanted} ({breach.control})"
            yield _UNRESTRICTED, (f"spec.template.{breach.field}", what)


def _path(repo: Repo, manifest: Manifest, field: str) -> str:
    """The file that says what is in a field."""
    if _OF_SETTINGS.match(field):
        return SETTINGS_FILE
    if manifest.campaign and not _OF_PIPELINE.match(field):
        return repo.campaigns[manifest.campaign].path
    return repo.pipelines[manifest.pipeline].path


@cache
def _validator() -> Any:
    return jsonschema_rs.Draft202012Validator(json.loads(schema_text("kubernetes")))


def _refused(error: Any) -> Iterator[Fault]:
    """An error of the schema library in words."""
    place, keyword = list(error.instance_path), error.kind.name
    if keyword == "additionalProperties":
        for name in error.kind.unexpected:
            yield _field(*place, name), "is no field that may be written"
    elif keyword == "required":
        yield _field(*place, error.kind.property), "is missing"
    elif keyword == "propertyNames":
        yield _field(*place), f"has a key that it may not have, {_value(error.kind.error.instance)}"
    else:
        yield _field(*place), f"may not be {_value(error.instance)} (schema: {keyword})"


def _field(*path: str | int) -> str:
    """A path as Kubernetes writes it: ``spec.containers[0].env``, ``metadata.labels[a/b]``."""
    text = ""
    for step in path:
        if isinstance(step, int) or not _WORD.match(step):
            text += f"[{shown(str(step))}]"
        else:
            text += f".{step}" if text else step
    return text or "the object"


def _value(value: Any) -> str:
    return quoted(value) if isinstance(value, str) else shown(json.dumps(value))


def _of_metadata(field: str, metadata: Mapping[str, Any]) -> Iterator[Fault]:
    for name in ("labels", "annotations"):
        yield from _of_keys(f"{field}.{name}", metadata.get(name, {}))
    annotations = metadata.get("annotations", {})
    size = sum(_size(key) + _size(value) for key, value in annotations.items())
    if size > MAX_ANNOTATIONS:
        yield f"{field}.annotations", _too_large(size, MAX_ANNOTATIONS)


def _of_data(configmap: Mapping[str, Any]) -> Iterator[Fault]:
    size = sum(map(_size, configmap.get("data", {}).values()))
    if size > MAX_DATA:
        yield "data", _too_large(size, MAX_DATA)
    elif (encoded := len(json.dumps(configmap))) > MAX_REQUEST:
        yield "data", _too_large(encoded, MAX_REQUEST)


def _of_job(job: Mapping[str, Any]) -> Iterator[Fault]:
    template = job["spec"]["template"]
    pod = template["spec"]
    yield from _of_metadata("spec.template.metadata", template.get("metadata", {}))
    yield from _of_size("spec.template", job)
    yield from _of_indexes(job["spec"])
    yield from _of_pod("spec.template.spec", pod)


def _of_size(field: str, body: Mapping[str, Any]) -> Iterator[Fault]:
    """`field` is where most of it comes from."""
    # Quickly made, and never shorter than the texts in it.
    encoded = len(json.dumps(body))
    if encoded <= MAX_OBJECT:
        return
    size = _size_of_texts(body)
    if size > MAX_OBJECT:
        yield field, _too_large(size, MAX_OBJECT)
    elif encoded > MAX_REQUEST:
        yield field, _too_large(encoded, MAX_REQUEST)


def _of_indexes(spec: Mapping[str, Any]) -> Iterator[Fault]:
    if spec.get("completionMode") != "Indexed":
        return
    if "completions" not in spec:
        yield "spec.completions", "is missing"
    elif spec.get("maxFailedIndexes", 0) > spec["completions"]:
        yield "spec.maxFailedIndexes", "may not be more than completions"


def _of_pod(field: str, pod: Mapping[str, Any]) -> Iterator[Fault]:
    yield from _of_keys(f"{field}.nodeSelector", pod.get("nodeSelector", {}))
    tolerations = pod.get("tolerations", ())
    yield from _of_keys(f"{field}.tolerations", (each.get("key", "") for each in tolerations))
    volumes = pod.get("volumes", ())
    yield from _of_twice(f"{field}.volumes", volumes, "name")
    containers = (*pod.get("initContainers", ()), *pod["containers"])
    yield from _of_twice(f"{field}.containers", containers, "name")
    known = {volume["name"] for volume in volumes}
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(pod.get(kind, ())):
            yield from _of_container(f"{field}.{kind}[{index}]", container, known)


def _of_container(field: str, container: Mapping[str, Any], volumes: set[str]) -> Iterator[Fault]:
    mounts = container.get("volumeMounts", ())
    yield from _of_twice(f"{field}.env", container.get("env", ()), "name")
    yield from _of_twice(f"{field}.volumeMounts", mounts, "mountPath")
    for index, mount in enumerate(mounts):
        if mount["name"] not in volumes:
            yield f"{field}.volumeMounts[{index}].name", "is no volume of the pod"


def _of_twice(field: str, entries: Sequence[Mapping[str, Any]], key: str) -> Iterator[Fault]:
    seen: set[str] = set()
    for index, entry in enumerate(entries):
        if entry[key] in seen:
            yield f"{field}[{index}].{key}", f"{quoted(entry[key])} is there already"
        seen.add(entry[key])


def _of_keys(field: str, keys: Iterable[str]) -> Iterator[Fault]:
    for key in keys:
        if len(key.rpartition("/")[0]) > _MAX_PREFIX:
            yield field, f"has a key with more than {_MAX_PREFIX} characters before the /"


def _size(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))


def _size_of_texts(node: Any) -> int:
    if isinstance(node, str):
        return _size(node)
    if isinstance(node, Mapping):
        return sum(_size(name) + _size_of_texts(member) for name, member in node.items())
    if isinstance(node, Sequence):
        return sum(map(_size_of_texts, node))
    return 0


def _too_large(size: int, most: int) -> str:
    return f"takes {-(-size // 1024)} KiB, and Kubernetes takes {most // 1024} KiB at most"
