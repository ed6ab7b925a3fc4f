"""What git says about a directory, asked of real repositories."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import converter.git
from converter.errors import CampaignsError
from converter.git import Order, has_whole_history, head_commit, order_to, repository_name


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


def test_the_name_is_that_of_the_remote(clone: Path) -> None:
    git(clone, "remote", "add", "origin", "https://user:token@github.com/team/batch.git")
    assert repository_name(clone) == "github.com/team/batch"


def test_a_directory_of_a_remote_without_a_name_has_none_either(clone: Path) -> None:
    git(clone, "remote", "add", "origin", "../batch")
    (clone / "eu").mkdir()
    assert repository_name(clone / "eu") == ""


def test_two_directories_of_one_repository_have_names_of_their_own(clone: Path) -> None:
    git(clone, "remote", "add", "origin", "https://github.com/team/batch.git")
    (clone / "eu" / "prod").mkdir(parents=True)
    assert repository_name(clone / "eu" / "prod") == "github.com/team/batch//eu/prod"


def test_without_a_remote_there_is_no_name(clone: Path, tmp_path: Path) -> None:
    assert repository_name(clone) == ""
    assert repository_name(tmp_path) == ""


def test_the_commit_that_is_checked_out(clone: Path, tmp_path: Path) -> None:
    assert head_commit(clone) == ""
    assert head_commit(tmp_path) == ""
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "first")
    assert head_commit(clone) == git(clone, "rev-parse", "HEAD")
    assert len(head_commit(clone)) == 40


def of_somebody_else(clone: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    del clone
    # git's own switch for its tests of safe.directory.
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    return r"fatal: detected dubious ownership in repository at '.*'"


def without_the_program(clone: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("PATH", str(clone / "no-programs"))
    return "cannot run git: No such file or directory"


def broken(clone: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    del monkeypatch
    (clone / ".git/config").write_text("[core\n")
    return r"fatal: bad config line 1 in file \S+"


def with_its_repository_elsewhere(clone: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """As a worktree is whose repository was not mounted into the container."""
    del monkeypatch
    (clone / ".git").rename(clone / "elsewhere")
    (clone / ".git").write_text("gitdir: /not-mounted/.git/worktrees/clone\n")
    return r"fatal: not a git repository: /not-mounted/\S+"


def slow(clone: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    (clone / "git").write_text("#!/bin/sh\nexec sleep 60\n")
    (clone / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{clone}:{os.environ['PATH']}")
    monkeypatch.setattr(converter.git, "TIMEOUT_SECONDS", 0.1)
    return r"no answer in 0\.1 s"


@pytest.mark.parametrize(
    "unreadable",
    [of_somebody_else, without_the_program, broken, with_its_repository_elsewhere, slow],
)
def test_a_repository_that_git_cannot_read_is_not_one_without_a_name(
    clone: Path,
    monkeypatch: pytest.MonkeyPatch,
    unreadable: Callable[[Path, pytest.MonkeyPatch], str],
) -> None:
    git(clone, "remote", "add", "origin", "https://github.com/team/batch.git")
    why = unreadable(clone, monkeypatch)
    advice = "; set `repository` in converter.yaml"
    with pytest.raises(CampaignsError, match=f"^git cannot read .*clone: {why}{advice}$"):
        repository_name(clone)
    assert head_commit(clone) == ""


def test_how_two_commits_stand_to_each_other(tmp_path: Path) -> None:
    repo, clone = tmp_path / "repo", tmp_path / "clone"
    git(tmp_path, "init", "--quiet", str(repo))
    first, second = (committed(repo, text) for text in "ab")
    assert order_to(repo, first) is Order.NEWER
    assert order_to(repo, second) is Order.SAME
    git(repo, "checkout", "--quiet", first)
    assert order_to(repo, second) is Order.OLDER
    committed(repo, "c")
    assert order_to(repo, second) is Order.DIVERGED
    assert order_to(repo, "f" * 40) is Order.UNKNOWN
    assert order_to(repo, "--upload-pack=x") is Order.UNKNOWN
    assert order_to(tmp_path, first) is Order.UNKNOWN
    assert has_whole_history(repo)
    git(tmp_path, "clone", "--quiet", "--depth=1", repo.as_uri(), str(clone))
    assert order_to(clone, first) is Order.UNKNOWN
    assert not has_whole_history(clone)
    assert not has_whole_history(tmp_path)


def committed(repo: Path, text: str) -> str:
    """A new commit's id."""
    (repo / "file").write_text(text)
    git(repo, "add", "file")
    git(repo, "commit", "--quiet", "--message", text)
    return head_commit(repo)
