"""The page that is served: read anew while somebody looks, and old news told as such."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace

import pytest
from markupsafe import escape
from unit.report.archive import archive

from converter.errors import ApiError, CampaignsError, ClusterUnavailable
from converter.report import live
from converter.report.live import Board
from converter.report.model import Model


@dataclass
class Cluster:
    """Answers with a page whose commit counts the reads, or with a failure."""

    model: Model = field(default_factory=lambda: archive().model())
    failure: Exception | None = None
    reads: int = 0
    seconds: float = 0.01
    asked: str = "the API server"

    def read(self) -> Model:
        self.reads += 1
        if self.failure:
            raise self.failure
        about = replace(self.model.about, commit=f"read{self.reads:04}")
        return replace(self.model, about=about)


def until(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.fixture
def cluster() -> Cluster:
    return Cluster()


def board(cluster: Cluster) -> Board:
    made = Board(cluster, cluster.read())
    made.start()
    return made


def test_the_page_follows_what_is_read(cluster: Cluster) -> None:
    shown = board(cluster)
    assert "commit <code>read0001" in shown.page() or cluster.reads > 1
    until(lambda: "commit <code>read0003" in shown.page() or cluster.reads > 3)


@pytest.mark.parametrize(
    "failure",
    [
        ClusterUnavailable("no answer from the API server"),
        ApiError("read", "jobs in team", 500, "InternalError", "etcd is <gone>"),
        CampaignsError("the repository has a problem: campaigns/a.yaml:1:1"),
        KeyError("positionInLocalQueue"),
    ],
    ids=lambda failure: type(failure).__name__,
)
def test_a_failure_is_told_and_what_was_read_stays(cluster: Cluster, failure: Exception) -> None:
    shown = board(cluster)
    cluster.failure = failure
    until(lambda: "This is not new any more" in shown.page())
    text = shown.page()
    assert "ago, and cannot be read now: " in text
    named = "" if isinstance(failure, CampaignsError) else f"{type(failure).__name__}: "
    assert escape(f"{named}{failure}") in text
    assert "letters-1890-1914" in text
    cluster.failure = None
    until(lambda: "This is not new any more" not in shown.page())


def test_nothing_is_read_while_nobody_looks_and_who_comes_back_sees_what_is_new(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LOOKING_SECONDS", 0.05)
    shown = board(cluster)
    reads = -1

    def rests() -> bool:
        nonlocal reads
        before, reads = reads, cluster.reads
        time.sleep(0.3)
        return before == cluster.reads

    until(rests)
    assert f"commit <code>read{reads:04}" not in shown.page()
    assert cluster.reads > reads


def test_an_api_server_that_does_not_answer_makes_a_page_old(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live, "LOOKING_SECONDS", 0.2)
    monkeypatch.setattr(live, "PATIENCE_SECONDS", 0.05)
    stuck = threading.Event()

    class Stuck(Cluster):
        def read(self) -> Model:
            stuck.wait(20)
            return cluster.read()

    shown = Board(Stuck(), cluster.read())
    shown.start()
    until(lambda: "the API server has not answered since" in shown.page())
    stuck.set()
    until(lambda: "the API server has not answered since" not in shown.page())
