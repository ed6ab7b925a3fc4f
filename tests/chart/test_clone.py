"""The script that clones the repository in the cluster, with the real git and a shell of POSIX.

A server that is reached by ssh is in test_clone_by_ssh.py.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from chart.clone_script import clone, git
from chart.git_server import PASSWORD, USER, HttpsServer, by_https

# It would come from a repository that somebody has prepared, and must never be run.
TRAP = "$(touch trap)`touch trap`;touch trap"


@dataclass
class Site:
    """A repository with two commits, and a place for its clone."""

    directory: Path
    commits: tuple[str, str]

    @property
    def origin(self) -> Path:
        return self.directory / "origin"

    @property
    def clone(self) -> Path:
        return self.directory / "clone"

    def git(self, *arguments: str, at: str = "origin") -> str:
        return git(self.directory / at, *arguments)

    def run(self, revision: str, url: str = "", **more: str) -> subprocess.CompletedProcess[str]:
        """The script, as the pod runs it, but for what git may fetch by."""
        more = {"GIT_ALLOW_PROTOCOL": "file", **more}
        return clone(self.directory, url or str(self.origin), revision, **more)

    def head(self, revision: str) -> str:
        """The commit that is checked out for a revision, by its file too."""
        done = self.run(revision)
        assert done.returncode == 0, done.stderr
        found = self.git("rev-parse", "HEAD", at="clone")
        assert (self.clone / "file").read_text() == str(self.commits.index(found))
        assert done.stdout == f"{revision} of {self.origin} is commit {found}\n"
        return found


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    origin = tmp_path / "origin"
    origin.mkdir()
    git(origin, "init", "--quiet", "--initial-branch=main")
    commits = []
    for number in ("0", "1"):
        (origin / "file").write_text(number)
        git(origin, "add", "file")
        git(origin, "commit", "--quiet", f"--message={TRAP}")
        commits.append(git(origin, "rev-parse", "HEAD"))
    yield Site(tmp_path, (commits[0], commits[1]))
    assert not (tmp_path / "trap").exists()


def refused(site: Site, revision: str, words: str) -> None:
    done = site.run(revision)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"clone: {words}"


def test_a_branch_with_its_whole_history(site: Site) -> None:
    old, new = site.commits
    assert site.head("main") == new
    assert site.git("rev-list", "HEAD", at="clone").split() == [new, old]
    assert site.git("rev-parse", "--is-shallow-repository", at="clone") == "false"
    assert site.git("config", "remote.origin.url", at="clone") == str(site.origin)


def test_a_branch_that_is_not_the_default_one(site: Site) -> None:
    site.git("branch", "feature/x", site.commits[0])
    assert site.head("feature/x") == site.commits[0]


def test_the_default_branch(site: Site) -> None:
    assert site.head("HEAD") == site.commits[1]


@pytest.mark.parametrize("kind", [(), ("--annotate", "--message=m")], ids=["light", "annotated"])
def test_a_tag(kind: tuple[str, ...], site: Site) -> None:
    site.git("tag", *kind, "v1", site.commits[0])
    assert site.head("v1") == site.commits[0]


def test_a_commit_by_its_full_id(site: Site) -> None:
    assert site.head(site.commits[0]) == site.commits[0]


def test_a_commit_on_another_branch(site: Site) -> None:
    site.git("checkout", "--quiet", "-b", "other", site.commits[0])
    assert site.head(site.commits[1]) == site.commits[1]


@pytest.mark.parametrize("kind", ["heads", "tags"])
def test_a_name_that_is_a_branch_and_a_tag_is_spelt_out(kind: str, site: Site) -> None:
    site.git("branch", "v1", site.commits[0])
    site.git("tag", "v1", site.commits[1])
    spelt = site.head(f"refs/{kind}/v1")
    assert spelt == site.commits[kind == "tags"]


def test_a_name_that_is_a_branch_and_a_tag_is_refused(site: Site) -> None:
    site.git("branch", "v1", site.commits[0])
    site.git("tag", "v1", site.commits[1])
    refused(site, "v1", "v1 is a branch and a tag; write refs/heads/v1 or refs/tags/v1")


@pytest.mark.parametrize("of", ["name", "short id", "full id", "branch"])
def test_a_revision_that_is_not_there(of: str, site: Site) -> None:
    revision = {
        "name": "gone",
        "short id": site.commits[0][:12],
        "full id": "0" * 40,
        "branch": "refs/heads/gone",
    }[of]
    refused(
        site,
        revision,
        f"{site.origin} has no branch, tag or commit {revision}; a commit is named by its full id, "
        "and has to be in the history of a branch or tag",
    )


@pytest.mark.parametrize("revision", ["--detach", TRAP, "main;touch trap", "-"])
def test_no_value_is_an_option_or_shell_text(revision: str, site: Site) -> None:
    done = site.run(revision)
    assert done.returncode == 1
    assert "has no branch, tag or commit" in done.stderr


@pytest.mark.parametrize("url", ["--upload-pack=touch trap", f"file:///{TRAP}", "ext::touch trap"])
def test_no_address_is_an_option_or_a_command(url: str, site: Site) -> None:
    done = site.run("main", url)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == f"clone: git cannot clone {url}"


def test_an_address_that_looks_like_an_option_is_an_address(site: Site) -> None:
    done = site.run("main", "--bare")
    assert done.stderr.startswith("fatal: repository '--bare' does not exist\n")


def test_only_https_and_ssh_are_fetched_by(site: Site) -> None:
    done = site.run("main", GIT_ALLOW_PROTOCOL="")
    assert done.returncode == 1
    assert "transport 'file' not allowed" in done.stderr


def test_what_the_caller_has_set_for_git_has_no_effect(site: Site) -> None:
    (site.directory / ".gitconfig").write_text("[core]\n\thooksPath = /nowhere\n[bad\n")
    assert site.head("main") == site.commits[1]


@pytest.fixture
def server(site: Site) -> Iterator[HttpsServer]:
    """The repository behind a password, and what the pod's Secret and ConfigMap would hold."""
    bare = site.directory / "campaigns.git"
    git(site.directory, "clone", "--quiet", "--bare", str(site.origin), str(bare))
    credentials = site.directory / "credentials"
    (credentials / "http").mkdir(parents=True)
    (credentials / "http" / "username").write_text(f"{USER}\n")
    (credentials / "http" / "password").write_text(f"{PASSWORD}\n")
    pki = site.directory / "pki"
    pki.mkdir()
    with by_https(bare, pki) as running:
        (credentials / "ca").mkdir()
        shutil.copy(running.authority, credentials / "ca" / "ca.crt")
        yield running


