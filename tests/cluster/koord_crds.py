"""The CustomResourceDefinitions of Koord-Queue in two generations, as far as they are met here.

Written from the fields of v1.8.0 and of what came after; that of v1.8.0 does not declare the later
ones, and an API server drops what is not declared.
"""

from __future__ import annotations

from typing import Any

Schema = dict[str, Any]

NAME = "queueunits.scheduling.x-k8s.io"
_TIME = {"type": "string", "format": "date-time"}
_INT32 = {"type": "integer", "format": "int32"}
_INT64 = {"type": "integer", "format": "int64"}
_ANYTHING = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
_AMOUNTS = {"type": "object", "additionalProperties": {"x-kubernetes-int-or-string": True}}


def queue_units(*, later: bool = True) -> Schema:
    """Of QueueUnits; with `later`, with the fields that came after v1.8.0."""
    pod_set = _object(
        {
            "name": {"type": "string", "default": "main", "maxLength": 63},
            "count": {**_INT32, "minimum": 0, "default": 1},
            "template": _ANYTHING,
        },
        "template",
    )
    spec = {
        "consumerRef": {**_ANYTHING, "x-kubernetes-map-type": "atomic"},
        "priority": _INT32,
        "priorityClassName": {"type": "string"},
        "queue": {"type": "string"},
        "resource": _AMOUNTS,
        "request": _AMOUNTS,
        "podSet": _by("name", pod_set),
    }
    admission = _object(
        {
            "name": {"type": "string"},
            "replicas": _INT64,
            "running": _INT64,
            "reclaimState": _object({"replicas": _INT64}),
        },
        "name",
        "running",
    )
    status = {
        "phase": {"type": "string"},
        "attempts": _INT64,
        "message": {"type": "string"},
        "lastUpdateTime": _TIME,
        "lastAllocateTime": _TIME,
        "admissionChecks": _by("name", {**_ANYTHING, "properties": {"name": {"type": "string"}}}),
        "admissions": _by("name", admission),
    }
    if later:
        spec |= {"active": {"type": "boolean"}, "maximumExecutionTimeSeconds": _INT32}
        condition = _object(
            {
                "type": {"type": "string"},
                "status": {"type": "string"},
                "reason": {"type": "string"},
                "message": {"type": "string"},
                "lastTransitionTime": _TIME,
            },
            "type",
            "status",
        )
        status |= {
            "conditions": _by("type", condition),
            "requeueState": _object({"count": _INT32, "requeueAt": _TIME}),
            "accumulatedPastExecutionTimeSeconds": _INT32,
        }
    return _definition("queueunits", "queueunit", "QueueUnit", spec, status)


def queues() -> Schema:
    """Of Queues."""
    spec = {"queuePolicy": {"type": "string"}, "priority": _INT32}
    item = _object(
        {
            "namespace": {"type": "string"},
            "name": {"type": "string"},
            "priority": _INT32,
            "position": _INT32,
        }
    )
    details = {"type": "object", "additionalProperties": {"type": "array", "items": item}}
    return _definition("queues", "queue", "Queue", spec, {"queueItemDetails": details})


def _definition(plural: str, singular: str, kind: str, spec: Schema, status: Schema) -> Schema:
    required = {"required": ["phase", "lastUpdateTime"]} if kind == "QueueUnit" else {}
    schema = {
        "type": "object",
        "properties": {
            "spec": {"type": "object", "properties": spec},
            "status": {"type": "object", "properties": status, **required},
        },
    }
    version = {
        "name": "v1alpha1",
        "served": True,
        "storage": True,
        "schema": {"openAPIV3Schema": schema},
        "subresources": {"status": {}},
    }
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {
            "name": f"{plural}.scheduling.x-k8s.io",
            # The group is one that Kubernetes keeps an eye on.
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {
            "group": "scheduling.x-k8s.io",
            "names": {"kind": kind, "plural": plural, "singular": singular},
            "scope": "Namespaced",
            "versions": [version],
        },
    }


def _object(properties: Schema, *required: str) -> Schema:
    needed = {"required": list(required)} if required else {}
    return {"type": "object", "properties": properties, **needed}


def _by(key: str, item: Schema) -> Schema:
    return {
        "type": "array",
        "items": {**item, "required": sorted({*item.get("required", ()), key})},
        "x-kubernetes-list-type": "map",
        "x-kubernetes-list-map-keys": [key],
    }
