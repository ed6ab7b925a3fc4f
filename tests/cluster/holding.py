"""Holds as the real store places and lifts them, by the administrator's hand."""

from __future__ import annotations

from cluster.team import Team

from converter.cluster.client import Client
from converter.holds.carry_out import Done, carry_out
from converter.holds.deadline import deadline_in
from converter.holds.kinds import OWNERS
from converter.holds.rules import Action, Call
from converter.holds.workload import WorkloadStore

AT = "2026-01-01T00:00:00Z"
SECONDS = 30.0


def hold(
    team: Team, job: str, instance: int, by: str = "ops", reason: str = "a node is lost"
) -> Done:
    """Hold the Workload of a Job, as if at `AT`."""
    return _called(team, job, Call(Action.HOLD, instance, at=AT, by=by, reason=reason))


def release(team: Team, job: str, instance: int) -> Done:
    """Release the hold that is on the Workload of a Job."""
    return _called(team, job, Call(Action.RELEASE, instance, at=AT, by="ops"))


def _called(team: Team, job: str, call: Call) -> Done:
    client = Client.from_kubeconfig(kubeconfig=team.cluster.kubeconfig, context=None)
    store = WorkloadStore(client, team.namespace, OWNERS["Job"], job)
    return carry_out(store, call, deadline_in(SECONDS))
