"""What is told of a plan and its dry run."""

import copy
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from unit.reconcile.live_objects import (
    Object,
    applied,
    campaign,
    deactivated,
    ended,
    evicted,
    held,
    job,
    pipeline,
    queued,
    running,
    stamped_volumes,
    state,
    volumes,
    warmup,
    workload,
)
from unit.reconcile.plans import live_campaign, planned

from converter.diff.change import Action, Change
from converter.diff.decide import UNSEEN, Rehearsed, changes
from converter.manifest import Manifest
from converter.names import KUEUE_QUEUE_LABEL
from converter.reconcile.live import Live
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.plan import Verb
from converter.reconcile.prune import left_over
from converter.reconcile.rehearsal import Accepted, tell


def rehearsed(
    manifests: list[Manifest],
    live: Live,
    answers: Mapping[str, Object] | None = None,
    events: Sequence[Event] = (),
    refused: Sequence[str] = (),
    now: Mapping[str, Object] | None = None,
) -> Rehearsed:
    """As `compare` makes it: what is not answered otherwise is stored as it is sent."""
    intended = planned(manifests, live)
    outcome = Outcome(lambda event: None)
    tell(intended, outcome)
    outcome.extend(events)
    units = (*intended.pipelines, *intended.campaigns)
    stored = {
        step.manifest.target: applied(step.body)
        for unit in units
        for step in unit.steps
        if step.verb in (Verb.CREATE, Verb.UPDATE)
    }
    accepted = Accepted(
        *(
            [u for u in part if u.name not in refused]
            for part in (intended.pipelines, intended.campaigns)
        )
    )
    return Rehearsed(
        intended, live, accepted, outcome.events, {**stored, **(answers or {})}, now or {}
    )


def told(
    of: Rehearsed, *, prune: bool = False, reactivate: bool = True
) -> list[tuple[str, str, str]]:
    found = changes(of, prune=prune, reactivate=reactivate)
    return [(each.action.value, each.target, each.detail) for each in found]


def live_one(of: Object, **more: Any) -> Live:
    """A campaign with its pipeline, as it was applied."""
    return state(applied(pipeline()), *live_campaign(of), **more)


PAUSED = [pipeline(), *campaign(suspended=True)]
ACTIVE = [pipeline(), *campaign()]


def test_nothing_is_told_of_what_is_as_in_git() -> None:
    live = running(job())
    assert told(rehearsed(ACTIVE, live_one(live, workloads=(workload(live),)))) == []


def test_what_is_new() -> None:
    found = changes(rehearsed(ACTIVE, Live()), prune=False, reactivate=True)
    assert [(each.action, each.target, each.campaign) for each in found] == [
        (Action.CREATE, "ConfigMap/pipeline-ocr", ""),
        (Action.CREATE, "Job/scan", "scan"),
        (Action.CREATE, "ConfigMap/campaign-scan", "scan"),
    ]
    assert all(each.diff for each in found)


def test_what_is_new_and_paused_is_paused() -> None:
    assert told(rehearsed(PAUSED, Live()))[3:] == [
        ("pause", "scan", "created suspended, outside the queue")
    ]


def test_a_pause_of_one_that_runs_names_its_workload() -> None:
    live = running(job())
    found = told(rehearsed(PAUSED, live_one(live, workloads=(workload(live),))))
    assert [each[:2] for each in found[:-1]] == [("change", "Job/scan")]
    assert found[-1] == ("pause", "scan", "Workload/job-scan spec.active: true -> false")


def test_a_pause_of_one_without_a_workload_waits_for_it() -> None:
    found = told(rehearsed(PAUSED, live_one(running(job()))))
    action, target, detail = found[-1]
    assert (action, target) == ("pause", "scan")
    assert "has made no Workload" in detail


def paused_since(**of_workload: Any) -> Live:
    live = queued(job())
    return live_one(live, workloads=(workload(live, active=False, **of_workload),))


def test_a_resume_names_its_workload() -> None:
    assert told(rehearsed(ACTIVE, paused_since())) == [
        ("resume", "scan", "Workload/job-scan spec.active: false -> true")
    ]


def test_a_resume_into_another_queue_names_both() -> None:
    live = queued(job())
    paused = workload(live, active=False)
    paused["spec"]["queueName"] = "cpu"
    [(_, _, detail)] = told(rehearsed(ACTIVE, live_one(live, workloads=(paused,))))
    assert detail.endswith("spec.active: false -> true, spec.queueName: cpu -> gpu")


def test_a_resume_goes_into_the_queue_that_the_job_has_then() -> None:
    live = queued(job())
    live["metadata"]["labels"][KUEUE_QUEUE_LABEL] = "cpu"
    paused = workload(live, active=False)
    paused["spec"]["queueName"] = "cpu"
    found = told(rehearsed(ACTIVE, live_one(live, workloads=(paused,))))
    assert found[-1][0] == "resume"
    assert found[-1][2].endswith("spec.queueName: cpu -> gpu")


def test_a_resume_that_is_refused_is_none() -> None:
    live = queued(job(suspended=True))
    refusal = Event(Fate.REFUSED, "Job/scan", "Forbidden: policy", "scan")
    of = live_one(live, workloads=(workload(live, active=False),))
    found = told(rehearsed(ACTIVE, of, events=[refusal], refused=["scan"]))
    assert found == [("refused", "Job/scan", "Forbidden: policy")]


def test_a_pause_that_is_refused_is_one_all_the_same() -> None:
    live = running(job())
    refusal = Event(Fate.REFUSED, "Job/scan", "Forbidden: policy", "scan")
    of = live_one(live, workloads=(workload(live),))
    found = told(rehearsed(PAUSED, of, events=[refusal], refused=["scan"]))
    assert [each[0] for each in found] == ["refused", "pause"]


