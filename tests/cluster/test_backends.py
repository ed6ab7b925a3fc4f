"""The same life of campaigns on every backend: what one cannot do is a declared capability."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from cluster.backend_teams import Koord, define, remove, unqueued_team
from cluster.conforming import ClusterSite
from cluster.team import SLOW, Team, eventually
from conformance import live
from conftest import RunningCluster, TeamFactory

from cluster import koord
from converter.capabilities import CAPABILITIES
from converter.cluster.resources import JOBS
from converter.model import Backend
from converter.names import KOORD_ACTIVE_ANNOTATION

SAMPLES = Path(__file__).parents[2] / "campaigns"
TIME_OVER = "it has run for the 7200 s that pipelines/slow.yaml gives it"


@pytest.fixture(params=[each.value for each, able in CAPABILITIES.items() if able.kubernetes])
def team(
    request: pytest.FixtureRequest,
    cluster: RunningCluster,
    new_team: TeamFactory,
    tmp_path: Path,
) -> Iterator[Team]:
    """A team on each backend that is a Kubernetes cluster."""
    backend = Backend(request.param)
    if backend is Backend.KUEUE:
        yield new_team()
        return
    if backend is Backend.NONE:
        made = unqueued_team(cluster, tmp_path / "none", backend, queue="")
        yield made
        remove(made)
        return
    define(cluster, later=True)
    made = unqueued_team(cluster, tmp_path / "koord", Backend.KOORD_QUEUE, queue="gpu")
    with koord.running(cluster.kubeconfig, made.namespace, pods={"gpu": 8}):
        yield made
        remove(made)


@pytest.fixture
def koord_team(cluster: RunningCluster, tmp_path: Path) -> Iterator[Koord]:
    define(cluster, later=True)
    made = unqueued_team(cluster, tmp_path / "koord", Backend.KOORD_QUEUE, queue="gpu")
    with koord.running(cluster.kubeconfig, made.namespace, pods={"gpu": 8}) as queue:
        yield Koord(made, queue)
        remove(made)


def sample_of(team: Team, name: str, **changes: str) -> None:
    """The repository of a sample, with some words of its converter.yaml changed."""
    shutil.copytree(SAMPLES / name, team.repo, dirs_exist_ok=True)
    settings = team.repo / "converter.yaml"
    text = settings.read_text()
    for old, new in {f"campaigns-{name}": team.namespace, **changes}.items():
        assert old in text
        text = text.replace(old, new)
    settings.write_text(text)


@pytest.mark.parametrize(
    ("name", "ends", "paused"),
    [("koord", ("deeds", "petitions"), "ledgers"), ("plain", ("guests",), "late-guests")],
)
def test_the_samples(
    name: str,
    ends: tuple[str, ...],
    paused: str,
    koord_team: Koord,
    cluster: RunningCluster,
    tmp_path: Path,
) -> None:
    team = koord_team.team
    if name == "plain":
        team = unqueued_team(cluster, tmp_path / "plain", Backend.NONE)
    priority_class = {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "metadata": {"name": f"{name}-urgent"},
        "value": 1000,
        "preemptionPolicy": "Never",
    }
    cluster.local.kubectl.apply([priority_class])
    sample_of(team, name, **({"archive": "gpu"} if name == "koord" else {}))
    assert "1 paused" in team.apply().stdout
    eventually(lambda: team.ended(*ends), "the end of what is not paused")
    found = phases(team)
    assert found == {**dict.fromkeys(ends, "Finished"), paused: "Paused"}
    assert team.run("diff", ".").code == 0
    if name == "plain":
        remove(team)


def phases(team: Team) -> dict[str, str]:
    return {name: str(each["phase"]) for name, each in team.status().items()}


def test_a_life_of_campaigns(team: Team) -> None:
    live(ClusterSite(team))


def test_without_the_field_no_pause_is_claimed(koord_team: Koord, cluster: RunningCluster) -> None:
    """QueueUnits of v1.8.0, whose ``spec.active`` the API server drops without a word."""
    team = koord_team.team
    define(cluster, later=False)
    try:
        team.write_pipeline("slow", script=SLOW)
        team.write_campaign("slow", pipeline="slow")
        team.apply()
        eventually(lambda: team.job_status("slow").get("ready"), "slow runs")

        team.write_campaign("slow", pipeline="slow", suspend=True)
        team.write_campaign("fresh", pipeline="slow", suspend=True)
        done = team.apply(code=1)
        assert "not paused: slow" in done.stderr
        assert "queueunits.scheduling.x-k8s.io of this cluster has no spec.active" in done.stderr
        assert "held back: campaign fresh" in done.stderr
        assert team.get("job", "fresh") is None
        # It would keep Koord-Queue from ever looking after the Job again.
        assert KOORD_ACTIVE_ANNOTATION not in team.job("slow")["metadata"]["annotations"]
        assert team.status()["slow"]["phase"] == "Pausing"
    finally:
        define(cluster, later=True)
    done = team.apply()
    assert "2 paused" in done.stdout
    eventually(lambda: not team.pods("slow"), "no pod of what is paused")
    eventually(lambda: phases(team) == {"slow": "Paused", "fresh": "Paused"}, "both pauses")


def test_what_koord_queue_does_not_do_is_said(koord_team: Koord) -> None:
    team, queue = koord_team.team, koord_team.queue
    team.write_pipeline("slow", script=SLOW)
    team.write_campaign("slow", pipeline="slow")
    team.apply()
    eventually(lambda: team.job_status("slow").get("ready"), "slow runs")

    # The feature gate is off in the controllers: nothing stops the Job.
    queue.controllers_gate = False
    team.write_campaign("slow", pipeline="slow", suspend=True)
    done = team.apply("--pause-wait=2", code=1)
    assert "feature gate QueueUnitActive on in koord-queue-controllers" in done.stderr
    assert team.status()["slow"]["phase"] == "Pausing"
    assert len(team.pods("slow")) == 1
    queue.keeps_admissions = True
    queue.controllers_gate = True
    team.kubectl("annotate", "job", "slow", "tests/nudge=1")
    eventually(lambda: phases(team)["slow"] == "Paused", "the pause")
    team.apply()

    # What was stopped stays counted as admitted, and nothing starts it again.
    team.write_campaign("slow", pipeline="slow")
    done = team.apply()
    assert "still counts it as admitted and may never start it" in done.stdout
    found = team.status()["slow"]
    assert (found["phase"], found["active"]) == ("Waiting", 0)
    assert "never starts it" in found["detail"]
    queue.keeps_admissions = False
    team.kubectl("delete", "queueunit", "slow")
    team.kubectl("annotate", "job", "slow", "tests/nudge=2", "--overwrite")
    eventually(lambda: team.job_status("slow").get("ready"), "it runs once it is made anew")

    # Somebody stops it by hand, or its time is over: apply does not give it another whole time.
    team.kubectl("patch", "queueunit", "slow", "--type=merge", '--patch={"spec":{"active":false}}')
    team.kubectl("annotate", "job", "slow", "tests/nudge=3", "--overwrite")
    eventually(lambda: phases(team)["slow"] == "Paused", "the stop by hand")
    mark = team.cluster.audit_mark()
    done = team.apply()
    assert "note: slow" in done.stderr
    assert "write suspend: true in campaigns/slow.yaml and apply" in done.stderr
    assert ClusterSite(team).writes(mark) == []


def test_a_pause_of_what_waits_hangs_on_a_gate_that_nobody_can_read(koord_team: Koord) -> None:
    """And where it is off, the next apply says that the pause does not hold."""
    team, queue = koord_team.team, koord_team.queue
    queue.pods["gpu"] = 0
    queue.queue_gate = queue.controllers_gate = False
    team.write_pipeline("slow", script=SLOW)
    team.write_campaign("slow", pipeline="slow")
    team.apply()
    eventually(lambda: koord_team.unit("slow").get("status"), "it waits")

    team.write_campaign("slow", pipeline="slow", suspend=True)
    done = team.apply()
    assert "active=false; koord-queue keeps to that only with its feature gate" in done.stdout
    assert team.status()["slow"]["phase"] == "Paused"

    queue.pods["gpu"] = 8
    eventually(lambda: team.pods("slow"), "it starts all the same")
    assert team.status()["slow"]["phase"] == "Pausing"
    done = team.apply("--pause-wait=1", code=1)
    assert "not paused: slow" in done.stderr
    queue.controllers_gate = True
    # The next apply has the controllers look at the Job again; its annotation has not changed.
    assert team.apply().code == 0
    eventually(lambda: team.status()["slow"]["phase"] == "Paused", "the pause")


def test_a_hold_on_a_queue_unit(koord_team: Koord, cluster: RunningCluster) -> None:
    team = koord_team.team
    team.write_pipeline("slow", script=SLOW)
    team.write_campaign("slow", pipeline="slow")
    team.apply()
    eventually(lambda: team.job_status("slow").get("ready"), "slow runs")
    call = (".", "--deadline=30s", "--by=tests")

    def hold(action: str, instance: int, code: int = 0) -> None:
        done = team.run(
            action, "slow", *call, f"--instance={instance}", kubeconfig=cluster.kubeconfig
        )
        assert done.code == code, done.text

    hold("hold", 7)
    eventually(lambda: not team.pods("slow"), "the eviction")
    hold("release", 6, code=1)
    done = team.apply()
    assert "hold 7" in done.stderr
    eventually(lambda: phases(team)["slow"] == "Held", "the hold")
    mark = team.cluster.audit_mark()
    hold("release", 7)
    eventually(lambda: team.pods_created(mark, "slow"), "a pod after the release")
    assert koord_team.unit("slow")["spec"]["active"] is True


def test_the_time_that_a_campaign_has(koord_team: Koord) -> None:
    team, queue = koord_team.team, koord_team.queue
    team.write_pipeline("slow", script=SLOW, max_execution_seconds=7200)
    team.write_campaign("slow", pipeline="slow")
    team.apply()
    eventually(lambda: phases(team)["slow"] == "Running", "slow runs")
    assert koord_team.unit("slow")["spec"]["maximumExecutionTimeSeconds"] == 7200
    time = team.status()["slow"]["executionTime"]
    assert (time["limit"], time["used"] + time["left"]) == (7200, 7200)

    # From here on the test says what Koord-Queue would.
    queue.stop()
    admin, namespace = queue.client, team.namespace
    stopped = {"spec": {"suspend": True}}
    admin.merge_patch(JOBS, namespace, "slow", stopped, koord.MANAGER)
    eventually(lambda: not team.pods("slow"), "no pod")

    def say(**status: object) -> None:
        now = f"{datetime.now(UTC):%Y-%m-%dT%H:%M:%SZ}"
        unit = koord_team.unit("slow")
        koord.set_status(admin, namespace, unit, {"lastUpdateTime": now, **status})

    at = datetime.now(UTC) + timedelta(seconds=170)
    say(phase="TimeoutBackoff", requeueState={"count": 3, "requeueAt": f"{at:%Y-%m-%dT%H:%M:%SZ}"})
    found = team.status()["slow"]
    assert found["phase"] == "Waiting"
    assert found["detail"].startswith("backing off: try 3 in 2 min ")

    spent = {"type": "Evicted", "status": "True", "reason": "MaximumExecutionTimeExceeded"}
    team.kubectl("patch", "queueunit", "slow", "--type=merge", '--patch={"spec":{"active":false}}')
    say(phase="Enqueued", conditions=[spent])
    assert TIME_OVER in team.status()["slow"]["detail"]
    done = team.apply()
    assert "its execution time of 7200 s is over" in done.stderr
    # The eviction that follows writes another reason over it; it is remembered all the same.
    say(phase="Enqueued", conditions=[{**spent, "reason": "Deactivated"}])
    assert TIME_OVER in team.status()["slow"]["detail"]
    mark = team.cluster.audit_mark()
    team.apply()
    assert ClusterSite(team).writes(mark) == []

    # It runs again only where git says so: paused, and resumed.
    team.write_campaign("slow", pipeline="slow", suspend=True)
    assert "1 paused" in team.apply().stdout
    assert phases(team)["slow"] == "Paused"
    team.write_campaign("slow", pipeline="slow")
    assert "with its whole execution time once more" in team.apply().stdout
    assert koord_team.unit("slow")["spec"]["active"] is True
