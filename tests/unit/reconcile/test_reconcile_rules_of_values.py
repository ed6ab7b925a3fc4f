"""Small pure rules: what a live Job keeps, provenance, the limit of prune, and the exit code."""

import pytest
from unit.reconcile.live_objects import (
    Object,
    applied,
    ended,
    evicted,
    job,
    managed,
    queued,
    running,
    stamped_volumes,
    volumes,
)

from converter.errors import Refused
from converter.names import (
    APPLIED_AT_ANNOTATION,
    APPLIED_BY_ANNOTATION,
    COMMIT_ANNOTATION,
    JOB_UID_ANNOTATION,
)
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.plan import Plan, Target
from converter.reconcile.provenance import Provenance, stamped, with_provenance_of
from converter.reconcile.prune import check_limit
from converter.reconcile.settled import settled_job, settled_volumes

OLD = job(image="ocr@sha256:0")
NEW = job(image="ocr@sha256:1", window=1, suspended=True)


def image(body: Object) -> str:
    return str(body["spec"]["template"]["spec"]["containers"][0]["image"])


@pytest.mark.parametrize("live", [queued(OLD), running(OLD), evicted(OLD)])
def test_a_newer_release_leaves_the_template_of_a_live_job_alone(live: Object) -> None:
    body = dict(settled_job(NEW.body, live))
    assert image(body) == "ocr@sha256:0"
    assert body["spec"]["suspend"] is True
    assert body["spec"]["parallelism"] == 1
    assert body["metadata"] == NEW.body["metadata"]


def test_a_field_that_kueue_took_over_does_not_come_back_with_the_template() -> None:
    live = running(OLD)
    live["spec"]["template"]["spec"]["nodeSelector"] = {"pool": "kueue-chose-this"}
    ours = live["metadata"]["managedFields"][0]["fieldsV1"]
    del ours["f:spec"]["f:template"]["f:spec"]["f:nodeSelector"]
    assert "nodeSelector" not in settled_job(NEW.body, live)["spec"]["template"]["spec"]


@pytest.mark.parametrize(
    "live", [running(job(inputs="other")), ended(OLD), applied({**OLD.body, "spec": {}})]
)
def test_the_render_stands_where_there_is_nothing_to_keep(live: Object) -> None:
    assert settled_job(NEW.body, live) == NEW.body


def edited_by_hand(live: Object, key: str, value: str | None) -> Object:
    """`live` after kubectl edit: the key is the other manager's, or gone."""
    del live["metadata"]["managedFields"][0]["fieldsV1"]["f:data"][f"f:{key}"]
    if value is None:
        del live["data"][key]
        return live
    live["data"][key] = value
    return managed(live, "kubectl-edit", "Update", {"f:data": {f"f:{key}": {}}})


def test_a_newer_release_leaves_the_data_of_live_volumes_alone_but_for_what_others_edited() -> None:
    def lives() -> Object:
        return applied({**volumes().body, "data": {"volumes.txt": "old form", "env.txt": "old"}})

    rendered = {**volumes().body, "data": {"volumes.txt": "new form", "env.txt": "new"}}
    assert settled_volumes(rendered, None) == rendered
    assert settled_volumes(rendered, lives())["data"] == lives()["data"]
    replaced = lives()
    replaced["metadata"]["managedFields"][0]["manager"] = "kubectl-replace"
    assert settled_volumes(rendered, replaced) == rendered
    for value in ("edited", None):
        edited = edited_by_hand(lives(), "env.txt", value)
        assert settled_volumes(rendered, edited)["data"] == {
            "volumes.txt": "old form",
            "env.txt": "new",
        }


PROVENANCE = Provenance("c0ffee", "ada", "2026-01-01T00:00:00Z")


def test_an_apply_stamps_who_when_from_which_commit_and_for_which_job() -> None:
    annotations = stamped(volumes().body, PROVENANCE, "uid-scan")["metadata"]["annotations"]
    assert annotations[COMMIT_ANNOTATION] == "c0ffee"
    assert annotations[APPLIED_BY_ANNOTATION] == "ada"
    assert annotations[APPLIED_AT_ANNOTATION] == "2026-01-01T00:00:00Z"
    assert annotations[JOB_UID_ANNOTATION] == "uid-scan"


def test_provenance_is_never_a_reason_to_send() -> None:
    live = stamped_volumes(volumes(), "uid-scan")
    kept = with_provenance_of(volumes().body, live)["metadata"]["annotations"]
    assert kept[JOB_UID_ANNOTATION] == "uid-scan"
    assert COMMIT_ANNOTATION not in kept
    assert with_provenance_of(volumes().body, None) == volumes().body


