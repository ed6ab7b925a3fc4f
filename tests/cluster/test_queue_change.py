"""`queue` in converter.yaml changed under live campaigns, on a real Kueue."""

from __future__ import annotations

import pytest
from cluster.team import SLOW, Team, eventually

ONE_CPU = {"s": {"cpu": "1", "memory": "64Mi", "gpu": 0, "workdir": "8Mi"}}


@pytest.fixture
def two_queues(team: Team) -> Team:
    """A team with a second LocalQueue, `other`. Its quota is enough for one pod."""
    quota = {"cpu": 1, "memory": "1Gi", "nvidia.com/gpu": 1}
    policies = {"queues": ["other"]}
    team.tenant.install({"queue": {"quota": quota}, "security": {"policies": policies}})
    team.create_local_queue("other")
    team.write_settings(sizes=ONE_CPU)
    team.write_pipeline(script=SLOW)
    return team


def queue_of(team: Team, campaign: str) -> str:
    workload = team.workload(campaign)
    return str((workload or {}).get("spec", {}).get("queueName"))


def test_what_waits_moves_and_what_runs_is_held_back(two_queues: Team) -> None:
    team = two_queues
    team.write_campaign("first")
    team.apply()
    eventually(lambda: team.admitted("first"), "the admission")
    team.write_campaign("late")
    team.apply()
    eventually(lambda: team.workload("late") is not None, "a Workload in the queue")
    before = queue_of(team, "first")
    team.write_settings(sizes=ONE_CPU, queue="other")
    done = team.apply(code=3)
    assert "campaign first" in done.stderr
    assert f"it runs in LocalQueue {before}, and converter.yaml says other" in done.stderr
    eventually(lambda: queue_of(team, "late") == "other", "the move of what waits")
    assert queue_of(team, "first") == before
    assert team.pods("first") != []


def test_a_paused_campaign_goes_on_in_the_queue_that_git_names(two_queues: Team) -> None:
    team = two_queues
    team.write_campaign("one")
    team.apply()
    eventually(lambda: team.admitted("one"), "the admission")
    team.write_campaign("one", suspend=True)
    team.apply()
    eventually(lambda: not team.pods("one"), "the pause")
    team.write_settings(sizes=ONE_CPU, queue="other")
    team.apply()
    assert team.status()["one"]["phase"] == "Paused"
    team.write_campaign("one")
    done = team.apply()
    assert "moved to LocalQueue other" in done.stdout
    eventually(lambda: team.admitted("one"), "the admission")
    assert queue_of(team, "one") == "other"


def test_a_job_that_somebody_started_without_kueue_is_paused_again(two_queues: Team) -> None:
    team = two_queues
    team.write_campaign("one", suspend=True)
    team.apply()
    team.kubectl("patch", "job", "one", "--type=merge", '--patch={"spec":{"suspend":false}}')
    eventually(lambda: team.pods("one"), "a pod without an admission")
    team.apply()
    eventually(lambda: not team.pods("one"), "the pause")
    # The Job's own count of its pods comes a moment after they are gone.
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the word of it")
    team.kubectl("patch", "job", "one", "--type=merge", '--patch={"spec":{"suspend":false}}')
    team.write_campaign("one")
    done = team.apply(code=3)
    assert "somebody started its Job without Kueue" in done.stderr
