"""Rules about campaigns and their volumes."""

from dataclasses import replace

import pytest
from unit.checks.files import (
    WHOLE_FILE,
    at,
    at_key,
    found,
    found_in,
    loaded,
    some_campaign,
    some_pipeline,
    some_settings,
)

from converter.checks import check
from converter.model import SourceKind, Volume

LONG = "correspondence-of-the-board-of-trade-with-the-ports"  # 51 characters


@pytest.mark.parametrize("name", ["Letters", "a.b", "-a", "a-", "a_b", "a" * 64, "", "å", "a\nb"])
def test_a_campaign_has_a_dns_label_for_a_name(name: str) -> None:
    [(path, position, message, remedy)] = found("C001", some_campaign(name))
    assert (path, position) == (f"campaigns/{name}.yaml".replace("\n", " "), WHOLE_FILE)
    assert message.endswith(" cannot be the name of a campaign")
    assert "\n" not in message
    assert remedy == (
        "name the file with a-z, 0-9 and -, at most 63 characters, the first and the last no -"
    )


@pytest.mark.parametrize("name", ["a", "letters-1871", "0", "a" * 61])
def test_dns_labels_are_names(name: str) -> None:
    assert found("C001", some_campaign(name)) == []


@pytest.mark.parametrize(
    ("name", "fault"),
    [
        ("warmup-letters", "start with warmup-"),
        ("letters-status", "end in -status"),
        ("letters-part1", "end in -part1"),
        ("letters-part007", "end in -part007"),
    ],
)
def test_names_of_our_own_objects_are_reserved(name: str, fault: str) -> None:
    assert found("C002", some_campaign(name)) == [
        (
            f"campaigns/{name}.yaml",
            WHOLE_FILE,
            f"a campaign's name cannot {fault}: campaigns gives such names to its own objects",
            "rename the file",
        )
    ]


@pytest.mark.parametrize("name", ["warmup", "status", "part1", "letters-part", "letters-part1a"])
def test_other_names_are_free(name: str) -> None:
    assert found("C002", some_campaign(name)) == []


@pytest.mark.parametrize(
    ("length", "volumes", "most"),
    [(61, 10, None), (61, 11, 60), (62, 1, 61), (63, 101, 59), (58, 10_000, None)],
)
def test_the_last_pod_has_a_host_name(length: int, volumes: int, most: int | None) -> None:
    campaign = some_campaign("a" * length, [f"v{index}" for index in range(volumes)])
    problems = found("C003", campaign)
    if most is None:
        assert problems == []
    else:
        last = f"{campaign.name}-{volumes - 1}"
        assert problems == [
            (
                campaign.path,
                WHOLE_FILE,
                f"the last pod would be {last}, {length - most} more than the 63 characters of a "
                "host name",
                f"shorten the file's name to {most} characters",
            )
        ]


def test_parts_of_long_campaigns_have_room_for_their_names() -> None:
    many = [f"v{index}" for index in range(10_001)]
    assert found("C003", some_campaign("a" * 63, many)) == []


def test_parts_of_two_campaigns_have_different_names() -> None:
    many = [f"v{index}" for index in range(10_001)]
    one, other = some_campaign(f"{LONG}-a", many), some_campaign(f"{LONG}-b", many)
    job = f"{LONG[:50]}-part1"
    assert found("C004", one, other) == [
        (
            other.path,
            WHOLE_FILE,
            f"its Job {job} and ConfigMap campaign-{job} have the names of those of {one.path}",
            "rename the file so that the first 50 characters differ",
        ),
    ]
    assert found("C004", one, some_campaign(f"{LONG}-b")) == []


@pytest.mark.parametrize(
    ("pipeline", "remedy"),
    [("layuot", "did you mean layout?"), ("translate", "write one of: layout, ocr")],
)
def test_a_campaigns_pipeline_exists(pipeline: str, remedy: str) -> None:
    campaign = some_campaign(pipeline=pipeline)
    assert found("C005", campaign, some_pipeline("ocr"), some_pipeline("layout")) == [
        (campaign.path, at("pipeline"), f'there is no pipeline "{pipeline}"', remedy)
    ]


@pytest.mark.parametrize("broken", ["pipelines/layout.yaml", "pipelines"])
def test_a_broken_pipeline_is_not_called_missing(broken: str) -> None:
    campaign = some_campaign(pipeline="layout")
    result = loaded(campaign, settings=some_settings(), broken=[broken])
    assert found_in("C005", result) == []
    assert len(found_in("C005", replace(result, broken=frozenset()))) == 1


def test_a_pipeline_that_no_campaign_names_is_no_problem() -> None:
    result = loaded(some_pipeline("ocr"), some_pipeline("layout"), settings=some_settings())
    assert check(result) == ()


@pytest.mark.parametrize(
    ("classes", "remedy"),
    [
        (("urgent", "bulk"), "did you mean urgent?"),
        (("bulk",), "write one of: bulk"),
        ((), "take it out, or list the WorkloadPriorityClass in priority_classes"),
    ],
)
def test_a_campaigns_priority_exists(classes: tuple[str, ...], remedy: str) -> None:
    campaign = some_campaign(priority="urgnt")
    message = 'priority "urgnt" is not one of converter.yaml\'s priority_classes'
    assert found("C006", campaign, priority_classes=classes) == [
        (campaign.path, at("priority"), message, remedy)
    ]


