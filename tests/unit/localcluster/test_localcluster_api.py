"""Requests to the API server, against a server with certificates of the same kind."""

from __future__ import annotations

import json
import ssl
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
from localcluster import pki
from localcluster.api import Api, answers, object_path
from localcluster.errors import ClusterError

ANSWERS: dict[str, Any] = {
    "/healthz": {},
    "/api/v1": {"resources": [{"kind": "Namespace", "name": "namespaces", "namespaced": False}]},
    "/apis/batch/v1": {
        "resources": [
            {"kind": "Job", "name": "jobs", "namespaced": True},
            {"kind": "Job", "name": "jobs/status", "namespaced": True},
        ]
    },
}


@dataclass
class Server:
    """What it was sent, and where it is."""

    port: int = 0
    seen: list[tuple[str, str, str, Any]] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"https://127.0.0.1:{self.port}"


@pytest.fixture(scope="module")
def certificates(tmp_path_factory: pytest.TempPathFactory) -> tuple[pki.Pair, pki.Pair]:
    directory = tmp_path_factory.mktemp("pki")
    ca = pki.ensure_authority(directory, "ca")
    both = pki.ensure_certificate(
        ca, directory, "both", common_name="admin", addresses=["127.0.0.1"]
    )
    return ca, both


@pytest.fixture
def server(certificates: tuple[pki.Pair, pki.Pair]) -> Iterator[Server]:
    ca, pair = certificates
    found = Server()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path == "/broken":
                self.answer(500, {"message": "etcd is gone"})
            else:
                self.answer(200 if self.path in ANSWERS else 404, ANSWERS.get(self.path, {}))

        def do_PATCH(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            found.seen.append(
                (self.path, self.headers["Content-Type"], self.headers["User-Agent"], body)
            )
            self.answer(422 if b"refused" in body else 200, {"message": "spec: Invalid value"})

        def answer(self, code: int, content: Any) -> None:
            self.send_response(code)
            self.end_headers()
            self.wfile.write(json.dumps(content).encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing on the terminal."""

    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.cert, pair.key)
    context.load_verify_locations(ca.cert)
    context.verify_mode = ssl.CERT_REQUIRED
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as http:
        http.socket = context.wrap_socket(http.socket, server_side=True)
        found.port = http.server_address[1]
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield found
        http.shutdown()
        thread.join()


@pytest.fixture
def api(server: Server, certificates: tuple[pki.Pair, pki.Pair]) -> Api:
    ca, pair = certificates
    return Api(server.url, ca.cert, pair)


def item(api_version: str, kind: str, **metadata: str) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": kind, "metadata": metadata}


def test_what_is_there_and_what_is_not(api: Api) -> None:
    assert api.get("/healthz") == {}
    assert api.get("/absent") is None


def test_what_the_server_said_is_in_the_error(api: Api) -> None:
    with pytest.raises(ClusterError, match=r"GET /broken: 500 .*etcd is gone"):
        api.get("/broken")


def test_a_server_that_does_not_answer(certificates: tuple[pki.Pair, pki.Pair]) -> None:
    ca, pair = certificates
    with pytest.raises(ClusterError, match="GET /: the API server does not answer"):
        Api("https://127.0.0.1:1", ca.cert, pair).get("/")


def test_namespaces_are_applied_before_what_is_in_them(api: Api, server: Server) -> None:
    job = item("batch/v1", "Job", name="j", namespace="n")
    namespace = item("v1", "Namespace", name="n")
    api.apply([job, namespace])
    as_manager = "fieldManager=localcluster&force=true"
    assert [seen[0] for seen in server.seen] == [
        f"/api/v1/namespaces/n?{as_manager}",
        f"/apis/batch/v1/namespaces/n/jobs/j?{as_manager}",
    ]
    assert {seen[1:3] for seen in server.seen} == {("application/apply-patch+yaml", "localcluster")}
    assert [json.loads(seen[3]) for seen in server.seen] == [namespace, job]


def test_an_object_that_is_refused(api: Api) -> None:
    with pytest.raises(ClusterError, match=r"PATCH /api/v1/namespaces/refused\?.*422.*Invalid"):
        api.apply([item("v1", "Namespace", name="refused")])


def test_a_merge_patch(api: Api, server: Server) -> None:
    api.merge("/api/v1/nodes/n/status", {"status": {"capacity": {"a": "1"}}})
    path, content_type, _, body = server.seen[0]
    assert (path, content_type) == ("/api/v1/nodes/n/status", "application/merge-patch+json")
    assert json.loads(body) == {"status": {"capacity": {"a": "1"}}}


def test_a_kind_that_is_not_served(api: Api) -> None:
    with pytest.raises(ClusterError, match=r"has no Stage in kwok\.x-k8s\.io/v1alpha1"):
        api.apply([item("kwok.x-k8s.io/v1alpha1", "Stage", name="s")])


@pytest.mark.parametrize(
    ("found", "path"),
    [
        (item("v1", "Namespace", name="n"), "/api/v1/namespaces/n"),
        (item("batch/v1", "Job", name="j", namespace="n"), "/apis/batch/v1/namespaces/n/jobs/j"),
    ],
)
def test_the_path_of_an_object(found: dict[str, Any], path: str) -> None:
    kinds = {("v1", "Namespace"): ("namespaces", False), ("batch/v1", "Job"): ("jobs", True)}
    assert object_path(found, kinds) == path


def test_a_health_endpoint_that_is_absent() -> None:
    assert not answers("https://127.0.0.1:1/healthz")
