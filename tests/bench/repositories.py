"""Repositories of a given size, with volumes written in the ways that people write them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

SETTINGS = """\
namespace: team
queue: batch
command: [python, -m, ocr]
source_template: https://archive.example.com/{ref}/manifest
repository: git.example.com/team/campaigns
priority_classes: [urgent, bulk]
sizes:
  page: {cpu: 2, memory: 8Gi, gpu: 1}
default_size: page
"""
PIPELINE = f"image: registry.example.com/ocr@sha256:{'0' * 64}\nmax_seconds: 3600\n"


def write(root: Path, campaigns: int, volumes: int) -> Path:
    """A valid repository of so many campaigns, each of so many volumes."""
    for directory in ("campaigns", "pipelines"):
        (root / directory).mkdir(parents=True)
    (root / "converter.yaml").write_text(SETTINGS)
    (root / "pipelines/ocr.yaml").write_text(PIPELINE)
    for number in range(campaigns):
        path(root, number).write_text(campaign(number, volumes))
    return root


def path(root: Path, number: int) -> Path:
    """The file of one campaign."""
    return root / f"campaigns/letters-{number:04}.yaml"


def campaign(number: int, volumes: int) -> str:
    """A campaign, every fourth volume of which names its manifest."""
    lines = (
        line for volume in range(volumes) for line in _volume(f"L{number:04}-{volume:05}", volume)
    )
    return f"pipeline: ocr\npriority: bulk\nwindow: 5\nvolumes:\n{''.join(lines)}"


def _volume(name: str, number: int) -> Iterator[str]:
    if number % 4:
        yield f"  - {name}\n"
    else:
        yield f"  - id: {name}\n"
        yield f"    manifest: https://archive.example.com/iiif/{name}/manifest.json\n"
