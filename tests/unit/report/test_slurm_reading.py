"""What a page says of what a look at a Slurm found."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from unit.cli.commands import write_repository
from unit.report.models import HOSTILE
from unit.slurm.arrays import (
    NOW,
    SLURM,
    campaign,
    ended,
    gated,
    held,
    kept,
    over,
    record,
    repository,
    seen,
    task,
    wanted_in,
)
from unit.slurm.records import SUBMIT

from converter.cli.report import sources
from converter.cli.repository import load_valid
from converter.errors import CampaignsError
from converter.explain.slurm_look import look_of
from converter.model import Repo
from converter.reconcile.slurm.submission import Submission
from converter.report import slurm_reading
from converter.report.model import Card, Failures, Model, QueueRow
from converter.report.page import Live, page
from converter.report.slurm_queue import waits_for_nodes
from converter.report.slurm_reading import SlurmReading, slurm_model
from converter.slurm.errors import SlurmUnavailable
from converter.slurm.job import Job
from converter.slurm.survey import Survey

REPO = repository(
    campaign("letters", priority="high"), campaign("maps"), campaign("atlas", suspend=True)
)
WANTED = wanted_in(REPO)
LETTERS, MAPS, ATLAS = (WANTED[name] for name in ("letters", "maps", "atlas"))


def model(found: Survey, repo: Repo = REPO, commit: str = "4f1c09e") -> Model:
    slurm = repo.settings.slurm or SLURM
    return slurm_model(look_of(repo, slurm, list(wanted_in(repo).values()), found), commit)


def cards(found: Model) -> dict[str, Card]:
    return {card.name: card for card in found.cards}


def somebodys(number: int, **others: Any) -> Job:
    """A job that is none of ours."""
    return replace(record(number=number), comment="", name="sim", array_job_id=None, **others)


def live(*jobs: Job, others: Sequence[Job] = ()) -> Survey:
    """All three are submitted; these are their jobs."""
    numbers = {job.name: job.array_job_id for job in jobs}
    states = (kept(each, job=numbers.get(each.name, 99)) for each in WANTED.values())
    return seen(*states, jobs=jobs, others=others)


def rows(found: Survey) -> list[tuple[str, list[QueueRow]]]:
    return [(queue.name, list(queue.rows)) for queue in model(found).queues]


def test_the_queue_of_a_partition_is_by_priority_and_then_by_number() -> None:
    found = live(
        record(LETTERS, priority=50),
        record(MAPS, 32, priority=70),
        others=[somebodys(40, priority=90), somebodys(41, priority=50), somebodys(30, priority=50)],
    )
    assert rows(found) == [
        (
            "gpu",
            [
                QueueRow("1", "", "1 job of others"),
                QueueRow("2", "maps", "4 tasks", "70"),
                QueueRow("3", "", "1 job of others"),
                QueueRow("4", "letters", "4 tasks", "high (50)"),
                QueueRow("5", "", "1 job of others"),
            ],
        )
    ]


def test_records_of_one_array_that_follow_each_other_are_one_row() -> None:
    found = live(
        task(0, "PENDING", LETTERS, reason="Priority"),
        record(LETTERS, array_tasks="1-3"),
        others=[somebodys(300), somebodys(301)],
    )
    ((_, queue),) = rows(found)
    assert queue == [
        QueueRow("1–2", "letters", "4 tasks", "high (100)"),  # noqa: RUF001 - a range
        QueueRow("3–4", "", "2 jobs of others"),  # noqa: RUF001 - a range
    ]


def test_each_partition_has_its_own_queue_and_those_of_others_alone_are_not_shown() -> None:
    found = live(
        record(LETTERS),
        record(MAPS, 32, partition="cpu"),
        others=[
            somebodys(20, partition="cpu"),
            somebodys(21, partition="debug"),
            somebodys(22, partition="debug,gpu"),
        ],
    )
    assert [(name, [row.campaign for row in queue]) for name, queue in rows(found)] == [
        ("cpu", ["", "maps"]),
        ("gpu", ["", "letters"]),
    ]


@pytest.mark.parametrize(
    ("job", "waits"),
    [
        (record(LETTERS), True),
        (record(LETTERS, reason="Priority"), True),
        (record(LETTERS, reason="None", eligible=None), True),
        (gated(LETTERS), False),
        (record(LETTERS, priority=0, reason="JobHeldAdmin"), False),
        (held(7, LETTERS), False),
        (held(1, LETTERS), False),
        (held(7, LETTERS, restarts=1, reason="None"), False),
        (record(LETTERS, eligible=NOW + 60), False),
        (record(LETTERS, reason="BeginTime", eligible=NOW + 60), False),
        (record(LETTERS, reason="Dependency", eligible=None), False),
        (record(LETTERS, reason="JobArrayTaskLimit"), False),
    ],
    ids=[
        *("for nodes", "behind others", "not looked at yet"),
        *("its gate is shut", "an operator has shut it", "on hold", "paused"),
        *("a start years away", "begins later", "tried again", "for another job", "its window"),
    ],
)
def test_only_what_waits_for_nodes_has_a_place(job: Job, waits: bool) -> None:
    assert waits_for_nodes(job, NOW) is waits
    found = model(live(job))
    assert bool(found.queues) is waits
    facts = dict(cards(found)["letters"].facts)
    assert facts.get("Place") == ("1" if waits else None)
    assert ("No campaign waits for nodes." in page(found)) is not waits


def test_a_long_queue_is_cut_and_the_rest_counted() -> None:
    ours = [
        task(index, "PENDING", LETTERS, priority=200 - index, array_tasks="") for index in range(70)
    ]
    others = [somebodys(500 + index, priority=200 - index) for index in range(70)]
    (queue,) = model(live(*ours, others=others)).queues
    assert (len(queue.rows), queue.more) == (50, 90)


def test_what_waits_is_in_the_order_of_the_queue() -> None:
    found = live(record(LETTERS, priority=5), record(MAPS, 32, priority=7), held(1, ATLAS))
    assert [card.name for card in model(found).cards] == ["atlas", "maps", "letters"]


BANNERS: Sequence[tuple[str, Survey, str, list[str]]] = (
    ("paused", live(held(1, ATLAS)), "atlas", ["Paused"]),
    (
        "paused, and a task runs",
        live(task(0, wanted=ATLAS), held(1, ATLAS, array_tasks="1-3")),
        "atlas",
        ["To be paused, and not paused yet"],
    ),
    ("on hold", live(held(7, MAPS)), "maps", ["Held: hold 7 of ops"]),
    (
        "on hold, and a task runs",
        live(task(0, wanted=MAPS), held(7, MAPS, array_tasks="1-3")),
        "maps",
        ["What waits is on hold 7 of ops, and what runs goes on to its end"],
    ),
    ("running", live(task(0, wanted=MAPS)), "maps", []),
    (
        "another window",
        seen(kept(MAPS, window=9), jobs=[task(0, wanted=MAPS)]),
        "maps",
        ["Not as git has it. In Slurm it is Running"],
    ),
)


@pytest.mark.parametrize(
    ("found", "name", "banners"), [row[1:] for row in BANNERS], ids=[row[0] for row in BANNERS]
)
def test_what_is_stopped_or_drifted_has_a_banner(
    found: Survey, name: str, banners: list[str]
) -> None:
    assert [each.text for each in cards(model(found))[name].banners] == banners


def test_failed_volumes_are_put_together_by_how_they_ended() -> None:
    found = seen(
        kept(LETTERS),
        kept(MAPS, job=32),
        over(ATLAS, "atlas-1"),
        jobs=[task(3, wanted=LETTERS)],
        results={"letters": ended(13, 0, 13), "maps": ended(0, 1, 0, 0, attempt=4)},
    )
    told = cards(model(found))
    given_up = "exit 13: given up without another try"
    assert told["letters"].failures == (Failures(2, given_up, ("letters-0", "letters-2")),)
    assert told["letters"].causes[0].code == "volumes-failed"
    assert told["letters"].causes[0].details == (), "they are listed already"
    assert told["maps"].failures == (Failures(1, "exit 1 after 4 tries", ("maps-1",)),)
    assert told["atlas"].failures == (Failures(1, "", ("atlas-1",)),)
    assert [card.more_failed for card in told.values()] == [0, 0, 0]


@pytest.mark.parametrize(
    ("reason", "first"),
    [("Priority", "letters"), ("PartitionTimeLimit", "maps")],
    ids=["what needs nobody", "what needs somebody"],
)
def test_what_needs_somebody_comes_before_what_waits(reason: str, first: str) -> None:
    found = live(record(LETTERS, priority=200), record(MAPS, 32, reason=reason), held(1, ATLAS))
    waiting = [card.name for card in model(found).cards if card.phase == "Waiting"]
    assert waiting[0] == first


def events(found: Survey, name: str) -> list[tuple[int, str]]:
    listed = model(found).timeline.events
    return [
        (_epoch(each.at.iso), f"{each.kind}: {each.what}")
        for each in listed
        if each.campaign == name
    ]


def _epoch(iso: str) -> int:
    return int(datetime.fromisoformat(iso).timestamp())


TIMES: Sequence[tuple[str, Survey, list[tuple[int, str]], list[str]]] = (
    ("waits", live(record(MAPS, 32)), [(SUBMIT, "created: submitted")], ["waiting"]),
    (
        "runs",
        live(task(0, wanted=MAPS)),
        [(SUBMIT, "created: submitted")],
        ["waiting", "running"],
    ),
    (
        "on hold, and nothing of it runs",
        seen(kept(MAPS), jobs=[held(7, MAPS)], results={"maps": ended(0)}),
        [
            (NOW - 60, "stopped: hold 7 of ops since 2026-12-01T15:15:36Z: a lost node"),
            (SUBMIT, "created: submitted"),
        ],
        ["waiting", "running", "stopped"],
    ),
    (
        "ended, and no apply has seen it",
        seen(kept(MAPS), results={"maps": ended(0, 0, 0, 0)}),
        [(SUBMIT + 123, "ended: ended: finished"), (SUBMIT, "created: submitted")],
        ["waiting", "running"],
    ),
    (
        "ended, and nothing else is kept",
        seen(over(MAPS, "maps-1")),
        [(NOW - 600, "ended: ended: partly failed")],
        [],
    ),
    ("not submitted", seen(), [], []),
)


@pytest.mark.parametrize(
    ("found", "told", "spans"), [row[1:] for row in TIMES], ids=[row[0] for row in TIMES]
)
def test_what_is_known_of_when_things_happened(
    found: Survey, told: list[tuple[int, str]], spans: list[str]
) -> None:
    assert events(found, "maps") == told
    drawn = [lane.spans for lane in model(found).timeline.lanes if lane.campaign == "maps"]
    assert [span.kind for each in drawn for span in each] == spans


def test_the_parts_of_a_campaign_are_told_apart() -> None:
    repo = repository(campaign("atlas", 4), slurm=replace(SLURM, max_array_size=2))
    one, two = wanted_in(repo).values()
    found = seen(
        kept(one), kept(two, job=32), jobs=[record(one, reason="Priority"), record(two, 32)]
    )
    told = model(found, repo)
    assert ("Arrays", "2") in cards(told)["atlas"].facts
    assert [row.who for row in told.queues[0].rows] == [
        "array atlas-part1, 2 tasks",
        "array atlas-part2, 2 tasks",
    ]
    whats = [each.what for each in told.timeline.events]
    assert whats == ["atlas-part2: submitted", "atlas-part1: submitted"]


def test_the_page_speaks_of_slurm_and_has_no_quota() -> None:
    text = page(model(live(task(0, wanted=MAPS), record(LETTERS))), Live(5, reads=15))
    shown = re.sub(r"<(style|script|defs)>.*?</\1>", "", text, flags=re.DOTALL)
    for word in ("Kueue", "pod", "API server", "cluster", "quota", "LocalQueue", "admitted"):
        assert word.lower() not in shown.lower(), word
    assert "1 task at work" in re.sub(r"<[^>]*>", "", shown)
    assert "Partition <b>gpu</b>" in shown
    assert "asked again every 15 s" in shown
    assert "Times are the Slurm host&#39;s" in shown


def test_an_empty_repository_has_a_page() -> None:
    text = page(model(seen(), repository()))
    assert "There is no campaign in the repository, and none of it in Slurm." in text
    assert "Nothing has happened yet." in text


def test_state_that_cannot_be_read_is_named() -> None:
    (line,) = model(seen(unreadable=["a.json"])).unread
    assert line == "a.json of the state on the Slurm host, so that campaigns may be missing here"


def test_what_somebody_wrote_in_slurm_is_a_text() -> None:
    job = held(7, MAPS, reason=HOSTILE, partition=HOSTILE)
    found = page(model(live(job, record(LETTERS, partition=HOSTILE))))
    assert "<script>hacked" not in found
    assert "&lt;script&gt;hacked" in found


def test_a_reading_is_of_what_git_says_by_then(monkeypatch: pytest.MonkeyPatch) -> None:
    repos = [repository(campaign("letters")), repository(campaign("maps"))]
    asked: list[list[Submission]] = []

    def looked(repo: Repo, slurm: Any, wanted: list[Submission]) -> Any:
        asked.append(wanted)
        return look_of(repo, slurm, wanted, seen())

    monkeypatch.setattr(slurm_reading, "look_at_slurm", looked)
    reading = SlurmReading(lambda: (repos.pop(0), ""), lambda repo: [*wanted_in(repo).values()])
    told = [[card.name for card in reading.read().cards] for _ in range(2)]
    assert told == [["letters"], ["maps"]]
    assert [each.name for wanted in asked for each in wanted] == ["letters", "maps"]


def test_a_slurm_that_is_away_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def looked(*_: Any) -> Any:
        raise SlurmUnavailable("this machine's Slurm gave no answer in 30 s")

    monkeypatch.setattr(slurm_reading, "look_at_slurm", looked)
    reading = SlurmReading(lambda: (REPO, ""), lambda repo: [])
    with pytest.raises(CampaignsError, match="gave no answer in 30 s"):
        reading.read()


def test_another_backend_ends_the_following(tmp_path: Path) -> None:
    of_slurm = (
        "backend: slurm\nrepository: team\ncommand: [ocr]\n"
        "slurm: {directory: /shared, container: []}\n"
    )
    repo = write_repository(tmp_path / "repo", {"converter.yaml": of_slurm})
    read = sources(repo, load_valid(repo, samples=False))
    assert read()[0].settings.slurm is not None
    write_repository(
        repo, {"converter.yaml": "backend: none\nrepository: team\nnamespace: team\ncommand: [ocr]"}
    )
    with pytest.raises(CampaignsError, match="has backend none now"):
        read()
