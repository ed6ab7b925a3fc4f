"""The examples in the rules of loading."""

import re
from pathlib import Path

import pytest
from unit.load.repositories import PIPELINE, SETTINGS, write

from converter.load import RULES, load_repo
from converter.rule import Rule

HEADING = re.compile(r"# (\S+)\n")


def codes(snippet: str, root: Path) -> list[str]:
    heading = HEADING.match(snippet)
    assert heading is not None
    encoding = "latin-1" if "Latin-1" in snippet else "utf-8"
    files: dict[str, str | bytes] = {
        "converter.yaml": SETTINGS,
        "pipelines/ocr.yaml": PIPELINE,
        heading[1]: snippet.encode(encoding),
    }
    return [problem.code for problem in load_repo(write(root, files)).problems]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_wrong_example_breaks_its_rule_alone(rule: Rule, tmp_path: Path) -> None:
    assert codes(rule.wrong, tmp_path) == [rule.code]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_right_example_breaks_no_rule(rule: Rule, tmp_path: Path) -> None:
    assert codes(rule.right, tmp_path) == []


def test_codes_and_names_are_unique_and_sorted() -> None:
    assert [rule.code for rule in RULES] == [f"F{number:03}" for number in range(1, 9)]
    assert len({rule.name for rule in RULES}) == len(RULES)
