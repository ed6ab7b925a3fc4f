"""What the product does while a part of the cluster is away, or is not as it usually is.

The tests in which the API server goes away come last: controllers wait
longer and longer before they look for it again.
"""

from __future__ import annotations

import itertools
import json
import re
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import pytest
from cluster.frail import kueue_configured, wake_controllers, webhooks_away
from cluster.proxy import Call, Fault, Proxy, proxied
from cluster.rounds import free_the_lease
from cluster.situations import check as check_table
from cluster.situations import explained, row
from cluster.team import SLOW, Done, Team, eventually
from localcluster import Cluster, ClusterError

from converter.cluster.objects import index_ranges
from converter.doctor.kueue import USED as KUEUE_KINDS


@pytest.fixture
def proxy(frail_team: Team) -> Iterator[Proxy]:
    with proxied(frail_team.kubeconfig, frail_team.repo.parent) as running:
        yield running


def running(team: Team, name: str) -> None:
    """A campaign with a pod."""
    team.write_pipeline(script=SLOW)
    team.write_campaign(name)
    team.apply()
    eventually(lambda: team.job_status(name).get("active"), "a pod")


def ends_well(team: Team) -> None:
    """An apply that has nothing to complain of, once everything is there again."""

    def applied() -> bool:
        free_the_lease(team)
        return team.run("apply", ".").code == 0

    eventually(applied, "an apply that works again")


def test_a_pause_that_cannot_be_enforced_is_an_error_and_the_next_apply_enforces_it(
    frail_team: Team,
) -> None:
    team = frail_team
    running(team, "one")
    team.write_campaign("one", suspend=True)
    team.cluster.stop_component("kueue")
    try:
        done = team.apply(code=1)
    finally:
        team.cluster.start_component("kueue")
    assert "not paused: one" in done.stderr
    ends_well(team)
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")
    assert team.pods("one") == []


def test_with_kueue_away_nothing_is_created_that_it_would_find_later(frail_team: Team) -> None:
    team = frail_team
    team.write_pipeline(script=SLOW)
    team.write_campaign("paused", suspend=True)
    team.write_campaign("plain")
    mark = team.cluster.audit_mark()
    team.cluster.stop_component("kueue")
    try:
        done = team.apply(code=1)
        assert team.objects("jobs") == []
    finally:
        team.cluster.start_component("kueue")
    assert "refused: Job/paused" in done.stderr
    assert "refused: Job/plain" in done.stderr
    ends_well(team)
    eventually(lambda: team.admitted("plain"), "the other campaign's admission")
    assert team.pods_created(mark, "paused") == []


def test_with_its_webhooks_away_kueue_can_pause_nothing_and_that_is_an_error(
    frail_team: Team,
) -> None:
    """Also Kueue's own writes go through them, so there is nothing that would end the pods."""
    team = frail_team
    running(team, "one")
    team.write_campaign("one", suspend=True)
    team.write_campaign("new")
    with webhooks_away(team.cluster):
        done = team.apply(code=1)
        assert "not paused: one" in done.stderr
        assert "vworkload.kb.io" in done.stderr
        assert "refused: Job/new" in done.stderr
        assert "mjob.kb.io" in done.stderr
        assert team.get("job", "new") is None
    ends_well(team)
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")
    assert team.pods("one") == []


def test_with_the_webhook_for_new_jobs_away_they_are_refused_and_pauses_hold(
    frail_team: Team,
) -> None:
    team = frail_team
    running(team, "one")
    team.write_campaign("one", suspend=True)
    team.write_campaign("new")
    with webhooks_away(team.cluster, "mjob.kb.io"):
        done = team.apply(code=3)
        assert "refused: Job/new" in done.stderr
        assert 'failed calling webhook "mjob.kb.io"' in done.stderr
        assert "1 paused" in done.stdout
        eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")
        assert team.pods("one") == []
    ends_well(team)
    eventually(lambda: team.admitted("new"), "the new one")


def test_a_pause_that_kueue_does_not_carry_out_is_an_error(frail_team: Team) -> None:
    """Its webhook for Workloads answers, and that for Jobs does not: it cannot suspend the Job."""
    team = frail_team
    running(team, "one")
    team.write_campaign("one", suspend=True)
    with webhooks_away(team.cluster, "mjob.kb.io", "vjob.kb.io"):
        done = team.apply("--pause-wait=3", code=1)
        assert "paused: one" in done.stdout
        assert "not paused: one" in done.stderr
        assert "Kueue has not suspended the Job after 3 s" in done.stderr
        again = team.apply("--pause-wait=1", code=1)
        assert "not paused: one" in again.stderr
        assert team.pods("one") != []
    ends_well(team)
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")
    assert team.pods("one") == []


