"""Comments that overrule a rule: what they silence, and what is wrong with them."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from unit.load.repositories import write

from converter.checks import ALL_RULES, check
from converter.cli.repository import load_valid
from converter.errors import InvalidRepository
from converter.load import load_repo
from converter.load.earlier import Earlier
from converter.load.rules import BAD_IGNORE, UNUSED_IGNORE
from converter.model import EMPTY
from converter.problem import Level
from converter.rule import Rule

SETTINGS = "namespace: team\nqueue: campaigns\ncommand: [ocr]\n"
PIPELINE = f"image: registry.example/ocr@sha256:{'0' * 64}\n"
FIRST = "pipeline: ocr\nvolumes: [a]\n"
# Rule C010 is broken in line 3, column 5.
SECOND = "pipeline: ocr\nvolumes:\n  - a{comment}\n"

TWICE = "3:5 C010"


def found(root: Path, files: Mapping[str, str], *left_out: str) -> list[str]:
    """The problems, as line, column and code, of a repository with these files."""
    some = {"converter.yaml": SETTINGS, "pipelines/ocr.yaml": PIPELINE, **files}
    problems = check(load_repo(write(root, dict(some))), left_out)
    return [f"{each.line}:{each.column} {each.code}" for each in problems]


def with_second(text: str) -> dict[str, str]:
    return {"campaigns/a.yaml": FIRST, "campaigns/b.yaml": text}


def commented(words: str) -> dict[str, str]:
    return with_second(SECOND.format(comment=f" # campaigns: {words}"))


@pytest.mark.parametrize(
    "text",
    [
        SECOND.format(comment=" # campaigns: ignore=C010 the scan was bad"),
        SECOND.format(comment=" #campaigns:ignore = c010 again"),
        SECOND.format(comment=" # campaigns: ignore=C010 - again"),
        SECOND.format(comment=" # campaigns: ignore=C010 重新扫描"),
        "pipeline: ocr\nvolumes:\n  # campaigns: ignore=C010 again\n  - a\n",
        "pipeline: ocr\nvolumes:\n  # campaigns: ignore=C010 again,\n  # as I said\n  - a\n",
        "pipeline: ocr\r\nvolumes:\r\n  - a # campaigns: ignore=C010 again\r\n",
        "pipeline: ocr\nvolumes:\n  - id: a # campaigns: ignore=C010 again\n    source: x\n",
    ],
)
def test_an_ignore_silences_its_line(tmp_path: Path, text: str) -> None:
    assert found(tmp_path, with_second(text)) == []


@pytest.mark.parametrize(
    "text",
    [
        "# campaigns: ignore=C010 again\n" + SECOND.format(comment=""),
        "pipeline: ocr\nvolumes:\n  - a\n  # campaigns: ignore=C010 again\n",
        "pipeline: ocr\nvolumes:\n  # campaigns: ignore=C010 again\n\n  - a\n",
        "pipeline: ocr\nvolumes: # campaigns: ignore=C010 again\n  - a\n",
    ],
    ids=["of the file", "below", "with a line between", "at the line before"],
)
def test_an_ignore_silences_no_other_line(tmp_path: Path, text: str) -> None:
    assert sorted(line.split()[1] for line in found(tmp_path, with_second(text))) == [
        "C010",
        "F009",
    ]


@pytest.mark.parametrize(
    "text",
    [
        "pipeline: ocr\nvolumes:\n  - id: a\n    source: |-\n      # campaigns: ignore=C010 x\n",
        "pipeline: ocr\nvolumes:\n  - {id: a, source: 'b # campaigns: ignore=C010 again'}\n",
        "pipeline: ocr\nvolumes:\n  - {id: a, source: 'b#campaigns:ignore=C010'}\n",
    ],
)
def test_text_that_looks_like_a_comment_ignores_nothing(tmp_path: Path, text: str) -> None:
    assert [line.split()[1] for line in found(tmp_path, with_second(text))] == ["C010"]


def test_a_comment_in_another_file_ignores_nothing(tmp_path: Path) -> None:
    first = "pipeline: ocr\nvolumes:\n  - a # campaigns: ignore=C010 again\n"
    files = {"campaigns/a.yaml": first, "campaigns/b.yaml": SECOND.format(comment="")}
    assert found(tmp_path, files) == ["3:27 F009", TWICE]


def test_a_problem_of_the_file_as_a_whole_is_ignored_at_its_top(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from converter import checks
    from converter.problem import Problem

    whole = Problem("campaigns/a.yaml", 0, 0, "C011", "m", "r")
    monkeypatch.setattr(checks, "findings", lambda _: [whole])
    ignored = "# a campaign\n# campaigns: ignore=C011 the quota grows soon\n"
    assert found(tmp_path / "1", {"campaigns/a.yaml": FIRST}) == ["0:0 C011"]
    assert found(tmp_path / "2", {"campaigns/a.yaml": ignored + FIRST}) == []
    assert found(tmp_path / "3", {"campaigns/a.yaml": FIRST + ignored}) == [
        "0:0 C011",
        "4:21 F009",
    ]


def test_an_error_can_be_ignored_where_the_rule_is_a_judgement(tmp_path: Path) -> None:
    quota = "quota: {cpu: 8, memory: 32Gi}\nsizes:\n  big: {cpu: 16, memory: 16Gi, gpu: 0}"
    comment = " # campaigns: ignore=S001 the quota is raised for this campaign"
    assert [
        line.split()[1] for line in found(tmp_path / "1", {"converter.yaml": SETTINGS + quota})
    ] == ["S001"]
    assert found(tmp_path / "2", {"converter.yaml": f"{SETTINGS}{quota}{comment}\n"}) == []


def test_what_is_ignored_stops_no_command(tmp_path: Path) -> None:
    quota = "quota: {cpu: 8, memory: 32Gi, nvidia.com/gpu: 1}\n"
    quota += "sizes:\n  big: {cpu: 16, memory: 16Gi, gpu: 0}"
    files = {"pipelines/ocr.yaml": PIPELINE, "campaigns/a.yaml": FIRST}
    write(tmp_path, {**files, "converter.yaml": f"{SETTINGS}{quota}\n"})
    with pytest.raises(InvalidRepository):
        load_valid(tmp_path)
    comment = "# campaigns: ignore=S001 nothing uses it yet"
    write(tmp_path, {"converter.yaml": f"{SETTINGS}{quota} {comment}\n"})
    assert list(load_valid(tmp_path).campaigns) == ["a"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("ignore=C010", [TWICE, "3:7 F010"]),
        ("ignore=C010 ...", [TWICE, "3:7 F010"]),
        ("ignore=C10 again", [TWICE, "3:27 F010"]),
        ("ignore=C010,C999 again", ["3:32 F010"]),
        ("ignore=C010, C008 again", ["3:33 F010"]),
        ("ignore=C010,F010 again", ["3:32 F010"]),
        ("ignore=C010,C011 again", ["3:32 F009"]),
        ("ignore=C011,F009 with a smaller quota", [TWICE]),
        ("ignore=C010,F009 again", []),
        ("ignore=again", [TWICE, "3:7 F010", "3:27 F010"]),
        ("ignore=", [TWICE, "3:7 F010"]),
        ("ignore C010 again", [TWICE, "3:7 F010"]),
        ("ignor=C010 again", [TWICE, "3:7 F010"]),
        ("disable: C010 again", [TWICE, "3:7 F010"]),
        ("all of these are urgent", [TWICE]),
        ("", [TWICE]),
    ],
)
def test_what_is_wrong_with_an_ignore(tmp_path: Path, words: str, expected: list[str]) -> None:
    assert found(tmp_path, commented(words)) == expected


def test_the_messages(tmp_path: Path) -> None:
    words = "ignore=C10,C008,C011 again"
    some = {"converter.yaml": SETTINGS, "pipelines/ocr.yaml": PIPELINE, **commented(words)}
    text = "# campaigns: ignore=X1\npipeline: ocr # campaigns: ignor=C010\nvolumes: [b]\n"
    third = {"campaigns/c.yaml": text}
    problems = check(load_repo(write(tmp_path, {**some, **third})))
    assert [str(each).split(" ", 1)[1] for each in problems if each.code != "C010"] == [
        "F010 there is no rule C10 — did you mean C010?",
        "F010 C008 cannot be ignored — remove it, and mend what the rule finds",
        "F009 warning: C011 is ignored here, but there is nothing to ignore — remove it",
        "F010 there is no reason for ignoring X1 — write it after the code",
        "F010 there is no rule X1 — `campaigns rule` lists the rules",
        'F010 "ignor=C010" is not understood — write # campaigns: ignore=CODE and the reason',
    ]


@pytest.mark.parametrize(
    ("files", "left_out"),
    [
        ({"converter.yaml": "queue: campaigns\n"}, ()),
        ({"converter.yaml": SETTINGS.replace("team", "0012")}, ()),
        ({"pipelines/tei.yaml": "image: 7\n"}, ()),
        ({"campaigns/c.yaml": "pipeline: ocr\nvolumes: [\n"}, ()),
        ({}, ("C",)),
        ({}, ("P", "C011")),
    ],
)
def test_an_unused_ignore_may_be_one_whose_rule_was_not_asked(
    tmp_path: Path, files: dict[str, str], left_out: tuple[str, ...]
) -> None:
    unused = {"campaigns/a.yaml": "pipeline: ocr # campaigns: ignore=C011 soon\nvolumes: [a]\n"}
    assert found(tmp_path / "1", unused) == ["1:35 F009"]
    assert "F009" not in "".join(found(tmp_path / "2", {**unused, **files}, *left_out))


def test_a_rule_about_kueue_is_not_asked_with_another_backend(tmp_path: Path) -> None:
    unused = {"campaigns/a.yaml": "pipeline: ocr # campaigns: ignore=C011 soon\nvolumes: [a]\n"}
    settings = {"converter.yaml": f"{SETTINGS}backend: none\n"}
    assert "F009" not in "".join(found(tmp_path, {**unused, **settings}))


def test_what_a_rule_about_changes_found_is_gone_with_the_merge(tmp_path: Path) -> None:
    unused = "pipeline: ocr # campaigns: ignore=G001 not applied yet\nvolumes: [a]\n"
    files = {"converter.yaml": SETTINGS, "pipelines/ocr.yaml": PIPELINE, "campaigns/a.yaml": unused}
    loaded = load_repo(write(tmp_path, dict(files)))
    earlier = Earlier("HEAD", loaded.settings, EMPTY, EMPTY)
    assert check(loaded, earlier=earlier) == ()


@pytest.mark.parametrize("rule", [UNUSED_IGNORE, BAD_IGNORE], ids=lambda rule: rule.code)
def test_the_examples(rule: Rule, tmp_path: Path) -> None:
    assert rule.code in "".join(found(tmp_path / "wrong", sections(rule.wrong)))
    assert len(found(tmp_path / "wrong", {})) == 1
    assert found(tmp_path / "right", sections(rule.right)) == []


def sections(snippet: str) -> dict[str, str]:
    files: dict[str, str] = {}
    for section in snippet.split("# campaigns/")[1:]:
        name, _, text = section.partition("\n")
        files[f"campaigns/{name}"] = text
    return files


def test_only_judgements_can_be_ignored() -> None:
    ignorable = {rule.code for rule in ALL_RULES.values() if rule.ignorable}
    warnings = {rule.code for rule in ALL_RULES.values() if rule.level is Level.WARNING}
    changes = {code for code in ALL_RULES if code.startswith("G")}
    assert ignorable == warnings | changes | {"C011", "S001", "S010", "S011"}
