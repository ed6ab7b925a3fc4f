"""`campaigns rule`: one rule, or all of them."""

import json
from dataclasses import asdict

import pytest
from click.testing import CliRunner, Result

from converter.checks import ALL_RULES
from converter.cli import rule


def run(*arguments: str) -> Result:
    return CliRunner().invoke(rule.command, arguments, standalone_mode=False)


@pytest.mark.parametrize("code", ["C010", "c010", "volume-in-two-campaigns"])
def test_one_rule(code: str) -> None:
    wanted = ALL_RULES["C010"]
    done = run(code)
    assert done.return_value == 0
    assert done.stdout.startswith("C010 volume-in-two-campaigns (warning)\n")
    assert done.stdout.endswith("\nSince 0.1.0.\n")
    assert all(text in done.stdout for text in (wanted.what, wanted.why))
    assert "\n  # campaigns/letters-2.yaml\n  pipeline: ocr\n" in done.stdout


def test_all_rules_have_a_line() -> None:
    done = run()
    assert done.return_value == 0
    assert [line.split()[0] for line in done.stdout.splitlines()] == list(ALL_RULES)
    assert "C005  unknown-pipeline: A campaign's pipeline is a file in pipelines/." in done.stdout


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("C0010", "there is no rule C0010; did you mean C010?"),
        ("unknown-pipelines", "there is no rule unknown-pipelines; did you mean unknown-pipeline?"),
        ("?", "there is no rule ?; see `campaigns rule`"),
    ],
)
def test_an_unknown_code_is_wrong_usage(code: str, hint: str) -> None:
    done = CliRunner().invoke(rule.command, [code])
    assert done.exit_code == 2
    assert hint in done.output


def test_json() -> None:
    one = json.loads(run("C010", "--format", "json").stdout)
    assert one == {"version": 1, "rules": [asdict(ALL_RULES["C010"])]}
    assert len(json.loads(run("--format", "json").stdout)["rules"]) == len(ALL_RULES)
