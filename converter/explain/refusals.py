"""Why an apply would not put campaigns on the cluster: its plan, and a dry run of it."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Final

from converter.cluster.client import Client
from converter.cluster.status import may_not_send
from converter.model import Repo
from converter.observe.refusal import By, Refusal
from converter.queues import queue_for
from converter.reconcile.execute import Sender, Sent
from converter.reconcile.live import read_live
from converter.reconcile.outcome import Fate
from converter.reconcile.plan import Unit
from converter.reconcile.provenance import Provenance
from converter.reconcile.rehearsal import intend
from converter.reconcile.side_by_side import side_by_side
from converter.render import render

# A dry run costs the API server and its webhooks as much as the write.
MOST_TRIED: Final = 20


def read_refusals(
    client: Client,
    repo: Repo,
    campaigns: Collection[str],
    missing: Collection[str],
    concurrency: int,
) -> Mapping[str, Refusal | None]:
    """What keeps each of these campaigns from being as in git; None for one that nothing does.

    Those of them that are `missing` are tried out by dry run. One that could not be, as by an
    identity that may only look, has no entry. Nothing is written. Raises `ApiError` and
    `ClusterUnavailable` where the live state cannot be read.
    """
    settings = repo.settings
    chosen = {each: repo.campaigns[each] for each in sorted(campaigns)}
    pipelines = {each.pipeline: repo.pipelines[each.pipeline] for each in chosen.values()}
    manifests = render(replace(repo, campaigns=chosen, pipelines=pipelines))
    queue = queue_for(settings.backend)
    intent = intend(
        client,
        manifests,
        settings,
        queue,
        read_live(client, settings.namespace, settings.backend),
        repository=settings.repository,
        concurrency=concurrency,
    )
    found = {
        held.name: Refusal(By.APPLY, held.reason)
        for held in intent.plan.held_back
        if held.kind == "campaign"
    }
    sender = Sender(client, settings.namespace, queue, Provenance("", "", ""))
    new = [
        unit
        for unit in intent.plan.campaigns
        if unit.campaign in missing and unit.campaign not in found
    ]
    return {**_tried(sender, new[:MOST_TRIED], concurrency), **found}


def _tried(sender: Sender, units: Sequence[Unit], concurrency: int) -> dict[str, Refusal | None]:
    """One refused part is a refusal of its campaign."""
    found: dict[str, Refusal | None] = {}
    unknown: set[str] = set()

    def note(sent: Sent) -> None:
        campaign = sent.unit.campaign
        for event in sent.events:
            if may_not_send(event.detail):
                unknown.add(campaign)
            else:
                by = By.APPLY if event.fate is Fate.HELD_BACK else By.API_SERVER
                found[campaign] = Refusal(by, event.detail)
        found.setdefault(campaign, None)

    side_by_side(sender.try_out, units, concurrency, note)
    return {each: refusal for each, refusal in found.items() if each not in unknown}
