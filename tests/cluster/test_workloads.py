"""Which Workloads `campaigns apply` pauses: those that the Job controls, all of them, no others."""

from __future__ import annotations

from typing import Any

from cluster.team import SLOW, Object, Team, eventually

FINALIZER = "gitops-campaigns.local/kept-by-the-test"


def running(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    team.apply()
    eventually(lambda: team.job_status("one").get("active"), "a pod")


def create_another(team: Team, name: str, **metadata: Any) -> None:
    """A second Workload with the label of the Job's own, for two pods instead of one."""
    own = team.workload("one")
    assert own is not None
    (pods,) = own["spec"]["podSets"]
    another = {
        "apiVersion": own["apiVersion"],
        "kind": own["kind"],
        "metadata": {
            "name": name,
            "namespace": team.namespace,
            "labels": own["metadata"]["labels"],
            **metadata,
        },
        "spec": {**own["spec"], "podSets": [{**pods, "count": 2}]},
    }
    team.cluster.kubectl.apply([another])


def own_workload(team: Team) -> Object:
    (found,) = (each for each in team.objects("workloads") if each["metadata"]["name"] != "another")
    return found


def active(team: Team, name: str) -> bool:
    found = team.get("workload", name)
    assert found is not None
    return found["spec"].get("active") is not False


def patched(team: Team, since: int) -> set[str]:
    written = team.requests(since, resource="workloads", verbs=("patch",))
    return {str(each.name) for each in written}


def test_every_workload_that_the_job_controls_is_paused(team: Team) -> None:
    """Kueue deletes a second one; a finalizer keeps it, and Kueue from stopping the Job."""
    running(team)
    own = own_workload(team)
    owners = own["metadata"]["ownerReferences"]
    create_another(team, "another", ownerReferences=owners, finalizers=[FINALIZER])
    mark = team.cluster.audit_mark()
    team.write_campaign("one", suspend=True)
    done = team.apply("--pause-wait=2", code=1)
    assert "Kueue has not suspended the Job" in done.stderr
    # The second one is patched as well, unless Kueue has begun to delete it.
    assert own["metadata"]["name"] in patched(team, mark)
    assert patched(team, mark) <= {"another", own["metadata"]["name"]}
    assert not active(team, own["metadata"]["name"])
    assert team.status()["one"]["phase"] in ("Pausing", "Paused")

    remove = '--patch={"metadata":{"finalizers":null}}'
    team.kubectl("patch", "workload", "another", "--type=merge", remove)
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")
    assert team.pods("one") == []
    team.apply()


def test_a_workload_that_only_has_the_jobs_label_is_left_alone(team: Team) -> None:
    running(team)
    own = own_workload(team)["metadata"]["name"]
    create_another(team, "another")
    mark = team.cluster.audit_mark()
    team.write_campaign("one", suspend=True)
    done = team.apply()
    assert "1 paused" in done.stdout
    assert patched(team, mark) == {own}
    assert active(team, "another")
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")

    team.kubectl(
        "patch", "workload", "another", "--type=merge", '--patch={"spec":{"active":false}}'
    )
    team.write_campaign("one")
    done = team.apply()
    assert "1 resumed" in done.stdout
    assert not active(team, "another")
    assert patched(team, mark) == {own}
