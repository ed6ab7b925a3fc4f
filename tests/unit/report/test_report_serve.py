"""Who gets the page: a browser on this machine that was given the address."""

from __future__ import annotations

import http.client
import socket
import threading
from collections.abc import Iterator

import pytest

from converter.report.serve import Place, Server


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server(0, lambda: "<!DOCTYPE html>the page")
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def ask(
    server: Server, method: str = "GET", path: str = "", host: str = ""
) -> tuple[int, str, dict[str, str]]:
    connection = http.client.HTTPConnection("127.0.0.1", server.server_port, timeout=10)
    path = path or f"/{server.place.secret}/"
    connection.request(method, path, headers={"Host": host or f"127.0.0.1:{server.server_port}"})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer.status, text, dict(answer.headers)


def test_the_page_with_headers_that_let_nothing_else_in(server: Server) -> None:
    status, text, headers = ask(server)
    assert (status, text) == (200, "<!DOCTYPE html>the page")
    assert headers["Content-Type"] == "text/html; charset=utf-8"
    assert headers["Content-Security-Policy"].startswith("default-src 'none'; ")
    assert headers["Content-Security-Policy"].endswith("; frame-ancestors 'none'")
    assert headers["X-Content-Type-Options"] == "nosniff"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Cache-Control"] == "no-store"
    assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
    assert headers["Referrer-Policy"] == "no-referrer"
    assert "Python" not in headers["Server"]


def test_it_is_on_the_loopback_only(server: Server) -> None:
    assert server.server_address[0] == "127.0.0.1"
    assert server.place.url.startswith(f"http://127.0.0.1:{server.server_port}/")
    assert len(server.place.secret) > 20


@pytest.mark.parametrize(
    ("target", "is_page"),
    [
        ("/{}/", True),
        ("/{}/?now", True),
        ("/{}", False),
        ("/", False),
        ("", False),
        ("http://[x", False),
        ("//[/{}/", False),
        ("/\xff", False),
    ],
)
def test_the_path_is_the_secret_and_nothing_else_is(target: str, is_page: bool) -> None:
    place = Place(8000)
    assert place.is_path(target.format(place.secret)) is is_page


@pytest.mark.parametrize("host", ["evil.example.com", "127.0.0.1", "127.0.0.1:1", "[::1]:80"])
def test_another_name_for_this_machine_is_refused(server: Server, host: str) -> None:
    status, text, _ = ask(server, host=host)
    assert status == 403
    assert "the page" not in text


def test_localhost_is_this_machine(server: Server) -> None:
    assert ask(server, host=f"localhost:{server.server_port}")[0] == 200


@pytest.mark.parametrize("path", ["/", "/favicon.ico", "/x/", "/../etc/passwd"])
def test_without_the_address_there_is_nothing(server: Server, path: str) -> None:
    status, text, _ = ask(server, path=path)
    assert status == 404
    assert "the page" not in text


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"])
def test_nothing_can_be_written(server: Server, method: str) -> None:
    status, text, headers = ask(server, method)
    assert (status, headers["allow"]) == (405, "GET, HEAD")
    assert "the page" not in text


def test_a_head_has_no_body(server: Server) -> None:
    status, text, headers = ask(server, "HEAD")
    assert (status, text, headers["Content-Length"]) == (200, "", "23")


def test_a_browser_that_goes_away_is_no_error(
    server: Server, capfd: pytest.CaptureFixture[str]
) -> None:
    with socket.create_connection(("127.0.0.1", server.server_port)) as connection:
        # A close with this linger is a reset.
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\x01\0\0\0\0\0\0\0")
        connection.sendall(b"GET / HTTP/1.0\r\n")
    assert ask(server)[0] == 200
    assert capfd.readouterr().err == ""
