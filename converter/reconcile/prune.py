"""Deletes what git no longer has: the Job first, then what belongs to it."""

from collections.abc import Sequence

from converter.cluster.client import Client
from converter.cluster.objects import is_ours, label
from converter.cluster.resources import RENDERED
from converter.errors import ApiError, Refused
from converter.names import CAMPAIGN_LABEL
from converter.reconcile.live import Live
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.plan import Plan, Target
from converter.reconcile.side_by_side import side_by_side
from converter.wording import first_few

MINIMUM_LIMIT = 5


def live_campaigns(live: Live, repository: str) -> int:
    """How many campaigns of ours have anything on the cluster, if only the record of their end."""
    objects = (*live.jobs.values(), *live.configmaps.values())
    return len(
        {label(each, CAMPAIGN_LABEL) for each in objects if is_ours(each, repository)} - {""}
    )


def check_limit(plan: Plan, live_campaigns: int, limit: int | None) -> None:
    """Refuse to cancel more campaigns at once than looks intended.

    A campaign that has finished counts too: without its record it would run again when its file
    comes back. `limit` None stands for half of the campaigns that are live, and at least 5. Raises
    Refused.
    """
    cancelled = plan.unwanted_campaigns
    allowed = max(MINIMUM_LIMIT, live_campaigns // 2) if limit is None else limit
    if len(cancelled) > allowed:
        raise Refused(
            f"prune would cancel {len(cancelled)} campaigns ({first_few(cancelled)}), more than "
            f"the limit of {allowed}; nothing was changed: if they are meant, pass "
            f"--prune-limit {len(cancelled)}"
        )


def prune(
    client: Client,
    namespace: str,
    targets: Sequence[Target],
    outcome: Outcome,
    *,
    concurrency: int,
) -> None:
    """Delete the targets, Jobs before ConfigMaps, each only if it is still the one that was read.

    While a Job could not be deleted, no ConfigMap is: its pods would lose their volumes.
    """

    def delete(target: Target) -> Event:
        named = f"{target.kind}/{target.name}"
        try:
            client.delete(RENDERED[target.kind], namespace, target.name, uid=target.uid)
        except ApiError as error:
            detail = f"{error.reason}: {error.message}"
            return Event(Fate.PRUNE_FAILED, named, detail, target.campaign)
        return Event(Fate.PRUNED, named, campaign=target.campaign)

    for kind in ("Job", "ConfigMap"):
        if outcome.count(Fate.PRUNE_FAILED):
            return
        chosen = [target for target in targets if target.kind == kind]
        side_by_side(delete, chosen, concurrency, outcome.add)
