"""What an apply is going to do, from what is rendered and what is live (apply.md 5 to 10)."""

import copy
from collections.abc import Callable
from typing import Any

import pytest
from unit.reconcile.live_objects import (
    NAMESPACE,
    REPOSITORY,
    Object,
    applied,
    campaign,
    ended,
    evicted,
    foreign,
    job,
    managed,
    pipeline,
    queued,
    running,
    stamped_volumes,
    state,
    volumes,
    warmup,
    workload,
)

from converter.manifest import Manifest
from converter.names import (
    CAMPAIGN_LABEL,
    KUEUE_MIN_PARALLELISM_ANNOTATION,
    KUEUE_QUEUE_LABEL,
    PIPELINE_LABEL,
    SUSPEND_ANNOTATION,
)
from converter.queues.kueue import Kueue
from converter.reconcile.live import Live
from converter.reconcile.plan import PauseWish, Plan, Verb, plan
from converter.reconcile.record import records_to_write


def planned(manifests: list[Manifest], live: Live) -> Plan:
    return plan(manifests, live, Kueue(), REPOSITORY)


def live_campaign(live_job: Object, number: int = 3) -> tuple[Object, Object]:
    """A Job and the ConfigMap of its volumes, stamped with its uid."""
    name = live_job["metadata"]["name"]
    of = volumes(name, number=number, campaign=live_job["metadata"]["labels"][CAMPAIGN_LABEL])
    return live_job, stamped_volumes(of, live_job["metadata"]["uid"])


def record_of(*objects: Object) -> Object:
    """The record that an apply writes for the one ended Job among the objects, then live."""
    (body,) = records_to_write(state(*objects), REPOSITORY)
    return applied(body)


def verbs(intended: Plan) -> list[tuple[str, Verb]]:
    units = (*intended.pipelines, *intended.campaigns)
    return [(step.manifest.target, step.verb) for unit in units for step in unit.steps]


def reason(manifests: list[Manifest], live: Live) -> str:
    """Why the one campaign is held back; nothing of it may be sent then."""
    intended = planned(manifests, live)
    (held,) = intended.held_back
    assert held.kind == "campaign"
    assert intended.campaigns == ()
    return held.reason


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


def test_a_record_that_cannot_be_read_leaves_the_campaign_alone() -> None:
    live_job, live_volumes = live_campaign(ended(job()))
    record = record_of(live_job, live_volumes)
    record["data"] = {"phase": "Done?"}
    assert "not a record that can be read" in reason(campaign(), state(live_volumes, record))


@pytest.mark.parametrize(
    ("manifests", "live_job", "said"),
    [
        (campaign(volumes=4), running(job()), "its list of volumes differs"),
        (campaign(pipeline="ocr-2"), running(job()), "its pipeline was ocr and is now ocr-2"),
        (campaign(inputs="inputs-2"), running(job()), "the pods of a live Job cannot change"),
        (campaign(inputs="inputs-2"), evicted(job()), "the pods of a live Job cannot change"),
        (campaign(window=1), running(job()), "its window was 2 and is now 1"),
    ],
    ids=["volumes", "pipeline", "inputs", "inputs while paused", "window"],
)
def test_what_a_live_campaign_may_not_change_is_held_back(
    manifests: list[Manifest], live_job: Object, said: str
) -> None:
    assert said in reason(manifests, state(*live_campaign(live_job)))


@pytest.mark.parametrize(
    ("before", "after"), [(["scan"], ["scan-part1", "scan-part2"]), (["scan-part1"], ["scan"])]
)
def test_volumes_that_cross_the_limit_of_a_part_differ_too(
    before: list[str], after: list[str]
) -> None:
    """The Jobs have other names then, and would run every volume a second time."""
    live = state(
        *(each for n in before for each in live_campaign(running(job(n, campaign="scan"))))
    )
    manifests = [
        manifest
        for name in after
        for manifest in (volumes(name, campaign="scan"), job(name, campaign="scan"))
    ]
    assert "its list of volumes differs" in reason(manifests, live)
    assert planned(manifests, live).unwanted == ()


def test_a_pause_reaches_the_jobs_that_are_live_not_those_that_are_rendered() -> None:
    live = state(*live_campaign(running(job())))
    part = [
        volumes("scan-part1", campaign="scan"),
        job("scan-part1", campaign="scan", suspended=True),
    ]
    assert PauseWish("scan", "scan", active=False) in planned(part, live).pauses


def partially_admitted(state_of: Callable[[Manifest], Object]) -> Object:
    """A Job with a window of 3 that Kueue lowered to 1, which made the field Kueue's."""
    asked = job(window=3)
    asked.body["metadata"]["annotations"][KUEUE_MIN_PARALLELISM_ANNOTATION] = "1"
    lowered = state_of(asked)
    lowered["spec"]["parallelism"] = 1
    del lowered["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:parallelism"]
    return managed(lowered, "kueue", "Update", {"f:spec": {"f:parallelism": {}}})


def with_minimum(manifests: list[Manifest]) -> list[Manifest]:
    for manifest in manifests:
        if manifest.kind == "Job":
            manifest.body["metadata"]["annotations"][KUEUE_MIN_PARALLELISM_ANNOTATION] = "1"
    return manifests


