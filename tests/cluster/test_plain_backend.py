"""Jobs that no queue has: what others do with them, and what that must not come to."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster.backend_teams import remove, unqueued_team
from cluster.team import SLOW, Team, eventually
from conftest import RunningCluster

from converter.model import Backend
from converter.names import OPENED_ANNOTATION


@pytest.fixture
def plain(cluster: RunningCluster, tmp_path: Path) -> Iterator[Team]:
    made = unqueued_team(cluster, tmp_path / "none", Backend.NONE, queue="")
    made.write_pipeline("slow", script=SLOW)
    made.write_pipeline("quick")
    yield made
    remove(made)


def test_a_job_that_is_made_anew_of_what_has_ended_is_not_started(plain: Team) -> None:
    team = plain
    team.write_campaign("quick", pipeline="quick")
    team.apply()
    eventually(lambda: team.ended("quick"), "quick ends")
    team.apply()
    team.kubectl("delete", "job", "quick")
    assert team.run("render", ".", "--out", "rendered").code == 0
    mark = team.cluster.audit_mark()
    team.kubectl("apply", "--recursive", "-f", str(team.repo / "rendered"))
    done = team.apply(code=3)
    assert "it has ended (Finished), and somebody made its Job quick anew" in done.stderr
    assert OPENED_ANNOTATION not in team.job("quick")["metadata"]["annotations"]
    assert team.pods_created(mark) == []
    team.kubectl("delete", "job", "quick")
    team.apply()
    assert team.get("job", "quick") is None


def test_a_priority_class_that_is_missing_is_said_before_anything_waits(
    plain: Team, cluster: RunningCluster
) -> None:
    team = plain
    missing = f"{team.namespace}-missing"
    team.write_settings(backend="none", queue="", priority_classes=[missing])
    team.write_campaign("urgent", pipeline="slow", priority=missing)
    # Its Role has no right to look, and says so.
    done = team.apply()
    assert f"note: PriorityClasses: not permitted to read PriorityClass {missing}" in done.stderr
    team.kubectl("delete", "job", "urgent")
    team.kubectl("delete", "configmap", "campaign-urgent")
    done = team.run("apply", ".", kubeconfig=cluster.kubeconfig)
    assert done.code == 3
    assert f"there is no PriorityClass {missing} in the cluster" in done.stderr
    assert team.get("job", "urgent") is None


def test_the_release_of_a_campaign_that_git_pauses_and_holds_back_starts_nothing(
    plain: Team, cluster: RunningCluster
) -> None:
    """Its Job is suspended, and the annotation that says so could not be sent with the rest."""
    team = plain
    team.write_campaign("slow", 2, pipeline="slow", window=1)
    team.apply()
    eventually(lambda: team.job_status("slow").get("active"), "slow runs")
    team.write_campaign("slow", 3, pipeline="slow", window=1, suspend=True)
    done = team.apply(code=3)
    assert "its list of volumes differs" in done.stderr
    assert "1 paused" in done.stdout
    eventually(lambda: not team.pods("slow"), "no pod")

    mark = team.cluster.audit_mark()
    for action in ("hold", "release"):
        done = team.run(
            action,
            "slow",
            ".",
            "--instance=7",
            "--deadline=30s",
            "--by=tests",
            kubeconfig=cluster.kubeconfig,
        )
        assert done.code == 0, done.text
    assert team.job("slow")["spec"]["suspend"] is True
    assert team.pods_created(mark, "slow") == []
