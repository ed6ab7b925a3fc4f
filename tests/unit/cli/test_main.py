"""The command group: what it lists, what it costs to start, and how it fails."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from unit.cli.commands import command_line, environment, run, write_repository

from converter.cli.main import COMMANDS

SLOW = ("kubernetes", "rich", "jinja2")


def python(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", program, *arguments], capture_output=True, text=True, check=False
    )


RUN = """
import sys
from converter.cli.main import main
try:
    main()
finally:
    print("imported:", *(name for name in %r if name in sys.modules), file=sys.stderr)
"""


@pytest.mark.parametrize(
    "arguments",
    [("--help",), ("--version",), ("validate", "--help"), ("rule", "--help")],
    ids=" ".join,
)
def test_starts_without_what_only_a_cluster_needs(arguments: tuple[str, ...]) -> None:
    done = python(RUN % (SLOW,), *arguments)
    assert done.returncode == 0
    assert done.stdout
    assert done.stderr == "imported:\n"


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_an_example(command: str) -> None:
    done = python(RUN % (SLOW,), command, "--help")
    assert done.returncode == 0
    assert f"campaigns {command}" in done.stdout
    assert "Example" in done.stdout


def test_an_unknown_command_is_wrong_usage() -> None:
    done = python(RUN % (SLOW,), "aply")
    assert done.returncode == 2
    assert "No such command 'aply'" in done.stderr
    assert "Traceback" not in done.stderr


PRINTING = [
    ("--help",),
    ("validate", "{repo}"),
    ("render", "{repo}"),
    ("render", "{small}"),
    ("rule",),
    ("rule", "C010"),
]


def in_repository(arguments: tuple[str, ...], directory: Path) -> list[str]:
    """With more output than is buffered, or, without campaigns, with less."""
    repo = write_repository(directory / "repo")
    small = write_repository(directory / "small")
    (small / "campaigns/letters.yaml").unlink()
    return command_line(*(argument.format(repo=repo, small=small) for argument in arguments))


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_full_disk_is_one_line(arguments: tuple[str, ...], tmp_path: Path) -> None:
    command = in_repository(arguments, tmp_path)
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            command, env=environment(), stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 1
    assert done.stderr == "error: cannot write: No space left on device\n"


@pytest.mark.parametrize("arguments", PRINTING, ids=" ".join)
def test_a_reader_that_has_gone_is_no_reason_to_say_anything(
    arguments: tuple[str, ...], tmp_path: Path
) -> None:
    """As in ``campaigns rule | head -1``."""
    command = in_repository(arguments, tmp_path)
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command, env=environment(), stdout=writer, stderr=subprocess.PIPE, text=True, check=False
    )
    os.close(writer)
    assert done.stderr == ""


def test_what_the_encoding_lacks_is_escaped(tmp_path: Path) -> None:
    repo = write_repository(tmp_path, {"campaigns/a.yaml": "pipeline: [\n"})
    done = run("validate", repo, PYTHONIOENCODING="latin-1")
    assert done.returncode == 1
    assert " \\u2014 " in done.stdout
    done = run("render", repo, PYTHONIOENCODING="latin-1")
    assert done.returncode == 1
    assert " \\u2014 " in done.stderr


@pytest.mark.parametrize("command", ["render", "apply", "diff"])
def test_an_invalid_repository_is_counted_as_by_validate(tmp_path: Path, command: str) -> None:
    """And nothing is done with it: `apply` does not even look for a cluster."""
    mistake = "pipeline: orc\nvolumes: [{}]\n"
    files = {f"campaigns/{name}.yaml": mistake.format(name) for name in ("a", "b")}
    repo = write_repository(tmp_path / "repo")
    write_repository(repo, files)
    checked, refused = run("validate", repo), run(command, repo)
    *problems, counted = checked.stdout.splitlines()
    assert len(problems) == 2
    assert (refused.returncode, refused.stdout) == (1, "")
    assert refused.stderr.splitlines() == [*problems, f"{counted} Nothing was done."]
