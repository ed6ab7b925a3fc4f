"""How a long campaign is split into parts, each of them one Job and one ConfigMap.

An API server takes a ConfigMap of 1 MiB at most, and a pod's name has room for four digits of
index. With Slurm a part is a job array and a directory: slurm.conf says how long an array may be,
and a file has no limit. Whatever else is said of a campaign (pause, status, prune) is said of all
its parts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import floor
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
    """One Job's or job array's share of a campaign. `index` counts the campaign's parts from 1.

    `window` is how many of its volumes run at once, at most.
    """

    job: str
    index: int
    volumes: tuple[Volume, ...]
    window: int


def split(campaign: Campaign, settings: Settings) -> tuple[Part, ...]:
    """The parts of a campaign, in the order of its volumes.

    A part has at most 10,000 volumes and 900 KiB of ConfigMap data (``volumes.txt`` and
    ``env.txt``); a volume that is larger by itself has a part by itself. A campaign that fits into
    one part keeps its name. With Slurm a part has at most ``slurm.max_array_size`` volumes, and the
    parts have the window between them; on Kubernetes each has all of it, as far as the quota goes.
    """
    shares = tuple(_shares(campaign, settings))
    window = window_of(campaign, settings)
    if len(shares) == 1:
        return (Part(campaign.name, 1, shares[0], window),)
    windows = [window] * len(shares)
    if settings.slurm is not None:
        windows = shared_window(window, [len(share) for share in shares])
    return tuple(
        Part(f"{campaign.name[:NAME_LENGTH]}-part{index}", index, share, own)
        for index, (share, own) in enumerate(zip(shares, windows, strict=True), start=1)
    )


def window_of(campaign: Campaign, settings: Settings) -> int:
    """How many volumes of a campaign, or of each of its Jobs, are asked for at once."""
    return min(campaign.window or settings.window, settings.window)


def shared_window(window: int, sizes: Sequence[int]) -> list[int]:
    """A window as it falls to parts of so many volumes, so that they end at about the same time.

    Together they are the window, or 1 for each part where there are more parts than that.
    """
    exact = [Fraction(window * size, sum(sizes)) for size in sizes]
    windows = [max(1, floor(each)) for each in exact]
    by_rest = sorted(range(len(sizes)), key=lambda part: floor(exact[part]) - exact[part])
    for part in by_rest[: max(0, window - sum(windows))]:
        windows[part] += 1
    return windows


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
