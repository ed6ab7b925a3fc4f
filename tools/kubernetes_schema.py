"""Write schemas/kubernetes.schema.json: what an API server takes as a Job or ConfigMap.

    .venv/bin/python tools/kubernetes_schema.py

It is made from the OpenAPI documents of the Kubernetes release that the local cluster is built
from (cluster/modules/kubernetes/go.mod), which Go fetches, and from what its validation asks for
besides, as far as a value of a user's file can come there.
"""

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).resolve().parents[1]
TARGET: Final = ROOT / "schemas" / "kubernetes.schema.json"
MODULE: Final = ROOT / "cluster" / "modules" / "kubernetes"
DOCUMENTS: Final = "api/openapi-spec/v3"

Schema = dict[str, Any]

# Where each kind is described: the document, and its name there.
KINDS: Final = {
    "Job": ("apis__batch__v1_openapi.json", "io.k8s.api.batch.v1.Job"),
    "ConfigMap": ("api__v1_openapi.json", "io.k8s.api.core.v1.ConfigMap"),
}
# What people write nothing of: descriptions, defaults, and what only the server fills in.
LEFT_OUT: Final = frozenset(("description", "default", "discriminator"))
SERVERS_OWN: Final = {
    "Job": ("status",),
    "ObjectMeta": (
        "creationTimestamp",
        "deletionGracePeriodSeconds",
        "deletionTimestamp",
        "generation",
        "managedFields",
        "resourceVersion",
        "selfLink",
        "uid",
    ),
}
FORMATS: Final[Mapping[str, Schema]] = {
    "int32": {"minimum": -(2**31), "maximum": 2**31 - 1},
    "int64": {"minimum": -(2**63), "maximum": 2**63 - 1},
}
INTEGER_OR_STRING: Final[Schema] = {
    "type": ["integer", "string"],
    "minimum": -(2**31),
    "maximum": 2**31 - 1,
}
# k8s.io/apimachinery/pkg/api/resource: the grammar of a quantity.
QUANTITY: Final[Schema] = {
    "type": ["string", "number"],
    "pattern": r"^[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([KMGTPE]i|[numkMGTPE]|[eE][+-]?[0-9]+)?$",
}

# k8s.io/apimachinery/pkg/util/validation: labels and names.
_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN: Final = rf"{_LABEL}(\.{_LABEL})*"
_NAME: Final = "[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?"
DNS_LABEL: Final[Schema] = {"maxLength": 63, "pattern": f"^{_LABEL}$"}
DNS_SUBDOMAIN: Final[Schema] = {"maxLength": 253, "pattern": f"^{_SUBDOMAIN}$"}
# No look-ahead: the patterns with one take longer to compile than all the rest.
QUALIFIED_NAME: Final[Schema] = {"maxLength": 317, "pattern": rf"^({_SUBDOMAIN}/)?{_NAME}$"}
LABEL_VALUE: Final[Schema] = {"pattern": f"^({_NAME})?$"}
LABELS: Final[Schema] = {"propertyNames": QUALIFIED_NAME, "additionalProperties": LABEL_VALUE}
KEY_OF_DATA: Final[Schema] = {
    "maxLength": 253,
    "pattern": r"^\.?[-_a-zA-Z0-9][-._a-zA-Z0-9]*$",
}
NOT_EMPTY: Final[Schema] = {"minLength": 1}
NATURAL: Final[Schema] = {"minimum": 0}
NAMED: Final[Schema] = {"required": ["name", "namespace"]}
POSITIVE_INT32: Final[Schema] = {"minimum": 1, "maximum": 2**31 - 1}

# By definition and property: what validation asks for (k8s.io/kubernetes/pkg/apis/batch/validation
# and core/validation). Only what a file can reach, through a value, a name or a number.
ADDED: Final[Mapping[str, Mapping[str, Schema]]] = {
    "ObjectMeta": {"name": DNS_SUBDOMAIN, "namespace": DNS_LABEL, "labels": LABELS}
    | {"annotations": {"propertyNames": QUALIFIED_NAME}},
    "Job": {"metadata": NAMED},
    "ConfigMap": {"data": {"propertyNames": KEY_OF_DATA}, "metadata": NAMED},
    "JobSpec": {
        "activeDeadlineSeconds": NATURAL,
        "backoffLimit": NATURAL,
        "backoffLimitPerIndex": NATURAL,
        "completionMode": {"enum": ["Indexed", "NonIndexed"]},
        "completions": NATURAL,
        "maxFailedIndexes": {"minimum": 0, "maximum": 100_000},
        # For an Indexed Job.
        "parallelism": {"minimum": 0, "maximum": 100_000},
        "ttlSecondsAfterFinished": NATURAL,
    },
    "PodFailurePolicyRule": {"action": {"enum": ["Count", "FailIndex", "FailJob", "Ignore"]}},
    "PodFailurePolicyOnExitCodesRequirement": {"operator": {"enum": ["In", "NotIn"]}},
    "PodSpec": {
        "activeDeadlineSeconds": POSITIVE_INT32,
        "containers": {"minItems": 1},
        "nodeSelector": LABELS,
        "restartPolicy": {"enum": ["Never", "OnFailure"]},
        "runtimeClassName": DNS_SUBDOMAIN,
        "terminationGracePeriodSeconds": NATURAL,
    },
    "Container": {
        "image": {"pattern": r"^\S(.*\S)?$"},
        "name": DNS_LABEL,
        "terminationMessagePolicy": {"enum": ["FallbackToLogsOnError", "File"]},
    },
    "EnvVar": {"name": {"pattern": "^[ -<>-~]+$"}},
    "SecretKeySelector": {"key": KEY_OF_DATA, "name": NOT_EMPTY},
    "ResourceRequirements": {
        "limits": {"propertyNames": QUALIFIED_NAME},
        "requests": {"propertyNames": QUALIFIED_NAME},
    },
    "Toleration": {
        "effect": {"enum": ["NoExecute", "NoSchedule", "PreferNoSchedule"]},
        "key": QUALIFIED_NAME,
        "operator": {"enum": ["Equal", "Exists"]},
        "value": LABEL_VALUE,
    },
    "Volume": {"name": DNS_LABEL},
    "VolumeMount": {
        "mountPath": NOT_EMPTY,
        "name": NOT_EMPTY,
        "subPath": {"pattern": "^[^/]"},
    },
    "ConfigMapVolumeSource": {"name": NOT_EMPTY},
    "PersistentVolumeClaimVolumeSource": {"claimName": NOT_EMPTY},
    "SecretVolumeSource": {"defaultMode": {"minimum": 0, "maximum": 0o777}}
    | {"secretName": NOT_EMPTY},
}
REQUIRED: Final[Mapping[str, tuple[str, ...]]] = {
    "Job": ("apiVersion", "kind", "metadata", "spec"),
    "ConfigMap": ("apiVersion", "kind", "metadata"),
    "JobSpec": ("template",),
    "PodTemplateSpec": ("spec",),
    "PodSpec": ("containers", "restartPolicy"),
    "Container": ("image", "name"),
    "SecretVolumeSource": ("secretName",),
}


