"""Documents: syntax, aliases, merge keys, bounds, and the short way to the same values."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from unit.load.repositories import CAMPAIGN, SETTINGS, dump, lines, load

from converter.load import quick
from converter.load.nodes import MAX_DEPTH, compose, plain_values
from converter.load.opaque import opaque_values
from converter.load.syntax import Malformed

LAUGHS = "a: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"b{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 12)
)
NESTED_ALIASES = "a0: &a0 [x]\n" + "".join(f"a{n}: &a{n} [*a{n - 1}]\n" for n in range(1, 80))

MALFORMED = [
    ("a: b\n---\nc: d\n", "2:1: F002 a second document begins here — "),
    ("a:\n\tb: c\n", "2:1: F002 a tab in the indentation — indent with spaces"),
    ("a: |\n\tb\n", "2:1: F002 a tab in the indentation — indent with spaces"),
    ("a: b\n\tc: d\n", "2:1: F002 a tab in the indentation — indent with spaces"),
    ("a:\n- [b\n", "2:3: F002 not YAML: a list in [ ] that is not closed, or lacks a comma — "),
    ("a:\n- {b: c\nd: e\n", "2:3: F002 not YAML: a mapping in { } that is not closed, or lacks"),
    ("é: a\nb: 'c\nd: e\n", "2:4: F002 not YAML: a quote that is not closed — write the closing"),
    ('a: "b\n---\n', "1:4: F002 not YAML: a quote that is not closed — write the closing quote"),
    ("a: @b\n", "1:4: F002 not YAML: text cannot begin with @ — put the text in quotes"),
    ("a: `b`\n", "1:4: F002 not YAML: text cannot begin with ` — put the text in quotes"),
    ("a: b: c\n", "1:5: F002 not YAML: a colon and a space in a place where no key can be — "),
    (
        "a:b\nc: d\n",
        "2:2: F002 not YAML: a colon and a space in a place where no key can be — put text that "
        "has them in quotes; after the colon of each key before it, write a space",
    ),
    ("a: b\nc\nd: e\n", "2:1: F002 not YAML: a line that is neither a key with a value nor an "),
    ("a: - b\n", "1:4: F002 not YAML: a list that begins in the line of its key — begin it in "),
    ("a: b\n}\n", "2:1: F002 not YAML: something that is no key of the mapping around it — "),
    ("a: 'it's'\n", "1:8: F002 not YAML: something that is no key of the mapping around it — "),
    ("- a\nb: c\n", "2:1: F002 not YAML: something that is no entry of the list around it — "),
    ('a: "\\d"\n', "1:5: F002 not YAML: a backslash that begins no escape — write \\\\ for a "),
    (
        'a: "x\\ud83d\\uDE00"\n',
        "1:6: F002 not YAML: \\ud83d\\uDE00 is an escape of JSON alone — write \U0001f600 itself, "
        "or \\U0001f600",
    ),
    ('a: b\nc: ["\\uDE00"]\n', "2:6: F002 not YAML: \\uDE00 stands for no character — remove it"),
    ('a: "\\ud83d "\n', "1:5: F002 not YAML: \\ud83d stands for no character — remove it"),
    ('a: "\\U00110000"\n', "1:5: F002 not YAML: \\U00110000 stands for no character — remove it"),
    ("a: |x\n", "1:4: F002 not YAML: text in the line of its | or > — begin it in the next line; "),
    ("a: b\n# \x01\n", "2:3: F002 the control character 0x01 — "),
    ("a: *b\n", "1:4: F002 the alias *b has no anchor before it — write &b at the value"),
    ("a: &a [*a]\n", "1:8: F002 the alias *a stands inside its own anchor — "),
    ("a: !!python/object:os.system x\n", "1:4: F002 the tag !!python/object:os.system is not"),
    ("a: !!int '3'\n", "1:4: F002 the tag !!int is not supported — remove the tag"),
    ("a: !env [b]\n", "1:4: F002 the tag !env is not supported — remove the tag"),
    ("!!set {a}\n", "1:1: F002 the tag !!set is not supported — remove the tag"),
    ("<<: [a]\n", "1:6: F002 the merge key << is given something that is no mapping — "),
    ("a: " + "[" * 70 + "]" * 70, "1:67: F002 more than 64 levels of nesting — "),
    ("a: " + "[" * 100_000, "1:1003: F002 not YAML: while increasing flow level exceeded maximum"),
    ("\n".join(" " * n + "- " for n in range(0, 200, 2)), "65:129: F002 more than 64 levels"),
    (NESTED_ALIASES, "64:6: F002 more than 64 levels of nesting — "),
    (LAUGHS, "7:5: F002 more than 2,000,000 values, with aliases expanded — "),
]


@pytest.mark.parametrize(("text", "expected"), MALFORMED)
def test_what_is_no_document_of_ours(text: str, expected: str, tmp_path: Path) -> None:
    (line,) = lines(load(tmp_path, campaign=text))
    assert line.startswith(expected)


@pytest.mark.parametrize(
    "text",
    [
        CAMPAIGN.replace("\n", "\r\n"),
        CAMPAIGN.replace("\n", "\r"),
        "\ufeff" + CAMPAIGN,
        "%YAML 1.1\n---\n" + CAMPAIGN + "...\n",
        "---\n# a comment\n" + CAMPAIGN + "# the end",
        "{pipeline: ocr, volumes: [A0001]}",
        "pipeline: !!str ocr\nvolumes: !!seq [! A0001]\n",
        '"pipeline": "ocr"\n\'volumes\': ["A0001"]',
    ],
)
def test_the_same_campaign_in_other_spellings(text: str, tmp_path: Path) -> None:
    result = load(tmp_path, campaign=text)
    assert lines(result) == []
    campaign = result.campaigns["spring"]
    assert (campaign.pipeline, [volume.id for volume in campaign.volumes]) == ("ocr", ["A0001"])


def test_urls_need_no_quotes_in_a_flow_list(tmp_path: Path) -> None:
    text = "pipeline: ocr\nvolumes:\n  - {id: a, images: [https://b/1?c=d, https://b:80/2]}\n"
    (volume,) = load(tmp_path, campaign=text).campaigns["spring"].volumes
    assert volume.images == ("https://b/1?c=d", "https://b:80/2")


def test_anchors_aliases_and_merge_keys(tmp_path: Path) -> None:
    settings = (
        "namespace: team\nqueue: q\nsizes:\n"
        "  small: &small {cpu: 1, memory: 4Gi, gpu: 0}\n"
        "  large: {cpu: 8, <<: *small}\n"
        "  other: {<<: [{gpu: 2}, *small], memory: 9Gi}\n"
    )
    result = load(tmp_path, settings=settings)
    assert lines(result) == []
    assert result.settings is not None
    assert [
        (size.name, size.cpu, size.memory, size.gpu) for size in result.settings.sizes.values()
    ] == [("small", "1", "4Gi", 0), ("large", "8", "4Gi", 0), ("other", "1", "9Gi", 2)]


def test_a_merged_mistake_is_shown_where_it_is_written(tmp_path: Path) -> None:
    text = (
        "pipeline: ocr\nvolumes:\n"
        "  - {id: a, source: b, env: &env {A: 1}}\n"
        "  - {id: c, source: d, env: {<<: *env}}\n"
    )
    assert lines(load(tmp_path, campaign=text)) == [
        '3:38: F007 volumes, entry 1, env, A: YAML reads 1 as the number 1 — put it in quotes: "1"'
    ]


def test_a_quoted_merge_key_is_a_key(tmp_path: Path) -> None:
    (line,) = lines(load(tmp_path, campaign=CAMPAIGN + '"<<": {window: 2}\n'))
    assert line.startswith("3:1: F004 unknown key <<")


def test_duplicates_are_found_in_what_no_schema_looks_at(tmp_path: Path) -> None:
    text = "image: a\nsteps:\n  - {b: 1,\n     b: 2}\n  - c: 1\n    'c': 2\n"
    assert lines(load(tmp_path, pipeline=text)) == [
        "4:6: F003 the key b is in lines 3 and 4 — keep one of them",
        "6:5: F003 the key c is in lines 5 and 6 — keep one of them",
    ]


STEPS = """\
- {rate: 1e-4, small: 1.0e-4, size: 1.0, y: [0012, 12], on: yes, 1: a, 0o7: n, ~: null}
- {day: 2024-01-31, 2024-02-01: =, long: 1:20, text: "yes", 0b_: 0x10, most: 1_000}
- {<<: {a: no}}
"""


def test_steps_are_read_as_pyyaml_reads_them(tmp_path: Path) -> None:
    result = load(tmp_path, pipeline=f"image: a\nsteps:\n{STEPS}")
    assert lines(result) == []
    as_text = STEPS.replace("2024-01-31", '"2024-01-31"').replace(
        "2024-02-01: =", '"2024-02-01": "="'
    )
    assert result.pipelines["ocr"].steps == yaml.safe_load(as_text.replace("0b_", '"0b_"'))


@given(st.text("0123456789abcdefxo_+-.:eEyYnNtTrueflsofNO~", min_size=1, max_size=8))
def test_any_scalar_of_steps_is_what_pyyaml_makes_of_it(text: str) -> None:
    try:
        read = yaml.safe_load(f"[{text}]")
    except (yaml.YAMLError, ValueError):
        # Not a scalar, or 0b_, which PyYAML itself takes for a number and then for none.
        return
    if isinstance(read[0], date | dict):
        return
    assert repr(opaque_values(compose(f"[{text}]"))) == repr(read)


def test_steps_have_no_number_that_json_has_not(tmp_path: Path) -> None:
    text = "image: a\nsteps:\n  - {a: .inf, -.inf: [.NaN]}\n"
    assert lines(load(tmp_path, pipeline=text)) == [
        f'3:{column}: F007 YAML reads {number} as no finite number — put it in quotes: "{number}"'
        for column, number in ((9, ".inf"), (15, "-.inf"), (23, ".NaN"))
    ]


@pytest.mark.parametrize(
    "number",
    [
        "9" * 4301,
        "-" + "9" * 4301,
        "0x" + "f" * 4000,
        "0b" + "1" * 15_000,
        "1:" + "0:" * 3000 + "0",
    ],
    ids=["decimal", "negative", "hexadecimal", "binary", "sixties"],
)
def test_steps_have_no_number_that_nothing_can_write(number: str, tmp_path: Path) -> None:
    shown = number[:59] + "…"
    expected = f'as a number of more than 4300 digits — put it in quotes: "{shown}"'
    text = f"image: a\nsteps:\n  - [{number}]\n  - ? {number}\n    : a\n"
    assert lines(load(tmp_path, pipeline=text)) == [
        f"3:6: F007 YAML reads {shown} {expected}",
        f"4:7: F007 YAML reads {shown} {expected}",
    ]
    assert lines(load(tmp_path, pipeline=f'image: a\nsteps: ["{number}"]\n')) == []


@pytest.mark.parametrize("number", ["9" * 5000, "0x" + "f" * 5000, "-" + "9" * 5000])
@pytest.mark.parametrize(
    ("kind", "before"),
    [
        ("campaign", "pipeline: ocr\nvolumes:\n  - "),
        ("campaign", "pipeline: ocr\nvolumes: [a]\nwindow: "),
        ("pipeline", "image: a\nmax_seconds: "),
        ("settings", SETTINGS + "sizes:\n  s:\n    memory: 8Gi\n    cpu: "),
        ("settings", SETTINGS + "quota:\n  memory: 8Gi\n  cpu: "),
    ],
)
def test_a_number_of_any_length_is_a_problem_with_a_position(
    kind: str, before: str, number: str, tmp_path: Path
) -> None:
    (line,) = lines(load(tmp_path, **{kind: f"{before}{number}\n"}))
    *earlier, last = before.split("\n")
    assert line.startswith(f"{len(earlier) + 1}:{len(last) + 1}: F00")


def test_what_is_read_here_is_not_read_as_steps_are(tmp_path: Path) -> None:
    text = "image: a\nenv: &e {A: 1e-4, 1: a}\nsteps: {x: *e}\nsize: yes\n"
    assert [line.partition(" — ")[0] for line in lines(load(tmp_path, pipeline=text))] == [
        "2:13: F007 env, A: YAML reads 1e-4 as the number 0.0001",
        '2:19: F005 env: the key "1" is not a valid name',
        "4:7: F007 size: YAML reads yes as true",
    ]


def test_steps_keep_their_types(tmp_path: Path) -> None:
    text = 'image: a\nsteps: {a: 1.0, b: 2, c: true, d: null, e: "0012", f: [x, {y: 1.5}]}\n'
    assert load(tmp_path, pipeline=text).pipelines["ocr"].steps == {
        "a": 1.0,
        "b": 2,
        "c": True,
        "d": None,
        "e": "0012",
        "f": ["x", {"y": 1.5}],
    }


SCALARS = st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=12)
DOCUMENTS = st.dictionaries(
    st.text(max_size=8),
    st.recursive(
        SCALARS | st.floats(allow_nan=False, allow_infinity=False, width=16),
        lambda inner: (
            st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
        ),
        max_leaves=12,
    ),
    max_size=5,
)


@given(DOCUMENTS, st.sampled_from([None, False, True]), st.booleans())
def test_both_readers_make_what_was_written(
    document: dict[str, Any], flow: bool | None, unicode: bool
) -> None:
    text = dump(document, flow=flow, unicode=unicode)
    assert plain_values(compose(text)) == document
    assert quick.read(text) in (document, None)


@given(st.text("ab:-,[]{}&*!|>'\"%@`#? \n\t0.<~", max_size=40))
def test_the_quick_reader_never_disagrees_with_the_careful_one(text: str) -> None:
    read = quick.read(text)
    if read is not None:
        assert plain_values(compose(text)) == read


@given(st.text(max_size=60) | st.text("ab:-,[]{}&*!|>'\"%@`#? \n\t0.<~", max_size=40))
def test_any_text_has_a_tree_or_a_position(text: str) -> None:
    try:
        problem = None if compose(text) else "no tree"
    except Malformed as error:
        problem = None if error.line >= 0 and "\n" not in error.message else error.message
    assert problem is None


def test_depth_up_to_the_limit_is_read_by_both(tmp_path: Path) -> None:
    text = "a: " + "[" * (MAX_DEPTH - 2) + "x" + "]" * (MAX_DEPTH - 2)
    assert quick.read(text) == plain_values(compose(text)) is not None
    deeper = text.replace("x", "[x]")
    assert quick.read(deeper) is None
    with pytest.raises(Malformed):
        compose(deeper)
