"""The schemas, and that the loader and the reference implementation of JSON Schema agree."""

import copy
import json
import string
import tempfile
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from unit.load.repositories import dump, lines, load

from converter.cli.main import campaigns
from converter.load.keywords import EXPLANATIONS
from converter.load.schema import FileKind, document

KINDS = list(FileKind)
FILE_OF = {FileKind.CONVERTER: "settings", FileKind.PIPELINE: "pipeline"}
# Keywords that cannot fail by themselves, or whose failure is reported by what is inside them.
NOT_EXPLAINED = {
    "$schema", "$ref", "$defs", "title", "description", "properties", "items", "if", "then",
    "else", "allOf", "const", "errorMessage", "patternErrorMessage", "patternProperties",
    "$comment",
}  # fmt: skip


def accepted(kind: FileKind, text: str) -> bool:
    """Whether the loader takes the text, which it says in one line a problem if not."""
    with tempfile.TemporaryDirectory() as root:
        result = load(Path(root), **{FILE_OF.get(kind, "campaign"): text})
    for problem in result.problems:
        assert problem.code.startswith("F00")
        assert "\n" not in str(problem)
        assert problem.line >= 1
    return not result.problems


def subschemas(schema: Any) -> list[dict[str, Any]]:
    if isinstance(schema, list):
        return [found for part in schema for found in subschemas(part)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(found for part in schema.values() for found in subschemas(part))]


@pytest.mark.parametrize("kind", KINDS)
def test_a_schema_is_one(kind: FileKind) -> None:
    Draft202012Validator.check_schema(document(kind))


@pytest.mark.parametrize("kind", KINDS)
def test_every_key_is_described_and_no_other_is_allowed(kind: FileKind) -> None:
    for schema in subschemas(document(kind)):
        properties = schema.get("properties")
        if isinstance(properties, dict) and "additionalProperties" in schema:
            assert schema["additionalProperties"] is False
            for name, described in properties.items():
                assert described.get("description"), name


@pytest.mark.parametrize("kind", KINDS)
def test_every_keyword_that_can_fail_is_explained(kind: FileKind) -> None:
    keywords: set[str] = set()
    for schema in subschemas(document(kind)):
        names = {name for part in ("properties", "$defs") for name in schema.get(part, ())}
        keywords |= set() if names and set(schema) <= names else set(schema)
    known = {
        name
        for schema in subschemas(document(kind))
        for part in ("properties", "patternProperties")
        for name in schema.get(part, ())
    }
    defined = set(document(kind)["$defs"])
    assert keywords - known - defined - NOT_EXPLAINED <= set(EXPLANATIONS)


@pytest.mark.parametrize("kind", KINDS)
def test_every_pattern_has_words(kind: FileKind) -> None:
    for schema in subschemas(document(kind)):
        if isinstance(schema.get("pattern"), str):
            assert schema["patternErrorMessage"]


NAMES = st.text(string.ascii_lowercase + string.digits, min_size=1, max_size=6)
IDS = st.from_regex(r"[A-Za-z0-9]([A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", fullmatch=True)
URLS = st.from_regex(r"https?://[a-z]{1,9}/[a-z0-9/?&=%._-]{0,20}", fullmatch=True)
PRINTABLE = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Zl", "Zp"]), max_size=20)
ENV = st.dictionaries(st.from_regex(r"[A-Za-z_][A-Za-z0-9_]{0,8}", fullmatch=True), PRINTABLE)
COUNTS = st.integers(1, 2**31 - 1)
AMOUNTS = (
    st.integers(1, 10**6)
    | st.sampled_from([0.5, 1.5, 2.0])
    | st.from_regex(r"[1-9][0-9]{0,3}(m|Ki|Mi|Gi|M|G)?", fullmatch=True)
)
QUOTAS = st.fixed_dictionaries(
    {"cpu": AMOUNTS, "memory": AMOUNTS},
    optional={"nvidia.com/gpu": AMOUNTS, "example.org/fpga": AMOUNTS, "pods": AMOUNTS},
)
ARGUMENTS = st.lists(PRINTABLE, min_size=1, max_size=3)


