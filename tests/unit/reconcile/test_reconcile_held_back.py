"""What is held back, and what is paused all the same (apply.md 5 and 10)."""

from collections.abc import Callable

import pytest
from unit.reconcile.live_objects import (
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
    state,
    volumes,
    workload,
)
from unit.reconcile.plans import live_campaign, planned, reason, record_of, verbs

from converter.manifest import Manifest
from converter.names import (
    CAMPAIGN_LABEL,
    KUEUE_MIN_PARALLELISM_ANNOTATION,
    KUEUE_QUEUE_LABEL,
    PIPELINE_LABEL,
    ROLE_LABEL,
    VOLUMES_ANNOTATION,
    WINDOW_ANNOTATION,
)
from converter.reconcile.plan import PauseWish, Verb


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


def rewritten(live_volumes: Object) -> Object:
    """As a release applied it that writes the same list in another form."""
    body = {key: live_volumes[key] for key in ("apiVersion", "kind", "data")}
    metadata = {
        key: live_volumes["metadata"][key] for key in ("name", "namespace", "labels", "annotations")
    }
    return applied({**body, "metadata": metadata, "data": {"volumes.txt": "another form"}})


def test_the_same_list_in_another_form_is_the_same_list() -> None:
    live_job, live_volumes = live_campaign(running(job()))
    intended = planned(campaign(), state(live_job, rewritten(live_volumes)))
    assert intended.held_back == ()
    assert {verb for _, verb in verbs(intended)} == {Verb.UNCHANGED}
    live_job, live_volumes = live_campaign(ended(job()))
    live_volumes = rewritten(live_volumes)
    record = record_of(live_job, live_volumes)
    assert planned(campaign(), state(live_job, live_volumes)).finished == ("scan",)
    assert planned(campaign(), state(live_volumes, record)).finished == ("scan",)
    assert planned(campaign(), state(record)).finished == ("scan",)


def test_volumes_that_somebody_edited_on_the_cluster_are_put_right() -> None:
    live_job, live_volumes = live_campaign(running(job()))
    live_volumes["data"]["volumes.txt"] = "edited"
    del live_volumes["metadata"]["managedFields"][0]["fieldsV1"]["f:data"]
    live_volumes = managed(
        live_volumes, "kubectl-edit", "Update", {"f:data": {"f:volumes.txt": {}}}
    )
    (unit,) = planned(campaign(), state(live_job, live_volumes)).campaigns
    assert unit.steps[1].verb is Verb.UPDATE
    assert unit.steps[1].body["data"] == volumes().body["data"]


@pytest.mark.parametrize(("number", "held"), [(3, 0), (4, 1)])
def test_volumes_without_a_digest_are_compared_as_they_are(number: int, held: int) -> None:
    live_job, live_volumes = live_campaign(running(job()))
    del live_volumes["metadata"]["annotations"][VOLUMES_ANNOTATION]
    intended = planned(campaign(volumes=number), state(live_job, live_volumes))
    assert len(intended.held_back) == held


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


@pytest.mark.parametrize(
    ("before", "after"), [("scan", ["scan-part1", "scan-part2"]), ("scan-part1", ["scan"])]
)
def test_they_differ_also_where_nothing_but_records_is_left(before: str, after: list[str]) -> None:
    live = state(record_of(*live_campaign(ended(job(before, campaign="scan")))))
    manifests = [
        manifest
        for name in after
        for manifest in (volumes(name, campaign="scan"), job(name, campaign="scan"))
    ]
    assert "its list of volumes differs" in reason(manifests, live)
    same = [volumes(before, campaign="scan"), job(before, campaign="scan")]
    assert planned(same, live).finished == ("scan",)


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


@pytest.mark.parametrize("spoilt", ["four", "-1", "9" * 5000])
def test_a_window_annotation_that_somebody_spoilt_does_not_stop_the_apply(spoilt: str) -> None:
    live_job = partially_admitted(running)
    live_job["metadata"]["annotations"][WINDOW_ANNOTATION] = spoilt
    held = reason(with_minimum(campaign(window=3)), state(*live_campaign(live_job)))
    assert "its window was 1 and is now 3" in held


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
    assert "while Kueue starts or stops it" in reason(campaign(window=1, suspended=True), live)
    assert "while Kueue starts or stops it" in reason(with_minimum(campaign(suspended=True)), live)
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


@pytest.mark.parametrize("owner", ["", "example.org/other"])
def test_a_foreign_job_is_not_paused_and_that_is_a_pause_that_does_not_hold(owner: str) -> None:
    live = state(foreign(running(job()), owner))
    intended = planned(campaign(suspended=True), live)
    assert intended.pauses == ()
    assert [(beyond.job, beyond.campaign) for beyond in intended.out_of_reach] == [("scan", "scan")]
    assert planned(campaign(), live).out_of_reach == ()


def test_a_foreign_job_that_has_ended_or_a_foreign_configmap_needs_no_pause() -> None:
    live_job, live_volumes = live_campaign(running(job()))
    for live in (state(foreign(ended(job()))), state(live_job, foreign(live_volumes))):
        assert planned(campaign(suspended=True), live).out_of_reach == ()


