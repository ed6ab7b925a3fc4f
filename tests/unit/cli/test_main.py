"""The command group: what it lists, what it costs to start, and how it fails."""

from __future__ import annotations

import subprocess
import sys

import pytest

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