@pytest.mark.parametrize(
    ("cancelled", "live", "limit", "refused"),
    [
        (5, 5, None, False),
        (6, 6, None, True),
        (10, 20, None, False),
        (11, 20, None, True),
        (1, 20, 0, True),
        (11, 20, 11, False),
        (0, 0, None, False),
    ],
)
def test_prune_is_limited_to_half_of_the_campaigns_and_at_least_5(
    cancelled: int, live: int, limit: int | None, refused: bool
) -> None:
    campaigns = [
        Target(kind, name, "uid", f"c{n}")
        for n in range(cancelled)
        for kind, name in (("Job", f"c{n}"), ("ConfigMap", f"campaign-c{n}"))
    ]
    others = [Target("Job", "warmup-ocr", "uid"), Target("ConfigMap", "pipeline-ocr", "uid")]
    plan = Plan(unwanted=(*campaigns, *others))
    if not refused:
        check_limit(plan, live, limit)
        return
    with pytest.raises(Refused, match=f"--prune-limit {cancelled}"):
        check_limit(plan, live, limit)


def test_the_parts_of_a_campaign_count_once() -> None:
    parts = tuple(Target("Job", f"c-part{n}", "uid", "c") for n in range(9))
    check_limit(Plan(unwanted=parts), 1, None)


def outcome(*fates: Fate) -> Outcome:
    """Each fate is that of a campaign of its own."""
    result = Outcome(lambda event: None)
    result.extend(Event(fate, f"Job/{n}", campaign=str(n)) for n, fate in enumerate(fates))
    return result


@pytest.mark.parametrize(
    ("fates", "code"),
    [
        ([], 0),
        ([Fate.CREATED, Fate.UNCHANGED, Fate.FINISHED, Fate.PAUSED, Fate.RESUMED], 0),
        ([Fate.NOTE, Fate.RECORDED, Fate.PRUNED], 0),
        ([Fate.CREATED, Fate.HELD_BACK], 3),
        ([Fate.UNCHANGED, Fate.REFUSED], 3),
        ([Fate.FINISHED, Fate.REFUSED], 3),
        ([Fate.HELD_BACK], 3),
        ([Fate.CREATED, Fate.PAUSE_FAILED], 1),
        ([Fate.HELD_BACK, Fate.PAUSE_FAILED], 1),
        ([Fate.REFUSED], 1),
        ([Fate.REFUSED, Fate.HELD_BACK], 1),
    ],
)
def test_exit_code_1_beats_3_beats_0(fates: list[Fate], code: int) -> None:
    assert outcome(*fates).exit_code == code


def test_the_summary_counts_every_kind_of_fate() -> None:
    summed = outcome(Fate.CREATED, Fate.CONFIGURED, Fate.REPLACED, Fate.UNCHANGED, Fate.PAUSED)
    assert summed.summary() == (
        "3 applied, 1 unchanged, 0 held back, 0 refused, 1 paused, 0 resumed, 0 pruned, 0 finished"
    )
    assert outcome(Fate.PAUSE_FAILED, Fate.PRUNE_FAILED).summary().endswith(", 2 failed")


def test_the_summary_counts_campaigns_and_not_their_objects() -> None:
    result = Outcome(lambda event: None)
    for fate, target, campaign in (
        (Fate.CREATED, "ConfigMap/pipeline-ocr", ""),
        (Fate.UNCHANGED, "Job/scan-part1", "scan"),
        (Fate.CONFIGURED, "ConfigMap/campaign-scan-part1", "scan"),
        (Fate.UNCHANGED, "Job/other", "other"),
        (Fate.UNCHANGED, "ConfigMap/campaign-other", "other"),
        (Fate.PAUSED, "scan-part1", "scan"),
        (Fate.PAUSED, "scan-part2", "scan"),
        (Fate.PRUNED, "Job/gone", "gone"),
        (Fate.PRUNED, "ConfigMap/campaign-gone", "gone"),
        (Fate.PRUNED, "ConfigMap/pipeline-old", ""),
        (Fate.REFUSED, "Job/warmup-ocr", ""),
    ):
        result.add(Event(fate, target, campaign=campaign))
    assert result.summary() == (
        "1 applied, 1 unchanged, 0 held back, 0 refused, 1 paused, 0 resumed, 1 pruned, "
        "0 finished, 1 pipeline(s) not as in git"
    )


@pytest.mark.parametrize(
    ("campaigns_fate", "code"), [(Fate.REFUSED, 1), (Fate.HELD_BACK, 3), (Fate.UNCHANGED, 0)]
)
def test_a_pipeline_alone_is_nothing_that_came_through(campaigns_fate: Fate, code: int) -> None:
    result = Outcome(lambda event: None)
    result.add(Event(Fate.UNCHANGED, "ConfigMap/pipeline-ocr"))
    result.add(Event(campaigns_fate, "Job/scan", campaign="scan"))
    assert result.exit_code == code


def test_events_are_reported_as_they_come() -> None:
    seen: list[str] = []
    Outcome(lambda event: seen.append(str(event))).add(Event(Fate.HELD_BACK, "campaign x", "why"))
    assert seen == ["held back: campaign x: why"]
