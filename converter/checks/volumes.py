"""Rules about the volumes of campaigns."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Final

from converter.checks.campaign_names import reserved
from converter.checks.registry import Finding, Known, rule, settings_rule
from converter.load.result import LoadResult
from converter.load.wording import quoted
from converter.model import Campaign, SourceKind, Volume
from converter.names import DNS_LABEL
from converter.problem import Level
from converter.rule import Rule
from converter.volumes import environment_lines, volume_line
from converter.wording import first_few

# Linux takes at most 128 KiB for one variable of an environment (MAX_ARG_STRLEN), name included.
MAX_LINE: Final = 100 * 1024
_LONGEST_CHARACTER: Final = 4  # bytes of UTF-8


@rule(
    Rule(
        code="C008",
        name="duplicate-volume",
        what="A volume is in a campaign once.",
        why="Two pods would process the same volume and write to the same place.",
        wrong="# campaigns/letters.yaml\npipeline: ocr\nvolumes:\n"
        "  - letters-1871\n  - letters-1872\n  - letters-1871\n",
        right="# campaigns/letters.yaml\npipeline: ocr\nvolumes:\n"
        "  - letters-1871\n  - letters-1872\n",
        since="0.1.0",
    )
)
def _duplicate_volume(loaded: LoadResult) -> Iterator[Finding]:
    for campaign in loaded.campaigns.values():
        first: dict[str, int] = {}
        for index, volume in enumerate(campaign.volumes):
            earlier = first.setdefault(volume.id, index)
            if earlier == index:
                continue
            yield Finding(
                campaign.path,
                ("volumes", index, "id"),
                f"volume {quoted(volume.id)} is {_place(loaded, campaign, earlier)} already",
                "take one of them out",
            )


def _place(loaded: LoadResult, campaign: Campaign, index: int) -> str:
    positions = loaded.positions.get(campaign.path)
    if positions is None:
        return f"number {index + 1} of the list"
    return f"in line {positions.value('volumes', index, 'id')[0]}"


@settings_rule(
    Rule(
        code="C009",
        name="volume-too-long",
        what="A volume's source, images and env take at most 100 KiB together.",
        why="They reach the process as environment variables, and Linux starts no process with "
        "one of more than 128 KiB: each attempt would fail.",
        wrong="# campaigns/letters.yaml\npipeline: ocr\nvolumes:\n  - id: letters-1871\n"
        "    images: [https://archive.example/1.jpg, …, https://archive.example/4000.jpg]\n",
        right="# campaigns/letters.yaml\npipeline: ocr\nvolumes:\n  - id: letters-1871\n"
        "    manifest: https://archive.example/letters-1871/manifest.json\n",
        since="0.1.0",
    )
)
def _volume_too_long(known: Known) -> Iterator[Finding]:
    for campaign in known.campaigns.values():
        for index, volume in enumerate(campaign.volumes):
            if _surely_short(volume):
                continue
            lines = volume_line(volume, known.settings) + environment_lines(0, volume)
            size = len(lines.encode())
            if size > MAX_LINE:
                manifest = volume.kind is SourceKind.IMAGES
                yield Finding(
                    campaign.path,
                    ("volumes", index),
                    f"volume {quoted(volume.id)} takes {-(-size // 1024)} KiB, more than the "
                    f"{MAX_LINE // 1024} KiB that fit into an environment",
                    "name a manifest, or make it several volumes"
                    if manifest
                    else "write the address of a file that holds it",
                )


def _surely_short(volume: Volume) -> bool:
    """Spares a million small volumes the rendering of their lines."""
    return not (volume.images or volume.env) and (
        len(volume.source) < MAX_LINE // (2 * _LONGEST_CHARACTER)
    )


@rule(
    Rule(
        code="C010",
        name="volume-in-two-campaigns",
        what="A volume is in one campaign of a pipeline.",
        why="The same work would be done twice. To run again what has failed is a good reason for "
        "it, hence only a warning.",
        wrong="# campaigns/letters.yaml\npipeline: ocr\nvolumes: [letters-1871, letters-1872]\n"
        "# campaigns/letters-2.yaml\npipeline: ocr\nvolumes: [letters-1872, letters-1873]\n",
        right="# campaigns/letters.yaml\npipeline: ocr\nvolumes: [letters-1871, letters-1872]\n"
        "# campaigns/letters-2.yaml\npipeline: ocr\nvolumes: [letters-1873]\n",
        since="0.1.0",
        level=Level.WARNING,
        ignorable=True,
    )
)
def _volume_in_two_campaigns(loaded: LoadResult) -> Iterator[Finding]:
    owners: defaultdict[str, dict[str, Campaign]] = defaultdict(dict)
    for name, campaign in sorted(loaded.campaigns.items()):
        # One that cannot run as it is has a problem of its own.
        if not DNS_LABEL.match(name) or reserved(name) or campaign.pipeline not in loaded.pipelines:
            continue
        known = owners[campaign.pipeline]
        ids = {volume.id for volume in campaign.volumes}
        if not known.keys().isdisjoint(ids):
            yield from _shared(campaign, known)
            ids -= known.keys()
        known.update(dict.fromkeys(ids, campaign))


def _shared(campaign: Campaign, known: Mapping[str, Campaign]) -> Iterator[Finding]:
    """One finding for each earlier campaign, at the first volume that it has too."""
    shared: dict[str, dict[str, int]] = {}
    for index, volume in enumerate(campaign.volumes):
        if volume.id in known:
            shared.setdefault(known[volume.id].path, {}).setdefault(volume.id, index)
    for path, indexes in shared.items():
        several = len(indexes) > 1
        yield Finding(
            campaign.path,
            ("volumes", min(indexes.values()), "id"),
            f"{first_few(indexes)} {'are' if several else 'is'} in {path} too, with the same "
            "pipeline",
            f"take {'them' if several else 'it'} out of the newer of the two, unless that is to "
            "run again what failed",
        )
