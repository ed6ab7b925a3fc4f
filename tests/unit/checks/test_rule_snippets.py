"""The examples of the rules are examples: the wrong one breaks its rule, the right one none."""

import re
from pathlib import Path

import pytest

from converter.checks import ALL_RULES, check
from converter.checks.registry import registered_rules
from converter.checks.wording import EXAMPLE_IMAGE
from converter.load import load_repo
from converter.rule import Rule

HEADING = re.compile(r"^# (\S+\.yaml)\n", re.MULTILINE)
# [v1, …, v12000] stands for all of them.
ELLIPSIS = re.compile(r"\[(\S*?)1(\S*), …, \1(\d+)\2\]")

SETTINGS = {"namespace": "campaigns", "queue": "campaigns"}
PIPELINE = f"image: {EXAMPLE_IMAGE}\ncommand: [ocr]\n"

RULES = sorted(registered_rules(), key=lambda rule: rule.code)


def write(root: Path, snippet: str) -> None:
    """A repository of what the snippet says, and no more beside it than a valid one needs."""
    _, *sections = HEADING.split(snippet)
    files = dict(zip(sections[::2], sections[1::2], strict=True))
    assert files, "a snippet begins with the comment that names its file"
    if not any(path.startswith("pipelines/") for path in files):
        files["pipelines/ocr.yaml"] = PIPELINE
    own = files.get("converter.yaml", "")
    missing = (f"{key}: {value}\n" for key, value in SETTINGS.items() if f"{key}:" not in own)
    files["converter.yaml"] = own + "".join(missing)
    for path, text in files.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(ELLIPSIS.sub(expanded, text), encoding="utf-8")


def expanded(found: re.Match[str]) -> str:
    before, after, last = found.groups()
    return f"[{', '.join(f'{before}{number}{after}' for number in range(1, int(last) + 1))}]"


def codes(root: Path) -> list[str]:
    return [problem.code for problem in check(load_repo(root))]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_wrong_example_breaks_its_rule_and_no_other(rule: Rule, tmp_path: Path) -> None:
    write(tmp_path, rule.wrong)
    assert codes(tmp_path) == [rule.code]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_right_example_breaks_no_rule(rule: Rule, tmp_path: Path) -> None:
    write(tmp_path, rule.right)
    assert codes(tmp_path) == []


@pytest.mark.parametrize("rule", ALL_RULES.values(), ids=lambda rule: rule.code)
def test_a_rule_says_what_people_need(rule: Rule) -> None:
    assert re.fullmatch(r"[FCPSGR]\d{3}", rule.code)
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", rule.name)
    assert all(text.endswith(".") for text in (rule.what, rule.why))
    assert re.fullmatch(r"\d+\.\d+\.\d+", rule.since)


def test_codes_and_names_are_unique() -> None:
    assert set(ALL_RULES) >= {rule.code for rule in RULES}
    assert len({rule.code for rule in RULES}) == len(RULES)
    assert len({rule.name for rule in ALL_RULES.values()}) == len(ALL_RULES)
