"""Jobs that are created suspended, and that somebody else than server-side apply starts."""

from typing import Any

from converter.cluster.fields import applied_fields, owners, without_managers
from converter.cluster.objects import Object, is_suspended
from converter.names import FIELD_MANAGER
from converter.queues.base import Prepared

SUSPEND = ("spec", "suspend")


def is_hand(manager: str) -> bool:
    """Whether a field manager is somebody's kubectl. What else writes Jobs is not overruled."""
    return manager.startswith("kubectl")


def prepared(job: Object, live: Object | None) -> Prepared:
    """What to send for a Job that is rendered suspended.

    Who starts it takes ``spec.suspend`` over, and it is not sent any more. Until then it is, also
    where git lets the campaign run: a field that server-side apply alone owns would be false as
    soon as it was left out, and pods would start.
    """
    if live is None:
        return Prepared(job)
    body = without_managers(
        job, live, lambda manager: not is_hand(manager), applied_fields(live, FIELD_MANAGER)
    )
    ours_alone = owners(live, SUSPEND) == {(FIELD_MANAGER, "Apply")}
    return Prepared(body if ours_alone and is_suspended(live) else _unsaid(body))


def pod_priority_class_of(job: Object) -> str:
    """``priorityClassName`` of a Job's pods; empty where they have none."""
    pod = ((job.get("spec") or {}).get("template") or {}).get("spec") or {}
    return str(pod.get("priorityClassName") or "")


def _unsaid(body: Object) -> dict[str, Any]:
    spec = {key: value for key, value in body["spec"].items() if key != "suspend"}
    return {**body, "spec": spec}