def test_the_window_is_what_was_asked_for_not_what_partial_admission_made_of_it() -> None:
    live = state(*live_campaign(partially_admitted(running)))
    intended = planned(with_minimum(campaign(window=3)), live)
    assert intended.held_back == ()
    assert ("Job/scan", Verb.UNCHANGED) in verbs(intended)


def test_the_window_may_not_change_once_kueue_owns_the_number_of_pods() -> None:
    live = state(*live_campaign(partially_admitted(evicted)))
    assert "is Kueue's since then" in reason(with_minimum(campaign(window=2)), live)


def test_a_window_that_somebody_edited_on_the_cluster_is_not_put_right_while_it_runs() -> None:
    """Kueue would stop every pod a second time."""
    edited = running(job())
    edited["spec"]["parallelism"] = 1
    del edited["metadata"]["managedFields"][0]["fieldsV1"]["f:spec"]["f:parallelism"]
    edited = managed(edited, "kubectl-edit", "Update", {"f:spec": {"f:parallelism": {}}})
    assert "its window was 1 and is now 2" in reason(campaign(), state(*live_campaign(edited)))


def test_a_window_above_the_number_of_volumes_makes_no_difference() -> None:
    live = state(*live_campaign(running(job(window=5))))
    assert planned(campaign(window=9), live).held_back == ()


def test_the_window_of_a_suspended_job_may_change() -> None:
    live = state(*live_campaign(evicted(job())))
    assert planned(campaign(window=1), live).held_back == ()


def test_the_window_may_not_change_while_a_suspended_job_has_its_quota() -> None:
    """Kueue would make a new Workload, and that one would not be paused."""
    stopping = evicted(job())
    wl = workload(stopping, active=False, QuotaReserved="QuotaReserved")
    live = state(*live_campaign(stopping), workloads=(wl,))
    assert "while Kueue is starting or stopping it" in reason(
        campaign(window=1, suspended=True), live
    )
    assert "while Kueue is starting or stopping it" in reason(
        with_minimum(campaign(suspended=True)), live
    )
    assert planned(campaign(suspended=True), live).held_back == ()


@pytest.mark.parametrize(
    ("owner", "said"),
    [("", "was not made by campaigns"), ("example.org/other", "belongs to repository")],
)
def test_an_object_of_others_is_never_touched(owner: str, said: str) -> None:
    live_job, live_volumes = live_campaign(running(job()))
    for live in (state(foreign(live_job, owner)), state(live_job, foreign(live_volumes, owner))):
        assert said in reason(campaign(), live)
    theirs = planned([], state(foreign(live_job, owner), foreign(live_volumes, owner)))
    assert theirs.unwanted == ()


def test_a_foreign_job_is_not_paused() -> None:
    live = state(foreign(running(job())))
    assert planned(campaign(suspended=True), live).pauses == ()


def test_a_campaign_that_is_held_back_is_paused_but_not_resumed() -> None:
    changed = state(*live_campaign(running(job()), number=4))
    assert planned(campaign(suspended=True), changed).pauses == (
        PauseWish("scan", "scan", active=False),
    )
    assert planned(campaign(), changed).pauses == ()


def test_one_campaigns_fault_does_not_stop_another() -> None:
    live = state(*live_campaign(running(job()), number=4))
    intended = planned([*campaign(), *campaign("other", suspended=True)], live)
    assert [held.name for held in intended.held_back] == ["scan"]
    assert [unit.campaign for unit in intended.campaigns] == ["other"]
    assert intended.pauses == (PauseWish("other", "other", active=False),)


def test_a_recipe_may_not_change_while_a_campaign_runs_with_it() -> None:
    live = state(applied(pipeline()), *live_campaign(running(job())))
    intended = planned([pipeline(recipe="recipe-2"), *campaign()], live)
    kinds = [(held.kind, held.name) for held in intended.held_back]
    assert kinds == [("pipeline", "ocr"), ("campaign", "scan")]
    assert "scan still runs with it" in intended.held_back[0].reason
    assert "its pipeline ocr is held back" in intended.held_back[1].reason


def test_a_recipe_may_change_when_nothing_runs_with_it() -> None:
    live = state(applied(pipeline()), *live_campaign(ended(job())))
    intended = planned([pipeline(recipe="recipe-2")], live)
    assert verbs(intended) == [("ConfigMap/pipeline-ocr", Verb.UPDATE)]


def _warmup(status: Object, recipe: str = "recipe-1") -> Object:
    return applied(warmup(recipe=recipe)) | {"status": status}


FAILED: Object = {"conditions": [{"type": "Failed", "status": "True"}]}
DONE: Object = {"conditions": [{"type": "Complete", "status": "True"}]}


@pytest.mark.parametrize(
    ("live_warmup", "verb"),
    [
        (_warmup(DONE), Verb.UNCHANGED),
        (_warmup(DONE, "recipe-0"), Verb.REPLACE),
        (_warmup({"active": 1}, "recipe-0"), Verb.UNCHANGED),
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
