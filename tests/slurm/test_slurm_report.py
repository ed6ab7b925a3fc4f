"""The page of a real Slurm: what is on it, that it follows what happens, and lives without it."""

from __future__ import annotations

import re
import signal
import subprocess
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from slurm.lab import Lab, eventually
from slurm.slurm_team import SlurmTeam

SLOW = "sleep 300"


@pytest.fixture
def team(lab: Lab, tmp_path: Path) -> SlurmTeam:
    made = SlurmTeam(lab, tmp_path)
    made.write_settings()
    made.write_pipeline(SLOW)
    return made


def text(markup: str) -> str:
    """Without its elements, its blanks made one."""
    return " ".join(re.sub(r"<[^>]*>", " ", markup).split())


def card(page: str, campaign: str) -> str:
    found = re.search(rf'<li class="card" id="c-{campaign}".*?\n</li>', page, re.DOTALL)
    assert found, page
    return text(found[0])


def section(page: str, name: str) -> str:
    found = re.search(rf'<section aria-labelledby="{name}">.*?</section>', page, re.DOTALL)
    assert found, page
    return text(found[0])


def written(team: SlurmTeam) -> str:
    done = team.run("report", ".", "--out", "page.html")
    assert (done.code, done.stdout, done.stderr) == (0, "", "page.html: written\n")
    return (team.repo / "page.html").read_text()


def test_a_page_has_campaigns_their_hold_their_failed_volumes_and_the_queue(
    team: SlurmTeam,
) -> None:
    team.write_pipeline('[ "$VOLUME_ID" != mixed-1 ] || exit 13', "quick")
    team.write_campaign("mixed", 3, pipeline="quick")
    team.write_campaign("held", 3, window=1)
    team.write_campaign("paused", 2, suspend=True)
    team.apply()
    eventually(lambda: team.phases()["mixed"] == "PartlyFailed", "the end of mixed")
    eventually(lambda: team.running("held") == 1, "one task")
    # What runs cannot be held: the call says so, and what waits is held.
    call = ("--deadline=20s", "--by=ops", "--reason=a lost node", "--instance=7")
    assert team.run("hold", "held", ".", *call).code == 1
    # Four nodes with two CPUs each: the rest of these waits, behind somebody else's.
    team.lab.array("0-20")
    team.write_campaign("waiting", 20)
    team.write_campaign("unknown")
    team.apply()
    (team.repo / "campaigns/unknown.yaml").unlink()
    team.write_campaign("fresh")
    eventually(lambda: "waiting" in section(written(team), "queue"), "it has a place")

    page = written(team)
    mixed = card(page, "mixed")
    assert "mixed Partly failed 2 of 3 volumes done, 1 failed" in mixed
    assert "Failed volumes mixed-1" in mixed
    held = card(page, "held")
    assert "held Running 0 of 3 volumes done, 3 to go" in held
    assert "What waits is on hold 7 of ops, and what runs goes on to its end since" in held
    assert "Hold 7 is in force (of ops since" in held
    assert "a lost node" in held
    assert "campaigns release held --instance 7" in held
    assert "Paused" in card(page, "paused")
    assert "Git pauses it: suspend: true in campaigns/paused.yaml" in card(page, "paused")
    assert "fresh Missing" in card(page, "fresh")
    assert "unknown Drifted" in card(page, "unknown")
    assert "put the file back to keep it" in card(page, "unknown").lower()
    assert "1 task at work" in text(page)

    queue = section(page, "queue")
    assert re.search(r"Partition \S+ ; the first is tried next", queue), queue
    rows = r"1 1 job of others 2 unknown 1 task \d+ 3 waiting 20 tasks \d+"
    assert re.search(rows, queue), queue
    assert "held" not in queue.replace("waiting", "")
    assert 'id="quota"' not in page
    assert "#quota" not in page
    assert "Kueue" not in page
    events = section(page, "timeline")
    assert "held hold 7 of ops since" in events
    assert "mixed ended: partly failed" in events
    assert "waiting submitted" in events
    assert "Times are the Slurm host" in page


def test_what_no_apply_has_recorded_and_what_one_has(team: SlurmTeam) -> None:
    team.write_pipeline('[ "$VOLUME_ID" != letters-1 ] || exit 13')
    team.write_campaign("letters", 3)
    team.apply()
    eventually(lambda: team.phases()["letters"] == "PartlyFailed", "its end")
    assert "exit 13: given up without another try: letters-1" in card(written(team), "letters")
    team.apply()
    found = card(written(team), "letters")
    assert "letters-1" in found
    assert "exit 13" not in found, "its results are not read any more"
    assert "letters ended: partly failed" in section(written(team), "timeline")


def test_a_page_asks_slurm_once_whatever_there_is(team: SlurmTeam) -> None:
    for number in range(30):
        team.write_campaign(f"c{number:02}", suspend=bool(number % 2))
    team.apply()
    calls = team.lab.watch("squeue")
    assert len(re.findall('<li class="card"', written(team))) == 30
    assert len(calls.read_text().splitlines()) == 1


@contextmanager
def served(team: SlurmTeam) -> Iterator[tuple[subprocess.Popen[str], str]]:
    process = team.start("report", ".", "--serve")
    try:
        assert process.stdout is not None
        yield process, process.stdout.readline().strip()
    finally:
        process.kill()
        process.communicate()


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=20) as answer:  # noqa: S310 - it is ours
        return str(answer.read().decode())


def test_it_serves_follows_survives_slurm_and_ends(team: SlurmTeam) -> None:
    team.write_settings(
        slurm={"directory": str(team.shared), "container": [], "command_timeout": 3}
    )
    team.write_campaign("letters", 2, window=1)
    team.apply()
    eventually(lambda: team.running("letters") == 1, "one task")
    with served(team) as (process, url):
        assert url.startswith("http://127.0.0.1:")
        page = get(url)
        assert "letters Running" in card(page, "letters")
        assert "asked again every 15 s" in page
        team.write_campaign("letters", 2, window=1, suspend=True)
        team.apply()
        eventually(lambda: "letters Pausing" in card(get(url), "letters"), "the pause", 60)
        team.lab.slurm.stop_controller()
        try:
            eventually(lambda: "This is not new any more" in get(url), "it says so", 90)
            old = get(url)
            assert "cannot be read now: " in old
            assert "letters Pausing" in card(old, "letters")
        finally:
            team.lab.slurm.start_controller()
        eventually(lambda: "This is not new any more" not in get(url), "it is back", 90)
        process.send_signal(signal.SIGINT)
        assert process.wait(10) == 0
        assert process.stderr is not None
        assert process.stderr.read() == "Ctrl-C ends it.\n"


def test_a_slurm_that_is_away_from_the_start_is_one_line_and_leaves_the_page(
    team: SlurmTeam,
) -> None:
    team.write_settings(
        slurm={"directory": str(team.shared), "container": [], "command_timeout": 3}
    )
    before = written(team)
    team.lab.slurm.stop_controller()
    try:
        for option in (("--out", "page.html"), ("--serve",)):
            done = team.run("report", ".", *option)
            assert (done.code, done.stdout) == (1, "")
            (line,) = done.stderr.splitlines()
            assert line.startswith("error: "), line
    finally:
        team.lab.slurm.start_controller()
    assert (team.repo / "page.html").read_text() == before
