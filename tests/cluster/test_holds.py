"""Holds on a real Kueue, as the chart's holder identity: what comes of each call, and of many.

Which requests were made is read from the API server's audit log, which misses none.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from cluster.proxy import Call as Sent
from cluster.proxy import Fault, proxied
from cluster.team import SLOW, Object, Team, eventually
from conftest import TeamFactory
from localcluster import AuditEvent
from unit.holds.state_table import ends, outcome_of, outcomes

from converter.cluster.client import Client
from converter.errors import ClusterUnavailable
from converter.holds.carry_out import Done, Store, carry_out
from converter.holds.deadline import Deadline, deadline_in
from converter.holds.errors import HoldError, OutcomeUnknown, Rejected, StaleHold
from converter.holds.kinds import OWNERS
from converter.holds.rules import Action, Call, Decision, State
from converter.holds.workload import WorkloadStore
from converter.names import HOLD_ANNOTATION

JOB = OWNERS["Job"]
FINALIZER = "tests.example.org/stays"


@dataclass(frozen=True)
class Holder:
    """The calls of one identity on one team's Workloads."""

    team: Team
    kubeconfig: Path

    def client(self) -> Client:
        return Client.from_kubeconfig(kubeconfig=self.kubeconfig)

    def store(self, job: str, workload: str = "") -> WorkloadStore:
        kind = None if workload else JOB
        return WorkloadStore(self.client(), self.team.namespace, kind, workload or job)

    def call(self, action: Action, job: str, instance: int = 0, *, workload: str = "") -> str:
        """How a call ends: "wrote", "stands", or the name of its error."""
        store = self.store(job, workload)
        call = Call(action, instance, at="2026-01-01T00:00:00Z", by="tests", reason="a test")
        try:
            return "wrote" if carry_out(store, call, deadline_in(30)).wrote else "stands"
        except HoldError as error:
            return type(error).__name__

    def writes(self, since: int) -> list[AuditEvent]:
        """What this identity wrote after a mark, whatever came of it."""
        self.team.cluster.audit_mark()
        user = f"system:serviceaccount:{self.team.namespace}:{self.team.tenant.queue}-holder"
        asked = self.team.cluster.audit_log.events(since, user=user)
        return [each for each in asked if each.is_write]


@pytest.fixture
def holder(new_team: TeamFactory, tmp_path: Path) -> Iterator[Holder]:
    team = new_team({"holder": {"enabled": True}})
    kubeconfig = tmp_path / "holder"
    team.tenant.write_kubeconfig(kubeconfig, account=f"{team.tenant.queue}-holder")
    yield Holder(team, kubeconfig)
    for workload in team.objects("workloads"):
        if FINALIZER in workload["metadata"].get("finalizers", ()):
            finalizers(team, workload["metadata"]["name"], [])


def finalizers(team: Team, workload: str, wanted: Sequence[str]) -> None:
    patch = json.dumps({"metadata": {"finalizers": list(wanted)}})
    team.kubectl("patch", "workload", workload, "--type=merge", f"--patch={patch}")


def own_workload(team: Team, job: str) -> Object:
    """The Workload of a Job, by one request."""
    owned = team.objects("workloads")
    return next(w for w in owned if w["metadata"]["ownerReferences"][0]["name"] == job)


def is_active(team: Team) -> bool:
    return own_workload(team, "one")["spec"].get("active") is not False


def set_active(team: Team, workload: str, active: bool) -> None:
    patch = json.dumps({"spec": {"active": active}})
    team.kubectl("patch", "workload", workload, "--type=merge", f"--patch={patch}")


def running(team: Team, job: str) -> bool:
    return any(pod["status"]["phase"] == "Running" for pod in team.pods(job))