def test_the_requeue_limit_is_a_deactivation_of_kueues_own(frail_team: Team) -> None:
    team = frail_team
    reason = "DeactivatedDueToRequeuingLimitExceeded"
    again = {"backoffLimitCount": 1, "backoffBaseSeconds": 1}
    ready = {"waitForPodsReady": {"timeout": "2s", "requeuingStrategy": again}}
    team.write_settings(node_selector={"no": "such-node"}, reactivate="never")
    team.write_pipeline()
    team.write_campaign("one")

    def rests() -> bool:
        return bool(team.status()["one"]["phase"] == "Paused")

    with kueue_configured(team.cluster, ready):
        team.apply()
        eventually(rests, "Kueue's own deactivation")
        assert team.status()["one"]["detail"].startswith(f"Kueue deactivated it ({reason})")
        done = team.apply()
        assert f"stays inactive: Kueue deactivated it ({reason})" in done.stderr
        assert done.stderr.startswith("note: one")
        team.write_settings(node_selector={"no": "such-node"}, reactivate="always")
        done = team.apply()
        assert f"made anew, since Kueue had deactivated it ({reason})" in done.stdout
        team.write_campaign("one", suspend=True)
        team.apply()
        eventually(rests, "the pause")


def test_explain_names_the_webhooks_that_do_not_answer(frail_team: Team) -> None:
    team = frail_team
    names = {team.namespace: "team", "127.0.0.1:9": "127.0.0.1:9443"}
    running(team, "one")
    team.write_campaign("one", suspend=True)
    with webhooks_away(team.cluster, "mjob.kb.io", "vjob.kb.io"):
        team.apply("--pause-wait=1", code=1)
        team.write_campaign("new")
        phases = {name: found["clusterPhase"] for name, found in team.status().items()}
        assert phases == {"new": "Missing", "one": "Pausing"}
        missing = explained(team, "new", team.kubeconfig)
        pausing = explained(team, "one", team.kubeconfig)
        while pausing["causes"][0]["code"] == "pausing":
            pausing = explained(team, "one", team.kubeconfig)
    assert missing["causes"][0]["code"] == "webhook-down"
    assert pausing["causes"][0]["code"] == "pause-not-enforced"
    check_table(
        [
            row("Kueue's webhook is away", missing["phase"], missing, names),
            row("pause is not carried out", pausing["phase"], pausing, names),
        ]
    )


def doctor_faults(team: Team) -> dict[str, str]:
    """What `campaigns doctor` calls a fault, by check."""
    done = team.run("doctor", ".", "--format=json")
    found = json.loads(done.stdout)["findings"]
    faults = {each["check"]: each["found"] for each in found if each["status"] == "fault"}
    assert done.code == bool(faults), done.text
    return faults


def test_doctor_names_a_webhook_that_does_not_answer(frail_team: Team) -> None:
    frail_team.write_pipeline()
    with webhooks_away(frail_team.cluster, "mjob.kb.io"):
        faults = doctor_faults(frail_team)
    assert faults.keys() == {"queued-job"}
    assert 'failed calling webhook "mjob.kb.io"' in faults["queued-job"]
    eventually(lambda: doctor_faults(frail_team) == {}, "the webhook")


@contextmanager
def v1beta1_alone(cluster: Cluster) -> Iterator[None]:
    """Kueue's API without v1beta2, as it was before Kueue 0.15."""
    serve_v1beta2(cluster, served=False)
    try:
        yield
    finally:
        serve_v1beta2(cluster, served=True)


def serve_v1beta2(cluster: Cluster, *, served: bool) -> None:
    for resource in KUEUE_KINDS:
        name = f"crd/{resource.plural}.kueue.x-k8s.io"
        versions = json.loads(cluster.kubectl.run("get", name, "--output=json"))["spec"]["versions"]
        index = [each["name"] for each in versions].index("v1beta2")
        patch = [{"op": "replace", "path": f"/spec/versions/{index}/served", "value": served}]
        cluster.kubectl.run("patch", name, "--type=json", f"--patch={json.dumps(patch)}")


def test_where_v1beta1_alone_is_served_it_is_used(frail_team: Team) -> None:
    """For reading: this Kueue's controllers need v1beta2, and its v1beta1 takes no pause."""
    running(frail_team, "one")
    with v1beta1_alone(frail_team.cluster):
        eventually(lambda: served_in(frail_team, "v1beta1 alone"), "v1beta1")
        assert doctor_faults(frail_team) == {}
        assert frail_team.status()["one"]["phase"] == "Running"
        assert "1 unchanged" in frail_team.apply().stdout
    eventually(lambda: served_in(frail_team, "v1beta2"), "v1beta2")
    ends_well(frail_team)


def served_in(team: Team, versions: str) -> bool:
    """Whether all kinds of Kueue are, as doctor sees it."""
    kinds = ", ".join(each.kind for each in KUEUE_KINDS)
    return f"{kinds}: served in {versions}" in team.run("doctor", ".").stdout


