"""What campaigns come to on every backend: one life of them, and what a backend has to show of it.

A step that a backend cannot take is left out by a capability that it declares, never by its name.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol

from converter.capabilities import Capabilities

SECONDS = 90.0


class Ended(Protocol):
    """How a command ended."""

    @property
    def code(self) -> int: ...
    @property
    def stdout(self) -> str: ...
    @property
    def stderr(self) -> str: ...
    @property
    def text(self) -> str: ...


class Site(Protocol):
    """A repository, the commands on it, and what its backend knows that they did not tell.

    A unit is a pod or a task: that of one volume.
    """

    @property
    def able(self) -> Capabilities: ...

    @property
    def repo(self) -> Path: ...

    @property
    def slow(self) -> str:
        """A script that goes on until it is asked to end, and then ends at once."""
        ...

    @property
    def doctor(self) -> tuple[str, ...]:
        """The checks of doctor that a site made for tests passes."""
        ...

    def write_pipeline(self, name: str, script: str) -> None: ...
    def write_campaign(self, name: str, number: int, **keys: Any) -> None: ...
    def delete_campaign(self, name: str) -> None: ...
    def run(self, *arguments: str) -> Ended: ...
    def apply(self, *options: str, code: int = 0) -> Ended: ...
    def phases(self) -> dict[str, str]: ...

    def mark(self) -> Any:
        """This moment, for `started` and `writes`."""
        ...

    def units(self, name: str) -> int:
        """How many units of a campaign there are: that run, or are about to."""
        ...

    def started(self, name: str, since: Any) -> int:
        """How many units of it have been started since a moment, also such as lived for no time."""
        ...

    def writes(self, since: Any) -> list[Any]:
        """What apply wrote since a moment, the record of who applies aside."""
        ...

    def has(self, name: str) -> bool:
        """Whether the backend itself still knows a campaign."""
        ...

    def forget(self, name: str) -> None:
        """Have the backend forget a campaign that has ended."""
        ...


def eventually(found: Callable[[], object], what: str) -> None:
    deadline = time.monotonic() + SECONDS
    while not found():
        assert time.monotonic() < deadline, f"not in {SECONDS:.0f} s: {what}"
        time.sleep(0.2)


def live(site: Site) -> None:
    """The whole of it."""
    site.write_pipeline("quick", "sleep 1")
    site.write_pipeline("slow", site.slow)
    site.write_campaign("quick", 3, pipeline="quick", window=2)
    site.write_campaign("slow", 2, pipeline="slow")
    site.write_campaign("fresh", 1, pipeline="slow", suspend=True)
    assert site.run("diff", ".").code == 2
    begun = site.mark()
    done = site.apply()
    assert "3 applied" in done.stdout, done.text
    assert "1 paused" in done.stdout, done.text

    most = _runs(site)
    assert 1 <= most <= 2, "within its window"
    assert site.phases()["fresh"] == "Paused"
    _looks(site)
    _pauses(site, begun)
    _resumes(site)
    _never_runs_again(site)
    _prunes(site)


def _runs(site: Site) -> int:
    """One runs to its end beside another; gives how many units of it there were at most."""
    most = 0

    def has_finished() -> bool:
        nonlocal most
        most = max(most, site.units("quick"))
        return site.phases()["quick"] == "Finished"

    eventually(has_finished, "quick ends")
    eventually(lambda: site.units("slow") == 2, "slow runs")
    eventually(lambda: site.phases()["slow"] == "Running", "and status says so")
    return most


def _looks(site: Site) -> None:
    """An apply with nothing to do writes nothing, and those who only look find nothing to do."""
    site.apply()  # writes down what has ended
    again = site.mark()
    assert "1 finished" in site.apply().stdout
    assert (written := site.writes(again)) == [], written
    done = site.run("diff", ".")
    assert done.code == 0, done.text
    done = site.run("explain", "slow", ".")
    assert "it runs" in done.stdout or "running" in done.stdout, done.text
    assert site.run("report", ".", "--out", "page.html").code == 0
    assert "slow" in (site.repo / "page.html").read_text()
    done = site.run("doctor", ".", *site.doctor)
    assert done.code == 0, done.text
    assert json.loads(site.run("holds", ".", "--format=json").stdout)["holds"] == []
    assert (written := site.writes(again)) == [], written


def _pauses(site: Site, begun: Any) -> None:
    site.write_campaign("slow", 2, pipeline="slow", suspend=True)
    assert json.loads(site.run("diff", ".", "--format=json").stdout)["summary"]["pause"] == 1
    done = site.apply()
    assert "1 paused" in done.stdout, done.text
    if site.able.evicts:
        eventually(lambda: site.units("slow") == 0, "no unit of what is paused")
        eventually(lambda: site.phases()["slow"] == "Paused", "and status says so")
    else:
        assert site.phases()["slow"] == "Pausing", "what runs goes on"
    assert site.started("fresh", begun) == 0, "not for a moment"


def _resumes(site: Site) -> None:
    """With another window on the way, where what is paused has stopped."""
    resumed = site.mark()
    site.write_campaign("slow", 2, pipeline="slow", window=1)
    site.write_campaign("fresh", 1, pipeline="slow")
    done = site.apply()
    assert "2 resumed" in done.stdout, done.text
    eventually(lambda: site.started("fresh", resumed) == 1, "a unit of fresh")
    if site.able.evicts:
        eventually(lambda: site.started("slow", resumed) >= 1, "a unit of slow")
        eventually(lambda: site.units("slow") == 1, "one at a time")


def _never_runs_again(site: Site) -> None:
    """What cannot be changed while it runs is held back, and what has finished stays finished."""
    site.write_campaign("slow", 3, pipeline="slow", window=1)
    site.forget("quick")
    finished = site.mark()
    done = site.apply(code=3)
    assert "held back: campaign slow" in done.stderr, done.text
    assert site.run("diff", ".").code == 2
    assert site.phases()["quick"] == "Finished"
    assert site.started("quick", finished) == 0
    if not site.able.live_window:
        site.write_campaign("slow", 2, pipeline="slow", window=2)
        assert "its window was 1 and is now 2" in site.apply(code=3).stderr


def _prunes(site: Site) -> None:
    site.delete_campaign("fresh")
    site.write_campaign("slow", 2, pipeline="slow", window=1)
    site.apply()
    assert site.has("fresh"), "nothing is cancelled without --prune"
    assert "1 pruned" in site.apply("--prune").stdout
    eventually(lambda: not site.has("fresh"), "the campaign that git has no more")
    assert site.units("slow") >= 1
    assert set(site.phases()) == {"quick", "slow"}
