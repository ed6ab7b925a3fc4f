"""Writes down how Jobs have ended, while they still say so."""

from collections.abc import Iterable
from dataclasses import replace

from converter.cluster.client import Client
from converter.cluster.objects import Object, label
from converter.cluster.resources import CONFIGMAPS, JOBS
from converter.errors import ApiError
from converter.names import CAMPAIGN_LABEL, FIELD_MANAGER
from converter.reconcile.live import Live
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.plan import Target
from converter.reconcile.record import records_to_write
from converter.reconcile.side_by_side import side_by_side


def write_records(
    client: Client,
    namespace: str,
    live: Live,
    pruned: Iterable[Target],
    outcome: Outcome,
    *,
    repository: str,
    concurrency: int,
) -> None:
    """Write the records that are missing. A refused one is one campaign's problem.

    A Job that this run prunes takes its record with it, so none is written.
    """

    def write(body: Object) -> Event:
        named = f"ConfigMap/{body['metadata']['name']}"
        campaign = label(body, CAMPAIGN_LABEL)
        try:
            client.apply(CONFIGMAPS, namespace, body, manager=FIELD_MANAGER, force=True)
        except ApiError as error:
            return Event(Fate.REFUSED, named, f"{error.reason}: {error.message}", campaign)
        return Event(Fate.RECORDED, named, body["data"]["phase"], campaign)

    doomed = {target.name for target in pruned if target.kind == JOBS.kind}
    kept = {job: body for job, body in live.jobs.items() if job not in doomed}
    records = records_to_write(replace(live, jobs=kept), repository)
    side_by_side(write, records, concurrency, outcome.add)
