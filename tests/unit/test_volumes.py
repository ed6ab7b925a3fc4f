"""volumes.txt and env.txt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.model import Settings, SourceKind, Volume
from converter.volumes import parse_volumes, volumes_data

SETTINGS = Settings("team", "batch", source_template="https://archive.example.com/{ref}/m.json")

IDS = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", fullmatch=True)
# A source is one line; what else is in it does not matter.
SOURCES = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\n"), min_size=1)
URLS = st.from_regex(r"https?://[!-~]+", fullmatch=True)


def _reference(volume_id: str) -> Volume:
    return Volume(volume_id, SourceKind.REFERENCE)


def _source(volume_id: str, source: str) -> Volume:
    return Volume(volume_id, SourceKind.SOURCE, source=source)


def _images(volume_id: str, images: list[str]) -> Volume:
    return Volume(volume_id, SourceKind.IMAGES, images=tuple(images))


VOLUMES = st.lists(
    st.one_of(
        st.builds(_reference, IDS),
        st.builds(_source, IDS, SOURCES.filter(lambda text: not text.startswith("images:"))),
        st.builds(_images, IDS, st.lists(URLS, min_size=1, max_size=5)),
    )
)


def _sources(volume: Volume) -> tuple[str, ...]:
    if volume.kind is SourceKind.REFERENCE:
        return (f"https://archive.example.com/{volume.id}/m.json",)
    return volume.images or (volume.source,)


@given(VOLUMES)
def test_any_list_is_read_back_as_it_was(volumes: list[Volume]) -> None:
    text = volumes_data(volumes, SETTINGS)["volumes.txt"]
    assert parse_volumes(text) == tuple((volume.id, _sources(volume)) for volume in volumes)
    assert text.count("\n") == len(volumes)
    assert not text or text.endswith("\n")


@pytest.mark.parametrize(
    ("volume", "line"),
    [
        (_reference("A1"), "A1\thttps://archive.example.com/A1/m.json\n"),
        (_source("A1", "s3://bucket/a key"), "A1\ts3://bucket/a key\n"),
        (Volume("A1", SourceKind.MANIFEST, source="https://a/m"), "A1\thttps://a/m\n"),
        (_images("A1", ["https://a/1", "https://a/2"]), "A1\timages:https://a/1 https://a/2\n"),
    ],
)
def test_one_line_a_volume(volume: Volume, line: str) -> None:
    assert volumes_data([volume], SETTINGS) == {"volumes.txt": line}


def test_without_a_template_the_source_is_the_id() -> None:
    settings = replace(SETTINGS, source_template="{ref}")
    assert volumes_data([_reference("A1")], settings) == {"volumes.txt": "A1\tA1\n"}


def test_environment_by_index_and_name() -> None:
    volumes = [
        _reference("a"),
        replace(_reference("b"), env={"Z": "", "A": "one\n\nthree "}),
        replace(_reference("c"), env={"TAB": "\t"}),
    ]
    assert volumes_data(volumes, SETTINGS)["env.txt"] == (
        "1\tA\tone\n1\t\t\n1\t\tthree \n1\tZ\t\n2\tTAB\t\t\n"
    )


@pytest.mark.parametrize(
    ("text", "number"), [("a\n", 1), ("a\tx\n\tx\n", 2), ("a\tx\n\nb\ty\n", 2), ("\n", 1)]
)
def test_a_line_that_is_no_volume(text: str, number: int) -> None:
    with pytest.raises(ValueError, match=rf"^line {number} of volumes\.txt is not"):
        parse_volumes(text)
