"""What a report is made of, read from the cluster and from git.

No failure to read one thing keeps another from being read: it becomes a value. Nothing that is
sent is stored: access reviews answer a question, and Jobs are only tried (dryRun=All).
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from converter.cluster.client import Client
from converter.cluster.kueue_versions import EARLIER, WANTED
from converter.cluster.objects import Object
from converter.cluster.resources import (
    ACCESS_REVIEWS,
    DEPLOYMENTS,
    JOBS,
    KOORD_QUEUES,
    LEASES,
    NAMESPACES,
    SELF_REVIEWS,
    WORKLOADS,
    Resource,
)
from converter.doctor.koord_queue import KoordQueueFacts
from converter.doctor.kueue import KueueFacts
from converter.doctor.needs import Access, Named, needs_of
from converter.doctor.permissions import Rights, asked
from converter.doctor.probe import NotTried, Refusal, Tried, probe_job
from converter.errors import ApiError, ClusterUnavailable, Forbidden, NotFound
from converter.koord_queue.definition import SCHEMA
from converter.model import Backend, Settings
from converter.names import LEASE_NAME
from converter.reconcile.queue_chain import (
    Missing,
    QueueChain,
    Read,
    Unknown,
    cluster_queue_name,
    read_chain,
)
from converter.reconcile.side_by_side import side_by_side

KUEUE_GROUP: Final = "/apis/kueue.x-k8s.io"
VISIBILITY: Final = "/apis/visibility.kueue.x-k8s.io"
CONCURRENCY: Final = 8

Reading = Callable[[], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """What does not depend on a namespace. `skew` is this machine's clock less the server's."""

    version: Read
    skew: timedelta | Unknown
    user: Read
    kueue: KueueFacts


@dataclass(frozen=True, slots=True)
class NamespaceFacts:
    """What belongs to one namespace and its queue. `now` is the API server's time."""

    chain: QueueChain
    workloads: tuple[Object, ...] | Unknown
    rights: Rights
    namespace: Read
    lease: Read
    now: datetime
    queued: Tried
    plain: Tried


def read_server(client: Client) -> ServerFacts:
    """Raises ClusterUnavailable without an answer, and Forbidden for bad credentials (401)."""
    try:
        version: Read = client.discover("/version")
    except Forbidden as error:
        if error.status == 401:
            raise
        version = Unknown(str(error))
    except ApiError as error:
        version = Unknown(str(error))
    skew = _skew(client)
    found = _all(
        {
            "group": lambda: client.discover(KUEUE_GROUP),
            "wanted": lambda: client.discover(f"{KUEUE_GROUP}/{WANTED}"),
            "earlier": lambda: client.discover(f"{KUEUE_GROUP}/{EARLIER}"),
            "user": lambda: client.create(SELF_REVIEWS, "", _review(SELF_REVIEWS, {})),
            "visibility": lambda: _either(client, VISIBILITY),
            "deployment": lambda: client.get(
                DEPLOYMENTS, "kueue-system", "kueue-controller-manager"
            ),
        }
    )
    user = found.pop("user")
    return ServerFacts(version, skew, user, KueueFacts(**found))


def read_namespace(client: Client, settings: Settings, image: str) -> NamespaceFacts:
    """The namespace and the queue that converter.yaml names; Jobs are tried with `image`."""
    namespace = settings.namespace
    if settings.backend is Backend.KUEUE:
        classes = settings.priority_classes
        chain = read_chain(client, namespace, settings.queue, classes, CONCURRENCY)
    else:
        chain = QueueChain(settings.queue, Missing())
    names = names_of(chain, settings)
    needs = needs_of(settings.backend)
    rights = Rights(namespace, names, ask(client, asked(namespace, names, needs)), needs)
    found = _all(
        {
            "namespace": lambda: client.get(NAMESPACES, "", namespace),
            "lease": lambda: client.get(LEASES, namespace, LEASE_NAME),
        }
    )
    may_create = rights.answers.get(Access("batch", "jobs", "create", namespace=namespace))
    queues = {settings.queue, ""} if settings.backend is Backend.KUEUE else {""}
    tried = _try_jobs(client, namespace, queues, may_create, image)
    return NamespaceFacts(
        chain=chain,
        workloads=_workloads(client, namespace) if settings.backend is Backend.KUEUE else (),
        rights=rights,
        namespace=found["namespace"],
        lease=found["lease"],
        now=_now(client),
        queued=tried.get(settings.queue, tried[""]),
        plain=tried[""],
    )


def read_koord_queue(client: Client, settings: Settings, kueue: Read) -> KoordQueueFacts:
    """Its API, and what may be read in its own namespace."""
    home = "koord-queue"
    found = _all(
        {
            "schema": lambda: client.discover(SCHEMA),
            "queue": lambda: client.get(KOORD_QUEUES, home, settings.queue),
        }
    )
    try:
        deployments: tuple[Object, ...] | Unknown = client.list(DEPLOYMENTS, home)
    except (ApiError, ClusterUnavailable) as error:
        deployments = _unknown(error)
    return KoordQueueFacts(deployments=deployments, kueue=kueue, **found)


