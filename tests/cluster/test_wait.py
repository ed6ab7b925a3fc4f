"""`campaigns apply --wait` on a real Kueue with real pods, and through a proxy that fails."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from cluster.proxy import Call, Fault, Proxy, proxied
from cluster.team import SLOW, Done, Team, eventually

# The looks at the campaigns' Jobs are by label: apply itself lists all Jobs.
OF_THE_WAIT = "labelSelector=gitops-campaigns.io%2Frole%3Dcampaign"


def last_line(done: Done) -> str:
    return done.stdout.splitlines()[-1]


def test_it_ends_with_the_campaigns_and_failed_volumes_are_exit_code_1(team: Team) -> None:
    team.write_pipeline(script='[ "$VOLUME_ID" != bad ] || exit 13')
    team.write_campaign("letters", 2)
    team.write_campaign("pages", ["one", "bad", "two"])
    done = team.apply("--wait", code=1)
    assert last_line(done) == "waited: 1 finished, 1 failed"
    assert "letters: Finished, 2/2 done, 0 failed" in done.stdout.splitlines()
    assert done.stderr.startswith(
        "failed: campaign pages (campaigns/pages.yaml): PartlyFailed, 2/3 done, 1 failed: "
    )
    # It had ended before this apply.
    assert last_line(team.apply("--wait")) == "there is nothing to wait for"


def test_it_ends_with_the_time_or_when_no_pod_of_a_paused_campaign_is_left(team: Team) -> None:
    team.write_pipeline(script="trap 'sleep 3; exit 143' TERM; sleep 600 & wait")
    team.write_campaign("going")
    team.write_campaign("paused", suspend=True)
    done = team.apply("--wait", "--timeout=2s", code=1)
    assert last_line(done) == (
        "timed out after 2s: 1 paused, 1 not ended; what has not ended goes on in the cluster"
    )
    [line] = done.stderr.splitlines()
    assert line.startswith("not ended: campaign going (campaigns/going.yaml): ")
    eventually(lambda: team.job_status("going").get("active"), "it goes on")

    team.write_campaign("going", suspend=True)
    assert last_line(team.apply("--wait")) == "waited: 2 paused"
    assert [pod for pod in team.pods("going") if pod["status"]["phase"] == "Running"] == []


def test_what_is_stopped_on_the_cluster_is_exit_code_3(team: Team) -> None:
    team.write_pipeline(script=SLOW)
    team.write_campaign("letters")
    with team.start("apply", ".", "--wait") as process:
        eventually(
            lambda: team.get("job", "letters") and team.job_status("letters").get("active"), "a pod"
        )
        workload = team.workload("letters")
        assert workload is not None
        name = workload["metadata"]["name"]
        team.kubectl("patch", "workload", name, "--type=merge", '--patch={"spec":{"active":false}}')
        stdout, stderr = process.communicate()
    assert process.returncode == 3, stdout + stderr
    assert stderr.startswith("stopped: campaign letters (campaigns/letters.yaml): Paused, ")
    assert stdout.splitlines()[-1] == "waited: 1 stopped"


@pytest.fixture
def proxy(team: Team) -> Iterator[Proxy]:
    team.write_pipeline(script="sleep 10")
    team.write_campaign("letters")
    with proxied(team.kubeconfig, team.repo.parent) as running:
        yield running


def fail_in_the_wait(proxy: Proxy, faults: Callable[[], Fault | None]) -> None:
    """From the list and the first watch on, these faults."""
    looks: list[Call] = []

    def rule(call: Call) -> Fault | None:
        if "/jobs?" not in call.path or OF_THE_WAIT not in call.path:
            return None
        looks.append(call)
        return faults() if len(looks) > 2 else None

    proxy.reset(rule)


def test_an_api_server_that_is_away_for_a_while_is_outlived(team: Team, proxy: Proxy) -> None:
    faults = [*[Fault(status=503)] * 2, *[Fault(cut=True)] * 2]
    fail_in_the_wait(proxy, lambda: faults.pop(0) if faults else None)
    done = team.run("apply", ".", "--wait", kubeconfig=proxy.kubeconfig)
    assert (done.code, done.stderr) == (0, "")
    said = done.stdout.splitlines()
    away = next(n for n, line in enumerate(said) if line.startswith("waiting for the API server: "))
    assert said[away + 1] == "the API server answers again"
    assert said[-1] == "waited: 1 finished"
    assert not faults


def test_a_token_that_expires_ends_it_with_one_line(team: Team, proxy: Proxy) -> None:
    fail_in_the_wait(proxy, lambda: Fault(status=401))
    done = team.run("apply", ".", "--wait", kubeconfig=proxy.kubeconfig)
    assert done.code == 1
    [line] = done.stderr.splitlines()
    assert line.startswith("error: the API server no longer accepts the token (401 ")
    assert "the campaigns go on in the cluster" in line
    eventually(lambda: team.ended("letters"), "the campaign's end")
