"""Plans for tests, and the live objects that they start from."""

from unit.reconcile.live_objects import (
    REPOSITORY,
    Object,
    applied,
    stamped_volumes,
    state,
    volumes,
)

from converter.manifest import Manifest
from converter.names import (
    CAMPAIGN_LABEL,
)
from converter.queues.kueue import Kueue
from converter.reconcile.live import Live
from converter.reconcile.plan import Plan, Verb
from converter.reconcile.planner import plan
from converter.reconcile.record import records_to_write


def planned(manifests: list[Manifest], live: Live) -> Plan:
    return plan(manifests, live, Kueue(), REPOSITORY)


def live_campaign(live_job: Object, number: int = 3) -> tuple[Object, Object]:
    """A Job and the ConfigMap of its volumes, stamped with its uid."""
    name = live_job["metadata"]["name"]
    of = volumes(name, number=number, campaign=live_job["metadata"]["labels"][CAMPAIGN_LABEL])
    return live_job, stamped_volumes(of, live_job["metadata"]["uid"])


def record_of(*objects: Object) -> Object:
    """The record that an apply writes for the one ended Job among the objects, then live."""
    (body,) = records_to_write(state(*objects), REPOSITORY)
    return applied(body)


def verbs(intended: Plan) -> list[tuple[str, Verb]]:
    units = (*intended.pipelines, *intended.campaigns)
    return [(step.manifest.target, step.verb) for unit in units for step in unit.steps]


def reason(manifests: list[Manifest], live: Live) -> str:
    """Why the one campaign is held back; nothing of it may be sent then."""
    intended = planned(manifests, live)
    (held,) = intended.held_back
    assert held.kind == "campaign"
    assert intended.campaigns == ()
    return held.reason