def test_every_outcome_on_a_workload(holder: Holder) -> None:
    """As in the table of the rules; each line has one outcome of it that no line above has."""
    team = holder.team
    team.write_pipeline(script=SLOW)
    team.write_pipeline("short")
    team.write_campaign("one")
    team.write_campaign("done", pipeline="short")
    team.apply()
    eventually(lambda: running(team, "one") and team.ended("done"), "a pod, and an end")
    name = own_workload(team, "one")["metadata"]["name"]

    met = set()

    def call(
        wanted: str, action: Action, instance: int = 0, job: str = "one", workload: str = ""
    ) -> None:
        """One call, and the writes that its end stands for: one, where nobody came between."""
        if job != "none":
            of = holder.store(job, workload)
            outcome = outcome_of(of.read(deadline_in(30)), action, instance)
            assert ends(outcome) == wanted
            met.add(outcome)
        mark = team.cluster.audit_log.end()
        assert holder.call(action, job, instance, workload=workload) == wanted
        sent = holder.writes(mark)
        assert all((e.verb, e.resource, e.subresource) == ("update", "workloads", "") for e in sent)
        codes = [each.code for each in sent]
        assert codes == ([409] * (len(sent) - 1) + [200] if wanted == "wrote" else [])

    call("StaleHold", Action.RELEASE, 50)
    call("wrote", Action.HOLD, 20)
    call("wrote", Action.HOLD, 50)
    call("stands", Action.HOLD, 50)
    call("StaleHold", Action.HOLD, 20)
    call("StaleHold", Action.RELEASE, 20)
    call("Rejected", Action.OPEN)
    eventually(lambda: not team.pods("one"), "Kueue has evicted it")
    assert team.job("one")["spec"]["suspend"] is True
    evicted = team.cluster.audit_mark()

    # Git's resume in between changes nothing.
    team.apply()
    assert not is_active(team)
    assert team.pods_created(evicted, "one") == []
    # Somebody starts it beside the hold.
    set_active(team, name, True)
    call("wrote", Action.HOLD, 50)
    assert not is_active(team)
    eventually(lambda: not team.pods("one"), "no pod")
    held = team.cluster.audit_mark()
    call("wrote", Action.RELEASE, 50)
    eventually(lambda: team.pods_created(held, "one"), "a pod after the release")
    assert HOLD_ANNOTATION not in own_workload(team, "one")["metadata"]["annotations"]

    # Paused in git, and so it stays after the release.
    team.write_campaign("one", suspend=True)
    team.apply()
    call("wrote", Action.HOLD, 51)
    call("wrote", Action.RELEASE, 51)
    assert not is_active(team)

    # Inactive for a reason that nobody knows, and so it stays.
    team.write_campaign("one")
    team.apply()
    set_active(team, name, False)
    call("wrote", Action.HOLD, 52)
    call("wrote", Action.HOLD, 53)
    call("wrote", Action.RELEASE, 53)
    assert not is_active(team)

    team.kubectl("annotate", "workload", name, f"{HOLD_ANNOTATION}=soon")
    call("Rejected", Action.HOLD, 60)
    call("Rejected", Action.RELEASE, 60)
    team.kubectl("annotate", "workload", name, f"{HOLD_ANNOTATION}-")
    call("Rejected", Action.HOLD, 60, job="done")
    call("Rejected", Action.HOLD, 60, job="none")
    finalizers(team, name, [FINALIZER])
    team.kubectl("delete", "workload", name, "--wait=false")
    call("Rejected", Action.HOLD, 60, workload=name)
    assert met == outcomes(queued=True)


class Slow:
    """A store that takes its time between the read and the write, and notes what it saw."""

    def __init__(self, store: Store, seconds: float) -> None:
        self._store = store
        self._seconds = seconds
        self.seen: list[int] = []

    @property
    def target(self) -> str:
        return self._store.target

    def read(self, deadline: Deadline) -> State:
        state = self._store.read(deadline)
        self.seen.append((state.mark.instance or 0) if state.mark is not None else 0)
        return state

    def write(self, decision: Decision, deadline: Deadline) -> None:
        time.sleep(self._seconds)
        self._store.write(decision, deadline)


@dataclass
class Race:
    """Holds that are placed at once, and what became of each."""

    holder: Holder
    ended: list[tuple[int, list[int], Done | StaleHold]] = field(default_factory=list)
    begins: threading.Barrier = field(default_factory=lambda: threading.Barrier(8))

    def run(self, work: Sequence[tuple[int, float]]) -> None:
        """One caller: these instances, one after the other, each with a delay in seconds."""
        client = self.holder.client()
        self.begins.wait()
        for instance, seconds in work:
            store = Slow(WorkloadStore(client, self.holder.team.namespace, JOB, "one"), seconds)
            try:
                done: Done | StaleHold = carry_out(
                    store, Call(Action.HOLD, instance), deadline_in(60)
                )
            except StaleHold as error:
                done = error
            self.ended.append((instance, store.seen, done))


