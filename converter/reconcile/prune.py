"""Deletes what git no longer has: the Job first, then what belongs to it."""

from collections.abc import Sequence
from dataclasses import replace

from converter.cluster.client import Client
from converter.cluster.objects import Object, is_ours, label, name
from converter.cluster.resources import RENDERED
from converter.errors import ApiError, Refused
from converter.holds.words import in_force, lifted_by
from converter.names import CAMPAIGN_LABEL
from converter.reconcile.held import hold_on
from converter.reconcile.live import Live, workloads_of
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.plan import Plan, Target
from converter.reconcile.side_by_side import side_by_side
from converter.wording import first_few

MINIMUM_LIMIT = 5
NO_CAMPAIGN = (
    "there is no campaign in the repository, so --prune would cancel everything; nothing was sent: "
    "pass --allow-empty if that is meant"
)


def live_campaigns(live: Live, repository: str) -> int:
    """How many campaigns of ours have anything on the cluster, if only the record of their end."""
    objects = (*live.jobs.values(), *live.configmaps.values())
    return len(
        {label(each, CAMPAIGN_LABEL) for each in objects if is_ours(each, repository)} - {""}
    )


def check_limit(plan: Plan, live_campaigns: int, limit: int | None) -> None:
    """Refuse to cancel more campaigns at once than looks intended (`check_number`)."""
    check_number(plan.unwanted_campaigns, live_campaigns, limit)


def check_number(cancelled: Sequence[str], live: int, limit: int | None) -> None:
    """Refuse to cancel so many of `live` campaigns.

    A campaign that has finished counts too: without its record it would run again when its file
    comes back. `limit` None stands for half of the campaigns that are live, and at least 5. Raises
    Refused.
    """
    allowed = max(MINIMUM_LIMIT, live // 2) if limit is None else limit
    if len(cancelled) > allowed:
        raise Refused(
            f"prune would cancel {len(cancelled)} campaigns ({first_few(cancelled)}), more than "
            f"the limit of {allowed}; nothing was changed: if they are meant, pass "
            f"--prune-limit {len(cancelled)}"
        )


def left_over(hold: str) -> str:
    """What to do about a campaign that git no longer has. `hold` says which is on it, if one is."""
    what = "still on the cluster though not in git"
    if hold:
        return f"{what}; {hold}, and --prune cancels it then, or now with --release-holds"
    return f"{what}: apply with --prune to cancel"


def with_holds(plan: Plan, live: Live) -> Plan:
    """The plan, with the holds that are on what is to be deleted now."""
    unwanted = tuple(
        replace(target, hold=hold_in_words(live.jobs[target.name], live))
        if target.kind == "Job" and target.name in live.jobs
        else target
        for target in plan.unwanted
    )
    return replace(plan, unwanted=unwanted)


def hold_in_words(job: Object, live: Live) -> str:
    """The hold on a Job and what lifts it; empty without one."""
    mark = hold_on(job, workloads_of(job, live.workloads))
    if mark is None:
        return ""
    return f"{in_force(mark)}; {lifted_by(mark, label(job, CAMPAIGN_LABEL) or f'job/{name(job)}')}"


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
        released = f"released with it, though {target.hold}" if target.hold else ""
        return Event(Fate.PRUNED, named, released, target.campaign)

    for kind in ("Job", "ConfigMap"):
        if outcome.count(Fate.PRUNE_FAILED):
            return
        chosen = [target for target in targets if target.kind == kind]
        side_by_side(delete, chosen, concurrency, outcome.add)
