"""One apply at a time: the Lease ``campaigns-apply``.

Times are the API server's on both sides, so that a machine with a fast clock cannot take a Lease
that is in use. Every write carries the resourceVersion of the read that it was decided on.
"""

import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from time import monotonic
from typing import Any

from converter.cluster.client import CONNECT_SECONDS, Client, Object
from converter.cluster.resources import LEASES
from converter.errors import (
    ApiError,
    ClusterUnavailable,
    Conflict,
    LeaseHeld,
    LeaseLost,
    NotFound,
    Refused,
)
from converter.names import LEASE_NAME

DURATION = timedelta(minutes=5)
RENEW_AFTER_SECONDS = 30.0
# What a request may still take on its way to being written, above its own time limit.
MARGIN_SECONDS = 15.0

Annotate = Callable[[Mapping[str, str]], Mapping[str, str]]


class Lease:
    """A Lease that this run holds. `keep` is safe to call from several threads.

    `renewed` is when it was last written, in seconds of `time.monotonic`: the moment before it was
    sent, since the Lease says so too and a slow answer makes it no younger.
    """

    def __init__(self, client: Client, namespace: str, held: Object, renewed: float) -> None:
        self._client = client
        self._give_up_after = give_up_after_seconds(client.longest_try_seconds)
        self._released = False
        self._namespace = namespace
        self._held = held
        self._renewed = renewed
        self._lock = threading.Lock()

    @property
    def holder(self) -> str:
        """The identity under which this run holds the Lease."""
        return _holder(self._held)

    def keep(self) -> None:
        """Call immediately before each write: renews when it is time.

        Raises LeaseLost when another run has taken over, when renewing has failed for so long that
        another run may have, and once this run has given the Lease up. A renewal that succeeds
        proves, by its resourceVersion, that nobody took over, however late it is.
        """
        with self._lock:
            if self._released:
                raise LeaseLost(f"the Lease {LEASE_NAME} was given up: the run is over")
            if monotonic() - self._renewed < RENEW_AFTER_SECONDS:
                return
            try:
                self._renew()
            except (ApiError, ClusterUnavailable) as error:
                # It stays ours for the rest of its duration; the next write tries again.
                age = monotonic() - self._renewed
                if age > self._give_up_after:
                    lost = f"the Lease {LEASE_NAME} was not renewed for {age:.0f} s: {error}"
                    raise LeaseLost(lost) from error

    def release(self) -> None:
        """Give the Lease up. A failure is of no consequence: it expires by itself."""
        with self._lock, suppress(ApiError, ClusterUnavailable):
            self._released = True
            now = _micro(self._client.now())
            released = _with_spec(self._held, holderIdentity="", renewTime=now)
            self._client.replace(LEASES, self._namespace, released)

    def _renew(self) -> None:
        started = monotonic()
        renewed = _with_spec(self._held, renewTime=_micro(self._client.now()))
        try:
            self._held = self._client.replace(LEASES, self._namespace, renewed)
        except (Conflict, NotFound) as error:
            self._held = self._still_ours(error)
        self._renewed = started

    def _still_ours(self, error: ApiError) -> Object:
        """The Lease as it is now: a renewal whose answer was lost fails when it is sent again."""
        try:
            present = self._client.get(LEASES, self._namespace, LEASE_NAME)
        except NotFound:
            raise LeaseLost(f"the Lease {LEASE_NAME} was deleted during this run") from error
        holder = _holder(present)
        if holder != self.holder:
            taken = f"taken by {holder}" if holder else "given up"
            raise LeaseLost(f"the Lease {LEASE_NAME} was {taken} during this run") from error
        return present


