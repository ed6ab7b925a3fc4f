"""Statuses as JSON. The shape is `schemas/status.schema.json`; its `version` is 1."""

from collections.abc import Iterable
from dataclasses import asdict
from datetime import datetime
from typing import Any, Final

from converter.koord_queue.unit import ExecutionTime
from converter.observe.eta import Eta, eta_of
from converter.observe.phase import Phase
from converter.observe.status import Status
from converter.wording import said

VERSION: Final = 1


def status_list(
    found: Iterable[Status], now: datetime, repository: str, places_unread: str
) -> dict[str, Any]:
    """The whole answer of `campaigns status --format json`; `now` is the API server's time."""
    return {
        "version": VERSION,
        "repository": repository,
        "time": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
        "placesUnread": places_unread,
        "campaigns": [status_document(status, now) for status in found],
    }


def status_document(status: Status, now: datetime) -> dict[str, Any]:
    """One campaign."""
    place, eta, hold = status.place, eta_at(status, now), status.hold
    return {
        "name": status.name,
        "phase": status.shown_phase,
        "clusterPhase": str(status.phase),
        "detail": status.detail,
        "drift": status.drift,
        "total": status.total,
        "done": status.done,
        "failed": status.failed,
        "active": status.active,
        "ready": status.ready,
        "parts": status.parts,
        "pipeline": status.pipeline,
        "priority": status.priority,
        "queue": status.queue,
        "size": status.size,
        "flavors": list(status.admission.flavors),
        "place": place
        and {
            "localQueue": place.in_local_queue,
            "clusterQueue": place.in_cluster_queue,
            "priority": place.priority,
        },
        "created": status.created,
        "since": status.since,
        "finished": status.finished,
        "eta": asdict(eta) if eta else None,
        "hold": hold
        and {
            "instance": hold.instance,
            "since": said(hold.at),
            "by": said(hold.by),
            "reason": said(hold.reason),
        },
        "executionTime": _execution_time(status.execution_time),
    }


def _execution_time(time: ExecutionTime) -> dict[str, int | None] | None:
    if time.limit is None:
        return None
    return {"limit": time.limit, "used": time.used, "left": time.left}


def eta_at(status: Status, now: datetime) -> Eta | None:
    """How long what runs will still take; None where it is not known in what time volumes ended."""
    if status.phase is not Phase.RUNNING or status.admission.is_partial:
        return None
    ended = status.done + status.failed
    return eta_of(ended, status.total - ended, status.admission.seconds(now))
