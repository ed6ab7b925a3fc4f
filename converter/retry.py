"""A new campaign of just the volumes that failed, as a file to commit."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from converter.model import Campaign, SourceKind, Volume
from converter.names import DNS_LABEL

_RETRY = re.compile(r"-retry[0-9]+\Z")


def retry_name(campaign: str, taken: Collection[str]) -> str:
    """``<name>-retry<N>``, the first that is free; a retry of a retry counts on.

    Raises ValueError where the name of the campaign leaves no room for the ending.
    """
    base = _RETRY.sub("", campaign)
    number = 1
    while f"{base}-retry{number}" in taken:
        number += 1
    name = f"{base}-retry{number}"
    if not DNS_LABEL.match(name):
        raise ValueError(f"{name} has more than 63 characters: write a file with a shorter name")
    return name


def already_retried(
    campaign: Campaign, failed: Collection[str], campaigns: Iterable[Campaign]
) -> Campaign | None:
    """The retry of a campaign that has just these volumes; None where there is none."""
    base = _RETRY.sub("", campaign.name)
    for each in campaigns:
        is_retry = _RETRY.search(each.name) and _RETRY.sub("", each.name) == base
        if not is_retry or each.name == campaign.name or each.pipeline != campaign.pipeline:
            continue
        if {volume.id for volume in each.volumes} == set(failed):
            return each
    return None


def retry_document(campaign: Campaign, failed: Sequence[str]) -> dict[str, Any]:
    """What the new campaign's file says: as the old one, with the failed volumes alone.

    They keep the order and the words of the old file. It is never paused. Raises ValueError where
    a failed volume is not in the old file.
    """
    by_id = {volume.id: volume for volume in campaign.volumes}
    if unknown := [volume for volume in failed if volume not in by_id]:
        raise ValueError(f"{', '.join(unknown)} failed and is not in {campaign.path}")
    wanted = frozenset(failed)
    members: Mapping[str, Any] = {
        "pipeline": campaign.pipeline,
        "priority": campaign.priority,
        "window": campaign.window,
        "min_window": campaign.min_window,
        "volumes": [_entry(volume) for volume in campaign.volumes if volume.id in wanted],
    }
    return {key: value for key, value in members.items() if value}


def _entry(volume: Volume) -> str | dict[str, Any]:
    if volume.kind is SourceKind.REFERENCE:
        return volume.id
    source = list(volume.images) if volume.kind is SourceKind.IMAGES else volume.source
    env = {"env": dict(volume.env)} if volume.env else {}
    return {"id": volume.id, volume.kind.value: source, **env}
