"""One apply with everything in it that is held back, and all else that must come through."""

from __future__ import annotations

from functools import partial

from cluster.team import SLOW, Team, eventually

RUN = ("window", "volumes", "paused-1", "paused-2")


def test_what_is_held_back_keeps_no_other_campaign_from_its_change(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("window", 4, window=2)
    team.write_campaign("volumes", 2)
    team.write_campaign("paused-1", 2)
    team.write_campaign("paused-2")
    team.write_campaign("resuming", suspend=True)
    team.apply()
    for name in RUN:
        eventually(partial(has_pods, team, name), f"a pod of {name}")
    foreign = team.kubectl("create", "job", "foreign", "--image=somebody", "--output=name")
    assert foreign.strip() == "job.batch/foreign"
    kept = {name: pods_of(team, name) for name in ("window", "volumes")}
    mark = team.cluster.audit_mark()

    team.write_campaign("window", 4, window=3)
    team.write_campaign("volumes", 3)
    team.write_campaign("foreign")
    team.write_campaign("new", 2)
    team.write_campaign("fresh-pause", suspend=True)
    team.write_campaign("paused-1", 2, suspend=True)
    team.write_campaign("paused-2", suspend=True)
    team.write_campaign("resuming")
    done = team.apply(code=3)

    for name in ("window", "volumes", "foreign"):
        assert f"held back: campaign {name}" in done.stderr
    assert "3 held back, 0 refused, 3 paused, 1 resumed" in done.stdout
    for name in ("paused-1", "paused-2"):
        eventually(partial(is_paused, team, name), f"{name} pauses")
        assert team.pods(name) == []
    for name in ("new", "resuming"):
        eventually(partial(has_pods, team, name), f"a pod of {name}")
    assert team.pods_created(mark, "fresh-pause") == []
    assert team.status()["fresh-pause"]["phase"] == "Paused"
    assert {name: pods_of(team, name) for name in kept} == kept
    assert team.get("configmap", "campaign-foreign") is None
    written = {each.name for each in team.requests(mark, resource="jobs") if each.is_write}
    assert written.isdisjoint({"window", "volumes", "foreign"})


def pods_of(team: Team, job: str) -> set[str]:
    return {pod["metadata"]["uid"] for pod in team.pods(job)}


def has_pods(team: Team, job: str) -> bool:
    return bool(team.job_status(job).get("active"))


def is_paused(team: Team, campaign: str) -> bool:
    return str(team.status()[campaign]["phase"]) == "Paused"
