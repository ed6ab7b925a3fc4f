"""Rendered and live objects for the tests of the reconcile core.

`applied` makes a live object from a rendered one, with ``metadata.managedFields`` as a real API
server writes them after a server-side apply. The states that a campaign's Job goes through have a
function each: `queued`, `running`, `evicted`, `ended`.
"""

import copy
import json
from collections.abc import Mapping
from typing import Any

from converter.manifest import Manifest, Role
from converter.model import Settings
from converter.names import (
    CAMPAIGN_LABEL,
    DOMAIN,
    FIELD_MANAGER,
    HOLD_ANNOTATION,
    IMAGE_ANNOTATION,
    INPUTS_ANNOTATION,
    JOB_UID_ANNOTATION,
    KUEUE_JOB_UID_LABEL,
    KUEUE_QUEUE_LABEL,
    MANAGED_BY_LABEL,
    MANAGED_BY_VALUE,
    PIPELINE_LABEL,
    RECIPE_ANNOTATION,
    REPOSITORY_ANNOTATION,
    ROLE_LABEL,
    SUSPEND_ANNOTATION,
    VOLUMES_ANNOTATION,
    WINDOW_ANNOTATION,
    campaign_configmap,
    pipeline_configmap,
    warmup_job,
)
from converter.reconcile.live import Live

Object = dict[str, Any]

NAMESPACE = "batch"
REPOSITORY = "example.org/team/batch"
SETTINGS = Settings(namespace=NAMESPACE, queue="gpu", repository=REPOSITORY)

# What the API server's schema calls atomic, and the keys of its lists of objects.
ATOMIC = ("nodeSelector", "tolerations", "command", "args", "rules")
LIST_KEYS = {"containers": "name", "env": "name", "volumes": "name", "volumeMounts": "mountPath"}


def job(
    name: str = "scan",
    *,
    campaign: str = "",
    suspended: bool = False,
    window: int = 2,
    volumes: int = 3,
    pipeline: str = "ocr",
    inputs: str = "inputs-1",
    image: str = "ocr@sha256:1",
) -> Manifest:
    """A campaign's Job, as rendered."""
    annotations = {WINDOW_ANNOTATION: str(window), INPUTS_ANNOTATION: inputs}
    if suspended:
        annotations[SUSPEND_ANNOTATION] = "true"
    body = _body("batch/v1", "Job", name, Role.CAMPAIGN, pipeline, campaign or name, annotations)
    body["metadata"]["labels"][KUEUE_QUEUE_LABEL] = "gpu"
    container = {"name": "main", "image": image, "env": [{"name": "CAMPAIGN", "value": name}]}
    body["spec"] = {
        **({"suspend": True} if suspended else {}),
        "completions": volumes,
        "parallelism": window,
        "template": {"spec": {"containers": [container], "nodeSelector": {"pool": "gpu"}}},
    }
    return Manifest(Role.CAMPAIGN, body, pipeline, campaign or name, suspended)


def volumes(
    of: str = "scan", *, campaign: str = "", number: int = 3, pipeline: str = "ocr"
) -> Manifest:
    """The ConfigMap of a campaign Job's volumes, as rendered."""
    name = campaign_configmap(of)
    annotations = {VOLUMES_ANNOTATION: f"{number} volumes", IMAGE_ANNOTATION: "ocr@sha256:1"}
    body = _body("v1", "ConfigMap", name, Role.VOLUMES, pipeline, campaign or of, annotations)
    body["data"] = {"volumes.txt": "".join(f"{of}-{index}\tsource\n" for index in range(number))}
    return Manifest(Role.VOLUMES, body, pipeline, campaign or of)


def campaign(name: str = "scan", **of_job: Any) -> list[Manifest]:
    """Both objects of a campaign with one part."""
    made = job(name, **of_job)
    number = int(made.body["spec"]["completions"])
    return [volumes(name, number=number, pipeline=made.pipeline), made]


