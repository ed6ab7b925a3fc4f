"""`campaigns apply` on a real cluster, as the chart's apply identity: the ordinary cases."""

from __future__ import annotations

import itertools
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from cluster.team import SLOW, Done, Team, eventually
from localcluster import AuditEvent, ClusterError

PAGES = """
case "$VOLUME_ID" in
  bad) exit 13 ;;
  flaky) [ "$INDEX_FAILURE_COUNT" != 0 ] || exit 1 ;;
esac
echo "$CAMPAIGN $PIPELINE_ID $VOLUME_ID $VOLUME_SOURCE"
"""


def writes(events: list[AuditEvent]) -> list[AuditEvent]:
    """Writes that are no dry run and not the Lease's."""
    return [e for e in events if e.is_write and not e.dry_run and e.resource != "leases"]


def test_a_campaign_runs_to_its_end_on_real_pods(team: Team) -> None:
    team.write_pipeline(script=PAGES)
    team.write_campaign("pages", ["one", {"id": "two", "source": "a b"}, "bad", "flaky"], window=2)
    done = team.apply()
    assert "created: Job/pages" in done.stdout
    assert "0 refused" in done.stdout
    eventually(lambda: team.ended("pages"), "the campaign's end")

    status = team.job_status("pages")
    assert status["completedIndexes"] == "0,1,3"
    assert status["failedIndexes"] == "2"
    tries: dict[str, int] = {}
    for pod in team.pods("pages"):
        index = pod["metadata"]["annotations"]["batch.kubernetes.io/job-completion-index"]
        tries[index] = tries.get(index, 0) + 1
    assert tries == {"0": 1, "1": 1, "2": 1, "3": 2}
    logs = {team.tenant.logs(pod["metadata"]["name"]) for pod in team.pods("pages")}
    assert "pages work two a b\n" in logs

    shown = team.status()["pages"]
    assert (shown["phase"], shown["done"], shown["failed"]) == ("PartlyFailed", 3, 1)
    again = team.apply()
    assert "1 finished" in again.stdout
    record = team.get("configmap", "campaign-pages-status")
    assert record is not None
    assert record["data"]["phase"] == "PartlyFailed"


def test_provenance_and_labels_are_on_the_cluster(team: Team) -> None:
    team.write_pipeline()
    team.write_campaign("one")
    team.apply()
    configmap = team.get("configmap", "campaign-one")
    assert configmap is not None
    annotations = configmap["metadata"]["annotations"]
    assert annotations["gitops-campaigns.io/job-uid"] == team.job("one")["metadata"]["uid"]
    assert annotations["gitops-campaigns.io/repository"] == "tests"
    assert annotations["argocd.argoproj.io/hook"] == "Skip"
    labels = team.job("one")["metadata"]["labels"]
    assert labels["kueue.x-k8s.io/queue-name"] == team.tenant.queue
    assert labels["gitops-campaigns.io/campaign"] == "one"


