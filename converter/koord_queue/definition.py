"""Which fields the cluster's QueueUnits have: what is not declared, an API server drops."""

from typing import Any, Final

from converter.cluster.client import Client
from converter.cluster.objects import Object
from converter.cluster.resources import QUEUE_UNITS

# Readable by everybody who has an account (the ClusterRole system:discovery), which the
# CustomResourceDefinition itself is not.
SCHEMA: Final = "/openapi/v3/apis/scheduling.x-k8s.io/v1alpha1"


def read_spec_fields(client: Client) -> frozenset[str]:
    """The fields of a QueueUnit's ``spec``. Raises NotFound where there are no QueueUnits."""
    return spec_fields(client.discover(SCHEMA))


def spec_fields(document: Object) -> frozenset[str]:
    """The fields of a QueueUnit's ``spec`` in an OpenAPI document; none where it is not there."""
    schemas: dict[str, Any] = (document.get("components") or {}).get("schemas") or {}
    for schema in schemas.values():
        kinds = schema.get("x-kubernetes-group-version-kind") or ()
        if any(each.get("kind") == QUEUE_UNITS.kind for each in kinds):
            spec = (schema.get("properties") or {}).get("spec") or {}
            return frozenset(spec.get("properties") or {})
    return frozenset()