def mappings(required: dict[str, Any], optional: dict[str, Any]) -> st.SearchStrategy[Any]:
    return st.fixed_dictionaries(required, optional=optional)


SOURCES = {
    "source": PRINTABLE.filter(lambda text: text and not text.startswith("images:")),
    "manifest": URLS,
    "images": st.lists(URLS, min_size=1, max_size=3),
}
VOLUMES = IDS | st.sampled_from(sorted(SOURCES)).flatmap(
    lambda source: mappings({"id": IDS, source: SOURCES[source]}, {"env": ENV})
)
VALID = {
    FileKind.CAMPAIGN: mappings(
        {"pipeline": NAMES, "volumes": st.lists(VOLUMES, min_size=1, max_size=5)},
        {
            "priority": NAMES | st.just(""),
            "window": COUNTS,
            "min_window": COUNTS,
            "suspend": st.booleans(),
        },
    ),
    FileKind.PIPELINE: mappings(
        {"image": st.from_regex(r"[a-z]{1,9}(@sha256:[0-9a-f]{64}|:[0-9]{1,3})", fullmatch=True)},
        {
            "command": ARGUMENTS,
            "args": ARGUMENTS,
            "env": ENV,
            "size": NAMES,
            "max_seconds": COUNTS,
            "ttl_seconds_after_finished": COUNTS,
            "steps": st.lists(st.dictionaries(NAMES, PRINTABLE | COUNTS, max_size=3), max_size=3),
            "warmup": mappings({"command": ARGUMENTS}, {"args": ARGUMENTS}),
        },
    ),
    FileKind.CONVERTER: mappings(
        {"namespace": NAMES, "queue": NAMES},
        {
            "backend": st.sampled_from(["kueue", "koord-queue", "none"]),
            "window": COUNTS,
            "priority_classes": st.lists(NAMES, unique=True, max_size=3),
            "sizes": st.dictionaries(
                NAMES,
                mappings(
                    {"cpu": AMOUNTS, "memory": AMOUNTS},
                    {"gpu": st.integers(0, 8), "workdir": AMOUNTS, "flavor": NAMES},
                ),
                max_size=2,
            ),
            "flavors": st.lists(
                mappings(
                    {
                        "name": NAMES,
                        "nodeLabels": st.dictionaries(NAMES, NAMES, min_size=1, max_size=3),
                    },
                    {"quota": QUOTAS},
                ),
                max_size=2,
            ),
            "quota": QUOTAS,
            "env": ENV,
            "secrets": st.dictionaries(NAMES, NAMES.map("/{}".format), max_size=2),
            "node_selector": st.dictionaries(NAMES, NAMES, max_size=2),
            "tolerations": st.lists(
                mappings(
                    {"key": NAMES},
                    {
                        "operator": st.just("Equal"),
                        "value": NAMES,
                        "effect": st.sampled_from(["NoSchedule", "NoExecute"]),
                    },
                ),
                max_size=2,
            ),
            "source_template": st.just("https://example.org/{ref}"),
            "reactivate": st.sampled_from(["always", "never"]),
            "allow_image_tags": st.booleans(),
            "image_cache": st.none() | mappings({"bucket": NAMES}, {}),
            "results_url": URLS,
        },
    )
    | mappings(
        {
            "backend": st.just("slurm"),
            "slurm": mappings(
                {"directory": NAMES.map("/{}".format), "container": ARGUMENTS},
                {
                    "host": NAMES,
                    "partition": NAMES,
                    "account": NAMES,
                    "flavors": st.dictionaries(
                        NAMES, mappings({"constraint": NAMES}, {"partition": NAMES}), max_size=2
                    ),
                    "priorities": st.dictionaries(
                        NAMES, mappings({"nice": st.integers(0, 9)}, {"qos": NAMES}), max_size=2
                    ),
                    "max_array_size": st.integers(1, 4_000_001),
                    "command_timeout": st.integers(1, 3600),
                },
            ),
        },
        {"namespace": NAMES, "window": COUNTS, "env": ENV},
    ),
}


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_what_the_schema_allows_is_loaded(kind: FileKind, data: st.DataObject) -> None:
    values = data.draw(VALID[kind])
    assert Draft202012Validator(document(kind)).is_valid(values)
    assert accepted(kind, dump(values))