@pytest.mark.parametrize("priority", ["", "urgent"])
def test_no_priority_and_a_known_one_are_right(priority: str) -> None:
    assert found("C006", some_campaign(priority=priority), priority_classes=("urgent",)) == []


@pytest.mark.parametrize(
    ("window", "limit", "message"),
    [
        (3, 20, "min_window 4 is more than its window, 3"),
        (None, 2, "min_window 4 is more than converter.yaml's window, 2"),
        (8, 3, "min_window 4 is more than converter.yaml's window, 3"),
    ],
)
def test_min_window_is_within_the_window(window: int | None, limit: int, message: str) -> None:
    campaign = some_campaign(window=window, min_window=4)
    remedy = f"write {message.rsplit(' ', 1)[1]} or less"
    assert found("C007", campaign, window=limit) == [
        (campaign.path, at("min_window"), message, remedy)
    ]


@pytest.mark.parametrize("window", [None, 4, 5])
def test_min_window_may_be_the_window(window: int | None) -> None:
    assert found("C007", some_campaign(window=window, min_window=4), window=4) == []


def test_a_volume_is_in_a_campaign_once() -> None:
    campaign = some_campaign(volumes=["a", "b", "a", "a"])
    line, _ = at("volumes", 0, "id")
    message = f'volume "a" is in line {line} already'
    assert sorted(found("C008", campaign)) == sorted(
        (campaign.path, at("volumes", index, "id"), message, "take one of them out")
        for index in (2, 3)
    )
    assert found("C008", some_campaign(volumes=["a", "b", "A"])) == []


URL = "https://archive.example/page.jpg"  # 32 characters


@pytest.mark.parametrize(
    ("volume", "remedy"),
    [
        (
            Volume("a", SourceKind.IMAGES, images=(URL,) * 3200),
            "name a manifest, or make it several volumes",
        ),
        (
            Volume("a", SourceKind.SOURCE, "x" * (100 * 1024)),
            "write the address of a file that holds it",
        ),
        (
            Volume("a", SourceKind.SOURCE, "å" * (51 * 1024)),
            "write the address of a file that holds it",
        ),
    ],
)
def test_a_volume_fits_into_an_environment(volume: Volume, remedy: str) -> None:
    campaign = some_campaign(volumes=["b", volume])
    [(path, position, message, found_remedy)] = found("C009", campaign)
    assert (path, position, found_remedy) == (campaign.path, at("volumes", 1), remedy)
    assert message.startswith('volume "a" takes 1')
    assert message.endswith(" KiB, more than the 100 KiB that fit into an environment")


def test_the_environment_counts_too() -> None:
    half = "x" * (51 * 1024)
    volume = Volume("a", SourceKind.SOURCE, half, env={"NOTE": half})
    assert len(found("C009", some_campaign(volumes=[volume]))) == 1
    assert found("C009", some_campaign(volumes=[replace(volume, env={})])) == []


def test_the_longest_line_is_100_kib() -> None:
    longest = Volume("a", SourceKind.SOURCE, "x" * (100 * 1024 - len("a\t\n")))
    assert found("C009", some_campaign(volumes=[longest])) == []


def test_a_volume_in_two_campaigns_of_a_pipeline_is_worth_a_warning() -> None:
    one = some_campaign("letters", ["a", "b", "c", "d"])
    other = some_campaign("letters-2", ["x", "c", "b"])
    assert found("C010", one, other) == [
        (
            other.path,
            at("volumes", 1, "id"),
            "c, b are in campaigns/letters.yaml too, with the same pipeline",
            "take them out of the newer of the two, unless that is to run again what failed",
        )
    ]
    assert found("C010", one, replace(other, name="Letters_2")) == []
    assert found("C010", one, replace(other, name="letters-part2")) == []
    unknown = [replace(each, pipeline="orc") for each in (one, other)]
    assert found("C010", *unknown) == []
    elsewhere = replace(other, pipeline="layout")
    assert found("C010", one, elsewhere, some_pipeline(), some_pipeline("layout")) == []


@pytest.mark.parametrize(
    "name", ["VOLUME_ID", "CAMPAIGN", "IMAGES", "IFS", "BASH_ENV", "_campaigns_id"]
)
def test_reserved_variables_are_refused_in_every_file(name: str) -> None:
    env = {"FREE": "1", name: "x"}
    campaign = some_campaign(volumes=["b", Volume("a", SourceKind.SOURCE, "s", env=env)])
    pipeline = some_pipeline(env=env)
    expected = (f"the variable {name} is reserved", "give it another name")
    assert found("C012", campaign) == [
        (campaign.path, at_key("volumes", 1, "env", name), *expected)
    ]
    assert found("P005", pipeline) == [(pipeline.path, at_key("env", name), *expected)]
    assert found("S006", env=env) == [("converter.yaml", at_key("env", name), *expected)]
