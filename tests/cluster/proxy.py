"""A proxy between `campaigns` and the API server that makes faults happen at a chosen request.

It speaks plain HTTP to the command, whose kubeconfig it writes, and passes everything else on: what
is not broken on purpose is answered by the real API server.
"""

from __future__ import annotations

import base64
import json
import os
import signal
import ssl
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.client import HTTPResponse, HTTPSConnection
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from converter.names import HANDOFF_MANAGER

PASSED_ON = ("Accept", "Authorization", "Content-Type", "User-Agent")


@dataclass(frozen=True)
class Call:
    """One request of the command. `number` counts from 1, `kind` is the resource's plural."""

    number: int
    method: str
    path: str

    @property
    def kind(self) -> str:
        return self._resource[0]

    @property
    def name(self) -> str:
        """The object's name; empty where it is a list."""
        return "".join(self._resource[1:2])

    @property
    def _resource(self) -> list[str]:
        """The resource's plural and, where it is of one object, its name."""
        parts = urlsplit(self.path).path.strip("/").split("/")
        within = parts[2 if parts[0] == "api" else 3 :]
        return within[2:] if within[0] == "namespaces" else within

    @property
    def verb(self) -> str:
        """The API verb; `list` is told apart from `get`, a dry run and a hand-off from a write."""
        names = {
            "GET": "get" if len(self._resource) > 1 else "list",
            "PUT": "update",
            "POST": "create",
        }
        verb = names.get(self.method, self.method.lower())
        marks = {"dryRun=All": "dry run", f"fieldManager={HANDOFF_MANAGER}&": "hand-off"}
        return next((f"{verb} ({name})" for mark, name in marks.items() if mark in self.path), verb)


@dataclass(frozen=True)
class Fault:
    """What happens to a request.

    `kill` ends the command by SIGKILL, `cut` closes its connection, `status` answers in the API
    server's stead; nothing of the request reaches the API server unless `after`. `stall` holds it
    up for so many seconds; it is passed on then, even where nobody waits for the answer any more.
    """

    kill: bool = False
    cut: bool = False
    stall: float = 0.0
    status: int = 0
    headers: Mapping[str, str] = field(default_factory=dict)
    after: bool = False

    @property
    def stops(self) -> bool:
        """Whether the request never reaches the API server."""
        return not self.after and not self.stall


Rule = Callable[[Call], Fault | None]
# How long a watch is passed on.
WATCH_SECONDS = 3.0


@dataclass
class Proxy:
    """A running proxy. `rule` decides about each request; `victim` is whom a kill is for."""

    kubeconfig: Path
    server: ThreadingHTTPServer
    rule: Rule = lambda call: None
    victim: int = 0
    calls: list[Call] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def noted(self, method: str, path: str) -> Call:
        """The next request, counted."""
        with self.lock:
            call = Call(len(self.calls) + 1, method, path)
            self.calls.append(call)
            return call

    def reset(self, rule: Rule = lambda call: None) -> None:
        """Count from 1 again, by another rule."""
        with self.lock:
            self.calls.clear()
            self.rule = rule


class Server(ThreadingHTTPServer):
    """Says nothing of a command that went away, which is what a kill is for."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)


@contextmanager
def proxied(kubeconfig: Path, directory: Path) -> Iterator[Proxy]:
    """A proxy to the server of a kubeconfig; in `directory` it writes the command's."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster = config["clusters"][0]["cluster"]
    upstream = urlsplit(cluster["server"])
    authority = ssl.create_default_context(cadata=_certificate(cluster))

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            _handle(self, proxy, lambda: _connect(upstream.hostname, upstream.port, authority))

        do_POST = do_PUT = do_PATCH = do_DELETE = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on standard error."""

    server = Server(("127.0.0.1", 0), Handler)
    cluster.pop("certificate-authority-data", None)
    cluster.pop("certificate-authority", None)
    cluster["server"] = f"http://127.0.0.1:{server.server_address[1]}"
    written = directory / "proxied-kubeconfig"
    written.write_text(json.dumps(config))
    proxy = Proxy(written, server)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield proxy
    finally:
        server.shutdown()
        server.server_close()


def _certificate(cluster: Mapping[str, str]) -> str:
    if data := cluster.get("certificate-authority-data"):
        return base64.b64decode(data).decode()
    return Path(cluster["certificate-authority"]).read_text()


def _connect(host: str | None, port: int | None, authority: ssl.SSLContext) -> HTTPSConnection:
    assert host is not None
    return HTTPSConnection(host, port, context=authority, timeout=60)


def _handle(
    handler: BaseHTTPRequestHandler, proxy: Proxy, connect: Callable[[], HTTPSConnection]
) -> None:
    body = handler.rfile.read(int(handler.headers.get("Content-Length") or 0))
    call = proxy.noted(handler.command, handler.path)
    fault = proxy.rule(call)
    if fault:
        time.sleep(fault.stall)
    if fault and fault.stops:
        return _break(handler, proxy, fault)
    upstream = connect()
    try:
        headers = {name: handler.headers[name] for name in PASSED_ON if name in handler.headers}
        upstream.request(handler.command, handler.path, body or None, headers)
        answer = upstream.getresponse()
        if "watch=true" in handler.path and answer.status == 200:
            return _stream(handler, upstream, answer)
        content = answer.read()
    finally:
        upstream.close()
    if fault and fault.after:
        return _break(handler, proxy, fault)
    kept = {name: value for name, value in answer.getheaders() if name in ("Content-Type", "Date")}
    return _answer(handler, answer.status, kept, content)


def _stream(
    handler: BaseHTTPRequestHandler, upstream: HTTPSConnection, answer: HTTPResponse
) -> None:
    """Pass on what comes for a while, and close as proxies do: the next goes on from there."""
    handler.close_connection = True
    until = time.monotonic() + WATCH_SECONDS
    handler.send_response_only(200)
    for name in ("Content-Type", "Date"):
        handler.send_header(name, answer.headers[name])
    handler.end_headers()
    with suppress(TimeoutError, ConnectionError):
        while upstream.sock and (left := until - time.monotonic()) > 0:
            upstream.sock.settimeout(left)
            handler.wfile.write(answer.read1())


def _break(handler: BaseHTTPRequestHandler, proxy: Proxy, fault: Fault) -> None:
    if fault.kill:
        os.kill(proxy.victim, signal.SIGKILL)
    if fault.status:
        status = {
            "kind": "Status",
            "code": fault.status,
            "reason": "Fault",
            "message": "on purpose",
        }
        date = handler.date_time_string()
        headers = {"Content-Type": "application/json", "Date": date, **fault.headers}
        return _answer(handler, fault.status, headers, json.dumps(status).encode())
    handler.close_connection = True
    handler.connection.close()
    return None


def _answer(
    handler: BaseHTTPRequestHandler, status: int, headers: Mapping[str, str], content: bytes
) -> None:
    try:
        handler.send_response_only(status)
        for name, value in headers.items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(content)))
        handler.end_headers()
        handler.wfile.write(content)
    except (BrokenPipeError, ConnectionResetError):
        handler.close_connection = True
