"""Campaigns that are held back for what else is on the cluster, and applies that insist on all."""

from __future__ import annotations

from cluster.proxy import Call, Fault, proxied
from cluster.team import SLOW, Team, condition, eventually


def test_a_volume_that_is_being_worked_on_is_not_started_again(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_pipeline("other", script=SLOW)
    team.write_campaign("first", ["v1", "v2"])
    team.apply()
    team.write_campaign("again", ["v2", "v3"])
    team.write_campaign("elsewhere", ["v2"], pipeline="other")
    mark = team.cluster.audit_mark()
    done = team.apply(code=3)
    assert "campaign again" in done.stderr
    assert "v2 is in campaign first of pipeline work too" in done.stderr
    assert team.get("job", "elsewhere") is not None
    assert team.get("configmap", "campaign-again") is None
    assert team.pods_created(mark, "again") == []

    team.delete_campaign("first")
    done = team.apply("--prune", code=3)
    assert "pruned: Job/first" in done.stdout
    eventually(lambda: team.get("job", "first") is None, "the first one gone")
    team.apply()
    eventually(lambda: team.admitted("again"), "the admission of the other one")


def test_what_has_ended_may_be_worked_on_again(team: Team) -> None:
    team.write_pipeline(script='[ "$VOLUME_ID" != v2 ] || exit 13')
    team.write_campaign("first", ["v1", "v2"])
    team.apply()
    eventually(lambda: condition(team.job("first"), "Failed"), "its end")
    team.write_campaign("again", ["v2"])
    team.apply()
    assert team.get("job", "again") is not None


def test_a_campaign_that_is_held_back_is_paused_all_the_same(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("one", 2)
    team.apply()
    eventually(lambda: team.job_status("one").get("active"), "a pod")
    team.write_campaign("one", 3, suspend=True)
    done = team.apply(code=3)
    assert "its list of volumes differs" in done.stderr
    assert "1 paused" in done.stdout
    eventually(lambda: not team.pods("one"), "the pause")
    # It is not resumed before what is wrong is put right.
    team.write_campaign("one", 3)
    assert "0 resumed" in team.apply(code=3).stdout
    team.write_campaign("one", 2)
    assert "1 resumed" in team.apply().stdout


def test_all_or_nothing_sends_nothing_of_what_could_be_sent(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("runs", 2, window=2)
    team.write_campaign("pauses")
    team.apply()
    eventually(lambda: team.admitted("runs") and team.admitted("pauses"), "the admissions")
    team.write_campaign("runs", 2, window=1)
    team.write_campaign("pauses", suspend=True)
    team.write_campaign("new")
    mark = team.cluster.audit_mark()
    done = team.apply("--all-or-nothing", code=1)
    assert "nothing was applied" in done.stderr
    assert "not paused: pauses" in done.stderr
    team.cluster.audit_mark()
    writes = [e for e in team.requests(mark) if e.is_write and e.resource != "leases"]
    assert writes == []
    team.apply(code=3)
    assert team.get("job", "new") is not None
    eventually(lambda: not team.pods("pauses"), "the pause")


def test_all_or_nothing_sends_nothing_when_the_api_server_refuses_one(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    for name in ("good", "bad"):
        team.write_campaign(name)

    def refuse(call: Call) -> Fault | None:
        return Fault(status=403) if call.method == "PATCH" and "/jobs/bad" in call.path else None

    with proxied(team.kubeconfig, team.repo.parent) as proxy:
        proxy.reset(refuse)
        done = team.run("apply", ".", "--all-or-nothing", kubeconfig=proxy.kubeconfig)
    assert done.code == 1, done.text
    assert "nothing was applied" in done.stderr
    assert "Job/bad" in done.stderr
    assert team.objects("jobs") == []
    assert team.get("configmap", "pipeline-work") is None


def test_a_job_that_is_being_deleted_is_not_called_unchanged(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    team.apply()
    keep = '--patch={"metadata":{"finalizers":["example.com/keep"]}}'
    team.kubectl("patch", "job", "one", "--type=merge", keep)
    team.kubectl("delete", "job", "one", "--wait=false")
    done = team.apply(code=3)
    assert "somebody has deleted its Job one" in done.stderr
    team.kubectl("patch", "job", "one", "--type=merge", '--patch={"metadata":{"finalizers":[]}}')
    eventually(lambda: team.get("job", "one") is None, "the Job gone")
    done = team.apply(code=3)
    assert "may have finished" in done.stderr


def test_a_job_that_somebody_deletes_while_apply_runs_is_not_made_again(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    team.apply()
    eventually(lambda: team.admitted("one"), "the admission")
    team.write_campaign("one", suspend=True)

    def delete(call: Call) -> Fault | None:
        if call.method == "PATCH" and "/jobs/one" in call.path and "dryRun" not in call.path:
            team.kubectl("delete", "job", "one", "--ignore-not-found")
        return None

    with proxied(team.kubeconfig, team.repo.parent) as proxy:
        proxy.reset(delete)
        done = team.run("apply", ".", kubeconfig=proxy.kubeconfig)
    # Its Workload may be there a moment longer than the Job, and is then paused.
    assert done.code == (3 if "1 paused" in done.stdout else 1), done.text
    assert "refused: Job/one" in done.stderr
    assert team.get("job", "one") is None
    team.write_campaign("one")
    assert "may have finished" in team.apply(code=3).stderr
    assert team.get("job", "one") is None


def test_what_somebody_creates_while_apply_runs_is_not_taken_over(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    team.write_campaign("two")
    theirs = {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "campaign-one", "namespace": team.namespace},
        "data": {"theirs": "yes"},
    }

    def create(call: Call) -> Fault | None:
        if call.method == "PATCH" and team.get("configmap", "campaign-one") is None:
            team.cluster.kubectl.apply([theirs])
        return None

    with proxied(team.kubeconfig, team.repo.parent) as proxy:
        proxy.reset(create)
        done = team.run("apply", ".", kubeconfig=proxy.kubeconfig)
    assert done.code == 3, done.text
    assert "AlreadyExists" in done.stderr
    assert team.get("job", "one") is None
    assert team.get("job", "two") is not None
    found = team.get("configmap", "campaign-one")
    assert found is not None
    assert found["data"] == {"theirs": "yes"}
    assert not [key for key in found["metadata"].get("labels", {}) if "campaign" in key]
