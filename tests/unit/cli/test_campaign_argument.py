"""A campaign's name on the command line, misspelt or in the place of the repository."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from unit.cli.commands import run, write_repository


@pytest.fixture
def repo(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    directory = write_repository(tmp_path / "repo")
    monkeypatch.chdir(directory)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join((str(Path(__file__).parents[3]),)))
    return directory


@pytest.mark.parametrize(
    ("arguments", "example"),
    [
        (("status", "letters"), "campaigns status . letters"),
        (("status", "lettres"), "campaigns status . letters"),
        (("status", "other"), "campaigns status . other"),
        (("retry", ".", "letters"), "campaigns retry letters ."),
    ],
)
def test_a_name_in_the_place_of_the_repository(
    arguments: tuple[str, ...], example: str, repo: Path
) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert f"'{arguments[-1]}' does not exist. If it is a campaign, write: {example}" in last


@pytest.mark.parametrize("arguments", [("validate", "letters"), ("status", "../x/y")])
def test_what_can_be_no_name_is_a_directory(arguments: tuple[str, ...], repo: Path) -> None:
    done = run(*arguments)
    assert done.returncode == 2
    assert "If it is a campaign" not in done.stderr


@pytest.mark.parametrize(
    ("name", "remedy"), [("lettres", ": did you mean letters?"), ("xyzzy", "")]
)
def test_a_misspelt_campaign(name: str, remedy: str, repo: Path) -> None:
    done = run("retry", name, ".")
    assert done.returncode == 2
    assert done.stderr.splitlines()[-1].endswith(f"there is no campaign {name} in .{remedy}")
