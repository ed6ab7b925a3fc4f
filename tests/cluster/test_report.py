"""The page of a real cluster: what is on it, and that it follows what happens there."""

from __future__ import annotations

import re
import signal
import subprocess
import urllib.request

from cluster.team import SLOW, Team, eventually
from conftest import TeamFactory


def card(page: str, campaign: str) -> str:
    """The text of one campaign's card, its blanks made one."""
    found = re.search(rf'<li class="card" id="c-{campaign}".*?\n</li>', page, re.DOTALL)
    assert found, page
    return " ".join(re.sub(r"<[^>]*>", " ", found[0]).split())


def test_a_page_has_what_is_on_the_cluster_and_follows_it(new_team: TeamFactory) -> None:
    team = new_team({"viewer": {"enabled": True}})
    viewer = team.repo.parent / "viewer"
    team.tenant.write_kubeconfig(viewer, account=f"{team.tenant.queue}-viewer")
    team.write_settings(sizes={"s": {"cpu": "1500m", "memory": "64Mi", "gpu": 0, "workdir": "8Mi"}})
    team.write_pipeline("work", SLOW)
    team.write_campaign("first", 2, window=2)
    team.apply()
    eventually(lambda: team.admitted("first"), "the first campaign runs")
    team.write_campaign("second", 2, window=2)
    team.apply()
    team.write_campaign("third")

    def written(*arguments: str) -> str:
        done = team.run("report", ".", "--out", "page.html", *arguments)
        assert (done.code, done.stdout, done.stderr) == (0, "", "page.html: written\n")
        return (team.repo / "page.html").read_text()

    looking = ("--kubeconfig", str(viewer))
    eventually(lambda: "Place 1" in card(written(*looking), "second"), "the second has a place")
    page = written(*looking)
    assert "first Running 0 of 2 volumes done, 2 to go" in card(page, "first")
    assert "second Waiting" in card(page, "second")
    assert "third Missing" in card(page, "third")
    assert f"ClusterQueue <b>{team.tenant.queue}-cq</b>" in page
    assert "<b>cpu</b><span>3 of 4 in use, 1 free</span>" in page
    assert '<a href="#c-second">second</a></th>' in page
    assert "The order of LocalQueue" not in page
    # The apply identity has no business in the queue of others.
    assert "places in the queue: not permitted to read" in written()

    # A shell ignores SIGINT for what it puts into the background, the tests for example.
    with team.start("report", ".", "--serve", *looking, before=interruptible) as serving:
        try:
            follows_the_cluster(team, serving)
        finally:
            serving.kill()


def interruptible() -> None:
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def follows_the_cluster(team: Team, serving: subprocess.Popen[str]) -> None:
    assert serving.stdout is not None
    assert serving.stderr is not None
    url = serving.stdout.readline().strip()

    def served() -> str:
        with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310 - it is ours
            return str(answer.read().decode())

    assert "first Running" in card(served(), "first")
    team.delete_campaign("third")
    team.write_campaign("first", 2, window=2, suspend=True)
    team.apply("--prune")
    eventually(lambda: "first Paused" in card(served(), "first"), "the page shows the pause")
    eventually(lambda: "second Running" in card(served(), "second"), "and who runs instead")
    serving.send_signal(signal.SIGINT)
    assert serving.wait(5) == 0
    assert "Traceback" not in serving.stderr.read()
