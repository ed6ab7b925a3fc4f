"""How a campaign is split into parts."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from converter.model import Backend, Campaign, Settings, SlurmSettings, SourceKind, Volume
from converter.names import DNS_LABEL
from converter.split import MAX_BYTES, MAX_VOLUMES, shared_window, split
from converter.volumes import volumes_data

SETTINGS = Settings("team", "batch", source_template="s3://{ref}")
NAME = "a-name-of-fifty-nine-characters-is-as-long-as-it-may-be-01"


def _campaign(*volumes: Volume, name: str = "letters") -> Campaign:
    return Campaign(name, f"campaigns/{name}.yaml", "ocr", volumes)


def _many(count: int) -> tuple[Volume, ...]:
    return tuple(Volume(f"v{number}", SourceKind.REFERENCE) for number in range(count))


def _of_size(volume_id: str, size: int) -> Volume:
    """A volume whose line has `size` bytes."""
    return Volume(volume_id, SourceKind.SOURCE, source="x" * (size - len(volume_id) - 2))


@pytest.mark.parametrize(
    ("count", "parts"),
    [
        (1, {"letters": 1}),
        (MAX_VOLUMES, {"letters": 10_000}),
        (MAX_VOLUMES + 1, {"letters-part1": 10_000, "letters-part2": 1}),
        (25_000, {"letters-part1": 10_000, "letters-part2": 10_000, "letters-part3": 5_000}),
    ],
)
def test_by_number(count: int, parts: dict[str, int]) -> None:
    found = split(_campaign(*_many(count)), SETTINGS)
    assert {part.job: len(part.volumes) for part in found} == parts
    assert [part.index for part in found] == list(range(1, len(parts) + 1))


@pytest.mark.parametrize(
    ("sizes", "parts"),
    [
        ([MAX_BYTES - 100, 100], [2]),
        ([MAX_BYTES - 100, 101], [1, 1]),
        ([MAX_BYTES * 2], [1]),
        ([100, MAX_BYTES * 2, 100], [1, 1, 1]),
        ([MAX_BYTES // 2] * 5, [2, 2, 1]),
    ],
)
def test_by_bytes(sizes: list[int], parts: list[int]) -> None:
    campaign = _campaign(*(_of_size(f"v{number}", size) for number, size in enumerate(sizes)))
    assert [len(part.volumes) for part in split(campaign, SETTINGS)] == parts


def test_bytes_are_those_of_utf_8() -> None:
    volume = Volume("a", SourceKind.SOURCE, source="\N{GREEK SMALL LETTER OMEGA}" * 250_000)
    parts = split(_campaign(volume, replace(volume, id="b")), SETTINGS)
    assert [len(part.volumes) for part in parts] == [1, 1]


def test_the_environment_of_volumes_takes_room_too() -> None:
    volume = Volume("a", SourceKind.SOURCE, source="x", env={"BIG": "y" * 600_000})
    parts = split(_campaign(volume, replace(volume, id="b")), SETTINGS)
    assert [len(part.volumes) for part in parts] == [1, 1]


@pytest.mark.parametrize(
    ("name", "first"),
    [
        ("short", "short-part1"),
        (NAME, "a-name-of-fifty-nine-characters-is-as-long-as-it-m-part1"),
        ("x" * 50, f"{'x' * 50}-part1"),
        ("x" * 51, f"{'x' * 50}-part1"),
    ],
)
def test_names(name: str, first: str) -> None:
    parts = split(_campaign(*_many(MAX_VOLUMES + 1), name=name), SETTINGS)
    assert parts[0].job == first
    assert DNS_LABEL.match(f"{parts[0].job}-{MAX_VOLUMES - 1}")


def test_a_single_part_keeps_a_long_name() -> None:
    assert split(_campaign(*_many(1), name=NAME), SETTINGS)[0].job == NAME


@given(st.lists(st.integers(10, MAX_BYTES + 10), max_size=12))
def test_nothing_is_lost_and_every_part_is_full(sizes: list[int]) -> None:
    volumes = tuple(_of_size(f"v{number}", size) for number, size in enumerate(sizes))
    parts = split(_campaign(*volumes), SETTINGS)
    assert tuple(volume for part in parts for volume in part.volumes) == volumes
    taken = [len(volumes_data(part.volumes, SETTINGS)["volumes.txt"]) for part in parts]
    for part, size in zip(parts, taken, strict=True):
        assert size <= MAX_BYTES or len(part.volumes) == 1
    firsts = [sizes[volumes.index(part.volumes[0])] for part in parts]
    assert all(size + first > MAX_BYTES for size, first in zip(taken, firsts[1:], strict=False))


@pytest.mark.parametrize(
    ("window", "sizes", "windows"),
    [
        (20, [1000] * 6, [4, 4, 3, 3, 3, 3]),
        (20, [1000, 5], [19, 1]),
        (20, [1000, 1000, 1000, 1000, 1000, 5], [4, 4, 4, 4, 3, 1]),
        (7, [3, 3, 1], [3, 3, 1]),
        (4, [1000] * 4, [1, 1, 1, 1]),
        (1, [1000] * 4, [1, 1, 1, 1]),
        (100, [3, 2], [60, 40]),
    ],
)
def test_parts_have_the_window_between_them(
    window: int, sizes: list[int], windows: list[int]
) -> None:
    assert shared_window(window, sizes) == windows


@given(st.integers(1, 1000), st.integers(1, 300), st.integers(1, 50), st.data())
def test_together_they_are_the_window_or_one_each(
    window: int, most: int, whole: int, data: st.DataObject
) -> None:
    sizes = [*[most] * whole, data.draw(st.integers(1, most))]
    windows = shared_window(window, sizes)
    assert sum(windows) == max(window, len(sizes))
    assert min(windows) >= 1


def test_the_window_of_a_part() -> None:
    slurm = replace(
        SETTINGS,
        backend=Backend.SLURM,
        slurm=SlurmSettings("/shared", (), max_array_size=2),
        window=8,
    )
    campaign = replace(_campaign(*_many(6)), window=6)
    assert [part.window for part in split(campaign, slurm)] == [2, 2, 2]
    assert [part.window for part in split(replace(campaign, window=None), slurm)] == [3, 3, 2]
    assert [part.window for part in split(_campaign(*_many(2)), slurm)] == [8]
    parts = split(replace(_campaign(*_many(MAX_VOLUMES + 1)), window=30), SETTINGS)
    assert [part.window for part in parts] == [20, 20]
