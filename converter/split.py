"""How a long campaign is split into parts, each of them one Job and one ConfigMap.

An API server takes a ConfigMap of 1 MiB at most, and a pod's name has room for four digits of
index. With Slurm a part is a job array and a directory: slurm.conf says how long an array may be,
and a file has no limit. Whatever else is said of a campaign (pause, status, prune) is said of all
its parts.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from converter.model import Campaign, Settings, Volume
from converter.volumes import environment_lines, volume_line

MAX_VOLUMES: Final = 10_000
# Bytes of UTF-8. Below 1 MiB by enough for what else the object has.
MAX_BYTES: Final = 900 * 1024
# What is left of 63 characters after "-part999" and the "-9999" of the last pod. It is the same
# for every campaign, so that a part's name never changes when the campaign grows.
NAME_LENGTH: Final = 50


@dataclass(frozen=True, slots=True)
class Part:
    """One Job's or job array's share of a campaign. `index` counts the campaign's parts from 1."""

    job: str
    index: int
    volumes: tuple[Volume, ...]


def split(campaign: Campaign, settings: Settings) -> tuple[Part, ...]:
    """The parts of a campaign, in the order of its volumes.

    A part has at most 10,000 volumes and 900 KiB of ConfigMap data (``volumes.txt`` and
    ``env.txt``); a volume that is larger by itself has a part by itself. A campaign that fits into
    one part keeps its name. With Slurm a part has at most ``slurm.max_array_size`` volumes.
    """
    shares = tuple(_shares(campaign, settings))
    if len(shares) == 1:
        return (Part(campaign.name, 1, shares[0]),)
    return tuple(
        Part(f"{campaign.name[:NAME_LENGTH]}-part{index}", index, share)
        for index, share in enumerate(shares, start=1)
    )


def _shares(campaign: Campaign, settings: Settings) -> Iterator[tuple[Volume, ...]]:
    if settings.slurm is not None:
        most = settings.slurm.max_array_size
        for first in range(0, len(campaign.volumes), most):
            yield campaign.volumes[first : first + most]
        return
    share: list[Volume] = []
    room = MAX_BYTES
    for volume in campaign.volumes:
        needed = _bytes_of(volume, settings)
        if share and (len(share) == MAX_VOLUMES or needed > room):
            yield tuple(share)
            share, room = [], MAX_BYTES
        share.append(volume)
        room -= needed
    if share:
        yield tuple(share)


def _bytes_of(volume: Volume, settings: Settings) -> int:
    lines = volume_line(volume, settings)
    if volume.env:
        # With the longest index, so that a volume takes the same room wherever it stands.
        lines += environment_lines(MAX_VOLUMES - 1, volume)
    return len(lines.encode())