@contextmanager
def held(
    client: Client, namespace: str, identity: str, annotate: Annotate = dict
) -> Iterator[Lease]:
    """Hold the Lease while the block runs.

    `annotate` is given the annotations of the Lease that is free to take and returns those that it
    is taken with; what it raises leaves the Lease as it is.

    Raises LeaseHeld, with the holder's name, when another run holds it and renews it, and Refused
    when one request may take so long that the Lease could run out during it.
    """
    if give_up_after_seconds(client.longest_try_seconds) < RENEW_AFTER_SECONDS:
        most = DURATION.total_seconds() - RENEW_AFTER_SECONDS - MARGIN_SECONDS - CONNECT_SECONDS
        raise Refused(
            "apiserver_request_timeout is too long to keep the Lease for the time of one request; "
            f"nothing was sent: set it to {most:.0f} or less"
        )
    started = monotonic()
    lease = Lease(client, namespace, _acquire(client, namespace, identity, annotate), started)
    try:
        yield lease
    finally:
        lease.release()


def give_up_after_seconds(longest_try_seconds: float) -> float:
    """The age of the last renewal from which on no more request is sent.

    One that is sent just before must have ended before another run may take over.
    """
    return DURATION.total_seconds() - longest_try_seconds - MARGIN_SECONDS


def _acquire(client: Client, namespace: str, identity: str, annotate: Annotate) -> Object:
    try:
        present = client.get(LEASES, namespace, LEASE_NAME)
    except NotFound:
        return _take(client, namespace, identity, None, annotate({}))
    if is_held(present, client.now()):
        raise _held_error(present)
    annotations = annotate(present["metadata"].get("annotations") or {})
    return _take(client, namespace, identity, present, annotations)


def _take(
    client: Client,
    namespace: str,
    identity: str,
    present: Object | None,
    annotations: Mapping[str, str],
) -> Object:
    """Write the Lease as ours; of two runs that start at once the API server lets one through."""
    spec = (present or {}).get("spec") or {}
    taken = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        **(present or {}),
        "metadata": {
            "name": LEASE_NAME,
            "namespace": namespace,
            **(present or {}).get("metadata", {}),
            "annotations": dict(annotations),
        },
        "spec": {
            "holderIdentity": identity,
            "acquireTime": _micro(client.now()),
            "renewTime": _micro(client.now()),
            "leaseDurationSeconds": int(DURATION.total_seconds()),
            "leaseTransitions": int(spec.get("leaseTransitions") or 0) + bool(present),
        },
    }
    try:
        if present is None:
            return client.create(LEASES, namespace, taken)
        return client.replace(LEASES, namespace, taken)
    except Conflict as error:
        now_there = client.get(LEASES, namespace, LEASE_NAME)
        if _holder(now_there) == identity:
            return now_there
        raise _held_error(now_there) from error


def is_held(lease: Object, now: datetime) -> bool:
    """Whether someone holds the Lease and renewed it within its duration before `now`."""
    spec = lease.get("spec") or {}
    if not spec.get("holderIdentity") or not spec.get("renewTime"):
        return False
    duration = timedelta(seconds=spec.get("leaseDurationSeconds") or DURATION.total_seconds())
    return now < _parse(spec["renewTime"]) + duration


def _held_error(lease: Object) -> LeaseHeld:
    spec = lease.get("spec") or {}
    if not _holder(lease):
        return LeaseHeld("another apply has ended just now; nothing was sent: apply again")
    return LeaseHeld(
        f"another apply is running: {_holder(lease)} holds the Lease "
        f"{LEASE_NAME} since {spec.get('acquireTime') or 'unknown'}; nothing was sent. "
        "Wait for it, or for 5 minutes if it died"
    )


def _holder(lease: Object) -> str:
    return str((lease.get("spec") or {}).get("holderIdentity") or "")


def _with_spec(lease: Object, **changes: Any) -> Object:
    return {**lease, "spec": {**lease["spec"], **changes}}


def _micro(moment: datetime) -> str:
    """MicroTime, as the API server spells it."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def _parse(text: str) -> datetime:
    return datetime.fromisoformat(text)