def test_of_holds_at_once_no_lower_one_replaces_a_higher_one(holder: Holder) -> None:
    """Eight callers, instances 1 to 50 in any order, while Kueue evicts and writes the status."""
    team = holder.team
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    team.apply()
    eventually(lambda: running(team, "one"), "a pod")
    mark = team.cluster.audit_mark()
    order = random.Random(8)  # noqa: S311 - the same order each time
    work = [(instance, order.uniform(0, 0.1)) for instance in range(1, 51)]
    order.shuffle(work)
    race = Race(holder)
    with ThreadPoolExecutor(8) as callers:
        for each in [callers.submit(race.run, work[n::8]) for n in range(8)]:
            each.result()
    eventually(lambda: not team.pods("one"), "no pod")

    sent = holder.writes(mark)
    assert {(each.verb, each.resource, each.subresource) for each in sent} == {
        ("update", "workloads", "")
    }
    # A write is accepted on the version that it names, so these are in the order of their landing.
    landed = sorted((e.body for e in sent if e.code == 200), key=version)
    accepted = [int(body["metadata"]["annotations"][HOLD_ANNOTATION]) for body in landed]
    assert accepted == sorted(set(accepted))
    written = {i for i, _, done in race.ended if isinstance(done, Done) and done.wrote}
    assert written == set(accepted)
    assert team_hold(team) == accepted[-1] == max(accepted)

    assert len(race.ended) == 50
    stale = [(i, seen, done) for i, seen, done in race.ended if isinstance(done, StaleHold)]
    assert len(stale) + len(accepted) == 50
    for instance, seen, error in stale:
        assert error.in_force == (seen[-1] or None)
        assert seen[-1] in {0, *accepted}
        assert seen[-1] > instance or seen[-1] != seen[-2]
    assert any(each.code == 409 for each in sent)
    statuses = team.cluster.audit_log.events(
        mark, user_agent="kueue", resource="workloads", namespace=team.namespace
    )
    first, last = (time_of(sent, landed[n]) for n in (0, -1))
    assert [e for e in statuses if e.is_write and e.code == 200 and first < e.time < last]


def version(body: Object) -> int:
    return int(body["metadata"]["resourceVersion"])


def team_hold(team: Team) -> int:
    return int(own_workload(team, "one")["metadata"]["annotations"][HOLD_ANNOTATION])


def time_of(sent: Sequence[AuditEvent], body: Object) -> str:
    return next(each.time for each in sent if each.body is body)


def test_nothing_is_sent_once_the_deadline_has_passed(holder: Holder, tmp_path: Path) -> None:
    """The API server stalls, at the read or at the write, for longer than the call has."""
    team = holder.team
    team.write_pipeline(script=SLOW)
    team.write_campaign("one")
    team.apply()
    eventually(lambda: team.workload("one"), "a Workload")
    with proxied(holder.kubeconfig, tmp_path) as proxy:
        client = Client.from_kubeconfig(kubeconfig=proxy.kubeconfig)
        store = WorkloadStore(client, team.namespace, JOB, "one")
        # The first connection and the discovery are no part of it.
        store.read(deadline_in(30))
        for verb, error, asked in (("list", ClusterUnavailable, 2), ("update", OutcomeUnknown, 3)):
            mark = team.cluster.audit_mark()
            over = threading.Event()

            def stalls(call: Sent, verb: str = verb, over: threading.Event = over) -> Fault | None:
                if call.verb != verb:
                    return None
                over.wait(30)
                return Fault(cut=True)

            proxy.reset(stalls)
            with pytest.raises((error, Rejected)):
                carry_out(store, Call(Action.HOLD, 1), deadline_in(1.5))
            over.set()
            assert len(proxy.calls) == asked
            assert holder.writes(mark) == []
            assert len(proxy.calls) == asked
