"""What an apply is going to do, from what is rendered and what is live (apply.md 5 to 10)."""

import copy
from typing import Any

import pytest
from unit.reconcile.live_objects import (
    NAMESPACE,
    Object,
    applied,
    campaign,
    ended,
    evicted,
    job,
    pipeline,
    queued,
    running,
    stamped_volumes,
    state,
    volumes,
    warmup,
)
from unit.reconcile.plans import live_campaign, planned, reason, record_of, verbs

from converter.names import (
    KUEUE_QUEUE_LABEL,
    PIPELINE_LABEL,
    SUSPEND_ANNOTATION,
)
from converter.reconcile.live import Live
from converter.reconcile.plan import Plan, Verb


def test_first_apply_sends_the_pipeline_and_the_job_before_its_configmap() -> None:
    assert verbs(planned([pipeline(), *campaign()], Live())) == [
        ("ConfigMap/pipeline-ocr", Verb.CREATE),
        ("Job/scan", Verb.CREATE),
        ("ConfigMap/campaign-scan", Verb.CREATE),
    ]


@pytest.mark.parametrize("job_state", [queued, running, evicted])
def test_an_unchanged_campaign_is_not_sent(job_state: Any) -> None:
    live = state(applied(pipeline()), *live_campaign(job_state(job())))
    intended = planned([pipeline(), *campaign()], live)
    assert {verb for _, verb in verbs(intended)} == {Verb.UNCHANGED}
    assert intended.unwanted == ()


def test_a_job_whose_configmap_was_never_written_gets_it() -> None:
    """The run was killed between the two writes."""
    assert verbs(planned(campaign(), state(running(job())))) == [
        ("Job/scan", Verb.UNCHANGED),
        ("ConfigMap/campaign-scan", Verb.CREATE),
    ]


def test_a_configmap_that_is_stamped_with_another_job_is_stamped_again() -> None:
    live = state(running(job()), stamped_volumes(volumes(), "uid-of-an-earlier-job"))
    assert verbs(planned(campaign(), live))[1] == ("ConfigMap/campaign-scan", Verb.UPDATE)


def test_a_configmap_without_a_job_or_a_record_may_have_finished_and_is_not_run_again() -> None:
    live = state(stamped_volumes(volumes(), "uid-of-a-reaped-job"))
    assert "may have finished" in reason(campaign(), live)


@pytest.mark.parametrize("how", ["Complete", "Failed"])
def test_an_ended_campaign_is_finished_and_nothing_of_it_is_sent(how: str) -> None:
    intended = planned(campaign(), state(*live_campaign(ended(job(), how))))
    assert intended.finished == ("scan",)
    assert intended.campaigns == ()


def test_a_campaign_with_a_record_is_finished_also_after_its_jobs_time_to_live() -> None:
    live_job, live_volumes = live_campaign(ended(job()))
    record = record_of(live_job, live_volumes)
    assert planned(campaign(), state(live_volumes, record)).finished == ("scan",)
    assert planned(campaign(), state(record)).finished == ("scan",)


def test_a_live_job_outranks_a_record() -> None:
    record = record_of(*live_campaign(ended(job())))
    intended = planned(campaign(), state(*live_campaign(running(job())), record))
    assert intended.finished == ()
    assert intended.campaigns[0].name == "scan"


def test_a_record_of_another_job_does_not_count() -> None:
    _, live_volumes = live_campaign(ended(job()))
    earlier = ended(job())
    earlier["metadata"]["uid"] = "uid-of-an-earlier-job"
    record = record_of(earlier, live_volumes)
    assert "may have finished" in reason(campaign(), state(live_volumes, record))


def test_a_record_without_known_volumes_keeps_the_campaign_from_running_again() -> None:
    """Somebody deleted the ConfigMap of a finished campaign before its record was written."""
    record = record_of(ended(job()))
    assert planned(campaign(), state(record)).finished == ("scan",)


def test_a_record_of_another_list_keeps_the_name_from_being_used_again() -> None:
    """Its ConfigMap is gone, the list in git has grown: all of it would run once more."""
    record = record_of(*live_campaign(ended(job())))
    record["data"]["volumesSha256"] = "0" * 64
    assert "another list of volumes" in reason(campaign(), state(record))


def test_a_record_that_cannot_be_read_leaves_the_campaign_alone() -> None:
    live_job, live_volumes = live_campaign(ended(job()))
    record = record_of(live_job, live_volumes)
    record["data"] = {"phase": "Done?"}
    assert "not a record that can be read" in reason(campaign(), state(live_volumes, record))


def _warmup(status: Object, recipe: str = "recipe-1") -> Object:
    return applied(warmup(recipe=recipe)) | {"status": status}


FAILED: Object = {"conditions": [{"type": "Failed", "status": "True"}]}


DONE: Object = {"conditions": [{"type": "Complete", "status": "True"}]}


