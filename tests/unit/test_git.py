"""What git says about a directory, asked of real repositories."""

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

import converter.git
from converter.errors import CampaignsError
from converter.git import (
    Order,
    blobs,
    changed_files,
    commit_named,
    common_commit,
    files_in,
    has_whole_history,
    head_commit,
    is_in_clone,
    order_to,
    repository_name,
)


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
    with pytest.raises(CampaignsError, match=f"^git cannot read .*clone: {why}$"):
        commit_named(clone, "HEAD")
    # `git diff` takes a directory that it may not read for one outside of git.
    with pytest.raises(CampaignsError, match=r"^git cannot read .*clone: \w"):
        changed_files(clone, "HEAD", ["x"])


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


def test_a_commit_by_whatever_names_it(tmp_path: Path) -> None:
    git(tmp_path, "init", "--quiet", "--initial-branch=main")
    first, second = (committed(tmp_path, text) for text in "ab")
    git(tmp_path, "tag", "--annotate", "--message=x", "v1", first)
    for name in (first, first[:12], "v1", "HEAD~1", "main^"):
        assert commit_named(tmp_path, name) == first
    assert commit_named(tmp_path, "HEAD") == second


@pytest.mark.parametrize(
    "name",
    ["", "nowhere", "f" * 40, "HEAD:file", "HEAD~1..HEAD", "^HEAD", "-x", "--all", "--git-dir=."],
)
def test_what_names_no_commit(tmp_path: Path, name: str) -> None:
    git(tmp_path, "init", "--quiet")
    for text in "ab":
        committed(tmp_path, text)
    assert commit_named(tmp_path, name) == ""