def over_https(site: Site, url: str) -> subprocess.CompletedProcess[str]:
    """A run, after which the password is nowhere but in its Secret."""
    done = site.run("main", url, GIT_ALLOW_PROTOCOL="https:ssh")
    assert PASSWORD not in done.stdout + done.stderr
    if site.clone.exists():
        files = [path for path in site.clone.rglob("*") if path.is_file()]
        assert not [path for path in files if PASSWORD.encode() in path.read_bytes()]
    return done


def test_https_with_a_password_and_an_authority(site: Site, server: HttpsServer) -> None:
    done = over_https(site, server.url)
    assert done.stdout == f"main of {server.url} is commit {site.commits[1]}\n", done.stderr
    assert site.git("rev-list", "--count", "HEAD", at="clone") == "2"


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        ("http", "the server does not take username and password of the Secret, or there is none"),
        ("ca", "the certificate of the server is not trusted; write the certificate of its"),
    ],
)
def test_https_without(gone: str, words: str, site: Site, server: HttpsServer) -> None:
    shutil.rmtree(site.directory / "credentials" / gone)
    done = over_https(site, server.url)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(f"clone: {words}")


def test_https_with_another_password(site: Site, server: HttpsServer) -> None:
    (site.directory / "credentials" / "http" / "password").write_text("other")
    done = over_https(site, server.url)
    assert done.returncode == 1
    assert "the server does not take username and password" in done.stderr


def test_a_redirection_is_not_followed(site: Site, server: HttpsServer) -> None:
    done = over_https(site, server.moved)
    assert done.returncode == 1
    assert "clone: the server redirects, which is not followed" in done.stderr
