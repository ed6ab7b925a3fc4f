"""Editors check with the schemas, and validate with the loader: they accept the same documents.

See schema_documents for how the documents are made, and who says what is right.
"""

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from unit.load.repositories import load
from unit.load.schema_documents import TRICKY, Unclear, documents, meaning, reference

from converter.load import LoadResult
from converter.load.schema import FileKind, document

KINDS = list(FileKind)
FILE_OF = {FileKind.CONVERTER: "settings", FileKind.PIPELINE: "pipeline"}
LEAST = {
    FileKind.CONVERTER: "namespace: a\nqueue: b\n",
    FileKind.PIPELINE: "image: a\n",
    FileKind.CAMPAIGN: "pipeline: a\nvolumes: [b]\n",
}
# A slow machine is no reason to fail.
UNHURRIED = (HealthCheck.too_slow,)
REFUSALS = {"F004", "F005", "F006", "F007"}


@cache
def validator(kind: FileKind) -> Any:
    return reference(document(kind))


def expected(kind: FileKind, text: str) -> bool:
    """Whether the schema accepts what the text means, to every reader of YAML."""
    try:
        return bool(validator(kind).is_valid(meaning(text)))
    except Unclear:
        return False


def loaded(kind: FileKind, text: str) -> LoadResult:
    with tempfile.TemporaryDirectory() as root:
        return load(Path(root), **{FILE_OF.get(kind, "campaign"): text})


def built(kind: FileKind, result: LoadResult) -> bool:
    if kind is FileKind.CONVERTER:
        return result.settings is not None
    return bool(result.pipelines if kind is FileKind.PIPELINE else result.campaigns)


def compare(kind: FileKind, text: str) -> bool:
    """That the two agree about a document; returns what they say."""
    accepted, result = expected(kind, text), loaded(kind, text)
    codes = {problem.code for problem in result.problems}
    assert bool(codes) != accepted, (text, [str(problem) for problem in result.problems])
    assert codes <= REFUSALS
    assert built(kind, result) or not accepted
    return accepted


@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=150, suppress_health_check=UNHURRIED)
@given(data=st.data())
def test_a_document_is_loaded_if_its_schema_accepts_it(kind: FileKind, data: st.DataObject) -> None:
    accepted = compare(kind, data.draw(documents(document(kind))))
    event("accepted" if accepted else "refused")


@pytest.mark.parametrize("kind", KINDS)
def test_documents_of_both_kinds_are_tried(kind: FileKind) -> None:
    """Else the test above would show nothing."""
    seen: list[bool] = []

    @settings(max_examples=40, database=None, derandomize=True, suppress_health_check=UNHURRIED)
    @given(documents(document(kind)))
    def look(text: str) -> None:
        seen.append(expected(kind, text))

    look()
    assert min(seen.count(True), seen.count(False)) >= len(seen) // 6


def resolved(kind: FileKind, described: dict[str, Any]) -> dict[str, Any]:
    """What the schema says of a value, without the words."""
    while "$ref" in described:
        described = document(kind)["$defs"][described["$ref"].rpartition("/")[2]]
    return {name: each for name, each in described.items() if name != "description"}


def unlike(kind: FileKind) -> list[str]:
    """Top-level keys, one for each kind of value."""
    first: dict[str, str] = {}
    for name, described in document(kind)["properties"].items():
        if name != "steps":
            first.setdefault(json.dumps(resolved(kind, described)), name)
    return list(first.values())


@pytest.mark.parametrize("kind", KINDS)
def test_every_scalar_that_readers_disagree_on_in_every_place(kind: FileKind) -> None:
    forms = ("{}", "[{}]", "{{a: {}}}", "{{{}: a}}")
    for place, name in enumerate(unlike(kind)):
        others = "".join(
            f"{line}\n" for line in LEAST[kind].splitlines() if not line.startswith(f"{name}:")
        )
        for number, scalar in enumerate(TRICKY):
            form = forms[(place + number) % len(forms)]
            compare(kind, f"{others}{name}: {form.format(scalar or '~')}\n")


@pytest.mark.parametrize("kind", KINDS)
def test_every_bound_of_every_number(kind: FileKind) -> None:
    found = 0
    for name, described in document(kind)["properties"].items():
        of_it = resolved(kind, described)
        if of_it.get("type") == "integer":
            found += 1
            for bound in (of_it["minimum"], of_it["maximum"]):
                for number in (bound - 1, bound, bound + 1):
                    compare(kind, f"{LEAST[kind]}{name}: {number}\n")
    assert found >= 2


@pytest.mark.parametrize(
    "line",
    [
        'sizes: {"": {cpu: 1, memory: 1}}',
        'sizes: {"": {cpu: {}}}',
        'sizes: {"": {"": 1}, a: {"": 1}}',
        'env: {"": 1}',
        'node_selector: {"": {}, a: ""}',
        '"": {"": []}',
    ],
)
def test_an_empty_key_is_a_key(line: str) -> None:
    text = f"{LEAST[FileKind.CONVERTER]}{line}\n"
    assert not compare(FileKind.CONVERTER, text)
    problems = loaded(FileKind.CONVERTER, text).problems
    assert all(problem.line == 3 for problem in problems)
    assert not [problem for problem in problems if "env is a mapping" in problem.message]


def test_a_number_that_is_zero_is_not_below_zero() -> None:
    text = f"{LEAST[FileKind.CONVERTER]}quota: {{cpu: -0.0, memory: 0.0}}\n"
    assert compare(FileKind.CONVERTER, text)
