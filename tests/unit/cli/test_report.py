"""`campaigns report`, run as a command against an API server on the loopback."""

from __future__ import annotations

import signal
import stat
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest
from unit.cli.commands import command_line, environment, run, write_kubeconfig, write_repository
from unit.cluster.api_server import Answer, ApiServer, Request, failure, serve
from unit.reconcile.namespace_store import Namespace

from converter.checks import rendered
from converter.cli.report import sources
from converter.cli.repository import load_valid
from converter.errors import CampaignsError
from converter.problem import Problem


@dataclass
class Site:
    """A repository with the campaign `letters`, and its namespace."""

    repo: Path
    kubeconfig: Path
    namespace: Namespace
    api: ApiServer

    def report(self, *arguments: str | Path) -> subprocess.CompletedProcess[str]:
        return run("report", self.repo, "--kubeconfig", self.kubeconfig, *arguments)

    @contextmanager
    def serving(self, *arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
        """The command, and the address that it printed."""
        options: tuple[str | Path, ...] = ("--kubeconfig", self.kubeconfig, "--serve", *arguments)
        with subprocess.Popen(
            command_line("report", self.repo, *options),
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            # A shell ignores SIGINT for what it puts into the background, the tests for example.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        ) as process:
            try:
                assert process.stdout
                yield process, process.stdout.readline().strip()
            finally:
                process.kill()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    namespace = Namespace()
    with serve(namespace) as api:
        kubeconfig = write_kubeconfig(tmp_path / "kubeconfig", api.url)
        yield Site(write_repository(tmp_path / "repo"), kubeconfig, namespace, api)


@pytest.fixture
def applied(site: Site) -> Site:
    run("apply", site.repo, "--kubeconfig", site.kubeconfig, "--pause-wait", "1")
    site.api.requests.clear()
    return site


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310 - it is ours
        return str(answer.read().decode())


def eventually(url: str, words: str) -> str:
    """The page when it has these words."""
    deadline = time.monotonic() + 40
    while words not in (text := get(url)):
        assert time.monotonic() < deadline, words
        time.sleep(0.2)
    return text


def test_a_page_is_written_and_replaced(applied: Site, tmp_path: Path) -> None:
    site = applied
    out = tmp_path / "page.html"
    for _ in range(2):
        done = site.report("--out", out)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", f"{out}: written\n")
    text = out.read_text(encoding="utf-8")
    assert '<li class="card" id="c-letters" data-phase="Waiting">' in text
    assert "ClusterQueue <b>gpu-cq</b>" in text
    assert stat.S_IMODE(out.stat().st_mode) & 0o600 == 0o600
    assert list(tmp_path.glob(".campaigns-*")) == []
    assert [request.method for request in site.api.requests if request.method != "GET"] == []


def test_standard_output(site: Site) -> None:
    done = site.report("--out", "-")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("<!DOCTYPE html>")
    assert done.stdout.endswith("</html>\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "write either --out FILE or --serve"),
        (("--serve", "--out", "page.html"), "write either --out FILE or --serve"),
        (("--out", "page.html", "--port", "8000"), "--port is for --serve"),
        (("--serve", "--port", "0"), "0 is not in the range"),
        (("--out", "."), "is a directory"),
    ],
)
def test_wrong_usage_asks_nothing(site: Site, arguments: tuple[str, ...], message: str) -> None:
    done = site.report(*arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert message in done.stderr
    assert site.api.requests == []


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("repo/converter.yaml", "holds something else than a page"),
        ("none/page.html", "there is no directory"),
    ],
)
def test_nothing_else_is_lost(site: Site, tmp_path: Path, name: str, message: str) -> None:
    before = (site.repo / "converter.yaml").read_bytes()
    done = site.report("--out", tmp_path / name)
    assert done.returncode == 1
    assert message in done.stderr
    assert (site.repo / "converter.yaml").read_bytes() == before
    assert site.api.requests == []


def test_what_is_no_file_stays_what_it_is(site: Site) -> None:
    done = site.report("--out", "/dev/null")
    assert done.returncode == 1
    assert "/dev/null is not a file: write --out - for standard output" in done.stderr
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_link_stays_one(site: Site, tmp_path: Path) -> None:
    (tmp_path / "www").mkdir()
    (tmp_path / "page.html").symlink_to("www/index.html")
    assert site.report("--out", tmp_path / "page.html").returncode == 0
    assert (tmp_path / "page.html").is_symlink()
    assert "c-letters" in (tmp_path / "www/index.html").read_text(encoding="utf-8")


def test_a_cluster_that_cannot_be_read_leaves_the_file(site: Site, tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    site.report("--out", out)
    before = out.read_bytes()
    site.namespace.refuses = lambda request: failure(403, "Forbidden", "may not")
    done = site.report("--out", out)
    assert done.returncode == 1
    assert "403 Forbidden: may not" in done.stderr
    assert out.read_bytes() == before


def test_what_may_not_be_read_is_named_on_the_page(site: Site) -> None:
    def refuses(request: Request) -> Answer | None:
        place = request.path.rpartition("/namespaces/")[2]
        closed = "queues" in request.path or place.endswith(("/pods", "/events"))
        return failure(403, "Forbidden") if closed else None

    site.namespace.refuses = refuses
    done = site.report("--out", "-")
    assert done.returncode == 0
    assert "Not everything could be read" in done.stdout
    assert "not permitted to read LocalQueue batch" in done.stdout


def test_it_serves_survives_a_failure_and_ends_at_once(site: Site) -> None:
    with site.serving() as (process, url):
        assert 'data-phase="Missing"' in get(url)
        site.namespace.refuses = lambda request: failure(500, "InternalError", "etcd is gone")
        text = eventually(url, "This is not new any more")
        assert "c-letters" in text
        with pytest.raises(urllib.error.HTTPError, match="404"):
            get(url.rpartition("/")[0].rpartition("/")[0] + "/")
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert process.stderr
        assert process.stderr.read() == "Ctrl-C ends it.\n"


def test_it_follows_the_files(site: Site) -> None:
    with site.serving() as (process, url):
        get(url)
        campaign = "pipeline: ocr\nvolumes: [M1]\n"
        write_repository(site.repo, {"campaigns/maps.yaml": campaign})
        eventually(url, "c-maps")
        write_repository(site.repo, {"campaigns/maps.yaml": "pipeline: none\n"})
        eventually(url, "the repository has a problem: ")
        process.terminate()
        assert process.wait(10) == 143


def test_nothing_is_rendered_to_look_at_a_cluster(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A repository that can be shown once can be shown again: rules R are for who sends."""
    repo = write_repository(tmp_path / "repo")
    first = load_valid(repo, samples=False)

    def sampled(_: object) -> tuple[Problem, ...]:
        return (Problem("pipelines/ocr.yaml", 1, 1, "R001", "no cluster takes it", ""),)

    monkeypatch.setattr(rendered, "sample_problems", sampled)
    read = sources(repo, first)
    assert [read()[0].campaigns for _ in range(2)] == [first.campaigns] * 2
    write_repository(repo, {"campaigns/letters.yaml": "pipeline: none\n"})
    with pytest.raises(CampaignsError, match="the repository has a problem: "):
        read()


def test_a_port_that_is_taken(site: Site) -> None:
    with site.serving() as (_, url):
        port = url.split(":")[2].partition("/")[0]
        done = site.report("--serve", "--port", port)
        assert done.returncode == 1
        assert f"cannot use port {port} on 127.0.0.1: Address already in use" in done.stderr