def names_of(chain: QueueChain, settings: Settings) -> dict[Named, tuple[str, ...]]:
    """The objects that the needs are about; without those that are not known."""
    local_queue = chain.local_queue
    leads_to = (cluster_queue_name(local_queue),) if isinstance(local_queue, Mapping) else ()
    flavors = tuple(chain.flavors) or tuple(flavor.name for flavor in settings.flavors)
    return {
        Named.LEASE: (LEASE_NAME,),
        Named.NAMESPACE: (settings.namespace,),
        Named.QUEUE: (settings.queue,),
        Named.CLUSTER_QUEUE: leads_to,
        Named.FLAVORS: flavors,
        Named.CLASSES: settings.priority_classes,
    }


def ask(client: Client, accesses: Iterable[Access]) -> dict[Access, bool | Unknown]:
    """The API server's answer to each question, by SelfSubjectAccessReview."""

    def answer(access: Access) -> tuple[Access, bool | Unknown]:
        review = _review(ACCESS_REVIEWS, {"resourceAttributes": _attributes(access)})
        found = _read(lambda: client.create(ACCESS_REVIEWS, "", review))
        if not isinstance(found, Mapping):
            why = found.why if isinstance(found, Unknown) else "there are no access reviews"
            return access, Unknown(why)
        return access, (found.get("status") or {}).get("allowed") is True

    answers: dict[Access, bool | Unknown] = {}
    side_by_side(answer, accesses, CONCURRENCY, lambda each: answers.update([each]))
    return answers


def _attributes(access: Access) -> dict[str, str]:
    resource, _, subresource = access.resource.partition("/")
    return {
        "group": access.group,
        "resource": resource,
        "subresource": subresource,
        "verb": access.verb,
        "name": access.name,
        "namespace": access.namespace,
    }


def _review(resource: Resource, spec: Mapping[str, Any]) -> dict[str, Any]:
    """A review has no name: the server wants its metadata empty."""
    version = resource.api.removeprefix("/apis/")
    body = {"apiVersion": version, "kind": resource.kind, "metadata": {"name": ""}}
    return {**body, "spec": dict(spec)} if spec else body


def _try_jobs(
    client: Client,
    namespace: str,
    queues: Collection[str],
    may_create: bool | Unknown | None,
    image: str,
) -> dict[str, Tried]:
    """What becomes of a Job in each queue; without a queue where its name is empty."""
    if not may_create or isinstance(may_create, Unknown):
        why = may_create.why if may_create else "this identity may not create Jobs"
        return dict.fromkeys(queues, NotTried(why))
    tried: dict[str, Tried] = {}
    side_by_side(
        lambda queue: (queue, _try_job(client, namespace, queue, image)),
        queues,
        CONCURRENCY,
        lambda each: tried.update([each]),
    )
    return tried


def _try_job(client: Client, namespace: str, queue: str, image: str) -> Tried:
    try:
        return client.create(JOBS, namespace, probe_job(namespace, queue, image), dry_run=True)
    except ApiError as error:
        return Refusal(error.status, error.message)
    except ClusterUnavailable as error:
        return NotTried(str(error))


def _either(client: Client, group: str) -> dict[str, Any]:
    try:
        return client.discover(f"{group}/{WANTED}")
    except NotFound:
        return client.discover(f"{group}/{EARLIER}")


def _all(readings: Mapping[str, Reading]) -> dict[str, Read]:
    found: dict[str, Read] = {}
    side_by_side(
        lambda each: (each[0], _read(each[1])),
        readings.items(),
        CONCURRENCY,
        lambda each: found.update([each]),
    )
    return found


def _read(reading: Reading) -> Read:
    try:
        return reading()
    except NotFound:
        return Missing()
    except (ApiError, ClusterUnavailable) as error:
        return _unknown(error)


def _workloads(client: Client, namespace: str) -> tuple[Object, ...] | Unknown:
    try:
        return tuple(client.list(WORKLOADS, namespace))
    except (ApiError, ClusterUnavailable) as error:
        return _unknown(error)


def _unknown(error: ApiError | ClusterUnavailable) -> Unknown:
    if isinstance(error, Forbidden):
        return Unknown(f"not permitted to {error.verb} {error.target}")
    return Unknown(str(error))


def _skew(client: Client) -> timedelta | Unknown:
    try:
        return datetime.now(UTC) - client.now()
    except ClusterUnavailable as error:
        return Unknown(str(error))


def _now(client: Client) -> datetime:
    try:
        return client.now()
    except ClusterUnavailable:
        return datetime.now(UTC)