def test_status_follows_every_volume_and_survives_a_restart_of_the_api_server(
    frail_team: Team,
) -> None:
    team, cluster = frail_team, frail_team.cluster
    team.write_pipeline(script='sleep 0.3; [ "$VOLUME_ID" != bad ] || exit 13')
    volumes = [f"v{number}" for number in range(29)]
    team.write_campaign("one", [*volumes[:20], "bad", *volumes[20:]], window=6)
    mark = cluster.audit_mark()
    team.apply()
    with team.start("status", ".", "one", "--watch") as watching:
        assert watching.stdout is not None
        said = [watching.stdout.readline()]
        while counts(said[-1])[0] < 10:
            said.append(watching.stdout.readline())
        cluster.stop_component("kube-apiserver")
        cluster.start_component("kube-apiserver")
        wake_controllers(cluster)
        rest, errors = watching.communicate(timeout=240)
    lines = "".join(said).splitlines() + rest.splitlines()
    # The apply identity may not read them.
    unread = "note: not permitted to read the places in the queue, so PLACE says nothing\n"
    assert (watching.returncode, errors.replace(unread, "")) == (0, "")
    assert "waiting for the API server" in rest
    assert "the API server answers again" in rest
    shown = {counts(line) for line in lines if line.startswith("one: ")}
    first_seen = min(shown)
    assert {each for each in written_counts(team, mark) if each >= first_seen} <= shown
    assert lines[-1].split()[:2] == ["one", "PartlyFailed"]


def counts(line: str) -> tuple[int, int]:
    """Done and failed in a line of `campaigns status --watch`."""
    found = re.search(r"(\d+)/\d+ done, (\d+) failed", line)
    assert found, line
    return int(found[1]), int(found[2])


def written_counts(team: Team, since: int) -> set[tuple[int, int]]:
    """Every state that the Job controller wrote, from the audit log."""
    team.cluster.audit_mark()
    events = team.cluster.audit_log.events(
        since, resource="jobs", subresource="status", namespace=team.namespace, code=200
    )
    states = [event.body["status"] for event in events if event.body]
    return {
        (
            len(index_ranges(state.get("completedIndexes", ""))),
            len(index_ranges(state.get("failedIndexes", ""))),
        )
        for state in states
    }


def new_ones(team: Team) -> list[str]:
    """A running campaign that git pauses, and as many new ones as make an apply last."""
    running(team, "one")
    team.write_campaign("one", suspend=True)
    names = [f"new-{number}" for number in range(6)]
    for name in names:
        team.write_campaign(name)
    return names


def check(team: Team, names: Sequence[str]) -> None:
    ends_well(team)
    eventually(lambda: all(map(team.admitted, names)), "the new ones")
    eventually(lambda: team.status()["one"]["phase"] == "Paused", "the pause")


def start_api_server(cluster: Cluster) -> None:
    """Start it after a crash: the killed one may have the port for a moment longer."""

    def started() -> bool:
        try:
            cluster.start_component("kube-apiserver")
        except ClusterError:
            return False
        return True

    eventually(started, "the API server")


def apply_and_kill_the_api_server(team: Team, proxy: Proxy, *, comes_back: bool) -> Done:
    """An apply during whose writes the API server crashes."""
    writes = itertools.count(1)
    killed = threading.Event()

    def kill_at_the_third_write_of_a_job(call: Call) -> Fault | None:
        if (call.verb, call.kind) == ("patch", "jobs") and next(writes) == 3:
            team.cluster.kill_component("kube-apiserver")
            killed.set()
        return None

    proxy.reset(kill_at_the_third_write_of_a_job)
    try:
        with team.start("apply", ".", kubeconfig=proxy.kubeconfig) as process:
            eventually(killed.is_set, "the third write of a Job")
            if comes_back:
                start_api_server(team.cluster)
            stdout, stderr = process.communicate()
    finally:
        start_api_server(team.cluster)
    return Done(process.returncode, stdout, stderr)


def test_an_api_server_that_is_started_anew_leaves_nothing_that_cannot_be_finished(
    frail_team: Team, proxy: Proxy
) -> None:
    names = new_ones(frail_team)
    done = apply_and_kill_the_api_server(frail_team, proxy, comes_back=True)
    assert done.code in (0, 1, 3), done.text
    if done.code:
        # One that has just started knows no roles yet. What lost its connection is tried again, but
        # what comes first to the new one is refused.
        assert "apply again" in done.stderr or "is forbidden" in done.stderr, done.text
    check(frail_team, names)


def test_an_apply_whose_api_server_stays_away_says_what_to_do(
    frail_team: Team, proxy: Proxy
) -> None:
    names = new_ones(frail_team)
    done = apply_and_kill_the_api_server(frail_team, proxy, comes_back=False)
    assert done.code == 1, done.text
    wake_controllers(frail_team.cluster)
    assert "no answer from the API server" in done.stderr
    assert "apply again" in done.stderr
    check(frail_team, names)