def test_no_option_reaches_git(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    assert commit_named(tmp_path, "--output=x") == commit_named(tmp_path, "-x") == ""
    with pytest.raises(CampaignsError, match="cannot run git"):
        commit_named(tmp_path, "x")


def test_the_commit_shared_with_the_default_branch(tmp_path: Path) -> None:
    repo, clone = tmp_path / "repo", tmp_path / "clone"
    git(tmp_path, "init", "--quiet", "--initial-branch=trunk", str(repo))
    assert common_commit(repo) == ""
    shared = committed(repo, "a")
    assert common_commit(repo) == ""
    git(tmp_path, "clone", "--quiet", str(repo), str(clone))
    committed(clone, "b")
    committed(repo, "c")
    git(clone, "fetch", "--quiet")
    assert common_commit(clone) == shared
    # As in a clone that was made by hand.
    git(clone, "symbolic-ref", "--delete", "refs/remotes/origin/HEAD")
    git(clone, "update-ref", "refs/remotes/origin/main", "refs/remotes/origin/trunk")
    git(clone, "update-ref", "-d", "refs/remotes/origin/trunk")
    assert common_commit(clone) == shared
    git(clone, "update-ref", "-d", "refs/remotes/origin/main")
    assert common_commit(clone) == ""
    with pytest.raises(CampaignsError, match="not a git repository"):
        common_commit(tmp_path)


ODD_NAMES = ["a b", "a\nb", "\u00e5\u00e4\u00f6", 'quo"te', "tab\tbed", "-x", ":(top)x"]


def test_files_that_changed_in_a_directory_of_the_clone(clone: Path) -> None:
    eu = clone / "eu"
    (eu / "campaigns").mkdir(parents=True)
    for name in ("kept", "edited", "gone", "untracked", *ODD_NAMES):
        (eu / "campaigns" / name).write_text(f"old {name}")
    (eu / "other").write_text("old")
    (clone / "campaigns").mkdir()
    (clone / "campaigns/top").write_text("old")
    (eu / "campaigns/link").symlink_to("kept")
    git(clone, "add", "--all")
    git(clone, "commit", "--quiet", "--message", "first")
    for path in ("eu/campaigns/edited", "eu/other", "campaigns/top"):
        (clone / path).write_text("new")
    for name in ODD_NAMES:
        (eu / "campaigns" / name).write_text("new")
    (eu / "campaigns/gone").unlink()
    (eu / "campaigns/link").unlink()
    (eu / "campaigns/new").write_text("new")
    (eu / "campaigns/added").write_text("new")
    git(clone, "add", "eu/campaigns/added", "eu/campaigns/edited")
    git(clone, "rm", "--quiet", "--cached", "eu/campaigns/untracked")
    changed = changed_files(eu, "HEAD", ["campaigns", "missing"])
    # git takes it for deleted; the file that is there may be another one.
    names = ["edited", "gone", "untracked", *ODD_NAMES]
    assert changed.keys() == {f"campaigns/{name}" for name in ("added", "link", *names)}
    assert changed["campaigns/added"] == changed["campaigns/link"] == ""
    contents = blobs(eu, [changed[f"campaigns/{name}"] for name in names])
    assert [contents[changed[f"campaigns/{name}"]] for name in names] == [
        f"old {name}".encode() for name in names
    ]
    there = ("kept", "edited", "gone", "untracked", "link", *ODD_NAMES)
    assert files_in(eu, "HEAD", "campaigns") == {f"campaigns/{name}" for name in there}
    assert files_in(eu, "HEAD", "missing") == frozenset()


def test_blobs_of_any_bytes(clone: Path) -> None:
    contents = [b"", b"\n", b"\n\nblob 3\n", b"\0\xff\r\n", b"x" * 100_000]
    ids = []
    for number, data in enumerate(contents):
        (clone / str(number)).write_bytes(data)
        ids.append(git(clone, "hash-object", "-w", "--no-filters", str(number)))
    git(clone, "commit", "--quiet", "--allow-empty", "--message", "first")
    tree = git(clone, "rev-parse", "HEAD^{tree}")
    found = blobs(clone, [*ids, "f" * 40, tree, *ids[:1]])
    assert found == dict(zip(ids, contents, strict=True))
    assert blobs(clone, []) == {}


def test_a_conflict_has_the_files_of_the_commit(clone: Path) -> None:
    first = committed(clone, "a\n")
    git(clone, "checkout", "--quiet", "-b", "side")
    committed(clone, "b\n")
    git(clone, "checkout", "--quiet", "-b", "other", first)
    committed(clone, "c\n")
    with pytest.raises(subprocess.CalledProcessError):
        git(clone, "merge", "--quiet", "side")
    changed = changed_files(clone, first, ["file"])
    assert blobs(clone, changed.values()) == {changed["file"]: b"a\n"}


def test_what_git_sets_for_its_hooks_is_about_another_directory(
    clone: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = committed(clone, "a")
    (clone / "file").write_text("b")
    other = tmp_path / "other"
    git(tmp_path, "init", "--quiet", str(other))
    monkeypatch.setenv("GIT_DIR", str(other / ".git"))
    monkeypatch.setenv("GIT_WORK_TREE", str(other))
    monkeypatch.setenv("GIT_INDEX_FILE", "none")
    monkeypatch.setenv("GIT_PREFIX", "sub/")
    assert commit_named(clone, "HEAD") == first
    assert changed_files(clone, "HEAD", ["file"]).keys() == {"file"}


def test_a_file_that_was_only_touched_is_as_it_was_also_while_git_has_the_index(
    clone: Path,
) -> None:
    committed(clone, "a")
    os.utime(clone / "file", (1, 1))
    (clone / ".git/index.lock").touch()
    assert changed_files(clone, "HEAD", ["file"]) == {}


def test_whether_a_directory_is_in_a_clone(clone: Path, tmp_path: Path) -> None:
    (clone / "eu/prod").mkdir(parents=True)
    committed(clone, "a")
    git(clone, "worktree", "add", "--quiet", str(tmp_path / "tree"))
    (tmp_path / "link").symlink_to(clone / "eu")
    for place in (clone, clone / "eu/prod", tmp_path / "tree", tmp_path / "link"):
        assert is_in_clone(place)
    assert not is_in_clone(tmp_path)
