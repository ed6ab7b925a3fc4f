"""Pause and resume on a real Kueue with real pods: what must never happen costs money.

Which pods there were is read from the API server's audit log, which misses none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace

import pytest
from cluster.team import SLOW, Team, condition, eventually
from conftest import TeamFactory

from converter.cli.repository import load_valid
from converter.cluster.objects import Object
from converter.queues import queue_for
from converter.queues.base import Prepared
from converter.queues.kueue import Kueue
from converter.reconcile.apply import Options, apply
from converter.reconcile.outcome import Fate, Outcome
from converter.reconcile.provenance import Provenance
from converter.render import render

WHOLE_QUOTA = {"s": {"cpu": "1", "memory": "64Mi", "gpu": 0, "workdir": "8Mi"}}


def only_one_pod_fits(team: Team, security: Mapping[str, object] | None = None) -> None:
    queue = {"quota": {"cpu": 1, "memory": "1Gi", "nvidia.com/gpu": 1}}
    team.tenant.install({"queue": queue, "security": security or {}})
    team.write_settings(sizes=WHOLE_QUOTA)


def test_a_running_campaign_is_paused_and_goes_on_where_it_was(team: Team) -> None:
    team.write_pipeline(
        script="trap 'exit 143' TERM; [ $JOB_COMPLETION_INDEX != 1 ] || { sleep 5 & wait; }"
    )
    team.write_campaign("one", 4, window=1)
    team.apply()
    eventually(lambda: team.job_status("one").get("completedIndexes") == "0", "the first index")

    team.write_campaign("one", 4, window=1, suspend=True)
    done = team.apply()
    assert "1 paused" in done.stdout
    eventually(lambda: not team.job_status("one").get("active"), "no active pod")
    eventually(
        lambda: all(pod["status"]["phase"] == "Succeeded" for pod in team.pods("one")), "pods ended"
    )
    assert team.job("one")["spec"]["suspend"] is True
    assert team.job_status("one")["completedIndexes"] == "0"
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the word of it")
    paused = team.cluster.audit_mark()
    again = team.apply()
    assert "0 paused" in again.stdout
    assert [e for e in team.requests(paused, resource="workloads") if e.is_write] == []
    assert team.pods_created(paused) == []

    team.write_campaign("one", 4, window=1)
    done = team.apply()
    assert "1 resumed" in done.stdout
    eventually(lambda: team.ended("one"), "the campaign's end")
    assert team.job_status("one")["completedIndexes"] == "0-3"
    created = team.pods_created(paused)
    assert [name.removeprefix("one-")[0] for name in created] == ["1", "2", "3"]


def test_new_and_paused_campaigns_never_start_a_pod_and_complete_when_resumed(team: Team) -> None:
    team.write_pipeline()
    names = [f"fresh-{n:02}" for n in range(20)]
    mark = team.cluster.audit_mark()
    for name in names:
        team.write_campaign(name, suspend=True)
    done = team.apply()
    assert "20 paused" in done.stdout
    # An unchanged apply is what CI sends next; it must not queue them either.
    team.apply()
    assert {team.status()[name]["phase"] for name in names} == {"Paused"}
    assert team.objects("workloads") == []
    assert team.pods_created(mark) == []

    for name in names:
        team.write_campaign(name)
    done = team.apply()
    assert "20 resumed" in done.stdout
    eventually(lambda: team.ended(*names), "all of them have ended")
    assert all(condition(team.job(name), "Complete") for name in names)
    assert len(team.pods_created(mark)) == 20


@contextmanager
def paused_in_a_full_queue(
    team: Team, *names: str, security: Mapping[str, object] | None = None
) -> Iterator[int]:
    """These campaigns are paused before they were ever admitted: `first` has the whole quota.

    Gives the mark in the audit log after which no pod of theirs may start before an admission.
    """
    names = names or ("late",)
    only_one_pod_fits(team, security)
    team.write_pipeline(script=SLOW)
    team.write_pipeline("short")
    team.write_campaign("first")
    team.apply()
    eventually(lambda: team.admitted("first"), "the first campaign's admission")
    mark = team.cluster.audit_mark()
    for suspend in (False, True):
        for name in names:
            team.write_campaign(name, 2, pipeline="short", window=1, suspend=suspend)
        done = team.apply()
        eventually(lambda: all(map(team.workload, names)), "Workloads in the queue")
    assert f"{len(names)} paused" in done.stdout
    yield mark


def test_a_campaign_paused_in_the_queue_has_no_pod_before_it_is_admitted(team: Team) -> None:
    with paused_in_a_full_queue(team) as mark:
        team.write_campaign("late", 2, pipeline="short", window=1)
        done = team.apply()
        assert "1 resumed" in done.stdout
        assert not team.admitted("late")
        assert team.job("late")["spec"]["suspend"] is True
        assert team.pods_created(mark, "late") == []
        team.delete_campaign("first")
        team.apply("--prune")
        eventually(lambda: team.ended("late"), "the campaign's end")
        assert len(team.pods_created(mark, "late")) == 2


def test_a_fresh_pause_resumed_into_a_full_queue_waits_for_its_admission(team: Team) -> None:
    only_one_pod_fits(team)
    team.write_pipeline(script=SLOW)
    team.write_pipeline("short")
    team.write_campaign("first")
    mark = team.cluster.audit_mark()
    team.write_campaign("late", pipeline="short", suspend=True)
    team.apply()
    eventually(lambda: team.admitted("first"), "the first campaign's admission")
    team.write_campaign("late", pipeline="short")
    team.apply()
    eventually(lambda: team.workload("late") is not None, "a Workload in the queue")
    assert team.job("late")["spec"]["suspend"] is True
    assert team.pods_created(mark, "late") == []


class WithoutHandoff(Kueue):
    """What would be sent if there were no hand-off."""

    def prepare(self, job: Object, live: Object | None) -> Prepared:
        return replace(super().prepare(job, live), handoff=None)


@pytest.mark.parametrize("handoff", [True, False])
def test_without_the_hand_off_a_pod_would_start_with_no_admission(
    team: Team, handoff: bool
) -> None:
    """The same resume with and without: so the tests above can see the fault they look for.

    Without it, Kueue and the Job controller race for each Job, so there are several of them.
    """
    names = [f"late-{n}" for n in range(6)]
    # The chart's policies would refuse it.
    with paused_in_a_full_queue(team, *names, security={"policies": {"enabled": False}}) as mark:
        for name in names:
            team.write_campaign(name, 2, pipeline="short", window=1)
        repo = load_valid(team.repo)
        queue = queue_for(repo.settings.backend) if handoff else WithoutHandoff()
        options = Options("tests", "test", Provenance("", "test", "2026-01-01T00:00:00Z"))
        outcome = Outcome(report=lambda event: None)
        apply(team.client(), render(repo), repo.settings, queue, options, outcome)
        assert outcome.count(Fate.CONFIGURED) == len(names)
        assert not any(map(team.admitted, names))
        if handoff:
            assert all(team.job(name)["spec"]["suspend"] is True for name in names)
            assert team.pods_created(mark, "late") == []
        else:
            eventually(lambda: team.pods_created(mark, "late"), "a pod with no admission")


def test_a_pause_later_than_the_admission_is_no_conflict(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    team.apply()
    eventually(lambda: team.admitted("one"), "the admission")
    for suspend in (True, False, True):
        team.write_campaign("one", suspend=suspend)
        done = team.apply()
        assert "0 refused" in done.stdout
        if suspend:
            eventually(lambda: not team.pods("one"), "no pod")
        else:
            eventually(lambda: team.admitted("one"), "the admission")


def test_pauses_are_sent_before_resumes(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    for name in ("a-resumes", "z-pauses"):
        team.write_campaign(name)
    team.apply()
    eventually(lambda: team.admitted("a-resumes") and team.admitted("z-pauses"), "admissions")
    team.write_campaign("a-resumes", suspend=True)
    team.apply()
    mark = team.cluster.audit_mark()
    team.write_campaign("a-resumes")
    team.write_campaign("z-pauses", suspend=True)
    team.apply()
    team.cluster.audit_mark()
    sent = team.requests(mark, resource="workloads", verbs=("patch",))
    assert [each.body["spec"]["active"] for each in sent] == [False, True]


def test_a_held_workload_is_not_made_active(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    team.apply()
    eventually(lambda: team.admitted("one"), "the admission")
    workload = team.workload("one")
    assert workload is not None
    name = workload["metadata"]["name"]
    team.kubectl("annotate", "workload", name, "gitops-campaigns.io/hold-instance=7")
    team.kubectl("patch", "workload", name, "--type=merge", '--patch={"spec":{"active":false}}')
    done = team.apply()
    assert "hold 7 is in force" in done.stderr
    after = team.workload("one")
    assert after is not None
    assert after["spec"]["active"] is False
    eventually(lambda: team.status()["one"]["phase"] == "Held", "shown as held")


def test_a_new_and_paused_campaign_is_held_back_where_kueue_would_queue_it(
    new_team: TeamFactory,
) -> None:
    """Kueue gives a Job without a queue label to the LocalQueue `default`, if there is one."""
    team = new_team({"security": {"policies": {"queues": ["default"]}}})
    team.create_local_queue("default")
    team.write_pipeline(script=SLOW)
    mark = team.cluster.audit_mark()
    team.write_campaign("one", suspend=True)
    team.write_campaign("two")
    done = team.apply(code=3)
    assert "LocalQueue" in done.stderr
    assert team.get("job", "one") is None
    eventually(lambda: team.admitted("two"), "the other campaign's admission")
    assert team.pods_created(mark, "one") == []
