"""Which files are read, which are refused, and what the result says about them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from unit.load.repositories import CAMPAIGN, PIPELINE, SETTINGS, load, write

from converter.load import LoadResult, load_repo
from converter.load.files import MAX_BYTES


def found(result: LoadResult) -> list[str]:
    return [str(problem) for problem in result.problems]


def test_a_repository_is_loaded_sorted_by_name(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {
        "converter.yaml": SETTINGS,
        "pipelines/b.yaml": PIPELINE,
        "pipelines/a.b.yaml": PIPELINE,
        "campaigns/z.yaml": CAMPAIGN,
        "campaigns/Ab_.yaml": CAMPAIGN,
        "campaigns/m.yaml": CAMPAIGN,
    }
    result = load_repo(write(tmp_path, files))
    assert found(result) == []
    assert list(result.pipelines) == ["a.b", "b"]
    assert list(result.campaigns) == ["Ab_", "m", "z"]
    assert result.campaigns["m"].path == "campaigns/m.yaml"
    assert result.pipelines["b"].id == "b"
    assert set(result.positions) == set(files)
    assert result.repo is not None


def test_an_empty_repository_is_one_whose_campaigns_are_cancelled(tmp_path: Path) -> None:
    result = load(tmp_path)
    assert result.repo is not None
    assert (result.repo.campaigns, result.repo.pipelines) == ({}, {})


def test_converter_yaml_is_needed(tmp_path: Path) -> None:
    result = load_repo(write(tmp_path, {"campaigns/a.yaml": CAMPAIGN}))
    assert found(result) == [
        "converter.yaml:0:0: F008 missing — write the settings of the cluster into it"
    ]
    assert (result.settings, result.repo) == (None, None)
    assert list(result.campaigns) == ["a"]


@pytest.mark.parametrize("name", ["a.yml", "a.YAML", "a.Yml"])
def test_a_file_that_would_be_ignored_is_a_problem(name: str, tmp_path: Path) -> None:
    write(tmp_path, {"converter.yaml": SETTINGS, f"campaigns/{name}": CAMPAIGN})
    result = load_repo(tmp_path)
    assert found(result) == [
        f"campaigns/{name}:0:0: F008 only files that end in .yaml are read — "
        "rename it to campaigns/a.yaml"
    ]
    assert result.broken == {"campaigns/a.yaml"}


def test_converter_yml_is_one_problem(tmp_path: Path) -> None:
    assert found(load_repo(write(tmp_path, {"converter.yml": SETTINGS}))) == [
        "converter.yml:0:0: F008 only files that end in .yaml are read — "
        "rename it to converter.yaml"
    ]


def test_converter_yml_beside_converter_yaml_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, {"converter.yaml": SETTINGS, "converter.yml": SETTINGS})
    assert found(load_repo(tmp_path)) == [
        "converter.yml:0:0: F008 not read, since there is a converter.yaml — keep one of the two"
    ]


@pytest.mark.parametrize(
    ("name", "right"),
    [
        ("campaign", "campaigns"),
        ("Campaigns", "campaigns"),
        ("pipeline", "pipelines"),
        ("PIPELINES", "pipelines"),
    ],
)
def test_a_directory_with_nearly_the_right_name_is_a_problem(
    name: str, right: str, tmp_path: Path
) -> None:
    write(tmp_path, {"converter.yaml": SETTINGS, f"{name}/a.yaml": CAMPAIGN})
    result = load_repo(tmp_path)
    assert found(result) == [f"{name}:0:0: F008 files in it are not read — move them into {right}/"]
    assert result.broken == {right}


def test_a_directory_of_something_else_is_not_ours(tmp_path: Path) -> None:
    names = ["pipeline/run.py", "campaign/.a.yaml", "campaigns-old/a.yaml", "Pipelines/README.md"]
    write(tmp_path, {"converter.yaml": SETTINGS, **dict.fromkeys(names, "")})
    (tmp_path / "Campaigns").write_text("")
    assert found(load_repo(tmp_path)) == []


def test_a_directory_of_campaigns_is_a_problem(tmp_path: Path) -> None:
    write(tmp_path, {"converter.yaml": SETTINGS, "campaigns/2026/a.yaml": CAMPAIGN})
    assert found(load_repo(tmp_path)) == [
        "campaigns/2026:0:0: F008 a directory in campaigns/, whose files are not read — "
        "move its files into campaigns/, or elsewhere"
    ]


def test_other_files_are_not_ours(tmp_path: Path) -> None:
    names = ["campaigns/README.md", "campaigns/.a.yaml", "campaigns/.b.yml", "campaigns/c.yaml~"]
    write(tmp_path, {"converter.yaml": SETTINGS, **dict.fromkeys(names, "- ]")})
    (tmp_path / "pipelines" / ".git").mkdir(parents=True)
    result = load_repo(tmp_path)
    assert (found(result), result.campaigns) == ([], {})


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (CAMPAIGN.encode("utf-16"), "1:1: F001 not UTF-8 — save the file as UTF-8"),
        ("é: a\nbé: ".encode() + b"\xe9\n", "2:5: F001 not UTF-8 — save the file as UTF-8"),
        ("é\0".encode(), "1:2: F001 a NUL character — save the file as UTF-8 text"),
        (b"a: b\n\0", "2:1: F001 a NUL character — save the file as UTF-8 text"),
        (b"#" * (MAX_BYTES + 1), "0:0: F001 larger than 32 MiB — split it into several campaigns"),
    ],
    ids=["utf-16", "latin-1", "nul", "nul-in-line-2", "too-large"],
)
def test_a_file_that_is_no_text(content: bytes, expected: str, tmp_path: Path) -> None:
    result = load(tmp_path, campaign=content)
    assert found(result) == [f"campaigns/spring.yaml:{expected}"]
    assert result.broken == {"campaigns/spring.yaml"}
    assert "campaigns/spring.yaml" not in result.positions


def test_a_link_inside_the_repository_is_followed(tmp_path: Path) -> None:
    write(tmp_path, {"converter.yaml": SETTINGS, "elsewhere/a.yaml": CAMPAIGN})
    (tmp_path / "campaigns").mkdir()
    (tmp_path / "campaigns" / "a.yaml").symlink_to("../elsewhere/a.yaml")
    result = load_repo(tmp_path)
    assert (found(result), list(result.campaigns)) == ([], ["a"])


def test_a_repository_may_itself_be_a_link(tmp_path: Path) -> None:
    write(tmp_path / "real", {"converter.yaml": SETTINGS, "campaigns/a.yaml": CAMPAIGN})
    (tmp_path / "link").symlink_to("real")
    assert found(load_repo(tmp_path / "link")) == []


def test_links_out_of_the_repository_are_refused(tmp_path: Path) -> None:
    write(tmp_path / "elsewhere", {"a.yaml": CAMPAIGN})
    root = write(tmp_path / "repo", {"converter.yaml": SETTINGS, "pipelines/p.yaml": PIPELINE})
    (root / "pipelines" / "q.yaml").symlink_to("../../elsewhere/a.yaml")
    (root / "campaigns").symlink_to("../elsewhere")
    assert found(load_repo(root)) == [
        "campaigns/a.yaml:0:0: F001 a symbolic link that leaves the repository — copy the file",
        "pipelines/q.yaml:0:0: F001 a symbolic link that leaves the repository — copy the file",
    ]


def test_what_is_no_file_is_not_waited_for(tmp_path: Path) -> None:
    root = write(tmp_path, {"converter.yaml": SETTINGS, "campaigns/a.yaml/b": ""})
    os.mkfifo(root / "campaigns" / "b.yaml")
    (root / "campaigns" / "c.yaml").symlink_to("c.yaml")
    (root / "campaigns" / "d.yaml").symlink_to("nothing")
    (root / "pipelines").symlink_to("nothing")
    assert [line.partition(" — ")[0] for line in found(load_repo(root))] == [
        "campaigns/a.yaml:0:0: F001 a directory",
        "campaigns/b.yaml:0:0: F001 not a regular file",
        "campaigns/c.yaml:0:0: F001 cannot be read: Too many levels of symbolic links",
        "campaigns/d.yaml:0:0: F001 cannot be read: No such file or directory",
        "pipelines:0:0: F001 a symbolic link to nothing",
    ]


def test_a_file_in_place_of_a_directory(tmp_path: Path) -> None:
    write(tmp_path, {"converter.yaml": SETTINGS, "campaigns": CAMPAIGN})
    assert found(load_repo(tmp_path)) == [
        "campaigns:0:0: F001 cannot be read: Not a directory — make it a directory"
    ]


def test_a_file_name_cannot_spoil_a_message(tmp_path: Path) -> None:
    root = write(tmp_path, {"converter.yaml": SETTINGS, "campaigns/a\nb.yaml": "- a"})
    Path(os.fsdecode(os.fsencode(root) + b"/campaigns/\xff.yaml")).write_text("- a")
    assert [problem.path for problem in load_repo(root).problems] == [
        "campaigns/\\udcff.yaml",
        "campaigns/a b.yaml",
    ]


def test_loading_imports_nothing_heavy() -> None:
    code = "import sys, converter.load; print(*{name.partition('.')[0] for name in sys.modules})"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    imported = set(run.stdout.split())
    assert not imported & {"kubernetes", "rich", "jinja2", "click", "jsonschema", "urllib3"}
    known = {"converter", "yaml", "jsonschema_rs", "cython_runtime"}
    unknown = imported - sys.stdlib_module_names - known
    assert {name for name in unknown if not name.startswith("_")} == set()
