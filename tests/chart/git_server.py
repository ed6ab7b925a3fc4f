"""Servers of a git repository that ask for credentials, with keys that a client can pin.

By https: the files of a bare repository, for a name and a password. By ssh: Debian's sshd, unpacked
and not installed, in a mount namespace with users of its own, for one key that may only fetch.
"""

from __future__ import annotations

import base64
import os
import shlex
import shutil
import socket
import ssl
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from localcluster.lock import held, whole
from localcluster.paths import cache_dir
from localcluster.pki import ensure_authority, ensure_certificate
from localcluster.progress import Progress

USER = "reader"
PASSWORD = "hunter2-hunter2"  # noqa: S105 - of no server but this one
PACKAGES = ("openssh-server", "libwrap0")
SECONDS = 20

ENTER = """
set -e
mount -o bind "$1/passwd" /etc/passwd
mount -o bind "$1/run" /run
exec "$2" -D -e -f "$1/sshd_config"
"""
"""Run in a new mount namespace. sshd takes a user for granted, and an empty directory."""


@dataclass(frozen=True)
class SshServer:
    """Where it is, what its clients pin, and the key of the one client that it knows."""

    directory: Path
    url: str
    known_hosts: str

    @property
    def private_key(self) -> Path:
        return self.directory / "client"


@dataclass(frozen=True)
class HttpsServer:
    """Where it is, and the certificate of its authority. `moved` redirects to the same place."""

    url: str
    moved: str
    authority: Path


@contextmanager
def by_https(repository: Path, directory: Path) -> Iterator[HttpsServer]:
    """Serve a bare repository on the loopback."""
    subprocess.run(["git", "-C", str(repository), "update-server-info"], check=True)
    authority = ensure_authority(directory, "git-authority")
    pair = ensure_certificate(
        authority, directory, "git", common_name="git", addresses=["127.0.0.1"]
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.cert, pair.key)
    handler = partial(_Handler, directory=str(repository.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        at = f"https://127.0.0.1:{server.server_port}"
        yield HttpsServer(
            f"{at}/{repository.name}", f"{at}/moved/{repository.name}", authority.cert
        )
        server.shutdown()


class _Handler(SimpleHTTPRequestHandler):
    """Files for whom it knows; /moved/... is elsewhere for everybody."""

    def do_GET(self) -> None:
        """Answer."""
        if self.path.startswith("/moved/"):
            self.send_response(301)
            self.send_header("Location", self.path.removeprefix("/moved"))
        elif self.headers.get("Authorization") == f"Basic {_basic()}":
            super().do_GET()
            return
        else:
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="git"')
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _basic() -> str:
    return base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()


@contextmanager
def by_ssh(repository: Path, directory: Path, address: str) -> Iterator[SshServer]:
    """Serve a bare repository at an address of this machine. Needs root, as the real node does."""
    directory.mkdir()
    (directory / "run" / "sshd").mkdir(parents=True, mode=0o755)
    for name in ("host", "client"):
        command = (
            "ssh-keygen",
            "-q",
            "-t",
            "ed25519",
            "-N",
            "",
            "-C",
            name,
            "-f",
            directory / name,
        )
        subprocess.run(command, check=True)
    fetch = f"exec git-upload-pack {shlex.quote(str(repository))}"
    client = (directory / "client.pub").read_text()
    (directory / "authorized_keys").write_text(f'restrict,command="{fetch}" {client}')
    (directory / "passwd").write_text(
        "root:*:0:0::/:/bin/sh\ngit:*:0:0::/:/bin/sh\nsshd:*:100:65534::/run/sshd:/bin/false\n"
    )
    port = _free_port(address)
    settings = {
        "Port": port,
        "ListenAddress": address,
        "HostKey": directory / "host",
        "AuthorizedKeysFile": directory / "authorized_keys",
        "AuthenticationMethods": "publickey",
        "PermitRootLogin": "yes",
        "StrictModes": "no",
        "UsePAM": "no",
        "PidFile": "none",
    }
    lines = (f"{key} {value}\n" for key, value in settings.items())
    (directory / "sshd_config").write_text("".join(lines))
    kind, key, _ = (directory / "host.pub").read_text().split()
    url = f"ssh://git@{address}:{port}/team/campaigns.git"
    with _sshd(directory, address, port):
        yield SshServer(directory, url, f"[{address}]:{port} {kind} {key}\n")


@contextmanager
def _sshd(directory: Path, address: str, port: int) -> Iterator[None]:
    root = _openssh()
    libraries = next((root / "usr/lib").glob("*-linux-gnu"))
    with (directory / "log").open("w") as log:
        process = subprocess.Popen(
            [
                *("unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", ENTER, "sh"),
                *(str(directory), str(root / "usr/sbin/sshd")),
            ],
            env={"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(libraries)},
            stderr=log,
        )
    try:
        _wait_for(address, port, process, directory / "log")
        yield
    finally:
        process.terminate()
        process.wait()


def _wait_for(address: str, port: int, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + SECONDS
    while True:
        try:
            socket.create_connection((address, port), timeout=1).close()
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.05)
        else:
            return


def _free_port(address: str) -> int:
    with socket.create_server((address, 0)) as server:
        port: int = server.getsockname()[1]
        return port


def _openssh() -> Path:
    """Debian's packages, unpacked into the cache."""
    target = cache_dir() / "openssh-server"
    if target.exists():
        return target
    with held(cache_dir() / ".openssh.lock", "a download of sshd", Progress(quiet=True)):
        if not target.exists():
            with whole(target, "openssh") as root:
                _unpack(root)
    return target


def _unpack(root: Path) -> None:
    packages = root / "packages"
    packages.mkdir()
    download = ("apt-get", "--quiet", "--quiet", "download", *PACKAGES)
    if subprocess.run(download, cwd=packages, capture_output=True, check=False).returncode:
        subprocess.run(("apt-get", "--quiet", "--quiet", "update"), check=True)
        subprocess.run(download, cwd=packages, check=True)
    for package in packages.glob("*.deb"):
        subprocess.run(("dpkg-deb", "--extract", package, root), check=True)
    shutil.rmtree(packages)
