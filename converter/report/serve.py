"""The page for a browser on this machine, and nobody else.

It is bound to the loopback. Other users of the machine can reach that too, so the address has a
part that nobody can guess; and a page of the internet whose name was made to mean 127.0.0.1 is told
from ours by the Host that a browser sends.
"""

import secrets
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from socketserver import TCPServer
from typing import Any, Final

from converter.report.page import Live, policy

HOST: Final = "127.0.0.1"
IDLE_SECONDS: Final = 30


@dataclass(frozen=True, slots=True)
class Place:
    """Where the page is. `secret` is the path."""

    port: int
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(16))

    @property
    def url(self) -> str:
        """What to open."""
        return f"http://{HOST}:{self.port}/{self.secret}/"

    def is_host(self, host: str) -> bool:
        """Whether a browser that sends this Host was given our address."""
        return host in (f"{HOST}:{self.port}", f"localhost:{self.port}")

    def is_path(self, target: str) -> bool:
        """Whether a request is for the page."""
        path = target.partition("?")[0]
        return secrets.compare_digest(path.encode(), f"/{self.secret}/".encode())


class Server(ThreadingHTTPServer):
    """One thread a request; none of them keeps the program from ending."""

    daemon_threads = True
    block_on_close = False

    def __init__(self, port: int, page: Callable[[], str]) -> None:
        """Raises OSError where the port cannot be had; port 0 is any that is free."""
        super().__init__((HOST, port), _Handler)
        self.page = page
        self.place = Place(self.server_port)

    def server_bind(self) -> None:
        """Without asking a name server what this machine is called."""
        TCPServer.server_bind(self)
        self.server_name, self.server_port = HOST, self.server_address[1]

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A browser that does not wait for its answer is no error."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    server: Server
    server_version = "campaigns"
    sys_version = ""
    timeout = IDLE_SECONDS

    def do_GET(self) -> None:
        """The page, for who has its address."""
        if not self.server.place.is_host(self.headers.get("Host", "")):
            self._answer(403, "This is for a browser on the machine that it runs on.\n")
        elif not self.server.place.is_path(self.path):
            self._answer(404, "Open the address that `campaigns report --serve` printed.\n")
        else:
            self._answer(200, self.server.page(), "text/html")

    do_HEAD = do_GET

    def _refuse(self) -> None:
        self._answer(405, "There is nothing to write here.\n", allow="GET, HEAD")

    do_POST = do_PUT = do_PATCH = do_DELETE = do_OPTIONS = _refuse

    def _answer(self, status: int, text: str, kind: str = "text/plain", **more: str) -> None:
        data = text.encode()
        headers = {
            "Content-Type": f"{kind}; charset=utf-8",
            "Content-Length": str(len(data)),
            "Content-Security-Policy": f"{policy(Live(0))}; frame-ancestors 'none'",
            "Cache-Control": "no-store",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "X-Frame-Options": "DENY",
            **more,
        }
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(data)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Nobody reads it."""
