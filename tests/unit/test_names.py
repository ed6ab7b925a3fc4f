"""Names and patterns that files and clusters are held to."""

import re

import pytest

from converter import names


@pytest.mark.parametrize(
    ("pattern", "accepted", "rejected"),
    [
        (
            names.DNS_LABEL,
            ["a", "a-1", "1a", "a" * 63],
            ["", "A", "-a", "a-", "a.b", "a" * 64, "a\n"],
        ),
        (names.DNS_SUBDOMAIN, ["a", "a.b-c.d"], ["", "a..b", ".a", "a.", "A.b", "a.-b", "a\n"]),
        (
            names.PINNED_IMAGE,
            ["ocr@sha256:" + "0" * 64, "r.example.org:5000/a/b:tag@sha256:" + "a" * 64],
            [
                *("ocr", "ocr:1", "ocr@sha256:0", "@sha256:" + "0" * 64, "ocr@sha256:" + "A" * 64),
                *(
                    f"{name}@sha256:{'0' * 64}"
                    for name in (
                        "https://r.example/ocr",
                        "r.example/Ocr",
                        "r.example//ocr",
                        "r.example/ocr/",
                        "r.example/ocr:",
                        "r.example/a..b",
                        "r.example:port/ocr",
                        "-r.example/ocr",
                        "ocr:1:2",
                        "ocr:-a",
                        "a b",
                    )
                ),
            ],
        ),
        (
            names.TAGGED_IMAGE,
            ["ocr:1", "R.example:5000/a__b/c--d:v1_A", "localhost/a:latest", f"a:{'1' * 128}"],
            ["ocr", "Ocr:1", "https://r/ocr:1", "r:5000/ocr", f"a:{'1' * 129}", "ocr:1\n", "a:1/b"],
        ),
        (
            names.RESERVED_ENV,
            ["CAMPAIGN", "VOLUME_ID", "IFS", "PS1", "BASH_ENV", "_", "_campaigns_x"],
            ["CAMPAIGN_NAME", "MY_PATH", "PS3", "UID_X", "campaign"],
        ),
    ],
)
def test_patterns(pattern: re.Pattern[str], accepted: list[str], rejected: list[str]) -> None:
    assert [text for text in accepted if not pattern.match(text)] == []
    assert [text for text in rejected if pattern.match(text)] == []


@pytest.mark.parametrize(
    ("name", "is_part"),
    [("scan-part1", True), ("scan-part12", True), ("scan-part", False), ("scan-part1a", False)],
)
def test_the_ending_of_a_part_is_reserved(name: str, is_part: bool) -> None:
    assert bool(names.PART_SUFFIX.search(name)) is is_part


def test_objects_are_named_after_what_they_are_for() -> None:
    assert names.pipeline_configmap("ocr") == "pipeline-ocr"
    assert names.warmup_job("ocr") == "warmup-ocr"
    assert names.campaign_configmap("scan-part1") == "campaign-scan-part1"
    assert names.status_configmap("scan-part1") == "campaign-scan-part1-status"


def test_everything_of_ours_is_in_one_domain() -> None:
    ours = [
        value
        for key, value in vars(names).items()
        if key.endswith(("_LABEL", "_ANNOTATION")) and not key.startswith(("KUEUE_", "KOORD_"))
        if isinstance(value, str)
    ]
    assert len(ours) == len(set(ours)) > 10
    assert all(value.startswith(f"{names.DOMAIN}/") for value in ours)