@pytest.mark.parametrize("key", [CAMPAIGN_LABEL, ROLE_LABEL, PIPELINE_LABEL])
def test_a_job_whose_label_was_edited_by_hand_is_paused_all_the_same(key: str) -> None:
    live_job, live_volumes = live_campaign(running(job()))
    live_job["metadata"]["labels"][key] = "edited"
    intended = planned(campaign(suspended=True), state(live_job, live_volumes))
    assert intended.pauses == (PauseWish("scan", "scan", active=False),)


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


def test_what_has_ended_is_finished_also_where_its_pipeline_is_held_back() -> None:
    stranger = foreign(applied(pipeline()))
    live = state(stranger, *live_campaign(ended(job())))
    intended = planned([pipeline(), *campaign(), *campaign("new")], live)
    assert [(held.kind, held.name) for held in intended.held_back] == [
        ("pipeline", "ocr"),
        ("campaign", "new"),
    ]
    assert intended.finished == ("scan",)


def queued_in(live_job: Object, queue: str) -> Object:
    """The Job with this queue label, or with none."""
    labels = {**live_job["metadata"]["labels"], KUEUE_QUEUE_LABEL: queue}
    if not queue:
        del labels[KUEUE_QUEUE_LABEL]
    return {**live_job, "metadata": {**live_job["metadata"], "labels": labels}}


@pytest.mark.parametrize(
    ("live_job", "suspended", "said"),
    [
        (queued_in(running(job()), "old"), False, "it runs in LocalQueue old, and converter.yaml"),
        (queued_in(running(job()), "old"), True, "it runs in LocalQueue old, and converter.yaml"),
        (queued_in(running(job()), ""), False, "somebody started its Job without Kueue"),
        (queued_in(running(job()), ""), True, ""),
        (queued_in(evicted(job()), "old"), False, ""),
        (queued_in(queued(job()), "old"), False, ""),
        (queued_in(ended(job()), "old"), False, ""),
        (running(job()), False, ""),
    ],
    ids=[
        "it runs",
        "it runs and is to be paused",
        "it runs outside the queue",
        "it runs outside the queue and is to be paused",
        "it is paused",
        "it waits",
        "it has ended",
        "the same queue",
    ],
)
def test_another_queue(live_job: Object, suspended: bool, said: str) -> None:
    intended = planned(campaign(suspended=suspended), state(*live_campaign(live_job)))
    assert bool(intended.held_back) is bool(said)
    assert all(said in held.reason for held in intended.held_back)
    if suspended:
        assert intended.pauses == (PauseWish("scan", "scan", active=False),)


def test_the_queue_may_not_change_while_a_suspended_job_has_its_quota() -> None:
    starting = queued_in(queued(job()), "old")
    wl = workload(starting, QuotaReserved="QuotaReserved")
    live = state(*live_campaign(starting), workloads=(wl,))
    assert "while Kueue starts or stops it" in reason(campaign(), live)


def deleted(live_job: Object) -> Object:
    """On its way out: something, such as a finalizer, keeps it."""
    stamp = {"deletionTimestamp": "2026-01-03T00:00:00Z"}
    return {**live_job, "metadata": {**live_job["metadata"], **stamp}}


def test_a_job_that_is_being_deleted_is_not_taken_for_one_that_runs() -> None:
    live = state(*live_campaign(deleted(running(job()))))
    assert "has deleted its Job scan, which is not gone yet" in reason(campaign(), live)
    intended = planned(campaign(suspended=True), live)
    assert intended.pauses == (PauseWish("scan", "scan", active=False),)
    ended_and_deleted = state(*live_campaign(deleted(ended(job()))))
    assert planned(campaign(), ended_and_deleted).finished == ("scan",)


def test_a_job_with_the_name_of_one_campaign_and_the_label_of_another_is_the_former_s() -> None:
    swapped = running(job("aa"))
    swapped["metadata"]["labels"][CAMPAIGN_LABEL] = "bb"
    live = state(*live_campaign(running(job("bb"))), swapped)
    intended = planned([*campaign("aa"), *campaign("bb", suspended=True)], live)
    assert PauseWish("aa", "bb", active=False) not in intended.pauses
    assert PauseWish("bb", "bb", active=False) in intended.pauses


def test_a_job_that_somebody_made_anew_of_what_has_ended_is_not_applied() -> None:
    """As `kubectl apply` of what `render` wrote does, once the Job that ended was reaped."""
    live_job, live_volumes = live_campaign(ended(job()))
    record = record_of(live_job, live_volumes)
    anew = running(job())
    anew["metadata"]["uid"] = "uid-of-another"
    why = reason(campaign(), state(anew, live_volumes, record))
    assert why.startswith("it has ended (Finished), and somebody made its Job scan anew")
    assert planned(campaign(), state(anew, live_volumes, record)).pauses == ()
    paused = planned(campaign(suspended=True), state(anew, live_volumes, record))
    assert paused.pauses == (PauseWish("scan", "scan", active=False),)


def test_a_record_of_another_job_than_the_volumes_name_is_no_sign_of_that() -> None:
    live_job, live_volumes = live_campaign(ended(job()))
    record = record_of(live_job, live_volumes)
    anew = running(job())
    anew["metadata"]["uid"] = "uid-of-another"
    live = state(*live_campaign(anew), record)
    assert planned(campaign(), live).held_back == ()
