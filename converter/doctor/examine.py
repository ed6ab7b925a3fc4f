"""The whole report: what is read, and which checks are made of it."""

from collections.abc import Callable, Iterator

from converter.cluster.client import Client
from converter.doctor.api_server import clock_finding, reached, unreachable, version_finding
from converter.doctor.finding import Check, Finding, Group
from converter.doctor.kueue import kueue_findings
from converter.doctor.lease import commit_finding, lease_finding
from converter.doctor.namespace import namespace_findings
from converter.doctor.needs import Purpose
from converter.doctor.permissions import permission_findings
from converter.doctor.probe import probe_findings
from converter.doctor.queues import queue_findings
from converter.doctor.read import NamespaceFacts, ServerFacts, read_namespace, read_server
from converter.doctor.repository import Clone, repository_findings
from converter.errors import CampaignsError
from converter.git import Order
from converter.model import Settings
from converter.reconcile.queue_chain import Missing

_UNCHECKED = "not checked: permissions, the namespace, the queue, admission and the Lease"


def examine(
    connect: Callable[[], Client],
    clone: Clone,
    order: Callable[[str], Order],
    wish: Purpose | None,
) -> tuple[Finding, ...]:
    """Every finding, group by group; `order` is how the clone's commit stands to another one."""
    return (*_cluster(connect, clone, order, wish), *repository_findings(clone))


def _cluster(
    connect: Callable[[], Client],
    clone: Clone,
    order: Callable[[str], Order],
    wish: Purpose | None,
) -> Iterator[Finding]:
    try:
        client = connect()
        server = read_server(client)
    except CampaignsError as error:
        yield unreachable(str(error))
        return
    yield from _server(server)
    if clone.settings is None:
        check = Check(Group.NAMESPACE, "settings")
        yield check.unknown(_UNCHECKED, "correct converter.yaml, which names them")
    elif not isinstance(server.kueue.group, Missing):
        facts = read_namespace(client, clone.settings)
        yield from _namespace(facts, clone.settings, wish)
        if wish is not Purpose.VIEW:
            yield from probe_findings(facts.queued, facts.plain)
            yield lease_finding(facts.lease, facts.now)
            yield commit_finding(facts.lease, clone.name, clone.commit, order)


def _server(facts: ServerFacts) -> Iterator[Finding]:
    yield reached(facts.user)
    yield version_finding(facts.version)
    yield clock_finding(facts.skew)
    yield from kueue_findings(facts.kueue)


def _namespace(
    facts: NamespaceFacts, settings: Settings, wish: Purpose | None
) -> Iterator[Finding]:
    yield from permission_findings(facts.rights, wish)
    yield from namespace_findings(settings.namespace, facts.namespace)
    yield from queue_findings(facts.chain, settings)
