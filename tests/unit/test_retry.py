"""The campaign that runs again what failed."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace
from pathlib import Path

import pytest

from converter.load import load_repo
from converter.model import Campaign, SourceKind, Volume
from converter.render.text import yaml_text
from converter.retry import already_retried, retry_document, retry_name

VOLUMES = (
    Volume("a", SourceKind.REFERENCE, "a"),
    Volume("b", SourceKind.SOURCE, "s3://b", env={"DEPTH": "0012"}),
    Volume("c", SourceKind.MANIFEST, "https://example.org/c"),
    Volume("d", SourceKind.IMAGES, images=("https://example.org/1", "https://example.org/2")),
)
CAMPAIGN = Campaign("letters", "campaigns/letters.yaml", "ocr", VOLUMES, "urgent", 4, 2, True)


@pytest.mark.parametrize(
    ("campaign", "taken", "name"),
    [
        ("letters", [], "letters-retry1"),
        ("letters", ["letters", "letters-retry1"], "letters-retry2"),
        ("letters-retry1", ["letters-retry1"], "letters-retry2"),
        ("letters-retry", [], "letters-retry-retry1"),
    ],
)
def test_the_name_counts_on(campaign: str, taken: list[str], name: str) -> None:
    assert retry_name(campaign, taken) == name


RETRY = replace(CAMPAIGN, name="letters-retry1", volumes=VOLUMES[:2])


@pytest.mark.parametrize(
    ("campaign", "failed", "others", "found"),
    [
        (CAMPAIGN, ["b", "a"], [CAMPAIGN, RETRY], RETRY),
        (CAMPAIGN, ["a"], [CAMPAIGN, RETRY], None),
        (CAMPAIGN, ["a", "b"], [replace(RETRY, name="letters-2")], None),
        (CAMPAIGN, ["a", "b"], [replace(RETRY, name="maps-retry1")], None),
        (CAMPAIGN, ["a", "b"], [replace(RETRY, pipeline="tei")], None),
        # All of it failed once more.
        (RETRY, ["a", "b"], [CAMPAIGN, RETRY], None),
        (RETRY, ["a", "b"], [replace(RETRY, name="letters-retry2")], "letters-retry2"),
    ],
)
def test_a_retry_that_is_there_is_not_written_again(
    campaign: Campaign,
    failed: Collection[str],
    others: Collection[Campaign],
    found: Campaign | str | None,
) -> None:
    there = already_retried(campaign, failed, others)
    assert there == found or (there is not None and there.name == found)


def test_a_name_that_leaves_no_room_is_refused() -> None:
    with pytest.raises(ValueError, match="more than 63 characters"):
        retry_name("a" * 60, [])


def test_the_file_loads_as_the_same_campaign_with_fewer_volumes(tmp_path: Path) -> None:
    (tmp_path / "campaigns").mkdir()
    (tmp_path / "converter.yaml").write_text("namespace: team\nqueue: batch\n")
    text = yaml_text(retry_document(CAMPAIGN, ["d", "b", "a"]))
    (tmp_path / "campaigns" / "letters-retry1.yaml").write_text(text)
    loaded = load_repo(tmp_path)
    assert loaded.problems == ()
    found = loaded.campaigns["letters-retry1"]
    assert found.volumes == (VOLUMES[0], VOLUMES[1], VOLUMES[3])
    assert (found.pipeline, found.priority, found.window, found.min_window, found.suspend) == (
        "ocr",
        "urgent",
        4,
        2,
        False,
    )


def test_a_failed_volume_that_is_not_in_the_file_is_named() -> None:
    with pytest.raises(ValueError, match=r"index 7 failed and is not in campaigns/letters\.yaml"):
        retry_document(CAMPAIGN, ["a", "index 7"])
