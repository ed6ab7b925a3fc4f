"""The script that clones in the cluster, against a real sshd. Needs root, as a node does."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from chart.clone_script import clone, git
from chart.git_server import SshServer, by_ssh


@dataclass(frozen=True)
class Site:
    server: SshServer
    directory: Path
    commit: str

    def run(self) -> subprocess.CompletedProcess[str]:
        """As the pod runs it, with what is in the Secret."""
        return clone(self.directory, self.server.url, "main")

    def secret(self, key: str, text: str) -> None:
        """A key of the Secret; ssh takes no private key that others may read."""
        path = self.directory / "credentials" / "ssh" / key
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o600)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[SshServer, str]]:
    directory = tmp_path_factory.mktemp("git")
    origin = directory / "campaigns"
    origin.mkdir()
    git(origin, "init", "--quiet", "--initial-branch=main")
    git(origin, "commit", "--quiet", "--allow-empty", "--message=m")
    with by_ssh(origin / ".git", directory / "sshd", "127.0.0.1") as running:
        yield running, git(origin, "rev-parse", "HEAD")


@pytest.fixture
def site(server: tuple[SshServer, str], tmp_path: Path) -> Site:
    made = Site(server[0], tmp_path, server[1])
    made.secret("known_hosts", made.server.known_hosts)
    made.secret("ssh-privatekey", made.server.private_key.read_text())
    return made


def another_key(directory: Path) -> Path:
    key = directory / "another"
    command = ("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key)
    subprocess.run(command, check=True)
    return key


def test_with_the_key_and_the_host_key(site: Site) -> None:
    done = site.run()
    assert done.stdout == f"main of {site.server.url} is commit {site.commit}\n", done.stderr


@pytest.mark.parametrize("known", ["none", "another"])
def test_a_host_key_that_is_not_pinned_is_refused(known: str, site: Site, tmp_path: Path) -> None:
    hosts = ""
    if known == "another":
        place = site.server.known_hosts.split()[0]
        hosts = f"{place} {another_key(tmp_path).with_suffix('.pub').read_text()}"
    site.secret("known_hosts", hosts)
    done = site.run()
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "clone: known_hosts of the Secret does not have the host key of this server; write the key"
    )
    assert (site.directory / "credentials" / "ssh" / "known_hosts").read_text() == hosts
    assert not (site.directory / ".ssh").exists()


def test_a_key_that_the_server_does_not_know_is_refused(site: Site, tmp_path: Path) -> None:
    site.secret("ssh-privatekey", another_key(tmp_path).read_text())
    done = site.run()
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "clone: the server does not take the key in ssh-privatekey of the Secret"
    )
