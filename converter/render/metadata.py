"""Names, labels and annotations of the rendered objects."""

from collections.abc import Mapping
from typing import Any

from converter.manifest import Role
from converter.model import Settings
from converter.names import (
    CAMPAIGN_LABEL,
    FOREIGN_TOOL_ANNOTATIONS,
    MANAGED_BY_LABEL,
    MANAGED_BY_VALUE,
    PIPELINE_LABEL,
    REPOSITORY_ANNOTATION,
    ROLE_LABEL,
)


def object_labels(role: Role, pipeline: str, campaign: str = "") -> dict[str, str]:
    """What the reconciler selects an object or pod by. The objects of a pipeline have no campaign.

    A pipeline's id is a label value as it is: the rules allow no other.
    """
    labels = {MANAGED_BY_LABEL: MANAGED_BY_VALUE, PIPELINE_LABEL: pipeline, ROLE_LABEL: role.value}
    if campaign:
        labels[CAMPAIGN_LABEL] = campaign
    return labels


def object_metadata(
    name: str,
    settings: Settings,
    labels: Mapping[str, str],
    annotations: Mapping[str, str],
) -> dict[str, Any]:
    """``metadata`` of an object, with what every one of ours is annotated with."""
    merged = {**FOREIGN_TOOL_ANNOTATIONS, **annotations}
    if settings.repository:
        merged[REPOSITORY_ANNOTATION] = settings.repository
    return {
        "name": name,
        "namespace": settings.namespace,
        "labels": dict(sorted(labels.items())),
        "annotations": dict(sorted(merged.items())),
    }
