"""`campaigns hold`, `release` and `holds` on a real Kueue, as the chart's holder identity."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cluster.team import IMAGE, SLOW, Done, Object, Team, eventually
from conftest import TeamFactory
from localcluster import AuditEvent

from converter.cluster.client import Client
from converter.doctor.hold_probe import hold_findings
from converter.model import Backend, Settings
from converter.names import HOLD_HISTORY_ANNOTATION

HOLDS_WORK = (
    "the Workload of a Job was held, kept from a late write and from the release of another hold, "
    "and released (a Job of doctor's own, deleted again)"
)
CALL = ("--deadline=30s", "--by=ops", "--format=json")
# Two parts: the list of one has 900 KiB at most.
VOLUMES = [{"id": f"v{number}", "source": f"x:{number:09000}"} for number in range(110)]


def holder(team: Team, *arguments: str) -> Done:
    """The command, as the holder identity."""
    return team.run(*arguments, kubeconfig=team.repo.parent / "holder")


def call(team: Team, action: str, target: str, instance: int, code: int = 0) -> list[Any]:
    """A hold or a release; its parts."""
    done = holder(team, action, target, ".", f"--instance={instance}", *CALL)
    assert done.code == code, done.text
    parts: list[Any] = json.loads(done.stdout)["parts"]
    return parts


def holds(team: Team) -> dict[str, Object]:
    """`campaigns holds`, by target."""
    done = holder(team, "holds", ".", "--format=json")
    assert done.code == 0, done.text
    return {each["target"]: each for each in json.loads(done.stdout)["holds"]}


def writes_of_holder(team: Team, since: int) -> list[AuditEvent]:
    """But for Events, which the audit log leaves out."""
    team.cluster.audit_mark()
    user = f"system:serviceaccount:{team.namespace}:{team.tenant.queue}-holder"
    found = team.cluster.audit_log.events(since, user=user)
    return [event for event in found if event.is_write]


def with_holder(new_team: TeamFactory) -> Team:
    team = new_team({"holder": {"enabled": True}})
    path: Path = team.repo.parent / "holder"
    team.tenant.write_kubeconfig(path, account=f"{team.tenant.queue}-holder")
    return team


def test_a_hold_stops_what_runs_until_its_release(new_team: TeamFactory) -> None:
    team = with_holder(new_team)
    team.write_pipeline(script=SLOW)
    team.write_campaign("big", VOLUMES, window=1)
    team.apply()
    parts = ("big-part1", "big-part2")
    eventually(lambda: all(team.job_status(p).get("ready") for p in parts), "a pod of each part")

    mark = team.cluster.audit_mark()
    told = call(team, "hold", "big", 7)
    assert [(part["target"], part["outcome"], part["note"]) for part in told] == [
        (f"job/{part}", "written", "") for part in parts
    ]
    # In force already: nothing is written. Older and wrong ones change nothing.
    assert [part["outcome"] for part in call(team, "hold", "big", 7)] == ["already"] * 2
    for action in ("hold", "release"):
        late = call(team, action, "big", 6, code=1)
        assert {(part["outcome"], part["inForce"]) for part in late} == {("stale", 7)}

    eventually(lambda: not any(team.pods(part) for part in parts), "the eviction")
    eventually(
        lambda: {each["enforced"] for each in holds(team).values()} == {"yes"}, "the hold enforced"
    )
    assert [(each["stops"], each["instance"]) for each in holds(team).values()] == [
        ("campaign big, part 1", 7),
        ("campaign big, part 2", 7),
    ]
    stopped = team.cluster.audit_mark()
    applied = team.apply()
    assert "hold 7" in applied.text
    assert "0 resumed" in applied.text
    assert team.status()["big"]["phase"] == "Held"
    assert team.pods_created(stopped) == []

    writes = [(e.verb, e.resource, e.code) for e in writes_of_holder(team, mark)]
    assert writes == [("update", "workloads", 200)] * 2

    mark = team.cluster.audit_mark()
    told = call(team, "release", "job/big-part2", 7)
    assert (told[0]["outcome"], told[0]["stopped"]) == ("written", False)
    eventually(lambda: team.pods_created(mark, "big-part2"), "a pod after the release")
    assert team.pods_created(stopped, "big-part1") == []
    assert list(holds(team)) == ["job/big-part1"]
    writes = [(e.verb, e.resource, e.code) for e in writes_of_holder(team, mark)]
    assert writes == [("update", "workloads", 200)]

    found = team.objects("events")
    told_of = {
        (event["involvedObject"]["name"], event["reason"]): event["message"]
        for event in found
        if event["reason"] in ("Held", "Released")
    }
    assert told_of == {
        ("big-part1", "Held"): "hold 7 was placed by ops",
        ("big-part2", "Held"): "hold 7 was placed by ops",
        ("big-part2", "Released"): "hold 7 was released by ops",
    }
    workload = team.workload("big-part2")
    assert workload is not None
    history = json.loads(workload["metadata"]["annotations"][HOLD_HISTORY_ANNOTATION])
    assert [(each["what"], each["instance"]) for each in history] == [
        ("held", 7),
        ("released", 7),
    ]


def test_doctor_tries_a_hold_on_a_job_of_its_own(new_team: TeamFactory) -> None:
    team = with_holder(new_team)
    team.write_pipeline()
    team.write_campaign("one", suspend=True)
    mark = team.cluster.audit_mark()
    other = ("--holder-kubeconfig", str(team.repo.parent / "holder"))
    found = probed(team, *other)
    assert (found["status"], found["found"]) == ("ok", HOLDS_WORK)
    # The identity that applies may not update Workloads, and is not said to be at fault for it.
    found = probed(team)
    assert found["status"] == "unknown"
    assert "--holder-kubeconfig" in found["remedy"]

    assert team.objects("jobs") == []
    assert team.pods_created(mark) == []
    writes = [(e.verb, e.resource) for e in writes_of_holder(team, mark) if e.code == 200]
    assert writes == [("update", "workloads")] * 2


def test_doctor_tries_a_hold_without_a_queue(new_team: TeamFactory) -> None:
    team = new_team()
    settings = Settings(team.namespace, "", backend=Backend.NONE)
    client = Client.from_kubeconfig(kubeconfig=team.cluster.kubeconfig)
    mark = team.cluster.audit_mark()
    (found,) = hold_findings(client, client, settings, IMAGE)
    assert (found.status, found.found) == ("ok", HOLDS_WORK.replace("the Workload of a", "a"))
    assert team.objects("jobs") == []
    assert team.pods_created(mark) == []


def probed(team: Team, *options: str) -> Object:
    """What `campaigns doctor --probe-holds` says of holds."""
    done = team.run("doctor", ".", "--probe-holds", "--format=json", *options)
    found = [each for each in json.loads(done.stdout)["findings"] if each["check"] == "holds"]
    assert len(found) == 1, done.text
    return dict(found[0])