def test_a_hold_is_a_note() -> None:
    live = queued(job())
    [(action, target, detail)] = told(rehearsed(ACTIVE, live_one(live, workloads=(held(live),))))
    assert (action, target) == ("note", "scan")
    assert "hold 7 is in force" in detail


@pytest.mark.parametrize(
    ("reactivate", "action", "words"),
    [(True, "resume", "is made anew, since Kueue had deactivated it"), (False, "note", "never")],
)
def test_what_kueue_has_given_up(reactivate: bool, action: str, words: str) -> None:
    live = queued(job())
    of = rehearsed(ACTIVE, live_one(live, workloads=(deactivated(live),)))
    [(found, _, detail)] = told(of, reactivate=reactivate)
    assert found == action
    assert words in detail


def test_of_what_is_held_back_nothing_else_is_told() -> None:
    live = running(job())
    of = rehearsed([pipeline(), *campaign(volumes=5)], live_one(live, workloads=(workload(live),)))
    [(action, target, detail)] = told(of)
    assert (action, target) == ("held back", "campaign scan")
    assert "its list of volumes differs" in detail


def test_what_has_finished_is_left_alone() -> None:
    assert told(rehearsed(ACTIVE, live_one(ended(job())))) == [("finished", "campaign scan", "")]


def test_what_left_git_stays_or_is_pruned_jobs_first() -> None:
    live = running(job())
    of = rehearsed([pipeline()], live_one(live, workloads=(workload(live),)))
    assert told(of) == [("stays", "campaign scan", left_over(""))]
    assert told(of, prune=True) == [
        ("prune", "Job/scan", ""),
        ("prune", "ConfigMap/campaign-scan", ""),
    ]


def test_what_left_git_and_is_held_names_the_hold() -> None:
    live = evicted(job())
    of = rehearsed([pipeline()], live_one(live, workloads=(held(live),)))
    [(action, _, detail)] = told(of)
    assert action == "stays"
    assert "hold 7 is in force" in detail
    [(action, target, detail), _] = told(of, prune=True)
    assert (action, target) == ("prune", "Job/scan")
    assert detail.startswith("is released with it, though hold 7 is in force")


def test_a_pause_that_is_noted_in_a_hold_is_told() -> None:
    live = evicted(job())
    wider = [pipeline(), *campaign(suspended=True, window=3)]
    found = told(rehearsed(wider, live_one(live, workloads=(held(live),))))
    assert [each[:2] for each in found] == [("held back", "campaign scan"), ("pause", "scan")]
    assert found[1][2] == "Workload/job-scan stays inactive when hold 7 is released"


def test_a_change_that_does_not_show_is_told() -> None:
    """Another Job's uid on the ConfigMap, for example: apply sends it."""
    live = running(job())
    of = stamped_volumes(volumes(), "another uid")
    found = told(
        rehearsed(ACTIVE, state(applied(pipeline()), live, of, workloads=(workload(live),)))
    )
    assert found == [("change", "ConfigMap/campaign-scan", UNSEEN)]


def test_what_kueue_changed_before_the_dry_run_is_not_shown_as_git_s() -> None:
    live = queued(job())
    of = live_one(live, workloads=(workload(live),))
    manifests = [pipeline(), *campaign()]
    manifests[2].body["metadata"]["labels"]["team"] = "maps"
    answered = copy.deepcopy(applied(manifests[2]))
    answered["spec"]["suspend"] = False
    now = copy.deepcopy(live)
    now["spec"]["suspend"] = False
    changed: list[Change] = []
    for read_again in ({}, {"Job/scan": now}):
        found = rehearsed(manifests, of, {"Job/scan": answered}, now=read_again)
        changed.extend(changes(found, prune=False, reactivate=True))
    shown = [
        [line for line in each.diff if "suspend" in line and line[0] != " "] for each in changed
    ]
    assert shown == [["-  suspend: true", "+  suspend: false"], []]


def test_a_failed_warmup_is_made_anew_as_it_was() -> None:
    failed = ended(warmup(), "Failed")
    found = changes(
        rehearsed([pipeline(), warmup()], state(applied(pipeline()), failed)),
        prune=False,
        reactivate=True,
    )
    [change] = found
    assert (change.action, change.target, change.diff) == (Action.REPLACE, "Job/warmup-ocr", ())
    assert "failed" in change.detail


def test_a_warmup_that_does_not_get_on_is_a_note() -> None:
    suspended = applied(warmup())
    suspended["spec"]["suspend"] = True
    [(action, target, detail)] = told(
        rehearsed([pipeline(), warmup()], state(applied(pipeline()), suspended))
    )
    assert (action, target) == ("note", "Job/warmup-ocr")
    assert "it is suspended" in detail


def test_pipelines_come_first_and_a_campaign_stays_together() -> None:
    manifests = [pipeline(), *campaign("b", suspended=True), *campaign("a")]
    found = changes(rehearsed(manifests, Live()), prune=False, reactivate=True)
    assert [each.campaign for each in found] == ["", "a", "a", "b", "b", "b"]


def test_a_resume_from_outside_the_queue() -> None:
    paused = job(suspended=True)
    labels = paused.body["metadata"]["labels"]
    del labels[KUEUE_QUEUE_LABEL]
    live = applied(paused)
    found = told(rehearsed(ACTIVE, live_one(live), {"Job/scan": queued(job())}))
    assert [each[:2] for each in found] == [("change", "Job/scan"), ("resume", "scan")]
    assert found[-1][2] == "queued"
