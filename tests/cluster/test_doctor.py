"""`campaigns doctor` on the real cluster: as each identity, and with a queue that is spoilt."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from cluster.team import SLOW, Team, eventually

from converter.doctor.needs import NEEDS, Command

if TYPE_CHECKING:
    from conftest import TeamFactory

VIEWER = {"viewer": {"enabled": True}}
# Questions, of which nothing is stored.
REVIEWS = ("selfsubjectaccessreviews", "selfsubjectreviews")


@dataclass(frozen=True)
class Report:
    """What `campaigns doctor` says."""

    code: int
    findings: list[dict[str, str]]

    def of(self, status: str) -> dict[str, str]:
        """The findings of a status, by check, each with its remedy."""
        return {
            each["check"]: f"{each['found']} -> {each['remedy']}"
            for each in self.findings
            if each["status"] == status
        }


def doctor(team: Team, *options: str, kubeconfig: Path | None = None) -> Report:
    done = team.run("doctor", ".", "--format=json", *options, kubeconfig=kubeconfig)
    assert done.stderr == ""
    return Report(done.code, json.loads(done.stdout)["findings"])


def write_settings(team: Team, gpu: str = "a100", priority_class: str = "urgent") -> None:
    """converter.yaml, with a flavor of these nodes and a priority class of this name."""
    queue = team.tenant.queue
    flavor = {"name": f"{queue}-flavor", "nodeLabels": {"gpu": gpu}}
    size = {"cpu": "100m", "memory": "64Mi", "gpu": 1, "workdir": "8Mi", "flavor": flavor["name"]}
    classes = [f"{queue}-{priority_class}"]
    team.write_settings(flavors=[flavor], sizes={"s": size}, priority_classes=classes)


@pytest.fixture
def fit_team(new_team: TeamFactory) -> Team:
    """A team whose cluster, identity and repository are as they should be."""
    team = new_team()
    queue = team.tenant.queue
    quota = {"cpu": 4, "memory": "8Gi", "nvidia.com/gpu": 1}
    flavor = {"name": f"{queue}-flavor", "nodeLabels": {"gpu": "a100"}, "quota": quota}
    classes = [{"name": f"{queue}-urgent", "value": 10}]
    team.tenant.install({"queue": {"flavors": [flavor], "priorityClasses": classes}, **VIEWER})
    write_settings(team)
    team.write_pipeline()
    return team


def test_a_fit_cluster_as_each_identity(fit_team: Team) -> None:
    team = fit_team
    mark = team.cluster.audit_mark()
    report = doctor(team)
    assert (report.code, report.of("fault")) == (0, {})
    # Its repository is not in git; nobody but an administrator may look at Kueue's Deployment.
    assert report.of("warning").keys() == {"history"}
    assert report.of("unknown").keys() == {"kueue-version"}
    assert report.of("ok").keys() >= {"queue", "flavor", "size", "priority-class", "pod-security"}
    assert doctor(team, "--for=apply").code == 0

    team.cluster.audit_mark()
    writes = [event for event in team.requests(mark) if event.is_write]
    kept = {event.resource for event in writes if not event.dry_run}
    assert kept == set(REVIEWS)
    assert {event.resource for event in writes if event.dry_run} == {"jobs"}
    assert team.objects("jobs") == []

    viewer = team.repo.parent / "viewer"
    team.tenant.write_kubeconfig(viewer, account=f"{team.tenant.queue}-viewer")
    report = doctor(team, kubeconfig=viewer)
    assert report.code == 0
    assert report.of("warning").keys() == {"may-apply", "may-diff", "history"}
    assert "create/patch/delete jobs.batch" in report.of("warning")["may-apply"]
    assert doctor(team, "--for=view", kubeconfig=viewer).code == 0
    report = doctor(team, "--for=apply", kubeconfig=viewer)
    assert (report.code, set(report.of("fault"))) == (1, {"may-apply", "may-diff"})

    report = doctor(team, kubeconfig=team.cluster.kubeconfig)
    assert "everything on the cluster" in report.of("warning")["excess"]


def needed(command: Command) -> set[tuple[str, str, str]]:
    return {
        (need.group, need.resource, need.verb)
        for need in NEEDS
        if command in need.needed_by | need.helps
    }


def test_the_commands_ask_for_nothing_that_doctor_does_not_check(fit_team: Team) -> None:
    team = fit_team
    team.write_pipeline(script=SLOW)
    team.write_campaign("first")
    team.apply()
    eventually(lambda: team.admitted("first"), "an admission, which takes the only GPU")
    team.write_campaign("one", priority=f"{team.tenant.queue}-urgent")
    waits = (Command.APPLY, Command.STATUS, Command.EXPLAIN)
    for command, *arguments in (
        (Command.DIFF, "."),
        (Command.APPLY, ".", "--wait", "--timeout=2s"),
        (Command.STATUS, "."),
        (Command.EXPLAIN, "one"),
    ):
        mark = team.cluster.audit_mark()
        done = team.run(command, *arguments)
        team.cluster.audit_mark()
        asked = {
            (event.group, "/".join(filter(None, (event.resource, event.subresource))), event.verb)
            for event in team.requests(mark)
            if event.resource not in REVIEWS
        }
        assert asked, done.text
        assert ("Waiting" in done.text) is (command in waits), done.text
        assert asked - needed(command) == set(), done.text


def test_what_is_wrong_is_a_fault_with_a_remedy(fit_team: Team) -> None:
    team = fit_team
    queue = team.tenant.queue
    write_settings(team, gpu="h100", priority_class="idle")
    report = doctor(team)
    assert report.code == 1
    assert report.of("fault").keys() == {"flavor", "size"}
    assert "-> write the same in flavors" in report.of("fault")["flavor"]
    # The identity may read those classes that the chart's values name.
    assert "-> name it in queue.priorityClasses" in report.of("unknown")["priority-class"]

    write_settings(team)
    team.kubectl("delete", "workloadpriorityclass", f"{queue}-urgent")
    team.create_local_queue("default")
    stopped = '--patch={"spec":{"stopPolicy":"Hold"}}'
    team.kubectl("patch", "clusterqueue", f"{queue}-cq", "--type=merge", stopped)
    report = doctor(team)
    assert report.of("fault").keys() == {"queue", "priority-class", "plain-job"}
    assert "-> have it created" in report.of("fault")["priority-class"]
    assert "-> have stopPolicy set to None" in report.of("fault")["queue"]
    # Kueue puts it there, and the chart's policies let no Job into another queue than the team's.
    assert "and this one names default" in report.of("fault")["plain-job"]

    team.write_settings(queue="typo")
    report = doctor(team)
    assert "LocalQueue typo -> correct its name in converter.yaml" in report.of("unknown")["queue"]

    team.write_settings(namespace=f"{team.namespace}-none")
    report = doctor(team, kubeconfig=team.cluster.kubeconfig)
    assert report.of("fault").keys() == {"namespace", "queue", "queued-job"}

    config = json.loads(team.kubeconfig.read_text())
    config["users"][0]["user"]["token"] = secrets.token_hex()
    expired = team.repo.parent / "expired"
    expired.write_text(json.dumps(config))
    report = doctor(team, kubeconfig=expired)
    assert report.code == 1
    assert "has the token expired?" in report.of("fault")["reachable"]
