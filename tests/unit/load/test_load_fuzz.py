"""A sample of what `make fuzz` runs, and what it has found."""

from pathlib import Path

import pytest
from fuzz.cases import Cases
from fuzz.judge import judge
from fuzz.seeds import VALID
from fuzz.shrink import shrunk

SAMPLE = Cases(seed=1, mutations=200, grammar=100)


def test_whatever_a_file_says_it_is_judged(tmp_path: Path) -> None:
    faults = {
        number: verdict.faults
        for number in range(len(SAMPLE))
        if (verdict := judge(tmp_path / "repository", SAMPLE[number].files)).faults
    }
    assert faults == {}


def test_documents_are_made_by_the_seed_alone() -> None:
    again = Cases(SAMPLE.seed, SAMPLE.mutations, SAMPLE.grammar)
    other = Cases(SAMPLE.seed + 1, SAMPLE.mutations, SAMPLE.grammar)
    assert [SAMPLE[number] for number in (0, 7, 250)] == [again[n] for n in (0, 7, 250)]
    assert [SAMPLE[number] for number in (0, 7, 250)] != [other[n] for n in (0, 7, 250)]


def test_what_fails_is_made_small() -> None:
    assert shrunk(b"one: 1\ntwo: [a, b]\nthree: 3\n", lambda document: b"[a" in document) == b"[a"


FOUND = {
    "an empty key above a mistake": ("converter.yaml", b"sizes:\n '':\n  memory:"),
    "a list that ends with the file": ("campaigns/letters.yaml", b"["),
    "a document without an end of line": ("pipelines/ocr.yaml", b"---"),
    "a key that ends with the file": ("campaigns/letters.yaml", b"? pipeline"),
    "a directive that ends with the file": ("campaigns/letters.yaml", b"%TAG ! :"),
}


@pytest.mark.parametrize(("path", "document"), FOUND.values(), ids=FOUND)
def test_what_was_found_stays_mended(tmp_path: Path, path: str, document: bytes) -> None:
    assert judge(tmp_path / "repository", {**VALID, path: document}).faults == ()
