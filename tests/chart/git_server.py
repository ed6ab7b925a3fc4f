"""Servers of a git repository that ask for credentials, with keys that a client can pin.

By https: the files of a bare repository, for a name and a password. By ssh: for one key that may
only fetch.
"""

from __future__ import annotations

import base64
import shlex
import socket
import ssl
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from localcluster.pki import ensure_authority, ensure_certificate
from localcluster.progress import Progress
from localcluster.sshd import create
from localcluster.supervisor import Supervisor

USER = "reader"
PASSWORD = "hunter2-hunter2"  # noqa: S105 - of no server but this one
SECONDS = 20


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
    fetch = f"exec git-upload-pack {shlex.quote(str(repository))}"
    port = _free_port(address)
    server = create(directory, address, port, "git", options=f'restrict,command="{fetch}"')
    supervisor = Supervisor(directory, directory, directory)
    component = server.component(Progress(quiet=True))
    supervisor.start(component)
    try:
        supervisor.wait(component, SECONDS)
        url = f"ssh://git@{address}:{port}/team/campaigns.git"
        yield SshServer(directory, url, server.known_hosts)
    finally:
        supervisor.stop(component.name)


def _free_port(address: str) -> int:
    with socket.create_server((address, 0)) as server:
        port: int = server.getsockname()[1]
        return port