def pipeline(name: str = "ocr", *, recipe: str = "recipe-1") -> Manifest:
    """A pipeline's ConfigMap, as rendered."""
    annotations = {RECIPE_ANNOTATION: recipe}
    body = _body("v1", "ConfigMap", pipeline_configmap(name), Role.PIPELINE, name, "", annotations)
    body["data"] = {"pipeline.yaml": recipe}
    return Manifest(Role.PIPELINE, body, name)


def warmup(name: str = "ocr", *, recipe: str = "recipe-1") -> Manifest:
    """A pipeline's warm-up Job, as rendered."""
    body = _body("batch/v1", "Job", warmup_job(name), Role.WARMUP, name, "", {})
    body["spec"] = {
        "template": {
            "metadata": {"annotations": {RECIPE_ANNOTATION: recipe}},
            "spec": {"containers": [{"name": "main", "image": "ocr@sha256:1"}]},
        }
    }
    return Manifest(Role.WARMUP, body, name)


def applied(manifest: Manifest | Mapping[str, Any], **metadata: Any) -> Object:
    """The live object after this program's apply. `metadata` is put over its own."""
    live: Object = copy.deepcopy(
        dict(manifest.body if isinstance(manifest, Manifest) else manifest)
    )
    name = live["metadata"]["name"]
    live["metadata"] |= {"uid": f"uid-{name}", "resourceVersion": "1", **metadata}
    fields = fields_of(manifest.body if isinstance(manifest, Manifest) else manifest)
    return managed(live, FIELD_MANAGER, "Apply", fields)


def stamped_volumes(manifest: Manifest, job_uid: str) -> Object:
    """A live ConfigMap of volumes that carries the uid of its Job."""
    body: Object = copy.deepcopy(dict(manifest.body))
    body["metadata"]["annotations"][JOB_UID_ANNOTATION] = job_uid
    return applied(body)


def managed(
    live: Object, manager: str, operation: str, fields: Mapping[str, Any], subresource: str = ""
) -> Object:
    """`live` with one more entry in managedFields."""
    entry = {"manager": manager, "operation": operation, "fieldsV1": fields}
    if subresource:
        entry["subresource"] = subresource
    entries = [*live["metadata"].get("managedFields", []), entry]
    return {**live, "metadata": {**live["metadata"], "managedFields": entries}}


def queued(manifest: Manifest) -> Object:
    """A Job that waits: Kueue's webhook suspended it as it was created, which has no owner."""
    return _with_spec(applied(manifest), suspend=True)


def running(manifest: Manifest) -> Object:
    """A Job that Kueue admitted: it owns spec.suspend from then on, and nobody else does."""
    return _kueue_set(applied(manifest), suspend=False)


def evicted(manifest: Manifest) -> Object:
    """A Job that Kueue admitted and suspended again."""
    return _kueue_set(applied(manifest), suspend=True)


def ended(manifest: Manifest, how: str = "Complete", completed: str = "0-2") -> Object:
    """A Job that has ended: Complete or Failed."""
    live = running(manifest)
    live["status"] = {
        "startTime": "2026-01-01T00:00:00Z",
        "completedIndexes": completed,
        "conditions": [
            {"type": how, "status": "True", "lastTransitionTime": "2026-01-02T00:00:00Z"}
        ],
    }
    return live


def workload(
    of: Object, *, active: bool | None = None, name: str = "", **conditions: str
) -> Object:
    """Kueue's Workload of a Job. `conditions` are types that are True, with their reasons."""
    return {
        "metadata": {
            "name": name or f"job-{of['metadata']['name']}",
            "uid": f"uid-{name or of['metadata']['name']}",
            "resourceVersion": "1",
            "labels": {KUEUE_JOB_UID_LABEL: of["metadata"]["uid"]},
            "ownerReferences": [
                {
                    "apiVersion": "batch/v1",
                    "kind": "Job",
                    "name": of["metadata"]["name"],
                    "uid": of["metadata"]["uid"],
                    "controller": True,
                }
            ],
        },
        "spec": {} if active is None else {"active": active},
        "status": {
            "conditions": [
                {"type": kind, "status": "True", "reason": reason}
                for kind, reason in conditions.items()
            ]
        },
    }


