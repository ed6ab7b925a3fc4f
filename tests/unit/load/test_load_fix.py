"""What --fix does to the bytes of a file, and what it leaves."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from unit.load.repositories import CAMPAIGN, SETTINGS, write

from converter.load import load_repo
from converter.load.fix import Fix, fixes, mended
from converter.load.nodes import Node, compose
from converter.load.scalars import plain_scalar
from converter.load.schema import FileKind

CONVERTER, PIPELINE, CAMPAIGNS = FileKind.CONVERTER, FileKind.PIPELINE, FileKind.CAMPAIGN
START = "namespace: team\nqueue: q\n"


@pytest.mark.parametrize(
    ("kind", "before", "after", "count"),
    [
        (CAMPAIGNS, "pipeline: p\nvolumes: [0012]\n", 'pipeline: p\nvolumes: ["0012"]\n', 1),
        (
            CAMPAIGNS,
            "\ufeffpipeline: 7\r\nvolumes:   # all\r\n  - yes\t# one\r\n  - 1.10",
            '\ufeffpipeline: "7"\r\nvolumes:   # all\r\n  - "yes"\t# one\r\n  - "1.10"',
            3,
        ),
        (
            CAMPAIGNS,
            "pipeline: p\nvolumes: [ {source: 1:20 , id: 1e5}, 2024-01-31,off]\n",
            'pipeline: p\nvolumes: [ {source: "1:20" , id: "1e5"}, "2024-01-31","off"]\n',
            4,
        ),
        (
            CAMPAIGNS,
            "# é\x85pipeline: p\nvolumes:\n- {source: é😀, id: 1} \n- &a  007\n"
            "- {id: b, source: *a}",
            '# é\x85pipeline: p\nvolumes:\n- {source: é😀, id: "1"} \n- &a  "007"\n'
            "- {id: b, source: *a}",
            2,
        ),
        (
            CAMPAIGNS,
            "pipeline: p\nvolumes:\n- id: a\n  source: 2024-01-31 10\"\\ it's # x\n",
            "pipeline: p\nvolumes:\n- id: a\n  source: '2024-01-31 10\"\\ it''s' # x\n",
            1,
        ),
        (
            CAMPAIGNS,
            "pipeline: p\nvolumes:\n- id: a\n  source: s\n  env: {A: 1, ? B : no, C: ! 2}\n",
            'pipeline: p\nvolumes:\n- id: a\n  source: s\n  env: {A: "1", ? B : "no", C: ! 2}\n',
            2,
        ),
        (
            CONVERTER,
            START + "sizes:\n  1: &s {cpu: 1, memory: 8}\n  on : *s\ndefault_size: 1\n",
            START + 'sizes:\n  "1": &s {cpu: 1, memory: 8}\n  "on" : *s\ndefault_size: "1"\n',
            3,
        ),
        (
            CONVERTER,
            START + "env:\n  A: yes\nnode_selector: {gpu: true}\ncommand: [run, 8]\n",
            START + 'env:\n  A: "yes"\nnode_selector: {gpu: "true"}\ncommand: [run, "8"]\n',
            3,
        ),
        (
            PIPELINE,
            "image: i:1\nenv: &e {A: 1}\nwarmup: {args: [1]}\nsteps: {yes: 0012, a: 1}\n",
            'image: i:1\nenv: &e {A: "1"}\nwarmup: {args: ["1"]}\nsteps: {yes: 0012, a: 1}\n',
            2,
        ),
        # What is wrong besides stays, and is reported as before.
        (
            CAMPAIGNS,
            "pipeline: p\nvolume: x\nwindow: 0x10\nvolumes: [1, 1:20, 2]\n",
            'pipeline: p\nvolume: x\nwindow: 0x10\nvolumes: ["1", 1:20, "2"]\n',
            2,
        ),
    ],
)
def test_bytes_before_and_after(kind: FileKind, before: str, after: str, count: int) -> None:
    assert mended(kind, before) == (after, count)


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        (CAMPAIGNS, CAMPAIGN),
        (CAMPAIGNS, "pipeline: p\nvolumes: [\n"),
        # No id in quotes either.
        (CAMPAIGNS, "pipeline: p\nvolumes: [1:20, .5, +1, ~]\n"),
        # It may well mean nothing.
        (CAMPAIGNS, "pipeline: p\nvolumes: [null]\n"),
        (CONVERTER, START + "runtime_class: null\nenv: {A: ~}\n"),
        # Numbers are wanted, or would do.
        (CAMPAIGNS, "pipeline: p\nvolumes: [a]\nwindow: 010\n"),
        (CONVERTER, START + "sizes:\n  a: {cpu: 012, memory: 1e9, gpu: yes}\n"),
        (CONVERTER, START + "sizes:\n  a: {cpu: yes, memory: 2024-01-31}\n"),
        # For another program to read.
        (PIPELINE, "image: i:1\nsteps: [.inf, 1.0, {yes: no, .nan: 1}]\n"),
        (PIPELINE, "image: i:1\nsteps: {a: &a yes}\nenv: {A: *a}\n"),
        (PIPELINE, "image: i:1\nsteps: {a: &a {A: yes}}\nenv: *a\n"),
        # An alias leads to it from where a number is wanted.
        (CAMPAIGNS, "pipeline: &n 7\nwindow: *n\nvolumes: [a]\n"),
        (CONVERTER, START + "sizes:\n  a: {cpu: &c 012, memory: 1}\nenv: {A: *c}\n"),
        # Folded from two lines.
        (CAMPAIGNS, "pipeline: p\nvolumes:\n- id: a\n  source: 2024-01-31\n    10:00\n"),
        # Twice, in quotes and without.
        (CONVERTER, START + 'env: {1: a, "1": b}\n'),
        (CONVERTER, START + 'priority_classes: [7, "7"]\n'),
        (CONVERTER, START + "priority_classes: [x]\nenv: {: a}\n"),
    ],
)
def test_what_is_left_alone(kind: FileKind, text: str) -> None:
    assert mended(kind, text) == (text, 0)


def test_one_that_cannot_be_mended_does_not_keep_the_others() -> None:
    before = "pipeline: &n 7\nwindow: *n\nvolumes: [08, 1:20]\n"
    assert mended(CAMPAIGNS, before) == (before.replace("08", '"08"'), 1)


MISREAD = st.one_of(
    st.integers(-(10**22), 10**22).map(str),
    st.floats().map(repr),
    st.floats(0, 1e300).map(lambda number: f"{number:e}"),
    st.dates().map(str),
    st.datetimes().map(str),
    st.datetimes().map(lambda moment: moment.isoformat() + " \"quoted\" and 'so' \\ on"),
    st.sampled_from(["y", "Y", "yes", "No", "ON", "off", "true", "FALSE", "=", "<<"]),
    st.sampled_from([".inf", "-.INF", ".nan", "1_000", "0x1F", "0b1", "0o7"]),
    st.from_regex(r"0[0-9]{1,20}", fullmatch=True),
    st.from_regex(r"[-+]?[0-9]{1,3}(:[0-5][0-9]){1,2}(\.[0-9]{1,2})?", fullmatch=True),
    st.text("0123456789_.:eE+-xob", min_size=1, max_size=8),
).filter(lambda text: plain_scalar(text) is not None and not isinstance(plain_scalar(text), str))

# With the scalar itself, and the text that stays.
FORMS = [
    "env: {{A: {0}}}",
    "env: {{A: {0}, B: &b {0}, C: *b}}",
    "env:\r\n  A:   {0}   # {1}\r\n  B: |\r\n    {1}\r\n",
]


def in_quotes(text: str) -> str:
    return "'{}'".format(text.replace("'", "''")) if '"' in text else f'"{text}"'


@given(MISREAD, st.sampled_from(FORMS))
def test_the_characters_that_are_written_are_those_that_are_read(text: str, form: str) -> None:
    before = START + form.format(text, text)
    after, count = mended(CONVERTER, before)
    assert (after, count) == (START + form.format(in_quotes(text), text), form.count("{0}"))
    assert mended(CONVERTER, after) == (after, 0)
    variables = compose(after).entries["env"][1].entries
    assert (variables["A"][1].text, variables["A"][1].value) == (text, text)


@given(st.lists(MISREAD | st.text("ab1", min_size=1, max_size=3), max_size=6, unique=True))
def test_a_key_is_read_as_it_is_written_too(names: list[str]) -> None:
    lines = (f"  {name}: /x/{n}\n" for n, name in enumerate(names) if name != "<<")
    before = START + "secrets:\n" + "".join(lines)
    after, _ = mended(CONVERTER, before)
    assert [key.text for key, _ in pairs(after)] == [key.text for key, _ in pairs(before)]


def pairs(text: str) -> list[tuple[Node, Node]]:
    return compose(text).entries["secrets"][1].pairs


def test_a_mended_repository_reads_the_same_characters(tmp_path: Path) -> None:
    campaign = "pipeline: 0012\nvolumes: [0012, 1.10, no, 2024-01-31, {id: 1e5, source: 1:20}]\n"
    write(tmp_path, {"converter.yaml": SETTINGS, "campaigns/spring.yaml": campaign})
    (fix,) = fixes(tmp_path)
    write(tmp_path, {fix.path: fix.after})
    result = load_repo(tmp_path)
    assert result.problems == ()
    spring = result.campaigns["spring"]
    assert [spring.pipeline, *(volume.id for volume in spring.volumes)] == [
        *("0012", "0012", "1.10", "no", "2024-01-31", "1e5")
    ]
    assert spring.volumes[-1].source == "1:20"


def planned(root: Path, files: dict[str, str | bytes]) -> list[tuple[str, str, int]]:
    write(root, files)
    return [(fix.path, fix.new_path, fix.problems) for fix in fixes(root)]


@pytest.mark.parametrize(
    ("files", "expected"),
    [
        ({"campaigns/a.yml": CAMPAIGN}, [("campaigns/a.yml", "campaigns/a.yaml", 1)]),
        ({"campaigns/a.YAML": CAMPAIGN}, [("campaigns/a.YAML", "campaigns/a.yaml", 1)]),
        (
            {"pipelines/a.yml": "image: 7\n"},
            [("pipelines/a.yml", "pipelines/a.yaml", 2)],
        ),
        ({"campaigns/a.yml": "pipeline: [\n"}, [("campaigns/a.yml", "campaigns/a.yaml", 1)]),
        ({"campaigns/a.yml": CAMPAIGN, "campaigns/a.yaml": CAMPAIGN}, []),
        ({"campaigns/a.yml": CAMPAIGN, "campaigns/a.YML": CAMPAIGN}, []),
        ({"campaigns/a.yml": b"\xff"}, []),
        ({"campaigns/a.yml/b.yaml": CAMPAIGN}, []),
        ({"campaign/a.yaml": CAMPAIGN}, []),
        ({"campaigns/.a.yml": CAMPAIGN}, []),
        ({"converter.yml": SETTINGS}, []),
    ],
)
def test_what_is_renamed(
    tmp_path: Path, files: dict[str, str | bytes], expected: list[tuple[str, str, int]]
) -> None:
    assert planned(tmp_path, {"converter.yaml": SETTINGS, **files}) == expected


def test_settings_are_renamed_where_there_are_no_others(tmp_path: Path) -> None:
    assert planned(tmp_path, {"converter.yml": "namespace: 1\nqueue: q\n"}) == [
        ("converter.yml", "converter.yaml", 2)
    ]


def test_what_a_link_of_the_repository_leads_to_keeps_its_name(tmp_path: Path) -> None:
    write(
        tmp_path, {"converter.yaml": SETTINGS, "campaigns/a.yml": "pipeline: ocr\nvolumes: [a]\n"}
    )
    assert [each.new_path for each in fixes(tmp_path)] == ["campaigns/a.yaml"]
    (tmp_path / "campaigns/b.yaml").symlink_to("a.yml")
    assert list(fixes(tmp_path)) == []


def test_no_symbolic_link_is_renamed_and_none_is_followed_out_of_the_repository(
    tmp_path: Path,
) -> None:
    misread = "pipeline: ocr\nvolumes: [0012]\n"
    root = tmp_path / "repository"
    write(root, {"converter.yaml": SETTINGS, "shared.txt": misread, "campaigns/.keep": ""})
    write(tmp_path, {"outside.yaml": misread})
    (root / "campaigns/a.yml").symlink_to("../shared.txt")
    (root / "campaigns/b.yaml").symlink_to("../../outside.yaml")
    assert list(fixes(root)) == []
    (root / "campaigns/c.yaml").symlink_to("../shared.txt")
    (root / "campaigns/d.yaml").symlink_to("../shared.txt")
    text = misread.replace("0012", '"0012"')
    assert list(fixes(root)) == [Fix("campaigns/c.yaml", "campaigns/c.yaml", misread, text, 1)]
