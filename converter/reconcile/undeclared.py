"""Campaigns that a cluster's QueueUnits have no fields for, so that they must not be created.

An annotation without its field is worse than none: the controllers of a later Koord-Queue write the
field again and again, each time in vain, and never come to start the Job (syncQueueUnitActivation
in its pkg/jobext/framework/activation.go).
"""

from collections.abc import Sequence

from converter.cluster.client import Client
from converter.cluster.objects import annotation
from converter.errors import ApiError, ClusterUnavailable, NotFound
from converter.koord_queue.definition import read_spec_fields
from converter.koord_queue.unit import NO_ACTIVE
from converter.manifest import Manifest, Role
from converter.names import KOORD_ACTIVE_ANNOTATION, KOORD_MAX_EXECUTION_ANNOTATION
from converter.reconcile.live import Live

_FIELDS = {
    KOORD_ACTIVE_ANNOTATION: ("active", f"it is new and paused, and {NO_ACTIVE}"),
    KOORD_MAX_EXECUTION_ANNOTATION: (
        "maximumExecutionTimeSeconds",
        "its pipeline says max_execution_seconds, and the CustomResourceDefinition "
        "queueunits.scheduling.x-k8s.io of this cluster has no spec.maximumExecutionTimeSeconds "
        "(Koord-Queue v1.8.0 has none): have that of a later Koord-Queue applied, or take "
        "max_execution_seconds out",
    ),
}
NOT_INSTALLED = (
    "the cluster serves no QueueUnits (scheduling.x-k8s.io), so it would wait for ever: have "
    "Koord-Queue installed, or write another backend in converter.yaml"
)


def undeclared(
    client: Client, manifests: Sequence[Manifest], live: Live
) -> tuple[dict[str, str], str]:
    """Why new campaigns may not be created, and why that could not be told; empty where it could.

    Asks the cluster only where there is a new campaign. Where it does not say, a new one that is
    paused stays back: it might run.
    """
    new = [each for each in manifests if each.role is Role.CAMPAIGN and each.name not in live.jobs]
    if not new:
        return {}, ""
    try:
        declared = read_spec_fields(client)
    except NotFound:
        return {each.campaign: NOT_INSTALLED for each in new}, ""
    except (ApiError, ClusterUnavailable) as error:
        unread = f"which fields QueueUnits have could not be read ({error})"
        why = f"it is new and paused, and {unread}, so it might run all the same: apply again"
        paused = [each for each in new if annotation(each.body, KOORD_ACTIVE_ANNOTATION)]
        return {each.campaign: why for each in paused}, unread
    found: dict[str, str] = {}
    for manifest in new:
        for key, (field, why) in _FIELDS.items():
            if annotation(manifest.body, key) and field not in declared:
                found.setdefault(manifest.campaign, why)
    return found, ""
