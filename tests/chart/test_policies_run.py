"""A team whose release has its policies, as every test's team: what campaigns do all goes on."""

from __future__ import annotations

from typing import Any

from cluster.team import SLOW, Team, eventually
from conftest import TeamFactory

# Four pods of a campaign's eight.
QUOTA = {"cpu": 4, "memory": "256Mi", "nvidia.com/gpu": 1}
PARTIAL: dict[str, Any] = {"pipeline": "slow", "window": 8, "min_window": 2}
REFUSALS = {403, 422}
# What the policies look at. Kueue's webhook refuses Kueue a patch of a Workload now and then.
LOOKED_AT = {"jobs", "pods", "configmaps"}


def refusals(team: Team, since: int) -> list[str]:
    """What the API server refused to anybody, controllers included, in the team's namespace."""
    found = team.cluster.audit_log.events(since, namespace=team.namespace)
    return [
        f"{event.user} {event.verb} {event.resource} {event.name}"
        for event in found
        if event.is_write and event.code in REFUSALS and event.resource in LOOKED_AT
    ]


def test_campaigns_run_pause_resume_and_go(new_team: TeamFactory) -> None:
    team = new_team({"queue": {"quota": QUOTA}})
    assert team.cluster.kubectl.run("get", "validatingadmissionpolicies").count(team.namespace) >= 3
    mark = team.cluster.audit_mark()
    team.write_pipeline("slow", script=SLOW)
    team.write_pipeline("quick", ttl_seconds_after_finished=1)
    team.write_campaign("partial", 8, **PARTIAL)
    team.write_campaign("later", 2, pipeline="quick", suspend=True)
    team.apply()
    eventually(lambda: team.job_status("partial").get("active") == 4, "four pods of eight")
    assert team.job("partial")["spec"]["parallelism"] == 4

    team.write_campaign("partial", 8, **PARTIAL, suspend=True)
    team.write_campaign("later", 2, pipeline="quick")
    team.apply()
    eventually(lambda: not team.pods("partial"), "the pause")
    eventually(lambda: team.get("job", "later") is None, "its end, and that of its time to live")
    assert len(team.pods_created(mark, "later")) == 2

    team.write_campaign("partial", 8, **PARTIAL)
    team.delete_campaign("later")
    team.apply("--prune")
    eventually(lambda: team.job_status("partial").get("active") == 4, "four pods again")

    team.delete_campaign("partial")
    team.apply("--prune", "--allow-empty")
    eventually(lambda: team.get("job", "partial") is None, "the prune")
    eventually(lambda: not team.objects("pods"), "the end of the last pod")
    assert team.objects("configmaps", "gitops-campaigns.io/campaign") == []
    assert refusals(team, mark) == []
