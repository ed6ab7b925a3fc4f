"""Jobs that are created suspended, and that somebody else than server-side apply starts."""

from typing import Any

from converter.cluster.fields import applied_fields, owners, without_managers
from converter.cluster.objects import Object, is_suspended, label
from converter.model import Backend
from converter.names import FIELD_MANAGER, KUEUE_QUEUE_LABEL
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


def taken_by_kueue(sent: Object, answered: Object, backend: Backend) -> str:
    """What is said of a new Job that comes back with Kueue's queue label; empty without.

    Kueue's webhook writes it where the namespace has a LocalQueue named ``default``.
    """
    queue = label(answered, KUEUE_QUEUE_LABEL)
    if not queue or label(sent, KUEUE_QUEUE_LABEL):
        return ""
    return (
        f"converter.yaml says backend: {backend}, but Kueue would put it into the LocalQueue "
        f"{queue} and start it there, since the namespace has a LocalQueue of that name: rename "
        "that LocalQueue, or write backend: kueue"
    )


def pod_priority_class_of(job: Object) -> str:
    """``priorityClassName`` of a Job's pods; empty where they have none."""
    pod = ((job.get("spec") or {}).get("template") or {}).get("spec") or {}
    return str(pod.get("priorityClassName") or "")


def _unsaid(body: Object) -> dict[str, Any]:
    spec = {key: value for key, value in body["spec"].items() if key != "suspend"}
    return {**body, "spec": spec}
