"""Why a campaign is where it is on a Slurm: the causes in order, one situation a row."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from slurm.submissions import REPOSITORY
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

from converter.explain import slurm, slurm_look, slurm_volumes
from converter.explain.cause import Cause
from converter.explain.slurm_look import SlurmLook, look_of
from converter.explain.slurm_volumes import NO_RESULT, FailedVolume
from converter.model import Repo
from converter.reconcile.slurm.array import Array
from converter.slurm.job import Job
from converter.slurm.layout import job_directory
from converter.slurm.state import Step
from converter.slurm.survey import Result, Survey

REPO = repository(campaign())
LETTERS = wanted_in(REPO)["letters"]
PAUSED_REPO = repository(campaign(suspend=True))
PAUSED = replace(LETTERS, suspended=True)
LONGER_REPO = repository(campaign(number=5))
EMPTY_REPO = repository()
SPLIT_REPO = repository(campaign("atlas", 4), slurm=replace(SLURM, max_array_size=2))
ONE, TWO = wanted_in(SPLIT_REPO).values()
LOGS = f"{job_directory('/shared', REPOSITORY, 'letters')}/logs"
REST = record(LETTERS, array_tasks="2-3", reason="JobArrayTaskLimit")
DONE = ended(0, 0, 0, 0)
RUNS = (task(0, wanted=LETTERS), task(1, wanted=LETTERS), REST)


@dataclass(frozen=True)
class Row:
    """`causes` begin with these words, each with the code and a part of the remedy."""

    situation: str
    found: Survey
    causes: Sequence[tuple[str, str, str]]
    repo: Repo = REPO


def waits(reason: str, **others: Any) -> Survey:
    return seen(kept(LETTERS), jobs=[record(LETTERS, reason=reason, **others)])


ROWS = (
    Row(
        "missing",
        seen(),
        [("missing", "campaigns/letters.yaml is in git, and no apply", "campaigns apply")],
    ),
    Row(
        "missing, and apply would hold it back",
        seen(unreadable=["a.json"]),
        [("missing", "a.json in /state/archive-0eb3e36bfb24 on the Slurm host cannot be read", "")],
    ),
    Row("next", waits("Resources"), [("waits", "it is next, and waits for nodes", "")]),
    Row(
        "the nodes are drained",
        waits("Resources", description="Nodes required for job are DOWN, DRAINED or reserved"),
        [("waits", "Slurm says: Nodes required for job are DOWN, DRAINED", "sinfo --list-reasons")],
    ),
    Row("behind others", waits("Priority"), [("waits", "jobs of a higher priority are ahead", "")]),
    Row(
        "never starts",
        waits("PartitionTimeLimit"),
        [("never", "its max_seconds is more than its partition allows", "a smaller max_seconds")],
    ),
    Row(
        "never starts, and Slurm has shut its gate",
        waits("BadConstraints", priority=0),
        [("never", "no node has what its size and flavor ask for together", "with --prune")],
    ),
    Row(
        "a volume is tried again",
        seen(
            kept(LETTERS),
            jobs=[*RUNS[1:], task(0, "PENDING", LETTERS, reason="BeginTime")],
            failures={"letters": ended(1)},
        ),
        [
            ("volumes-retried", "1 of its 4 volumes failed and is tried again", "see INDEX.log"),
            ("waits", "as many of its volumes run", ""),
            ("waits", "its time has not come", ""),
            ("running", "it runs", ""),
        ],
    ),
    Row(
        "a volume was tried again, and is done",
        seen(
            kept(LETTERS),
            jobs=RUNS[1:],
            results={"letters": ended(0)},
            failures={"letters": ended(1)},
        ),
        [("waits", "as many of its volumes run", ""), ("running", "it runs", "")],
    ),
    Row(
        "at a limit",
        waits("QOSMaxCpuPerUserLimit"),
        [("waits", "a limit of its account, user or QOS is reached (QOSMax", "have the limit")],
    ),
    Row(
        "for a reason that nobody knows",
        waits("BadWeather"),
        [("waits", "Slurm says BadWeather", "")],
    ),
    Row(
        "an operator of Slurm holds it",
        waits("JobHeldAdmin", priority=0),
        [("waits", "Slurm or an operator holds it (JobHeldAdmin)", "ask for scontrol release")],
    ),
    Row(
        "its gate is shut",
        seen(kept(LETTERS, Step.SUBMITTED), jobs=[gated(LETTERS)]),
        [("gate", "its gate is shut", "run `campaigns apply`, which opens it")],
    ),
    Row(
        "running",
        seen(kept(LETTERS), jobs=RUNS),
        [
            ("waits", "as many of its volumes run as its window lets", ""),
            ("running", "it runs: 2 task(s)", ""),
        ],
    ),
    Row(
        "running, and a volume has failed",
        seen(kept(LETTERS), jobs=RUNS[1:], results={"letters": ended(13)}),
        [
            ("volumes-failed", "1 of its 4 volumes failed for good so far", LOGS),
            ("waits", "as many of its volumes run", ""),
            ("running", "it runs: 1 task(s)", ""),
        ],
    ),
    Row(
        "on hold",
        seen(kept(LETTERS), jobs=[held(7, LETTERS)]),
        [("hold", "hold 7 is in force (of ops since", "campaigns release letters --instance 7")],
    ),
    Row(
        "on hold, and some tasks run",
        seen(kept(LETTERS), jobs=[RUNS[0], held(7, LETTERS, array_tasks="1-3")]),
        [("hold", "hold 7 is in force", "--instance 7"), ("running", "it runs: 1 task(s)", "")],
    ),
    Row(
        "paused",
        seen(kept(PAUSED), jobs=[held(1, LETTERS)]),
        [("paused-in-git", "git pauses it: suspend: true in campaigns/letters.yaml", "take susp")],
        PAUSED_REPO,
    ),
    Row(
        "paused, and tasks run to their end",
        seen(kept(PAUSED), jobs=[RUNS[0], held(1, LETTERS, array_tasks="1-3")]),
        [("paused-in-git", "git pauses it: suspend: true in campaigns/letters.yaml; 1 task", "")],
        PAUSED_REPO,
    ),
    Row(
        "paused, and on hold",
        seen(kept(PAUSED), jobs=[held(7, LETTERS)]),
        [("hold", "hold 7 is in force", "--instance 7"), ("paused-in-git", "git pauses it", "")],
        PAUSED_REPO,
    ),
    Row(
        "paused, and what waits may start",
        seen(kept(PAUSED), jobs=[record(LETTERS)]),
        [
            ("paused-in-git", "git pauses it", "take suspend out"),
            ("waits", "it is next, and waits for nodes", ""),
        ],
        PAUSED_REPO,
    ),
    Row(
        "git pauses it, and no apply has",
        seen(kept(LETTERS), jobs=RUNS),
        [
            ("not-as-in-git", "git pauses it, and no apply has", "run `campaigns apply`"),
            ("waits", "as many of its volumes run", ""),
            ("running", "it runs: 2 task(s)", ""),
        ],
        PAUSED_REPO,
    ),
    Row(
        "git lets it run, and no apply has",
        seen(kept(PAUSED), jobs=[held(1, LETTERS)]),
        [("not-as-in-git", "git lets it run, and no apply has resumed it", "run `campaigns appl")],
    ),
    Row(
        "git's hold is left, which no apply has lifted",
        seen(kept(LETTERS), jobs=[held(1, LETTERS)]),
        [
            (
                "unknown",
                "it is Paused: an apply was stopped while it paused or resumed it: apply again",
                "",
            )
        ],
    ),
    Row(
        "another list",
        seen(kept(LETTERS), jobs=RUNS),
        [
            ("not-as-in-git", "its list of volumes differs from what was applied", ""),
            ("waits", "as many of its volumes run", ""),
            ("running", "it runs: 2 task(s)", ""),
        ],
        LONGER_REPO,
    ),
    Row(
        "not in git",
        seen(kept(LETTERS), jobs=RUNS),
        [
            ("not-as-in-git", "it is not in git: apply with --prune cancels it", "put the file"),
            ("waits", "as many of its volumes run as its window lets", ""),
            ("running", "it runs: 2 task(s)", ""),
        ],
        EMPTY_REPO,
    ),
    Row(
        "a start years away that is no hold",
        seen(kept(LETTERS), jobs=[held(7, LETTERS, restarts=1)]),
        [("far-start", "alias: not our hold", "hold it and release it")],
    ),
    Row(
        "tried again in two minutes",
        seen(
            kept(LETTERS),
            jobs=[
                task(0, "PENDING", LETTERS, eligible=NOW + 90, reason="BeginTime", priority=9),
                task(1, "PENDING", LETTERS, eligible=NOW + 60, reason="BeginTime", priority=9),
            ],
            results={"letters": {2: DONE[2], 3: DONE[3]}},
        ),
        [("waits", "it begins at 2026-12-01T15:17:36 UTC", "")],
    ),
    Row(
        "a task was cancelled by hand, and the others go on",
        seen(kept(LETTERS), jobs=RUNS[:2], results={"letters": {2: DONE[2]}}),
        [
            ("volumes-failed", "1 of its 4 volumes failed for good so far", LOGS),
            ("running", "it runs: 2 task(s)", ""),
        ],
    ),
    Row(
        "in a state that nobody knows",
        seen(
            kept(LETTERS),
            jobs=[task(3, "BEWITCHED", LETTERS)],
            results={"letters": ended(0, 0, 0)},
        ),
        [
            ("unknown", "31_3: its state BEWITCHED is none that is known here", "scontrol show"),
            ("running", "it runs: 1 task(s)", ""),
        ],
    ),
    Row(
        "stopped while it was submitted",
        seen(kept(LETTERS, Step.SUBMITTING, at=NOW - 500)),
        [("not-submitted", "an apply was stopped while it submitted it", "campaigns apply")],
    ),
    Row(
        "its tasks have just ended",
        seen(
            kept(LETTERS),
            jobs=[task(index, "FAILED", LETTERS, end=NOW - 5) for index in range(4)],
        ),
        [("ending", "its tasks have ended, and one that failed may come back", "")],
    ),
    Row("finished", seen(over(LETTERS)), [("finished", "all of its 4 volumes are done", "")]),
    Row(
        "failed",
        seen(over(LETTERS, "letters-1")),
        [("failed-volumes", "1 of its 4 volumes failed", LOGS)],
    ),
    Row(
        "failed, and it was paused",
        seen(over(PAUSED, "letters-1")),
        [("failed-volumes", "1 of its 4 volumes failed", LOGS)],
        PAUSED_REPO,
    ),
    Row(
        "finished, and it runs again",
        seen(over(LETTERS), jobs=RUNS[:1]),
        [
            ("runs-again", "it has ended, and somebody has had tasks of it queued", "scancel 31"),
            ("finished", "all of its 4 volumes are done", ""),
        ],
    ),
    Row(
        "a part is missing",
        seen(kept(ONE), jobs=[task(0, wanted=ONE)], results={ONE.name: {1: DONE[1]}}),
        [
            ("missing", "2 volumes of it are in parts that no apply has submitted", "apply"),
            ("running", "it runs: 1 task(s)", ""),
        ],
        SPLIT_REPO,
    ),
    Row(
        "a part has ended, and the other is missing",
        seen(over(ONE)),
        [("missing", "2 volumes of it are in parts that no apply has submitted", "apply")],
        SPLIT_REPO,
    ),
    Row(
        "both parts wait for the same, and are on the same hold",
        seen(kept(ONE), kept(TWO, job=32), jobs=[held(7, ONE), held(7, TWO, number=32)]),
        [("hold", "hold 7 is in force", "campaigns release atlas --instance 7")],
        SPLIT_REPO,
    ),
    Row(
        "volumes of both parts failed",
        seen(over(ONE, "atlas-0"), over(TWO, "atlas-3")),
        [("failed-volumes", "2 of its 4 volumes failed", "/atlas-part1/logs, /shared/campaigns/")],
        SPLIT_REPO,
    ),
)


def look(found: Survey, repo: Repo = REPO) -> SlurmLook:
    return look_of(repo, SLURM, list(wanted_in(repo).values()), found)


def causes(found: Survey, repo: Repo = REPO) -> tuple[Cause, ...]:
    seen_now = look(found, repo)
    (status,) = seen_now.statuses
    return seen_now.causes(status)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.situation)
def test_the_causes_in_order(row: Row) -> None:
    told = causes(row.found, row.repo)
    assert [each.code for each in told] == [code for code, _, _ in row.causes]
    for cause, (_, sentence, remedy) in zip(told, row.causes, strict=True):
        assert sentence in cause.sentence
        assert remedy in cause.remedy
        assert bool(remedy) <= bool(cause.remedy)


def test_what_was_cancelled_by_hand_is_named_while_the_others_go_on() -> None:
    found = seen(kept(LETTERS), jobs=RUNS[:2], results={"letters": {2: DONE[2]}})
    (cause, _) = causes(found)
    assert cause.details == (f"letters-3 (index 3): {NO_RESULT}",)
    (status,) = look(found).statuses
    assert (status.done, status.failed) == (1, 1)
    # Of which tasks a record is that Slurm has cut nobody knows.
    cut = replace(REST, array_tasks="1,3,...")
    (status,) = look(seen(kept(LETTERS), jobs=[RUNS[0], cut])).statuses
    assert status.failed == 0


def test_of_many_that_wait_for_the_like_the_first_is_told() -> None:
    jobs = [
        task(index, "PENDING", LETTERS, eligible=NOW + 60 + index, reason="BeginTime", priority=9)
        for index in range(4)
    ]
    (cause,) = causes(seen(kept(LETTERS), jobs=jobs))
    assert cause.details == ("and 3 more wait for the like",)


def test_failed_volumes_are_named_and_many_are_cut() -> None:
    repo = repository(campaign(number=30))
    many = wanted_in(repo)["letters"]
    (cause,) = causes(seen(over(many, *many.volumes)), repo)
    assert cause.details[:2] == ("letters-0", "letters-1")
    assert cause.details[20:] == ("and 10 more",)


@pytest.mark.parametrize(
    ("found", "repo", "failures"),
    [
        (
            seen(kept(LETTERS), jobs=RUNS[1:], results={"letters": ended(13)}),
            REPO,
            [("letters-0", "exit 13: given up without another try")],
        ),
        (
            seen(kept(LETTERS), jobs=RUNS[1:], results={"letters": ended(1, attempt=3)}),
            REPO,
            [("letters-0", "exit 1 after 3 tries")],
        ),
        (
            seen(kept(LETTERS), results={"letters": ended(0, 0, 13)}),
            REPO,
            [("letters-2", "exit 13: given up without another try"), ("letters-3", NO_RESULT)],
        ),
        (
            seen(kept(LETTERS), results={"letters": ended(0, 13, 0, 0)}),
            LONGER_REPO,
            [("index 1", "exit 13: given up without another try")],
        ),
        (
            seen(over(LETTERS, "letters-1"), results={"letters": ended(0, 13, 0, 0)}),
            LONGER_REPO,
            [("letters-1", "")],
        ),
        (seen(kept(LETTERS), jobs=RUNS), REPO, []),
        (seen(), REPO, []),
    ],
    ids=[
        "while others run",
        "after several tries",
        "gone without a result",
        "git has another list: they are called by number",
        "of an end that is kept, the names that are kept",
        "none",
        "not submitted",
    ],
)
def test_which_volumes_failed_and_how(
    found: Survey, repo: Repo, failures: list[tuple[str, str]]
) -> None:
    assert look(found, repo).failures("letters") == failures


def test_which_volumes_are_tried_again_and_how_often() -> None:
    failures = {0: Result(1, 2, "2026-12-01T15:00:00Z"), 2: Result(137, 1, "2026-12-01T15:00:00Z")}
    found = seen(kept(LETTERS), jobs=RUNS, failures={"letters": failures})
    first = causes(found)[0]
    assert first.code == "volumes-retried"
    assert first.details == (
        "letters-0 (index 0): exit 1 (try 3 of 4 is next)",
        "letters-2 (index 2): exit 137: killed (try 2 of 4 is next)",
    )


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """How many records the rules have looked at."""
    looks: list[int] = []
    real = slurm._waits

    def counted(job: Job) -> Cause | None:
        looks.append(job.job_id)
        return real(job)

    monkeypatch.setattr(slurm, "_waits", counted)
    real_failed = slurm_volumes.failed_volumes

    def counted_failed(array: Array, volumes: Sequence[str], now: int) -> Iterator[FailedVolume]:
        looks.append(0)
        return real_failed(array, volumes, now)

    monkeypatch.setattr(slurm_look, "failed_volumes", counted_failed)
    return looks


def test_a_campaign_more_costs_no_more_than_itself(asked: list[int]) -> None:
    repo = repository(*(campaign(f"c{number:03}", 1) for number in range(100)))
    wanted = wanted_in(repo).values()
    states = [kept(each, job=number) for number, each in enumerate(wanted, 1000)]
    jobs = [record(each, number) for number, each in enumerate(wanted, 1000)]
    found = look_of(repo, SLURM, list(wanted), seen(*states, jobs=jobs))
    told = [found.causes(status) for status in found.statuses]
    assert len(told) == 100
    assert all(told)
    assert len(asked) <= 4 * 100