@pytest.mark.parametrize(
    ("live_warmup", "verb"),
    [
        (_warmup(DONE), Verb.UNCHANGED),
        (_warmup(DONE, "recipe-0"), Verb.REPLACE),
        (_warmup({"active": 1, "ready": 1}, "recipe-0"), Verb.UNCHANGED),
        (_warmup(FAILED), Verb.REPLACE),
        (_warmup({}, "recipe-0"), Verb.REPLACE),
    ],
    ids=["done", "changed", "changed but running", "failed", "changed before it started"],
)
def test_a_warmup_is_replaced_where_it_changed_or_failed(live_warmup: Object, verb: Verb) -> None:
    intended = planned([pipeline(), warmup()], state(applied(pipeline()), live_warmup))
    assert verbs(intended)[1] == ("Job/warmup-ocr", verb)


def test_a_campaigns_job_is_never_replaced() -> None:
    live_job = running(job(image="ocr@sha256:0"))
    assert verbs(planned(campaign(), state(*live_campaign(live_job))))[0] == (
        "Job/scan",
        Verb.UNCHANGED,
    )


def test_a_hand_edit_is_put_right() -> None:
    edited = running(job())
    del edited["metadata"]["managedFields"][0]["fieldsV1"]["f:metadata"]["f:labels"][
        f"f:{PIPELINE_LABEL}"
    ]
    assert verbs(planned(campaign(), state(*live_campaign(edited))))[0][1] is Verb.UPDATE


def test_an_update_is_bound_to_the_object_that_was_read() -> None:
    live = state(*live_campaign(running(job(suspended=True))))
    (unit,) = planned(campaign(), live).campaigns
    assert [(step.verb, step.live_uid) for step in unit.steps] == [
        (Verb.UPDATE, "uid-scan"),
        (Verb.UNCHANGED, "uid-campaign-scan"),
    ]


def test_a_new_paused_campaign_is_created_outside_the_queue() -> None:
    (unit,) = planned(campaign(suspended=True), Live()).campaigns
    body = unit.steps[0].body
    assert body["spec"]["suspend"] is True
    assert KUEUE_QUEUE_LABEL not in body["metadata"]["labels"]
    assert body["metadata"]["annotations"][SUSPEND_ANNOTATION] == "true"


def test_a_paused_campaign_outside_the_queue_is_unchanged_until_it_is_resumed() -> None:
    """Killed after any write, the next apply takes up where this one stopped."""
    paused = campaign(suspended=True)
    (unit,) = planned(paused, Live()).campaigns
    live_job = applied(unit.steps[0].body)
    live = state(*live_campaign(live_job))
    assert {verb for _, verb in verbs(planned(paused, live))} == {Verb.UNCHANGED}
    (resumed,) = planned(campaign(), live).campaigns
    assert resumed.steps[0].verb is Verb.UPDATE
    assert resumed.steps[0].handoff is not None
    assert resumed.steps[0].body["metadata"]["labels"][KUEUE_QUEUE_LABEL] == "gpu"


def names(intended: Plan) -> set[tuple[str, str]]:
    return {(target.kind, target.name) for target in intended.unwanted}


def test_what_git_no_longer_has_is_unwanted_with_its_record() -> None:
    live_job, live_volumes = live_campaign(ended(job()))
    record = record_of(live_job, live_volumes)
    intended = planned([], state(live_job, live_volumes, record, applied(pipeline())))
    assert names(intended) == {
        ("Job", "scan"),
        ("ConfigMap", "campaign-scan"),
        ("ConfigMap", "campaign-scan-status"),
        ("ConfigMap", "pipeline-ocr"),
    }
    assert intended.unwanted_campaigns == ("scan",)
    assert {target.uid for target in intended.unwanted if target.kind == "Job"} == {"uid-scan"}


def test_a_campaign_of_which_nothing_but_its_record_is_left_would_be_removed_too() -> None:
    """Without its record it would run again when its file comes back."""
    live_job, live_volumes = live_campaign(ended(job()))
    record = record_of(live_job, live_volumes)
    for live in (state(record), state(live_volumes)):
        intended = planned([pipeline()], live)
        assert intended.unwanted_campaigns == ("scan",)
        assert intended.uncancelled == ()
    assert planned([pipeline()], state(live_job, record)).uncancelled == ("scan",)
    assert planned(campaign("other"), state(applied(pipeline()))).unwanted_campaigns == ()


def test_a_paused_or_finished_campaign_that_is_in_git_keeps_everything() -> None:
    live_job, live_volumes = live_campaign(ended(job()))
    record = record_of(live_job, live_volumes)
    live = state(live_job, live_volumes, record)
    assert planned(campaign(), live).unwanted == ()
    assert planned(campaign(suspended=True), state(live_volumes, record)).unwanted == ()


def test_a_pipeline_that_a_held_back_campaign_still_runs_with_is_kept() -> None:
    """Its pods mount the ConfigMap, and new ones could not start without it."""
    live = state(applied(pipeline()), applied(warmup()), *live_campaign(running(job())))
    assert names(planned([pipeline("ocr-2"), *campaign(pipeline="ocr-2")], live)) == set()
    ended_live = state(applied(pipeline()), *live_campaign(ended(job())))
    intended = planned([pipeline("ocr-2"), *campaign(pipeline="ocr-2")], ended_live)
    assert names(intended) == {("ConfigMap", "pipeline-ocr")}


def test_objects_that_nobody_rendered_are_none_of_our_business() -> None:
    other = copy.deepcopy(running(job("other")))
    other["metadata"] |= {"labels": {}, "annotations": {}, "namespace": NAMESPACE}
    assert planned([], state(other)).unwanted == ()
