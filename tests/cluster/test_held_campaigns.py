"""Campaigns on hold, as the real store places it: what git and Kueue then do, and do not."""

from __future__ import annotations

import json

from cluster.holding import AT, hold, release
from cluster.team import SLOW, Object, Team, eventually
from cluster.test_deactivation import deactivated

from converter.names import HOLD_ANNOTATION, SUSPEND_ANNOTATION, WAS_INACTIVE_ANNOTATION


def workload(team: Team, job: str) -> Object:
    found = team.workload(job)
    assert found is not None
    return found


def is_active(team: Team, job: str) -> bool:
    return workload(team, job)["spec"].get("active") is not False


def hold_on(team: Team, job: str) -> str:
    return str(workload(team, job)["metadata"].get("annotations", {}).get(HOLD_ANNOTATION, ""))


def test_git_waits_for_the_release_of_a_hold(team: Team) -> None:
    names = ("goes", "pauses", "resumes", "gone")
    team.write_pipeline(script=SLOW)
    for name in names:
        team.write_campaign(name, 2, window=1)
    team.apply()
    eventually(lambda: all(map(team.admitted, names)), "the admissions")
    team.write_campaign("resumes", 2, window=1, suspend=True)
    team.apply()
    for name in names:
        assert hold(team, name, 7).wrote
    eventually(lambda: {s["phase"] for s in team.status().values()} == {"Held"}, "all are held")
    held = team.status()["goes"]
    assert held["detail"] == f"hold 7 of ops stops it since {AT}: a node is lost"
    assert held["hold"]["instance"] == 7

    # Git goes on meanwhile.
    team.write_campaign("pauses", 2, window=1, suspend=True)
    team.write_campaign("resumes", 2, window=1)
    team.delete_campaign("gone")
    decided = json.loads(team.run("diff", ".", "--prune", "--format=json").stdout)["changes"]
    assert [c["campaign"] for c in decided if c["action"] == "held back"] == ["gone"]
    assert [c["target"] for c in decided if c["action"] == "note"] == ["goes", "resumes"]
    mark = team.cluster.audit_mark()
    done = team.apply("--prune", code=3)
    in_force = f"hold 7 is in force (of ops since {AT}: a node is lost)"
    assert f"held back: campaign gone: its file is gone, and {in_force}" in done.stderr
    for name in ("goes", "resumes"):
        lifted = f"`campaigns release {name} --instance 7 --deadline 30s` lifts it"
        assert f"stays inactive: {in_force}; {lifted}" in done.stderr
    assert [e for e in team.requests(mark, resource="workloads") if e.is_write] == []
    assert not any(is_active(team, name) for name in names)
    paused = [SUSPEND_ANNOTATION in team.job(n)["metadata"]["annotations"] for n in names]
    assert paused == [False, True, False, False]
    assert team.pods_created(mark) == []
    first = json.loads(team.run("explain", "goes", ".", "--format=json").stdout)["causes"][0]
    assert first["code"] == "held"

    for name in ("goes", "pauses", "resumes"):
        assert release(team, name, 7).wrote
    eventually(lambda: team.admitted("goes") and team.admitted("resumes"), "the admissions")
    assert not is_active(team, "pauses")
    assert team.status()["pauses"]["phase"] == "Paused"
    assert team.pods_created(mark, "pauses") == []

    # What could cost the hold is not sent, and the pause of it is noted in the hold.
    hold(team, "goes", 8)
    uid = workload(team, "goes")["metadata"]["uid"]
    team.write_campaign("goes", 2, window=2, suspend=True)
    done = team.apply("--prune", "--release-holds", code=3)
    assert "held back: campaign goes (campaigns/goes.yaml): its window changed" in done.stderr
    assert f"pruned: Job/gone: released with it, though {in_force}" in done.stdout
    assert team.get("job", "gone") is None
    assert hold_on(team, "goes") == "8"
    noted = workload(team, "goes")
    assert noted["metadata"]["annotations"][WAS_INACTIVE_ANNOTATION] == "true"
    assert noted["metadata"]["uid"] == uid
    release(team, "goes", 8)
    assert not is_active(team, "goes")

    # Its Job is deleted by hand, and the hold with it: apply makes no other.
    hold(team, "resumes", 8)
    team.kubectl("delete", "job", "resumes")
    mark = team.cluster.audit_mark()
    done = team.apply(code=3)
    assert "its Job resumes was created and is gone" in done.stderr
    assert team.get("job", "resumes") is None
    assert team.pods_created(mark, "resumes") == []


def test_what_kueue_deactivated_is_not_made_anew_under_a_hold(team: Team) -> None:
    """Its Workload would be deleted for that, and the hold with it."""
    deactivated(team)
    uid = workload(team, "one")["metadata"]["uid"]
    hold(team, "one", 9)
    mark = team.cluster.audit_mark()
    done = team.apply()
    assert "stays inactive: hold 9 is in force" in done.stderr
    assert [e for e in team.requests(mark, resource="workloads") if e.is_write] == []
    assert workload(team, "one")["metadata"]["uid"] == uid
    assert team.status()["one"]["phase"] == "Held"
    release(team, "one", 9)
    assert not is_active(team, "one")
    assert "made anew, since Kueue had deactivated it" in team.apply().stdout
