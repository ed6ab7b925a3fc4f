"""A real HTTP server on the loopback for the faults that a real API server cannot be made to show.

The test gives it a function from `Request` to `Answer`; what was asked is kept in `requests`.
"""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import format_datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from kubernetes.client.configuration import Configuration

from converter.cluster.client import Client

Object = dict[str, Any]


@dataclass(frozen=True)
class Request:
    method: str
    path: str
    query: dict[str, str]
    body: Object
    headers: dict[str, str]


@dataclass(frozen=True)
class Answer:
    """`lost` means: the connection is closed instead of answering."""

    status: int = 200
    body: Object | bytes = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)
    lost: bool = False


Handle = Callable[[Request], Answer]


@dataclass
class ApiServer:
    """`now` is the server's clock, in its Date header; None leaves the header out."""

    handle: Handle
    url: str = ""
    requests: list[Request] = field(default_factory=list)
    now: datetime | None = field(default_factory=lambda: datetime(2026, 1, 1, tzinfo=UTC))

    def client(self, request_timeout: float = 5.0) -> Client:
        configuration = Configuration()
        configuration.host = self.url
        configuration.api_key = {"authorization": "Bearer secret"}
        configuration.proxy = None
        return Client(configuration, request_timeout=request_timeout)

    def asked(self) -> list[tuple[str, str]]:
        return [(request.method, request.path) for request in self.requests]


def failure(status: int, reason: str, message: str = "no", **more: Any) -> Answer:
    """A Status as an API server sends it."""
    body = {"kind": "Status", "status": "Failure", "reason": reason, "message": message, **more}
    return Answer(status, {**body, "code": status})


def in_turn(*answers: Answer) -> Handle:
    """These answers, one a request; the test fails where more is asked."""
    left = list(answers)
    return lambda request: left.pop(0)


@contextmanager
def serve(handle: Handle) -> Iterator[ApiServer]:
    api = ApiServer(handle)
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(api))
    server.daemon_threads = True
    api.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield api
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _handler(api: ApiServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True

        def _answer(self) -> None:
            url = urlsplit(self.path)
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            request = Request(
                self.command,
                url.path,
                {key: values[0] for key, values in parse_qs(url.query).items()},
                json.loads(sent) if sent else {},
                dict(self.headers),
            )
            api.requests.append(request)
            answer = api.handle(request)
            if answer.lost:
                self.close_connection = True
                return
            data = (
                answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
            )
            self.send_response_only(answer.status)
            if api.now is not None:
                self.send_header("Date", format_datetime(api.now, usegmt=True))
            for name, value in {"Content-Length": str(len(data)), **answer.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

        do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

        def log_message(self, format: str, *args: Any) -> None:
            del format, args

    return Handler