def held(of: Object, instance: str = "7", **others: str) -> Object:
    """A Workload with a hold. `others` are further annotations of it, without their domain."""
    made = workload(of, active=False)
    made["metadata"]["annotations"] = {
        HOLD_ANNOTATION: instance,
        **{f"{DOMAIN}/{key.replace('_', '-')}": value for key, value in others.items()},
    }
    return made


def deactivated(of: Object, reason: str = "DeactivatedDueToRequeuingLimitExceeded") -> Object:
    return workload(of, active=False, Evicted=reason)


def state(*objects: Object, workloads: tuple[Object, ...] = ()) -> Live:
    """What `read_live` makes of these."""
    by_job: dict[str, tuple[Object, ...]] = {}
    for each in workloads:
        uid = each["metadata"]["labels"][KUEUE_JOB_UID_LABEL]
        by_job[uid] = (*by_job.get(uid, ()), each)
    named: dict[str, dict[str, Object]] = {"Job": {}, "ConfigMap": {}}
    for each in objects:
        named[each["kind"]][each["metadata"]["name"]] = each
    return Live(named["Job"], named["ConfigMap"], by_job)


def foreign(live: Object, repository: str = "") -> Object:
    """The object without our label, or of another repository."""
    changed = copy.deepcopy(live)
    if repository:
        changed["metadata"]["annotations"][REPOSITORY_ANNOTATION] = repository
    else:
        del changed["metadata"]["labels"][MANAGED_BY_LABEL]
    return changed


def fields_of(body: Mapping[str, Any]) -> Object:
    """FieldsV1 of an apply of `body`; names and kinds have no owner."""
    unowned = ("apiVersion", "kind", "metadata")
    identity = ("name", "namespace")
    fields = {f"f:{k}": _owned(k, v) for k, v in body.items() if k not in unowned}
    if metadata := {k: v for k, v in body["metadata"].items() if k not in identity}:
        fields["f:metadata"] = _owned("metadata", metadata)
    return fields


def _owned(key: str, value: Any) -> Object:
    if key in ATOMIC or not value:
        return {}
    if isinstance(value, Mapping):
        return {f"f:{name}": _owned(name, member) for name, member in value.items()}
    if isinstance(value, list) and key in LIST_KEYS:
        by = LIST_KEYS[key]
        return {f"k:{json.dumps({by: item[by]})}": {".": {}, **_owned("", item)} for item in value}
    return {}


def _body(
    api: str,
    kind: str,
    name: str,
    role: Role,
    of_pipeline: str,
    of_campaign: str,
    annotations: Mapping[str, str],
) -> Object:
    labels = {
        MANAGED_BY_LABEL: MANAGED_BY_VALUE,
        PIPELINE_LABEL: of_pipeline,
        ROLE_LABEL: role.value,
    }
    if of_campaign:
        labels[CAMPAIGN_LABEL] = of_campaign
    return {
        "apiVersion": api,
        "kind": kind,
        "metadata": {
            "name": name,
            "namespace": NAMESPACE,
            "labels": labels,
            "annotations": {REPOSITORY_ANNOTATION: REPOSITORY, **annotations},
        },
    }


def _with_spec(live: Object, **changes: Any) -> Object:
    return {**live, "spec": {**live["spec"], **changes}}


def _kueue_set(live: Object, *, suspend: bool) -> Object:
    ours = live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]
    ours.pop("f:suspend", None)
    return managed(
        _with_spec(live, suspend=suspend), "kueue", "Update", {"f:spec": {"f:suspend": {}}}
    )
