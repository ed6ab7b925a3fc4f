"""Jobs that are created suspended, in every state of who owns ``spec.suspend``."""

from __future__ import annotations

import copy
from collections.abc import Mapping

from unit.reconcile.live_objects import Object, applied, job, managed

from converter.manifest import Manifest
from converter.names import FIELD_MANAGER, KOORD_QUOTA_LABEL, KUEUE_QUEUE_LABEL

SUSPEND_FIELD: Object = {"f:spec": {"f:suspend": {}}}


def rendered(annotations: Mapping[str, str] | None = None) -> Manifest:
    """A campaign's Job as Koord-Queue's and the plain backend have it: always suspended."""
    made = job(suspended=True)
    body: Object = copy.deepcopy(dict(made.body))
    labels = body["metadata"]["labels"]
    del labels[KUEUE_QUEUE_LABEL]
    labels[KOORD_QUOTA_LABEL] = "gpu"
    body["metadata"]["annotations"] |= dict(annotations or {})
    return Manifest(made.role, body, made.pipeline, made.campaign, made.suspended)


def born(annotations: Mapping[str, str] | None = None) -> Object:
    """As it was created: server-side apply owns all of it."""
    return applied(rendered(annotations))


def taken_over(manager: str = "koord-queue-controllers", *, suspend: bool) -> Object:
    """Somebody's update has changed ``spec.suspend`` since, and owns it alone."""
    live = born()
    del live["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:suspend"]
    live["spec"]["suspend"] = suspend
    return managed(live, manager, "Update", SUSPEND_FIELD)


def annotated_by(
    manager: str, annotations: Mapping[str, str], live: Object | None = None
) -> Object:
    """Somebody's update has written these annotations."""
    made = copy.deepcopy(born() if live is None else live)
    made["metadata"]["annotations"] |= dict(annotations)
    fields: Object = {f"f:{key}": {} for key in annotations}
    return managed(made, manager, "Update", {"f:metadata": {"f:annotations": fields}})


# The lever has written the value that apply had written, so that both own it.
BOTH_WAYS = managed(born(), FIELD_MANAGER, "Update", SUSPEND_FIELD)
