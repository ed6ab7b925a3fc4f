"""Two unfinished campaigns of one pipeline share no volume (apply.md 7)."""

import copy

import pytest
from unit.reconcile.live_objects import (
    Object,
    campaign,
    ended,
    foreign,
    job,
    pipeline,
    running,
    state,
)
from unit.reconcile.plans import live_campaign, planned, record_of

from converter.manifest import Manifest
from converter.reconcile.plan import Plan


def sharing(name: str, *ids: str, **of_job: object) -> list[Manifest]:
    """A campaign of just these volumes."""
    configmap, made = campaign(name, **{"volumes": len(ids), **of_job})
    body = copy.deepcopy(dict(configmap.body))
    body["data"]["volumes.txt"] = "".join(f"{each}\tsource\n" for each in ids)
    return [Manifest(configmap.role, body, made.pipeline, made.campaign), made]


def live(manifests: list[Manifest], job_now: Object) -> tuple[Object, Object]:
    """The campaign as it is live, with a Job in the state `job_now`."""
    configmap = copy.deepcopy(dict(manifests[0].body))
    configmap["metadata"] |= {"uid": "uid-volumes"}
    return job_now, configmap


def held(intended: Plan) -> dict[str, str]:
    return {each.name: each.reason for each in intended.held_back}


def test_of_two_new_campaigns_the_later_waits() -> None:
    manifests = [*sharing("a", "v1", "v2"), *sharing("b", "v2", "v3"), *sharing("c", "v3")]
    intended = planned(manifests, state())
    assert held(intended) == {
        "b": "v2 is in campaign a of pipeline ocr too, which has not ended, and both would write "
        "to the same place: apply again when it has, or take it out of this file"
    }
    # A campaign that is held back has no claim.
    assert [unit.name for unit in intended.campaigns] == ["a", "c"]


@pytest.mark.parametrize("suspended", [False, True])
def test_a_new_campaign_waits_for_one_that_is_unfinished(suspended: bool) -> None:
    z = sharing("z", "v1", "v2", "v3", suspended=suspended)
    a = sharing("a", "v1", "v2", "v4")
    intended = planned([*a, *z], state(*live(z, running(z[1]))))
    assert list(held(intended)) == ["a"]
    assert held(intended)["a"].startswith("v1, v2 are in campaign z of pipeline ocr too")
    assert [unit.name for unit in intended.campaigns] == ["z"]


def test_also_for_one_that_is_no_longer_in_git() -> None:
    gone = sharing("gone", "v1")
    intended = planned(sharing("a", "v1"), state(*live(gone, running(gone[1]))))
    assert "campaign gone" in held(intended)["a"]


def test_the_volumes_that_were_not_sent_before_a_kill_count_too() -> None:
    z = sharing("z", "v1")
    intended = planned([*sharing("a", "v1"), *z], state(running(z[1])))
    assert list(held(intended)) == ["a"]


def test_a_campaign_killed_before_its_volumes_were_sent_waits_for_one_that_came_after() -> None:
    old, new = sharing("old", "v1"), sharing("new", "v1")
    new_live = live(new, running(new[1]))
    for objects in ((running(old[1]), *new_live), (*new_live, running(old[1]))):
        intended = planned([*old, *new], state(*objects))
        assert "campaign new" in held(intended)["old"]


def test_what_has_ended_may_run_again_under_another_name() -> None:
    done = sharing("done", "v1", "v2")
    objects = live(done, ended(done[1], "Failed", completed="0"))
    assert held(planned([*done, *sharing("again", "v2")], state(*objects))) == {}


def test_an_end_that_is_only_on_record_counts_as_well() -> None:
    live_job, live_volumes = live_campaign(ended(job()))
    record = record_of(live_job, live_volumes)
    again = sharing("again", "scan-0")
    assert held(planned([*campaign(), *again], state(live_volumes, record))) == {}


@pytest.mark.parametrize(
    "other",
    [
        [pipeline("htr"), *sharing("b", "v1", pipeline="htr")],
        sharing("b", "v9"),
    ],
    ids=["another pipeline", "other volumes"],
)
def test_no_objection(other: list[Manifest]) -> None:
    assert held(planned([*sharing("a", "v1"), *other], state())) == {}


def test_a_campaign_that_is_live_is_not_stopped_by_a_new_one_before_it() -> None:
    z = sharing("z", "v1", suspended=False)
    paused = running(sharing("z", "v1", suspended=True)[1])
    intended = planned([*sharing("a", "v1"), *z], state(*live(z, paused)))
    assert list(held(intended)) == ["a"]
    assert [(wish.job, wish.active) for wish in intended.pauses] == [("z", True)]


def test_parts_of_one_campaign_and_jobs_of_others_do_not_conflict() -> None:
    parts = [*sharing("a-part1", "v1", campaign="a"), *sharing("a-part2", "v1", campaign="a")]
    theirs = sharing("b", "v1")
    stranger = foreign(running(theirs[1]), "example.org/other")
    assert held(planned(parts, state(stranger, foreign(live(theirs, stranger)[1])))) == {}


def test_a_claim_is_not_lost_with_an_edit_of_the_live_volumes() -> None:
    z = sharing("z", "v1")
    live_job, configmap = live(z, running(z[1]))
    configmap["data"]["volumes.txt"] = ""
    intended = planned([*sharing("a", "v1"), *z], state(live_job, configmap))
    assert "campaign z" in held(intended)["a"]


def test_volumes_that_somebody_made_unreadable_stop_nobody() -> None:
    z = sharing("z", "v1")
    live_job, configmap = live(z, running(z[1]))
    configmap["data"]["volumes.txt"] = "no tab"
    assert held(planned(sharing("a", "v1"), state(live_job, configmap))) == {}
    configmap.pop("data")
    assert held(planned(sharing("a", "v1"), state(live_job, configmap))) == {}
