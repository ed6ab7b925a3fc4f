"""Rules about pipelines and warm-ups."""

from typing import Any

import pytest
from unit.checks.files import DIGEST, WHOLE_FILE, at, at_key, found, some_pipeline

from converter.model import Size, Warmup

PATH = "pipelines/ocr.yaml"
WARMUP = Warmup(("fetch",))


@pytest.mark.parametrize("name", ["OCR", "a_b", "a..b", ".a", "a-", "a" * 57])
def test_a_pipelines_id_fits_into_names_and_labels(name: str) -> None:
    [(path, position, message, remedy)] = found("P001", some_pipeline(name))
    assert (path, position) == (f"pipelines/{name}.yaml", WHOLE_FILE)
    assert message == f'"{name}" cannot be the name of a pipeline'
    assert remedy == (
        "name the file with a-z, 0-9, - and ., at most 56 characters, a letter or digit at both "
        "ends and around each dot"
    )


@pytest.mark.parametrize("name", ["ocr", "ocr-1.2", "a" * 56])
def test_subdomains_of_56_characters_are_ids(name: str) -> None:
    assert found("P001", some_pipeline(name)) == []


@pytest.mark.parametrize(
    "image",
    [
        "ocr",
        "ocr:2.1",
        "r.example/ocr@sha256:abc",
        f"ocr@sha512:{'0' * 64}",
        f"ocr@sha256:{'A' * 64}",
        f"r.example/Ocr@sha256:{'0' * 64}",
        f"https://r.example/ocr@sha256:{'0' * 64}",
    ],
)
def test_an_image_has_a_digest(image: str) -> None:
    assert found("P002", some_pipeline(image=image)) == [
        (
            PATH,
            at("image"),
            f'image "{image if len(image) <= 60 else image[:59] + "…"}" is not an image pinned '
            "by a digest",
            "write <host>/<path>@sha256:<64 hex digits> without https:// and with the path in "
            "lower case, or allow_image_tags: true in converter.yaml for a local cluster",
        )
    ]


@pytest.mark.parametrize(
    ("image", "right"),
    [
        ("ocr:2.1", True),
        (DIGEST, True),
        ("ocr", False),
        ("r.example/Ocr:2.1", False),
        ("https://r.example/ocr:2.1", False),
    ],
)
def test_a_tag_may_name_an_image_where_that_is_allowed(image: str, right: bool) -> None:
    problems = found("P002", some_pipeline(image=image), allow_image_tags=True)
    message = f'image "{image}" is not an image with a tag or a digest'
    remedy = "write <host>/<path>:<tag> without https:// and with the path in lower case"
    assert problems == ([] if right else [(PATH, at("image"), message, remedy)])


def test_a_digest_pins_an_image() -> None:
    assert found("P002", some_pipeline()) == []


@pytest.mark.parametrize(
    ("own", "default", "right"),
    [(None, (), False), ((), ("ocr",), False), (None, ("ocr",), True), (("ocr",), (), True)],
)
def test_a_pipeline_has_a_command(own: Any, default: tuple[str, ...], right: bool) -> None:
    problems = found("P003", some_pipeline(command=own), command=default)
    message = "it has no command, and neither has converter.yaml"
    remedy = "write what runs for a volume, for example command: [python, -m, ocr]"
    assert problems == ([] if right else [(PATH, at("command"), message, remedy)])


@pytest.mark.parametrize(
    ("sizes", "remedy"),
    [
        (("large", "page"), "did you mean large?"),
        (("small",), "write one of: small"),
        ((), "add it to sizes, or take it out"),
    ],
)
def test_a_pipelines_size_exists(sizes: tuple[str, ...], remedy: str) -> None:
    known = {name: Size(name, "1", "8Gi") for name in sizes}
    assert found("P004", some_pipeline(size="lrage"), sizes=known) == [
        (PATH, at("size"), 'there is no size "lrage" in converter.yaml', remedy)
    ]
    assert found("P004", some_pipeline(size="page"), sizes={"page": Size("page", "1", "8Gi")}) == []
    assert found("P004", some_pipeline(size=None), sizes=known) == []


def test_a_warmup_needs_a_cache() -> None:
    expected = (
        "a warm-up needs data_pvc in converter.yaml, and there is none",
        "write data_pvc: <PersistentVolumeClaim of the model cache>, or take the warm-up out",
    )
    warmed = some_pipeline(warmup=WARMUP)
    assert found("P006", warmed) == [(PATH, at_key("warmup"), *expected)]
    assert found("S016", warmup=WARMUP) == [("converter.yaml", at_key("warmup"), *expected)]
    assert found("P006", warmed, data_pvc="models") == []
    assert found("S016", warmup=WARMUP, data_pvc="models") == []
    assert found("P006", warmed, warmup=WARMUP) == []
    assert found("P006") == found("S016") == []


def test_a_warmup_has_a_command() -> None:
    pipeline = some_pipeline(warmup=Warmup(args=("--fetch",)))
    assert found("P007", pipeline, data_pvc="models") == [
        (
            PATH,
            at_key("warmup"),
            "the warm-up has no command, and converter.yaml has no warmup",
            "write command in it, for example command: [python, -m, ocr.fetch]",
        )
    ]
    assert found("P007", pipeline, data_pvc="models", warmup=WARMUP) == []
    assert found("P007", some_pipeline(warmup=WARMUP), data_pvc="models") == []


def test_max_seconds_leaves_time_to_wait_for_the_warmup() -> None:
    message = "max_seconds 10 leaves a pod no time to wait for the warm-up"
    own = some_pipeline(warmup=WARMUP, max_seconds=10)
    assert found("P008", own) == [(PATH, at("max_seconds"), message, "write more than 10")]
    assert found("P008", some_pipeline(), some_pipeline("b"), warmup=WARMUP, max_seconds=10) == [
        ("converter.yaml", at("max_seconds"), message, "write more than 10")
    ]
    assert found("P008", some_pipeline(max_seconds=10)) == []
    assert found("P008", some_pipeline(warmup=WARMUP, max_seconds=11)) == []


def test_max_seconds_leaves_time_after_the_warmup() -> None:
    pipeline = some_pipeline(warmup=WARMUP, max_seconds=600)
    message = "of max_seconds 600 a pod may wait 590 for the warm-up"
    assert found("P009", pipeline) == [
        (PATH, at("max_seconds"), message, "write more than warmup_wait_seconds, 900")
    ]
    assert found("P009", pipeline, warmup_wait_seconds=599) == []
    assert found("P009", some_pipeline(max_seconds=600)) == []