JUNK: st.SearchStrategy[Any] = st.sampled_from(
    [None, True, 0, -1, 1.5, 2**63 - 1, "", " ", "a b", "A_", "é", "0012", [], ["a"], {},
     {"a": "b"}, {"id": "a"}, {"key": "a"}, "http://a b", "images:a", "x" * 400, [1, 1], ["a", "a"]]
)  # fmt: skip


def places(values: Any) -> list[tuple[Any, Any]]:
    """Every container with every key or index in it."""
    if not isinstance(values, dict | list):
        return []
    keys = list(values) if isinstance(values, dict) else list(range(len(values)))
    return [found for key in keys for found in ((values, key), *places(values[key]))]


@st.composite
def spoilt(draw: st.DrawFn, kind: FileKind) -> Any:
    """A valid document with one thing replaced, removed or added."""
    values = copy.deepcopy(draw(VALID[kind]))
    container, key = draw(st.sampled_from(places(values)))
    action = draw(st.sampled_from(["replace", "remove", "add"]))
    if action == "replace":
        container[key] = draw(JUNK)
    elif action == "remove":
        del container[key]
    elif isinstance(container, dict):
        container[draw(st.sampled_from(["windw", "id", "source", "1a", "value", "é"]))] = draw(JUNK)
    else:
        container.append(draw(JUNK))
    return values


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_the_loader_agrees_with_the_reference(kind: FileKind, data: st.DataObject) -> None:
    values = data.draw(spoilt(kind))
    expected = Draft202012Validator(document(kind)).is_valid(values)
    assert accepted(kind, dump(values)) == expected


def test_a_name_of_digits_is_a_key_and_no_index(tmp_path: Path) -> None:
    text = "namespace: a\nqueue: b\nnode_selector: {'007': [], '0': [], '+8': []}\n"
    assert [line.partition(" — ")[0] for line in lines(load(tmp_path, settings=text))] == [
        "3:24: F005 node_selector, 007 is a list",
        "3:33: F005 node_selector, 0 is a list",
        '3:37: F005 node_selector: the key "+8" is not a valid name',
        "3:43: F005 node_selector, +8 is a list",
    ]


def test_names_that_are_one_number_are_told_apart(tmp_path: Path) -> None:
    text = "namespace: a\nqueue: b\nsizes: {'00': {cpu: 1, memory: 1, gpus: 1}, '0': {cpu: 1}}\n"
    assert [line.partition(" — ")[0] for line in lines(load(tmp_path, settings=text))] == [
        "3:35: F004 sizes, 00: unknown key gpus",
        "3:50: F006 sizes, 0: the key memory is missing",
    ]


def test_a_line_break_at_the_end_is_no_part_of_a_name(tmp_path: Path) -> None:
    # Python's ``$`` would let it pass; JSON Schema's does not.
    (line,) = lines(load(tmp_path, settings='namespace: "team\\n"\nqueue: q\n'))
    assert line.startswith('1:12: F005 namespace: "team " is not valid')


@pytest.mark.parametrize("kind", KINDS)
def test_the_command_prints_a_schema(kind: FileKind) -> None:
    result = CliRunner().invoke(campaigns, ["schema", kind.value])
    assert result.exit_code == 0
    assert json.loads(result.output) == document(kind)


def test_the_command_knows_three_schemas() -> None:
    result = CliRunner().invoke(campaigns, ["schema", "job"])
    assert result.exit_code == 2
    assert "campaign" in result.output
