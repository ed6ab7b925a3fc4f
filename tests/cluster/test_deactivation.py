"""Kueue makes a Workload inactive by itself, here for its maximum execution time.

The requeue limit needs another configuration of Kueue: see `test_frail`.
"""

from __future__ import annotations

from cluster.team import SLOW, Object, Team, eventually

REASON = "DeactivatedDueToMaximumExecutionTimeExceeded"
SECONDS_LABEL = "kueue.x-k8s.io/max-exec-time-seconds"


def own_workload(team: Team) -> Object:
    found = team.workload("one")
    assert found is not None
    return found


def is_active(team: Team) -> bool:
    return own_workload(team)["spec"].get("active") is not False


def rests(team: Team) -> bool:
    return not is_active(team) and team.status()["one"]["phase"] == "Paused"


def writes_to_workloads(team: Team, since: int) -> list[Object]:
    return [each.body or {} for each in team.requests(since, resource="workloads") if each.is_write]


def deactivated(team: Team) -> None:
    """A campaign that Kueue has deactivated after a second of running.

    The label comes from elsewhere, as from a policy engine: Kueue takes it on a suspended Job.
    """
    team.write_pipeline(script=SLOW)
    team.write_campaign("one", suspend=True)
    team.apply()
    team.kubectl("label", "job", "one", f"{SECONDS_LABEL}=1")
    team.write_campaign("one")
    team.apply()
    eventually(lambda: rests(team), "Kueue's own deactivation")
    assert team.status()["one"]["detail"].startswith(f"Kueue deactivated it ({REASON})")
    # Stopped in the moment in which it started, it may have a pod that its Job does not count yet.
    eventually(lambda: team.pods("one") == [], "no pod left")


def test_reactivate_always_has_it_queued_again_with_kueues_reason(team: Team) -> None:
    """Kueue 0.17 takes ``spec.active: true`` back, so its Workload is made anew.

    See https://github.com/kubernetes-sigs/kueue/issues/14870.
    """
    deactivated(team)
    mark = team.cluster.audit_mark()
    before = own_workload(team)["metadata"]["uid"]
    done = team.apply()
    assert f"made anew, since Kueue had deactivated it ({REASON})" in done.stdout
    assert "1 resumed" in done.stdout
    eventually(lambda: team.pods_created(mark, "one"), "a pod once more")
    workload = team.workload("one")
    assert workload is None or workload["metadata"]["uid"] != before


def test_reactivate_never_leaves_it_and_says_so(team: Team) -> None:
    team.write_settings(reactivate="never")
    deactivated(team)
    mark = team.cluster.audit_mark()
    done = team.apply()
    assert done.stderr.startswith("note: one")
    assert f"stays inactive: Kueue deactivated it ({REASON})" in done.stderr
    assert writes_to_workloads(team, mark) == []
    assert not is_active(team)
    assert team.pods_created(mark, "one") == []

    team.write_settings(reactivate="always")
    done = team.apply()
    assert "1 resumed" in done.stdout
    eventually(lambda: team.pods_created(mark, "one"), "a pod once more")


def test_gits_own_pause_of_it_stays_a_pause(team: Team) -> None:
    deactivated(team)
    mark = team.cluster.audit_mark()
    team.write_campaign("one", suspend=True)
    for _ in range(2):
        done = team.apply()
        assert "0 resumed" in done.stdout
    assert not is_active(team)
    assert writes_to_workloads(team, mark) == []
    assert team.pods_created(mark, "one") == []
    assert rests(team)

    team.write_campaign("one")
    done = team.apply()
    assert "1 resumed" in done.stdout


def test_a_reactivated_one_can_be_paused(team: Team) -> None:
    deactivated(team)
    team.kubectl("label", "job", "one", f"{SECONDS_LABEL}-")
    team.apply()
    team.write_campaign("one", suspend=True)
    team.apply()
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")
    mark = team.cluster.audit_mark()
    team.apply()
    assert writes_to_workloads(team, mark) == []
    assert team.pods("one") == []
