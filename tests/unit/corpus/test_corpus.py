"""Files with one mistake each, and files that look strange: what is said of them, no more."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from unit.corpus.cases import BAD, CORPUS, GOOD, INDEX, Case, cases, places, problems, write_base

from converter.checks import ALL_RULES
from converter.load import load_repo
from converter.load.keywords import EXPLANATIONS
from converter.load.nodes import compose, plain_values
from converter.load.schema import FileKind, document, violations
from converter.load.syntax import Malformed

BAD_CASES = list(cases(BAD))
GOOD_CASES = list(cases(GOOD))
# Groups of rules whose problems these files alone cannot show.
ELSEWHERE = ("G", "R")
# What takes more than a small file, in test_made.py.
MADE = {"C004": 2, "C009": 2, "P010": 2}


@pytest.mark.parametrize("case", BAD_CASES, ids=str)
def test_a_bad_file_has_its_one_problem(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    found = problems(tmp_path)
    assert places(found) == [case.place]
    assert case.said["says"] in str(found[0])


@pytest.mark.parametrize("case", GOOD_CASES, ids=str)
def test_a_good_file_means_what_it_says(case: Case, tmp_path: Path) -> None:
    case.write(tmp_path)
    assert problems(tmp_path) == ()
    if "ids" in case.said:
        campaign = load_repo(tmp_path).campaigns[Path(case.at).stem]
        assert [volume.id for volume in campaign.volumes] == case.said["ids"]


def test_the_repository_that_the_cases_change_is_valid(tmp_path: Path) -> None:
    write_base(tmp_path)
    assert problems(tmp_path) == ()


@pytest.mark.parametrize("directory", [BAD, GOOD], ids=lambda path: path.name)
def test_the_index_has_every_file_and_no_other(directory: Path) -> None:
    files = {path.name for path in directory.iterdir()} - {INDEX}
    assert files == {case.source.name for case in cases(directory)}


def test_git_leaves_the_bytes_alone() -> None:
    assert "* -text" in (CORPUS / ".gitattributes").read_text().splitlines()


def test_every_rule_is_broken_twice() -> None:
    broken = Counter(case.code for case in BAD_CASES) + Counter(MADE)
    here = {code for code in ALL_RULES if not code.startswith(ELSEWHERE)}
    assert {code for code in here if broken[code] < 2} == set()
    assert set(broken) <= set(ALL_RULES)


def test_every_keyword_of_the_schemas_fails_in_a_bad_file() -> None:
    failed = {(id(schema), keyword) for case in BAD_CASES for schema, keyword in _violated(case)}
    missing = [
        f"{kind}: {'/'.join(place)} {keyword}"
        for kind in FileKind
        for place, schema, keyword in _keywords(document(kind), ())
        if (id(schema), keyword) not in failed and (id(schema), "propertyNames") not in failed
    ]
    assert missing == []


def _violated(case: Case) -> Iterator[tuple[dict[str, Any], str]]:
    if case.source.is_dir():
        return
    kinds = {"pipelines": FileKind.PIPELINE, "campaigns": FileKind.CAMPAIGN}
    kind = kinds.get(case.at.partition("/")[0], FileKind.CONVERTER)
    try:
        values = plain_values(compose(case.source.read_bytes().decode()))
    except (UnicodeDecodeError, Malformed):
        return
    for violation in violations(kind, values):
        yield violation.schema, violation.keyword


def _keywords(
    schema: dict[str, Any], place: tuple[str, ...]
) -> Iterator[tuple[tuple[str, ...], dict[str, Any], str]]:
    """Each keyword that a value can fail, with the subschema that it stands in."""
    for keyword in schema.keys() & EXPLANATIONS.keys():
        if _can_fail(schema, keyword, place):
            yield place, schema, keyword
    for part in ("properties", "patternProperties", "$defs"):
        for name, inner in schema.get(part, {}).items():
            yield from _keywords(inner, (*place, part, name))
    for part in ("items", "then", "else"):
        if part in schema:
            yield from _keywords(schema[part], (*place, part))
    for index, inner in enumerate(schema.get("allOf", ())):
        yield from _keywords(inner, (*place, "allOf", str(index)))


def _can_fail(schema: dict[str, Any], keyword: str, place: tuple[str, ...]) -> bool:
    value = schema[keyword]
    match keyword:
        case "propertyNames":
            # The pattern that it refers to fails, by this name.
            return False
        case "additionalProperties":
            return value is False
        case "maximum":
            # The loader reads no number that is larger than 64 bits.
            return bool(value < 2**63 - 1)
        case _:
            # What is no mapping is taken for a bare id.
            return (place[-1:], keyword) != (("volumeWithSource",), "type")
