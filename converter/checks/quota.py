"""Rules about quota: what cannot fit stays queued for ever, and Kueue calls that no error."""

from collections.abc import Iterator
from typing import Final

from converter.checks.registry import Finding, Known, kueue_rule
from converter.checks.resources import requests_of, rooms_for, size_of
from converter.layout import DEFAULT_SIZE
from converter.load.files import SETTINGS_FILE
from converter.load.wording import alike
from converter.model import Campaign, Settings, Size
from converter.quota import GPU, Room, Shortage, largest_window, shortages
from converter.rule import Rule

_QUOTA = "# converter.yaml\nquota: {cpu: 8, memory: 32Gi, nvidia.com/gpu: 2}\nsizes:\n"
_MEMBERS: Final = {"cpu": "cpu", "memory": "memory", GPU: "gpu"}


@kueue_rule(
    Rule(
        code="S001",
        name="size-beyond-quota",
        what="One pod of a size fits into the quota of a flavor that it may land on.",
        why="Kueue admits no more than the quota: each campaign of that size would be queued for "
        "ever.",
        wrong=f"{_QUOTA}  large: {{cpu: 4, memory: 16Gi, gpu: 4}}\n",
        right=f"{_QUOTA}  large: {{cpu: 4, memory: 16Gi, gpu: 2}}\n",
        since="0.1.0",
        ignorable=True,
    )
)
def _size_beyond_quota(known: Known) -> Iterator[Finding]:
    for name, size in known.settings.sizes.items():
        best = _best_room(size, known.settings)
        if best is None or best[1] > 0:
            continue
        shortage = next(shortages(requests_of(size), 1, best[0]))
        yield Finding(
            SETTINGS_FILE,
            ("sizes", name, _MEMBERS[shortage.resource]),
            f"a pod of size {name} needs {shortage}: its campaigns would be queued for ever",
            _otherwise(shortage),
        )


def _otherwise(shortage: Shortage) -> str:
    quota, resource = shortage.room.quota, shortage.resource
    misspelt = alike(resource, quota) if resource not in quota else None
    if misspelt:
        return f"did you mean {resource} by {misspelt}?"
    return "make the size smaller, or correct the quota here and in the ClusterQueue"


@kueue_rule(
    Rule(
        code="C011",
        name="window-beyond-quota",
        what="The pods that a campaign runs at once fit into the quota together; with a "
        "min_window, that many do.",
        why="Kueue admits a Job as a whole, or with at least min_window pods. A campaign whose "
        "window is too large is queued for ever, with no error anywhere.",
        wrong=f"{_QUOTA}  page: {{cpu: 2, memory: 4Gi, gpu: 0}}\ndefault_size: page\n"
        "# campaigns/letters.yaml\npipeline: ocr\nwindow: 5\n"
        "volumes: [a, b, c, d, e, f]\n",
        right=f"{_QUOTA}  page: {{cpu: 2, memory: 4Gi, gpu: 0}}\ndefault_size: page\n"
        "# campaigns/letters.yaml\npipeline: ocr\nwindow: 4\n"
        "volumes: [a, b, c, d, e, f]\n",
        since="0.1.0",
        ignorable=True,
    )
)
def _window_beyond_quota(known: Known) -> Iterator[Finding]:
    for name, campaign in known.campaigns.items():
        pipeline = known.pipelines.get(campaign.pipeline)
        size = size_of(pipeline, known.settings) if pipeline else None
        if size is None:
            continue
        best = _best_room(size, known.settings)
        if best is None:
            continue
        room, largest = best
        pods = _pods_needed(campaign, max(len(part.volumes) for part in known.parts[name]), known)
        # A size of which not even one pod fits is a mistake in converter.yaml, reported there.
        if largest < pods and (largest or size is DEFAULT_SIZE):
            yield _too_many(campaign, size, pods, room, largest)


def _best_room(size: Size, settings: Settings) -> tuple[Room, int] | None:
    """The quota that takes the most pods, and how many; None where not all of it is known.

    None too where there is none, which is a fault of the node selector and another rule's.
    """
    rooms: list[tuple[Room, int]] = []
    for room in rooms_for(size, settings) or ():
        window = largest_window(requests_of(size), room)
        if window is None:
            return None
        rooms.append((room, window))
    return max(rooms, key=lambda entry: entry[1], default=None)


def _pods_needed(campaign: Campaign, volumes: int, known: Known) -> int:
    """The fewest pods that Kueue may start the campaign's largest Job with."""
    limits = (campaign.window, campaign.min_window, known.settings.window, volumes)
    return min(limit for limit in limits if limit is not None)


def _too_many(campaign: Campaign, size: Size, pods: int, room: Room, largest: int) -> Finding:
    shortage = next(shortages(requests_of(size), pods, room))
    member = "window" if campaign.min_window is None else "min_window"
    if not largest:
        remedy = "name a size in the pipeline, or a default_size in converter.yaml, that fits"
    elif campaign.min_window is None:
        remedy = f"write window: {largest}, or min_window: {largest} to start with fewer"
    else:
        remedy = f"write min_window: {largest} or less"
    message = f"its pods at once need {shortage}: it would be queued for ever"
    return Finding(campaign.path, (member,), message, remedy)
