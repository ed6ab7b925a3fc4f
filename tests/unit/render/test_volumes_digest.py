"""The digest by which apply tells one list of volumes from another."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from unit.render.samples import CAMPAIGN, FULL_CAMPAIGN, PIPELINE, SETTINGS, repository

from converter.manifest import Role
from converter.model import Campaign, Pipeline, Settings, Volume
from converter.names import IMAGE_ANNOTATION, VOLUMES_ANNOTATION
from converter.render import render
from converter.render.inputs import volumes_digest

FIRST, *REST = FULL_CAMPAIGN.volumes
*_, IMAGES = FULL_CAMPAIGN.volumes


def _annotations(
    settings: Settings = SETTINGS, pipeline: Pipeline = PIPELINE, campaign: Campaign = CAMPAIGN
) -> dict[str, Any]:
    manifests = render(repository(settings, pipeline, campaign))
    (volumes,) = (each for each in manifests if each.role is Role.VOLUMES)
    return dict(volumes.body["metadata"]["annotations"])


@pytest.mark.parametrize(
    "volumes",
    [
        REST,
        [*REST, FIRST],
        [replace(FIRST, id="A9"), *REST],
        [replace(FIRST, env={"PAGES": "1-8", "NOTE": "two\nlines"}), *REST],
        [replace(REST[0], kind=REST[1].kind), FIRST, *REST[1:]],
        [replace(REST[0], source="s3://other"), FIRST, *REST[1:]],
        [FIRST, *REST[:-1], replace(IMAGES, images=IMAGES.images[:1])],
    ],
)
def test_another_list_has_another_digest(volumes: list[Volume]) -> None:
    assert volumes_digest(volumes) != volumes_digest(FULL_CAMPAIGN.volumes)


def test_the_digest_is_the_file_s_whatever_the_settings_make_of_it() -> None:
    other = replace(SETTINGS, source_template="s3://elsewhere/{ref}")
    was, now = _annotations(), _annotations(other)
    assert was[VOLUMES_ANNOTATION] == now[VOLUMES_ANNOTATION]


def test_the_digest_is_that_of_every_earlier_release() -> None:
    """Another one would hold back every campaign that is live or has finished."""
    assert (
        volumes_digest(FULL_CAMPAIGN.volumes)
        == "ac71b8f3980f1bc690d2004f380de0778c75afc746c2e1c374e820d9b2a2ccfc"
    )


def test_the_image_that_a_campaign_runs_is_on_its_configmap() -> None:
    assert _annotations()[IMAGE_ANNOTATION] == PIPELINE.image