def test_first_apply_sends_each_object_once_and_an_unchanged_one_sends_nothing(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    for name in ("one", "two", "three"):
        team.write_campaign(name, 2)
    mark = team.cluster.audit_mark()
    team.apply()
    first = team.requests(mark)
    sent = [(e.resource, e.name, e.dry_run) for e in first if e.verb == "patch"]
    assert len(sent) == len(set(sent)), "an object was dry-run or applied twice"
    objects = {(resource, name) for resource, name, _ in sent if resource != "leases"}
    campaigns = ("one", "two", "three")
    assert objects == {
        ("configmaps", "pipeline-work"),
        *(("jobs", name) for name in campaigns),
        *(("configmaps", f"campaign-{name}") for name in campaigns),
    }
    others = [(e.verb, e.resource) for e in first if e.verb != "patch" and e.resource != "leases"]
    assert {verb for verb, _ in others} == {"list", "get"}
    read = sorted(resource for verb, resource in others if verb == "get")
    assert read == ["clusterqueues", "localqueues", "resourceflavors"]

    eventually(lambda: team.admitted("one"), "an admission")
    mark = team.cluster.audit_mark()
    done = team.apply()
    assert "0 applied, 3 unchanged" in done.stdout
    assert writes(team.requests(mark)) == []


def test_a_no_op_costs_the_same_for_30_campaigns_as_for_3(team: Team) -> None:
    team.write_pipeline(script=SLOW)

    def cost_of_no_op() -> list[tuple[str, str]]:
        team.apply()
        mark = team.cluster.audit_mark()
        team.apply()
        return sorted((e.verb, e.resource) for e in team.requests(mark))

    for n in range(3):
        team.write_campaign(f"c{n:02}", suspend=True)
    three = cost_of_no_op()
    for n in range(3, 30):
        team.write_campaign(f"c{n:02}", suspend=True)
    thirty = cost_of_no_op()
    assert thirty == three
    assert [r for r in three if r[1] != "leases"] == [
        ("list", "configmaps"),
        ("list", "jobs"),
        ("list", "workloads"),
    ]


def test_a_broken_repository_sends_nothing(team: Team) -> None:
    team.write_pipeline()
    team.write_campaign("good")
    team.write("campaigns/bad.yaml", "pipeline: work\nvolumes: [a, a]\nwindw: 3\n")
    mark = team.cluster.audit_mark()
    done = team.apply(code=1)
    assert "campaigns/bad.yaml:3:1: " in done.stderr
    assert team.requests(mark) == []


def test_another_namespace_than_the_repository_s_is_refused(team: Team) -> None:
    team.write_pipeline()
    team.write_campaign("one")
    mark = team.cluster.audit_mark()
    done = team.apply("--namespace=default", code=1)
    assert "--namespace default" in done.stderr
    assert team.requests(mark) == []


def test_prune_cancels_what_left_git_and_nothing_else(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_pipeline("other")
    team.write_campaign("stays", 1)
    team.write_campaign("goes", 1)
    team.write_campaign("paused", 1, suspend=True)
    team.apply()
    eventually(lambda: team.admitted("goes"), "an admission")
    team.kubectl("create", "configmap", "theirs", "--from-literal=a=b")
    team.delete_campaign("goes")
    kept = team.apply()
    assert "goes: still on the cluster though not in git" in kept.stderr
    assert team.get("job", "goes") is not None

    pruned = team.apply("--prune")
    assert "pruned: Job/goes" in pruned.stdout
    eventually(lambda: not team.pods("goes"), "no pod left")
    assert team.get("job", "goes") is None
    assert team.get("configmap", "campaign-goes") is None
    assert {job["metadata"]["name"] for job in team.objects("jobs")} == {"stays", "paused"}
    assert team.get("configmap", "theirs") is not None


def test_prune_of_everything_needs_to_be_asked_for(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    team.apply()
    team.delete_campaign("one")
    refused = team.apply("--prune", code=1)
    assert "--allow-empty" in refused.stderr
    assert team.get("job", "one") is not None
    team.apply("--prune", "--allow-empty")
    assert team.get("job", "one") is None


def test_prune_of_too_many_at_once_is_refused(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    names = [f"c{n}" for n in range(7)]
    for name in names:
        team.write_campaign(name, suspend=True)
    team.apply()
    for name in names[:6]:
        team.delete_campaign(name)
    refused = team.apply("--prune", code=1)
    assert "--prune-limit" in refused.stderr
    assert len(team.objects("jobs")) == 7
    team.apply("--prune", "--prune-limit=6")
    assert len(team.objects("jobs")) == 1


def test_objects_of_others_are_neither_adopted_nor_overwritten_nor_pruned(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("mine")
    team.write_campaign("fine")
    team.kubectl("create", "job", "mine", "--image=busybox", "--", "true")
    before = team.job("mine")["metadata"]["uid"]
    done = team.apply(code=3)
    assert "Job/mine exists and was not made by campaigns" in done.stderr
    assert "created: Job/fine" in done.stdout
    assert team.job("mine")["metadata"]["uid"] == before
    assert team.get("configmap", "campaign-mine") is None

    team.write_settings(repository="another")
    done = team.apply("--prune", code=3)
    assert "belongs to repository tests" in done.stderr
    assert team.get("job", "fine") is not None


def test_a_deleted_job_of_a_campaign_is_not_run_again(team: Team) -> None:
    team.write_pipeline()
    team.write_campaign("short")
    team.apply()
    eventually(lambda: team.ended("short"), "the campaign's end")
    team.kubectl("delete", "job", "short")
    held = team.apply(code=3)
    assert "may have finished" in held.stderr
    assert team.get("job", "short") is None


def test_a_recorded_campaign_stays_finished_when_its_job_is_reaped(team: Team) -> None:
    team.write_pipeline(ttl_seconds_after_finished=10)
    team.write_campaign("short", 2)
    team.apply()
    eventually(lambda: team.ended("short"), "the campaign's end")
    team.apply()
    eventually(lambda: team.get("job", "short") is None, "the Job reaped")
    mark = team.cluster.audit_mark()
    done = team.apply()
    assert "1 finished" in done.stdout
    assert writes(team.requests(mark)) == []
    assert team.get("job", "short") is None
    shown = team.status()["short"]
    assert (shown["phase"], shown["done"]) == ("Finished", 2)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda team: team.write_campaign("one", 3), "its list of volumes differs"),
        (lambda team: team.write_campaign("one", 2, window=1), "its window was 2 and is now 1"),
        (lambda team: team.write_pipeline(script="sleep 61"), "its recipe changed while one"),
        (lambda team: team.write_settings(env={"A": "b"}), "the settings in converter.yaml"),
    ],
    ids=["volumes", "window", "recipe", "settings"],
)
def test_a_change_that_a_live_campaign_cannot_take_is_held_back(
    team: Team, change: Callable[[Team], None], says: str
) -> None:
    team.write_pipeline(script=SLOW)
    team.write_pipeline("other", script=SLOW)
    team.write_campaign("one", 2)
    team.write_campaign("two", 1, pipeline="other")
    team.apply()
    eventually(lambda: team.admitted("one"), "an admission")
    uid = team.job("one")["metadata"]["uid"]
    change(team)
    # The mistake in one campaign must not keep the pause of another from being enforced.
    team.write_campaign("two", 1, pipeline="other", suspend=True)
    done = team.apply(code=3)
    assert says in done.stderr
    eventually(lambda: not team.job_status("two").get("active"), "the other campaign's pause")
    assert team.job("one")["metadata"]["uid"] == uid
    assert team.admitted("one")


def test_a_hand_edit_is_set_back_and_kueue_s_fields_are_left_alone(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("one", priority="")
    team.apply()
    eventually(lambda: team.admitted("one"), "an admission")
    edits = ("gitops-campaigns.io/pipeline=edited", "gitops-campaigns.io/campaign=edited")
    team.kubectl("label", "job", "one", "--overwrite", *edits)
    done = team.apply()
    assert "configured: Job/one" in done.stdout
    labels = team.job("one")["metadata"]["labels"]
    assert labels["gitops-campaigns.io/pipeline"] == "work"
    assert labels["gitops-campaigns.io/campaign"] == "one"
    assert team.admitted("one")
    assert "0 applied" in team.apply().stdout


def test_an_apply_while_another_holds_the_lease_sends_nothing_and_names_it(team: Team) -> None:
    team.write_pipeline()
    team.write_campaign("one")
    lease = {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": {"name": "campaigns-apply", "namespace": team.namespace},
        "spec": {
            "holderIdentity": "alice@ci/42",
            "leaseDurationSeconds": 300,
            "renewTime": "2999-01-01T00:00:00.000000Z",
        },
    }
    team.cluster.kubectl.run("create", "--filename=-", stdin=json.dumps(lease))
    mark = team.cluster.audit_mark()
    done = team.apply(code=1)
    assert "alice@ci/42" in done.stderr
    assert writes(team.requests(mark)) == []
    assert team.get("job", "one") is None


def test_of_applies_at_once_one_works_and_the_others_name_it(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    mark = team.cluster.audit_mark()
    done: list[Done] = []
    # On a busy machine it can happen that none meets another.
    for attempt in itertools.count(1):
        for n in range(5):
            team.write_campaign(f"c{attempt}-{n}")
        with ThreadPoolExecutor() as pool:
            done = list(pool.map(lambda _: team.run("apply", "."), range(4)))
        assert min(each.code for each in done) == 0
        if any(each.code for each in done):
            break
    assert {each.code for each in done} == {0, 1}
    assert all("another apply " in each.stderr for each in done if each.code)
    sent = [(e.resource, e.name) for e in writes(team.requests(mark))]
    assert len(sent) == len(set(sent)) == 1 + 10 * attempt


def test_a_refused_job_leaves_its_config_map_unsent_and_all_else_applied(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("good")
    team.write_campaign("refused")
    # A policy of the cluster's owner is what refuses a Job that validate finds nothing wrong with.
    policy = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "metadata": {"name": f"{team.namespace}-no"},
        "spec": {
            "matchConstraints": {
                "resourceRules": [
                    {
                        "apiGroups": ["batch"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": ["jobs"],
                    }
                ]
            },
            "validations": [
                {"expression": "object.metadata.name != 'refused'", "message": "no such jobs"}
            ],
        },
    }
    binding = {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "metadata": {"name": f"{team.namespace}-no"},
        "spec": {
            "policyName": f"{team.namespace}-no",
            "validationActions": ["Deny"],
            "matchResources": {
                "namespaceSelector": {
                    "matchLabels": {"kubernetes.io/metadata.name": team.namespace}
                }
            },
        },
    }
    team.cluster.kubectl.apply([policy, binding])
    try:
        probe = ("create", "job", "refused", "--image=x", "--dry-run=server")
        eventually(lambda: _refuses(team, *probe), "the policy in force")
        done = team.apply(code=3)
    finally:
        names = f"{team.namespace}-no"
        team.cluster.kubectl.run("delete", "validatingadmissionpolicybinding", names)
        team.cluster.kubectl.run("delete", "validatingadmissionpolicy", names)
    assert "no such jobs" in done.stderr
    assert team.get("configmap", "campaign-refused") is None
    assert team.get("job", "good") is not None
    assert team.get("configmap", "campaign-good") is not None


def _refuses(team: Team, *arguments: str) -> bool:
    try:
        team.kubectl(*arguments)
    except ClusterError:
        return True
    return False
