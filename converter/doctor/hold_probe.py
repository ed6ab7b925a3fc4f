"""A hold, tried on a Job of doctor's own that runs nothing, and taken away again.

The Job has ``parallelism: 0``: whoever admits or starts it, it takes no quota and has no pod.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final

from converter.cluster.client import Client
from converter.cluster.objects import Object, annotation, uid
from converter.cluster.resources import JOBS
from converter.doctor.finding import Check, Finding, Group
from converter.doctor.probe import probe_job
from converter.errors import (
    ApiError,
    CampaignsError,
    ClusterUnavailable,
    Conflict,
    Forbidden,
    NotFound,
)
from converter.holds.carry_out import Store
from converter.holds.deadline import deadline_in
from converter.holds.errors import DeadlinePassed, HoldError, Rejected, Unsupported
from converter.holds.kinds import OWNERS
from converter.holds.plain import PlainStore
from converter.holds.probe import DoesNotHold, round_trip
from converter.holds.workload import WorkloadStore
from converter.model import Backend, Settings
from converter.names import DOMAIN
from converter.times import instant

NAME: Final = "campaigns-doctor-hold"
TOKEN_ANNOTATION: Final = f"{DOMAIN}/probe"
# A probe takes seconds; what is older was left by one that was killed.
LEFT_BEHIND: Final = timedelta(minutes=10)
DEADLINE_SECONDS: Final = 30.0
WORKLOAD_SECONDS: Final = 20.0
PAUSE_SECONDS: Final = 0.2

_CHECK: Final = Check(Group.ADMISSION, "holds")
_AS: Final = "run it as the apply identity, and give the one that holds with --holder-kubeconfig"


def hold_findings(
    client: Client,
    holder: Client,
    settings: Settings,
    image: str,
    sleep: Callable[[float], None] = time.sleep,
) -> tuple[Finding, ...]:
    """Whether holds can be placed and lifted in this namespace.

    `client` makes the Job and deletes it, `holder` holds and releases; they may be the same. The
    Job is deleted whatever happens, as far as the API server answers.
    """
    if settings.backend is Backend.KOORD_QUEUE:
        return (
            _CHECK.unknown(
                "holds are not tried with Koord-Queue, which would have to take up a Job for that",
                "hold a campaign that matters to nobody, and look at `campaigns holds`",
            ),
        )
    own = _OwnJob(client, settings.namespace, secrets.token_hex(8))
    try:
        own.create(hold_job(settings, image, own.token))
        at = f"{client.now():%Y-%m-%dT%H:%M:%SZ}"
        found = _tried(holder, settings, at, sleep, alone=client is holder)
    except ApiError as error:
        found = not_made(error)
    except ClusterUnavailable as error:
        found = _CHECK.unknown(f"holds were not tried: {error}", "check again")
    finally:
        left = own.removed()
    return (found, *([left_there(settings.namespace, left)] if left else ()))


def hold_job(settings: Settings, image: str, token: str) -> dict[str, Any]:
    """The Job; `token` tells it from that of another doctor."""
    queue = settings.queue if is_queued(settings) else ""
    body = probe_job(settings.namespace, queue, image)
    body["metadata"]["name"] = NAME
    body["metadata"]["annotations"] = {TOKEN_ANNOTATION: token}
    if not queue:
        # The labels of a warm-up, which this is not.
        del body["metadata"]["labels"]
    body["spec"] |= {"parallelism": 0, "suspend": True}
    return body


def is_queued(settings: Settings) -> bool:
    """Whether what is held is the Workload that Kueue makes."""
    return settings.backend is Backend.KUEUE


def left_there(namespace: str, why: str) -> Finding:
    """The Job could not be deleted."""
    return _CHECK.warning(
        f"Job/{NAME}, on which holds were tried, was not deleted: {why}",
        f"delete it: kubectl --namespace={namespace} delete job {NAME}",
    )


def no_holder(error: CampaignsError) -> Finding:
    """The credentials of the identity that holds cannot be used."""
    return _CHECK.unknown(f"holds were not tried: {error}", "correct --holder-kubeconfig")


def not_made(error: ApiError) -> Finding:
    """The Job could not be created."""
    found = f"holds were not tried, for want of a Job to hold: {error.message}"
    if isinstance(error, Forbidden):
        return _CHECK.unknown(found, _AS)
    if isinstance(error, Conflict):
        return _CHECK.unknown(found, f"wait for the other doctor, or delete Job/{NAME}")
    return _CHECK.unknown(found, "see what is said of queued-job and plain-job")


def not_held(error: HoldError, *, alone: bool) -> Finding:
    """The round trip failed; `alone`: no other identity was given for it."""
    match error:
        case DoesNotHold():
            return _CHECK.fault(
                f"holds do not work on this cluster: {error}",
                "ask who runs the cluster which webhook or controller changes what is written",
            )
        case DeadlinePassed():
            return _CHECK.unknown(f"whether holds work could not be told: {error}", "check again")
        case Unsupported() | Rejected() if alone:
            return _CHECK.unknown(f"holds were not tried: {error}", _AS)
        case Unsupported() | Rejected():
            return _CHECK.fault(
                f"the identity that holds cannot: {error}",
                "give it the rights of the chart's holder identity, and keep admission policies "
                "from refusing what it updates",
            )
        case _:
            return _CHECK.unknown(f"whether holds work could not be told: {error}", "check again")


def _tried(
    holder: Client, settings: Settings, at: str, sleep: Callable[[float], None], *, alone: bool
) -> Finding:
    kind = OWNERS[JOBS.kind]

    def store() -> Store:
        if is_queued(settings):
            return WorkloadStore(holder, settings.namespace, kind, NAME)
        return PlainStore(holder, settings.namespace, kind, NAME)

    try:
        if is_queued(settings) and not _has_workload(store, sleep):
            return _CHECK.fault(
                f"Kueue made no Workload for a Job with the queue label in "
                f"{WORKLOAD_SECONDS:.0f} s, and without one nothing can be held",
                "have Kueue's controller looked at, and batch/job among integrations.frameworks "
                "in its Configuration",
            )
        deadline = deadline_in(DEADLINE_SECONDS)
        round_trip(store, deadline, at=at, by="campaigns doctor")
    except HoldError as error:
        return not_held(error, alone=alone)
    except Forbidden as error:
        return not_held(Unsupported(str(error)), alone=alone)
    except ApiError as error:
        return not_held(HoldError(str(error)), alone=alone)
    what = "the Workload of a Job" if is_queued(settings) else "a Job"
    return _CHECK.ok(
        f"{what} was held, kept from a late write and from the release of another hold, and "
        "released (a Job of doctor's own, deleted again)"
    )


def _has_workload(store_of: Callable[[], Store], sleep: Callable[[float], None]) -> bool:
    deadline = deadline_in(WORKLOAD_SECONDS)
    while True:
        try:
            store_of().read(deadline_in(DEADLINE_SECONDS))
        except Rejected:
            if deadline.rest <= 0:
                return False
            sleep(PAUSE_SECONDS)
        else:
            return True


def is_left_behind(found: Object, now: datetime) -> bool:
    """Whether a Job is that of a doctor which was killed long ago."""
    made = instant(str(found["metadata"].get("creationTimestamp", "")))
    ours = bool(annotation(found, TOKEN_ANNOTATION))
    return ours and made is not None and now - made > LEFT_BEHIND


class _OwnJob:
    """The Job of one run, which `token` tells from that of another doctor."""

    def __init__(self, client: Client, namespace: str, token: str) -> None:
        self.token = token
        self._client = client
        self._namespace = namespace
        self._made = ""
        self._asked = False

    def create(self, body: Mapping[str, Any]) -> None:
        """Create it, in place of one that was left behind. Raises ApiError."""
        self._asked = True
        try:
            self._made = uid(self._client.create(JOBS, self._namespace, body))
        except Conflict:
            found = self._client.get(JOBS, self._namespace, NAME)
            if annotation(found, TOKEN_ANNOTATION) == self.token:
                # The answer to the first try was lost.
                self._made = uid(found)
                return
            if not is_left_behind(found, self._client.now()):
                raise
            self._client.delete(JOBS, self._namespace, NAME, uid=uid(found))
            self._made = uid(self._client.create(JOBS, self._namespace, body))
        except ApiError as error:
            # What was refused is not there; a server that failed can have stored it.
            self._asked = error.status >= 500
            raise

    def removed(self) -> str:
        """Delete it if it is there; empty, or why that could not be done."""
        if not self._asked:
            return ""
        try:
            found = self._made or self._found()
            if found:
                self._client.delete(JOBS, self._namespace, NAME, uid=found)
        except NotFound:
            return ""
        except (ApiError, ClusterUnavailable) as error:
            # Who may not look for it has been told that another one is there.
            return str(error) if self._made or not isinstance(error, Forbidden) else ""
        return ""

    def _found(self) -> str:
        """Its uid, where an interrupt or a lost answer kept that from being known."""
        found = self._client.get(JOBS, self._namespace, NAME)
        return uid(found) if annotation(found, TOKEN_ANNOTATION) == self.token else ""
