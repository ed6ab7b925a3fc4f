"""What git says about a directory, asked of real repositories."""

import subprocess
from pathlib import Path

import pytest

from converter.git import head_commit, repository_name


def git(directory: Path, *arguments: str) -> str:
    identity = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    done = subprocess.run(
        ["git", "-C", str(directory), *identity, *arguments],
        check=True,
        capture_output=True,
        text=True,
    )
    return done.stdout.strip()


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    directory = tmp_path / "clone"
    directory.mkdir()
    git(directory, "init", "--quiet")
    return directory


@pytest.mark.parametrize(
    ("remote", "name"),
    [
        ("https://github.com/team/batch.git", "github.com/team/batch"),
        ("https://github.com/team/batch", "github.com/team/batch"),
        ("https://github.com/team/batch/", "github.com/team/batch"),
        ("https://user:token@github.com/team/batch.git", "github.com/team/batch"),
        ("git@github.com:team/batch.git", "github.com/team/batch"),
        ("ssh://git@github.com/team/batch.git", "github.com/team/batch"),
        ("ssh://git@git.example.org:2222/team/batch.git", "git.example.org/team/batch"),
        ("https://GitHub.com/Team/Batch.git", "github.com/Team/Batch"),
        ("https://gitlab.example.org/a/b/c.git", "gitlab.example.org/a/b/c"),
    ],
)
def test_the_name_is_the_same_however_the_repository_was_cloned(
    clone: Path, remote: str, name: str
) -> None:
    git(clone, "remote", "add", "origin", remote)
    assert repository_name(clone) == name


def test_two_directories_of_one_repository_have_names_of_their_own(clone: Path) -> None:
    git(clone, "remote", "add", "origin", "https://github.com/team/batch.git")
    (clone / "eu" / "prod").mkdir(parents=True)
    assert repository_name(clone / "eu" / "prod") == "github.com/team/batch//eu/prod"


def test_without_a_remote_the_name_is_the_directorys(clone: Path, tmp_path: Path) -> None:
    assert repository_name(clone) == "clone"
    assert repository_name(tmp_path) == tmp_path.name


def test_the_commit_that_is_checked_out(clone: Path, tmp_path: Path) -> None:
    assert head_commit(clone) == ""
    assert head_commit(tmp_path) == ""
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "first")
    assert head_commit(clone) == git(clone, "rev-parse", "HEAD")
    assert len(head_commit(clone)) == 40


def test_without_git_everything_is_empty(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "no-programs"))
    assert head_commit(clone) == ""
    assert repository_name(clone) == "clone"