def main() -> int:
    """Write the schema; 0 when it is written."""
    module = _module()
    definitions: dict[str, Schema] = {}
    for file, name in KINDS.values():
        document = json.loads((Path(module["Dir"]) / DOCUMENTS / file).read_text("utf-8"))
        definitions |= _definitions(document["components"]["schemas"], name)
    schema = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"Job and ConfigMap of Kubernetes {module['Version']}",
        "$comment": "Made by tools/kubernetes_schema.py; change that.",
        "type": "object",
        "required": ["kind"],
        "properties": {"kind": {"enum": list(KINDS)}},
        "allOf": [
            {
                "if": {"properties": {"kind": {"const": kind}}},
                "then": {"$ref": f"#/$defs/{kind}"},
            }
            for kind in KINDS
        ],
        "$defs": dict(sorted(definitions.items())),
    }
    TARGET.write_text(json.dumps(schema, indent=1) + "\n", encoding="utf-8")
    return 0


def _module() -> dict[str, Any]:
    """Where Go keeps the source of the pinned Kubernetes, and its version."""
    go = subprocess.run(
        ["go", "mod", "download", "-json", "k8s.io/kubernetes"],  # noqa: S607 - from the PATH
        cwd=MODULE,
        capture_output=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(go.stdout)
    return found


def _definitions(schemas: Mapping[str, Schema], root: str) -> dict[str, Schema]:
    """A definition and all that it refers to, by their short names."""
    definitions: dict[str, Schema] = {}
    waiting = [root]
    while waiting:
        name = waiting.pop()
        short = _short(name)
        if short in definitions:
            continue
        source = _without_servers_own(short, schemas[name])
        definitions[short] = _definition(short, source)
        waiting += _references(source)
    return definitions


def _without_servers_own(short: str, source: Schema) -> Schema:
    own = SERVERS_OWN.get(short, ())
    members = source.get("properties", {})
    return source | {"properties": {name: members[name] for name in members if name not in own}}


def _references(schema: Any) -> Iterator[str]:
    if isinstance(schema, list):
        for member in schema:
            yield from _references(member)
    elif isinstance(schema, dict):
        for keyword, member in schema.items():
            if keyword == "$ref":
                yield member.rpartition("/")[2]
            else:
                yield from _references(member)


def _short(name: str) -> str:
    return name.rpartition(".")[2]


def _definition(short: str, source: Schema) -> Schema:
    if short == "Quantity":
        return QUANTITY
    if source.get("format") == "int-or-string":
        return INTEGER_OR_STRING
    if not source["properties"]:
        return {keyword: source[keyword] for keyword in ("type", "format") if keyword in source}
    added = ADDED.get(short, {})
    properties = {
        name: _merged(_translated(member), added.get(name, {}))
        for name, member in source["properties"].items()
    }
    for group in source.get("x-kubernetes-group-version-kind", ()):
        version = "/".join(filter(None, (group["group"], group["version"])))
        properties |= {"apiVersion": {"const": version}, "kind": {"const": group["kind"]}}
    required = sorted({*source.get("required", ()), *REQUIRED.get(short, ())})
    return {
        "type": "object",
        "additionalProperties": False,
        **({"required": required} if required else {}),
        "properties": properties,
    }


def _translated(schema: Schema) -> Schema:
    """A schema of OpenAPI as one of JSON Schema; annotations of Kubernetes are left out."""
    if "allOf" in schema:
        (reference,) = schema["allOf"]
        return _translated(reference)
    translated: Schema = {}
    for keyword, value in schema.items():
        if keyword == "$ref":
            translated["$ref"] = f"#/$defs/{_short(value)}"
        elif keyword in ("items", "additionalProperties"):
            translated[keyword] = _translated(value)
        elif keyword == "format":
            translated |= FORMATS.get(value, {"format": value})
        elif keyword not in LEFT_OUT and not keyword.startswith("x-kubernetes-"):
            translated[keyword] = value
    return translated


def _merged(schema: Schema, added: Schema) -> Schema:
    """Both; of a mapping's values too."""
    values = {**schema.get("additionalProperties", {}), **added.get("additionalProperties", {})}
    return {**schema, **added, **({"additionalProperties": values} if values else {})}


if __name__ == "__main__":
    sys.exit(main())
