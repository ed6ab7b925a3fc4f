"""The Lease on a real API server: given up on the way out, taken over, lost."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator

import pytest
from cluster.proxy import Call, Fault, Proxy, proxied
from cluster.team import SLOW, Done, Team, eventually

from converter.cluster.lease import RENEW_AFTER_SECONDS


@pytest.fixture
def proxy(team: Team) -> Iterator[Proxy]:
    team.write_pipeline(script=SLOW)
    for name in ("one", "two"):
        team.write_campaign(name)
    with proxied(team.kubeconfig, team.repo.parent) as running:
        yield running


def holder(team: Team) -> str:
    lease = team.get("lease", "campaigns-apply")
    return str((lease or {}).get("spec", {}).get("holderIdentity") or "")


def first_send(call: Call) -> bool:
    """A send that is no dry run: the Lease is held, and something is on its way."""
    return call.verb == "patch" and call.kind in ("jobs", "configmaps")


def listening() -> None:
    """A shell ignores SIGINT for what it puts into the background, the tests for example."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize(
    ("sent", "code", "said"),
    [(signal.SIGTERM, 143, "terminated"), (signal.SIGINT, 130, "interrupted")],
)
def test_a_run_that_is_stopped_gives_the_lease_up(
    team: Team, proxy: Proxy, sent: signal.Signals, code: int, said: str
) -> None:
    under_way = threading.Event()

    def stall(call: Call) -> Fault | None:
        if first_send(call):
            under_way.set()
            return Fault(stall=2.0)
        return None

    proxy.reset(stall)
    command = ("apply", ".", "--concurrency=1")
    with team.start(*command, kubeconfig=proxy.kubeconfig, before=listening) as process:
        assert under_way.wait(60)
        assert holder(team)
        process.send_signal(sent)
        stdout, stderr = process.communicate()
    done = Done(process.returncode, stdout, stderr)
    assert done.code == code, done.text
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert holder(team) == ""
    team.apply()
    assert {job["metadata"]["name"] for job in team.objects("jobs")} == {"one", "two"}


def test_a_run_that_loses_the_lease_stops_before_its_next_write(team: Team, proxy: Proxy) -> None:
    """Somebody takes it, as after five minutes of silence, while a request is on its way."""

    def take(call: Call) -> Fault | None:
        if not first_send(call):
            return None
        patch = '--patch={"spec":{"holderIdentity":"mallory"}}'
        team.kubectl("patch", "lease", "campaigns-apply", "--type=merge", patch)
        # So long that the Lease is to be renewed before the next write.
        return Fault(stall=RENEW_AFTER_SECONDS + 1)

    proxy.reset(take)
    with team.start("apply", ".", "--concurrency=1", kubeconfig=proxy.kubeconfig) as process:
        stdout, stderr = process.communicate()
    done = Done(process.returncode, stdout, stderr)
    assert done.code == 1, done.text
    assert "taken by mallory" in done.stderr
    assert len([call for call in proxy.calls if first_send(call)]) == 1
    assert holder(team) == "mallory"
    assert team.objects("jobs") == []


def test_a_holder_that_is_silent_for_five_minutes_is_taken_over(team: Team, proxy: Proxy) -> None:
    proxy.reset(lambda call: Fault(kill=True) if first_send(call) else None)
    with team.start("apply", ".", kubeconfig=proxy.kubeconfig) as process:
        proxy.victim = process.pid
        process.communicate()
    dead = holder(team)
    assert dead
    refused = team.apply(code=1)
    assert f"another apply is running: {dead}" in refused.stderr
    # What five minutes do.
    patch = '--patch={"spec":{"renewTime":"2020-01-01T00:00:00.000000Z"}}'
    team.kubectl("patch", "lease", "campaigns-apply", "--type=merge", patch)
    team.apply()
    eventually(lambda: team.admitted("one") and team.admitted("two"), "both admitted")
