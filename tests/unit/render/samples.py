"""Repositories to render, each with a golden file of what it renders to.

After a change that is meant, write the golden files anew and read their diff::

    PYTHONPATH=tests .venv/bin/python -m unit.render.samples
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from converter.model import (
    Campaign,
    Flavor,
    Pipeline,
    Repo,
    Settings,
    Size,
    SourceKind,
    Volume,
    Warmup,
)
from converter.render import render
from converter.render.files import yaml_stream

GOLDEN = Path(__file__).parent / "golden"
IMAGE = "registry.example.com/ocr@sha256:" + "0123456789abcdef" * 4

SETTINGS = Settings(
    namespace="team",
    queue="batch",
    command=("python", "-m", "ocr"),
    source_template="https://archive.example.com/{ref}/manifest",
    repository="git.example.com/team/campaigns",
)
PIPELINE = Pipeline("ocr-1", "pipelines/ocr-1.yaml", IMAGE)
CAMPAIGN = Campaign(
    "letters",
    "campaigns/letters.yaml",
    "ocr-1",
    (Volume("A0001", SourceKind.REFERENCE), Volume("A0002", SourceKind.REFERENCE)),
)

SIZED = replace(
    SETTINGS,
    window=4,
    priority_classes=("high",),
    sizes={"large": Size("large", "0.5", "32768Mi", 2, "4096Mi", "a100")},
    flavors=(Flavor("a100", {"gpu": "a100"}), Flavor("t4", {"gpu": "t4"})),
    env={"LOG": "info", "MODE": "fast"},
    secrets={"archive-login": "/secrets/archive", "results-login": "/secrets/results"},
    data_pvc="models",
    runtime_class="nvidia",
    node_selector={"zone": "north"},
    tolerations=({"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"},),
    s3_secret="s3",  # noqa: S106 - the name of a Secret
    hf_token_secret="hf",  # noqa: S106 - the name of a Secret
    results_url="https://results.example.com",
    manifest_max_bytes=1048576,
    fetch_max_bytes=67108864,
    image_cache="pages",
)
FULL_PIPELINE = replace(
    PIPELINE,
    args=("--volume", "$(VOLUME_ID)"),
    env={"MODE": "$(LOG) $$1 `id`", "EMPTY": ""},
    size="large",
    max_seconds=7200,
    ttl_seconds_after_finished=3600,
    steps=[{"step": "Segmentation", "settings": {"model": "yolo"}}, {"step": "Text"}],
)
FULL_CAMPAIGN = replace(
    CAMPAIGN,
    priority="high",
    window=10,
    volumes=(
        Volume("A0001", SourceKind.REFERENCE, env={"PAGES": "1-9", "NOTE": "two\nlines"}),
        Volume("B.2", SourceKind.SOURCE, source="s3://bucket/a key; $(id)"),
        Volume("B_3", SourceKind.MANIFEST, source="https://example.com/3/manifest.json"),
        Volume(
            "B-4",
            SourceKind.IMAGES,
            images=("https://example.com/4/1.jpg", "https://example.com/4/2.jpg"),
            env={"EMPTY": ""},
        ),
    ),
)


def repository(
    settings: Settings = SETTINGS, pipeline: Pipeline = PIPELINE, campaign: Campaign = CAMPAIGN
) -> Repo:
    """A repository of one pipeline and one campaign."""
    return Repo(settings, {pipeline.id: pipeline}, {campaign.name: campaign})


def long_campaign(volumes: int) -> Campaign:
    """A campaign of so many volumes."""
    ids = (f"v{number}" for number in range(volumes))
    return replace(CAMPAIGN, volumes=tuple(Volume(i, SourceKind.REFERENCE) for i in ids))


# The shortest list that splits: two volumes of more than half a part each.
_HALF = Volume("half", SourceKind.SOURCE, source="s3://" + "x" * 600_000)

SAMPLES = {
    "minimal": repository(),
    "everything": repository(SIZED, FULL_PIPELINE, FULL_CAMPAIGN),
    "paused": repository(campaign=replace(CAMPAIGN, suspend=True)),
    "min-window": repository(campaign=replace(long_campaign(8), window=8, min_window=2)),
    "warmup": repository(
        replace(
            SETTINGS,
            data_pvc="models",
            hf_token_secret="hf",  # noqa: S106 - the name of a Secret
            warmup=Warmup(("python", "-m", "ocr.warmup")),
        )
    ),
    "split": repository(campaign=replace(CAMPAIGN, volumes=(_HALF, replace(_HALF, id="other")))),
}


def golden_text(name: str) -> str:
    """What a sample renders to, with the long source of a split one cut short."""
    return yaml_stream(render(SAMPLES[name])).replace("x" * 600_000, "x...")


if __name__ == "__main__":
    GOLDEN.mkdir(exist_ok=True)
    for name in SAMPLES:
        (GOLDEN / f"{name}.yaml").write_text(golden_text(name), encoding="utf-8")
