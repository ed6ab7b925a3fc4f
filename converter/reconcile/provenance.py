"""Who applied what, and from which commit.

These annotations go onto a campaign's ConfigMap with the apply that creates or changes it. They
are never a reason to send anything: an unchanged campaign keeps those it has.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from converter.cluster.objects import Object
from converter.names import (
    APPLIED_AT_ANNOTATION,
    APPLIED_BY_ANNOTATION,
    COMMIT_ANNOTATION,
    JOB_UID_ANNOTATION,
)

ANNOTATIONS = (
    APPLIED_AT_ANNOTATION,
    APPLIED_BY_ANNOTATION,
    COMMIT_ANNOTATION,
    JOB_UID_ANNOTATION,
)


@dataclass(frozen=True, slots=True)
class Provenance:
    """The git commit (empty outside git), the person or CI job, and the time in RFC 3339, UTC."""

    commit: str
    applied_by: str
    applied_at: str


def with_annotations(body: Object, annotations: Mapping[str, str]) -> Object:
    """`body` with these annotations in place of those it has under the same names."""
    metadata = body["metadata"]
    merged = {**(metadata.get("annotations") or {}), **annotations}
    return {**body, "metadata": {**metadata, "annotations": merged}}


def with_provenance_of(body: Object, live: Object | None) -> Object:
    """`body` with the provenance that the live object already has."""
    present = ((live or {}).get("metadata") or {}).get("annotations") or {}
    return with_annotations(body, {key: present[key] for key in ANNOTATIONS if key in present})


def stamped(body: Object, provenance: Provenance, job_uid: str) -> Object:
    """`body` with the provenance of this apply and the uid of the Job that it belongs to."""
    return with_annotations(
        body,
        {
            COMMIT_ANNOTATION: provenance.commit,
            APPLIED_BY_ANNOTATION: provenance.applied_by,
            APPLIED_AT_ANNOTATION: provenance.applied_at,
            JOB_UID_ANNOTATION: job_uid,
        },
    )
