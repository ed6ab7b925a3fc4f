"""The Kubernetes Event that tells of a hold: for who looks with kubectl."""

import secrets
from typing import Any, Final

from converter.cluster.objects import name, uid
from converter.holds.history import Entry, Happened
from converter.holds.kinds import Subject

COMPONENT: Final = "gitops-campaigns.io/holds"
_REASONS: Final = {Happened.HELD: "Held", Happened.RELEASED: "Released"}


def event_of(subject: Subject, namespace: str, entry: Entry) -> dict[str, Any]:
    """The Event of a hold that was placed or released, under a name of its own."""
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            # A name of an object has 253 characters at most.
            "name": f"{name(subject.live)[:230]}.{secrets.token_hex(8)}",
            "namespace": namespace,
        },
        "involvedObject": {
            "apiVersion": subject.resource.api.removeprefix("/apis/").removeprefix("/api/"),
            "kind": subject.resource.kind,
            "namespace": namespace,
            "name": name(subject.live),
            "uid": uid(subject.live),
        },
        "type": "Normal",
        "reason": _REASONS[entry.what],
        "message": message(entry),
        "source": {"component": COMPONENT},
        "firstTimestamp": entry.at,
        "lastTimestamp": entry.at,
        "count": 1,
    }


def message(entry: Entry) -> str:
    """What happened, in words."""
    why = f": {entry.reason}" if entry.reason else ""
    return f"hold {entry.instance} {_PASSIVE[entry.what]} by {entry.by or 'somebody'}{why}"


_PASSIVE: Final = {Happened.HELD: "was placed", Happened.RELEASED: "was released"}
