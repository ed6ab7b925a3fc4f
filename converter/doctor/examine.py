"""The whole report: what is read, and which checks are made of it."""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from converter.cluster.client import Client
from converter.doctor.api_server import clock_finding, reached, unreachable, version_finding
from converter.doctor.finding import Check, Finding, Group
from converter.doctor.koord_queue import koord_queue_findings
from converter.doctor.kueue import kueue_findings
from converter.doctor.lease import commit_finding, lease_finding
from converter.doctor.namespace import namespace_findings
from converter.doctor.needs import Purpose
from converter.doctor.permissions import permission_findings
from converter.doctor.probe import probe_findings
from converter.doctor.queues import queue_findings
from converter.doctor.read import ServerFacts, read_koord_queue, read_namespace, read_server
from converter.doctor.repository import Clone, repository_findings
from converter.doctor.usage import usage_findings
from converter.errors import CampaignsError
from converter.git import Order
from converter.model import Backend, Settings
from converter.reconcile.queue_chain import Missing

HoldProbe = Callable[[Client, Settings, str], Iterable[Finding]]

_UNCHECKED: Final = "not checked: permissions, the namespace, the queue, admission and the Lease"
# In the group of Kueue, since it is Kueue that is at fault; nothing of the queue was looked at.
_WITHOUT_KUEUE: Final = Check(Group.KUEUE, "queue").unknown(
    "not checked without Kueue: the queue, its flavors, quota and sizes, and priority classes",
    "have Kueue installed, and check again",
)


def examine(
    connect: Callable[[], Client],
    clone: Clone,
    order: Callable[[str], Order],
    wish: Purpose | None,
    probe: HoldProbe | None = None,
) -> tuple[Finding, ...]:
    """Every finding, group by group; `order` is how the clone's commit stands to another one.

    `probe` tries holds, which writes; without it nothing is changed.
    """
    return (*_cluster(connect, clone, order, wish, probe), *repository_findings(clone))


def _cluster(
    connect: Callable[[], Client],
    clone: Clone,
    order: Callable[[str], Order],
    wish: Purpose | None,
    probe: HoldProbe | None,
) -> Iterator[Finding]:
    try:
        client = connect()
        server = read_server(client)
    except CampaignsError as error:
        yield unreachable(str(error))
        return
    backend = clone.settings.backend if clone.settings else Backend.KUEUE
    yield from _server(server)
    if backend is Backend.KUEUE:
        yield from kueue_findings(server.kueue)
    elif backend is Backend.KOORD_QUEUE and clone.settings is not None:
        found = read_koord_queue(client, clone.settings, server.kueue.group)
        yield from koord_queue_findings(found, clone.settings.queue)
    if clone.settings is None:
        check = Check(Group.NAMESPACE, "settings")
        yield check.unknown(_UNCHECKED, "correct converter.yaml, which names them")
        return
    has_kueue = backend is Backend.KUEUE and not isinstance(server.kueue.group, Missing)
    if backend is Backend.KUEUE and not has_kueue:
        yield _WITHOUT_KUEUE
    facts = read_namespace(client, clone.settings, clone.image)
    yield from permission_findings(facts.rights, wish)
    yield from namespace_findings(clone.settings.namespace, facts.namespace)
    if has_kueue:
        yield from queue_findings(facts.chain, clone.settings)
        yield from usage_findings(facts.chain, facts.workloads)
    if wish in (None, Purpose.APPLY) and backend is Backend.KUEUE:
        yield from probe_findings(facts.queued, facts.plain)
    if probe is not None:
        yield from probe(client, clone.settings, clone.image)
    if wish in (None, Purpose.APPLY):
        yield lease_finding(facts.lease, facts.now)
        yield commit_finding(facts.lease, clone.name, clone.commit, order)


def _server(facts: ServerFacts) -> Iterator[Finding]:
    yield reached(facts.user)
    yield version_finding(facts.version)
    yield clock_finding(facts.skew)
