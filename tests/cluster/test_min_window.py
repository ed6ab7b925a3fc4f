"""Partial admission: Kueue lowers ``spec.parallelism`` of a Job, and git does not fight it."""

from __future__ import annotations

from typing import Any

from cluster.team import SLOW, Team, eventually

ASKED: dict[str, Any] = {"window": 8, "min_window": 2}


def start_with_four_of_eight(team: Team) -> None:
    """A campaign whose window is 8 in a queue where 4 of its pods fit."""
    quota = {"cpu": 4, "memory": "256Mi", "nvidia.com/gpu": 1}
    team.tenant.install({"queue": {"quota": quota}})
    team.write_pipeline(script=SLOW)
    team.write_campaign("one", 8, **ASKED)
    team.apply()
    eventually(lambda: team.job_status("one").get("active") == 4, "four pods")
    assert team.job("one")["spec"]["parallelism"] == 4


def apply_unchanged(team: Team, times: int = 3) -> None:
    """Nothing but the Lease is written, and nothing is said to be wrong."""
    mark = team.cluster.audit_mark()
    for _ in range(times):
        done = team.apply()
        assert "0 applied, 1 unchanged, 0 held back, 0 refused" in done.stdout
    written = {each.resource for each in team.requests(mark) if each.is_write}
    assert written == {"leases"}


def test_fewer_pods_than_asked_for_are_up_to_date_and_pause_and_resume(team: Team) -> None:
    start_with_four_of_eight(team)
    pods = {pod["metadata"]["uid"] for pod in team.pods("one")}
    apply_unchanged(team)
    assert {pod["metadata"]["uid"] for pod in team.pods("one")} == pods

    team.write_campaign("one", 8, **ASKED, suspend=True)
    assert "1 paused" in team.apply().stdout
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")
    assert team.pods("one") == []
    apply_unchanged(team)

    team.write_campaign("one", 8, **ASKED)
    assert "1 resumed" in team.apply().stdout
    eventually(lambda: team.job_status("one").get("active") == 4, "four pods again")
    apply_unchanged(team)


def test_a_changed_window_is_held_back_while_it_runs_and_while_it_is_paused(team: Team) -> None:
    start_with_four_of_eight(team)
    mark = team.cluster.audit_mark()
    pods = {pod["metadata"]["uid"] for pod in team.pods("one")}
    changes: tuple[dict[str, Any], ...] = ({"window": 6, "min_window": 2}, {"window": 4})
    for window in changes:
        team.write_campaign("one", 8, **window)
        done = team.apply(code=3)
        assert f"its window was 8 and is now {window['window']}" in done.stderr
    assert {pod["metadata"]["uid"] for pod in team.pods("one")} == pods

    team.write_campaign("one", 8, **ASKED, suspend=True)
    team.apply()
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")
    team.write_campaign("one", 8, window=6, min_window=2, suspend=True)
    done = team.apply(code=3)
    assert "put the old window back" in done.stderr
    assert len(team.pods_created(mark, "one")) == 0
    apply_with_the_old_one(team)


def apply_with_the_old_one(team: Team) -> None:
    team.write_campaign("one", 8, **ASKED)
    assert "1 resumed" in team.apply().stdout
    eventually(lambda: team.job_status("one").get("active") == 4, "four pods again")
