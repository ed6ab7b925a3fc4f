"""Which volumes of a campaign failed, from its records and from Jobs that have ended."""

from converter.cluster.objects import job_end, label, name
from converter.errors import Refused
from converter.manifest import Role
from converter.names import CAMPAIGN_LABEL, status_configmap
from converter.reconcile.live import Live, in_role
from converter.reconcile.record import Record


def failed_volumes(campaign: str, live: Live, repository: str) -> tuple[str, ...]:
    """The ids of the volumes that failed, over all parts of the campaign.

    Raises Refused while a part may still run, where nothing is known of the campaign, and where
    its record is missing or cannot be read.
    """
    jobs = [
        job
        for job in in_role(live.jobs.values(), Role.CAMPAIGN, repository)
        if label(job, CAMPAIGN_LABEL) == campaign
    ]
    if any(job_end(job) is None for job in jobs):
        raise Refused(f"campaign {campaign} has not ended yet: what fails now may still succeed")
    if any(status_configmap(name(job)) not in live.configmaps for job in jobs):
        raise Refused(f"campaign {campaign} has ended and is not recorded yet: apply first")
    records = [
        record
        for record in in_role(live.configmaps.values(), Role.STATUS, repository)
        if label(record, CAMPAIGN_LABEL) == campaign
    ]
    if not records:
        raise Refused(f"nothing is known of campaign {campaign} on the cluster")
    try:
        ended = [Record.from_data(record.get("data") or {}) for record in records]
    except ValueError as error:
        raise Refused(f"the record of campaign {campaign} cannot be read: {error}") from error
    return tuple(volume for record in ended for volume in record.failed_volumes)
