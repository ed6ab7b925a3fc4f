"""`campaigns apply` when the API server, or the way to it, fails at one kind of request.

What is known to be worth another try is tried again, and the apply ends as if nothing had been.
Otherwise its exit code says what is so, and every pause that can be enforced is, whatever failed.
With `--exhaustive` every fault is tried on every kind of request, else some of them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import partial

import pytest
from cluster.proxy import Call, Fault, Proxy, Rule, proxied
from cluster.rounds import (
    Round,
    apply_here,
    apply_through,
    failures,
    free_the_lease,
    write_pipelines,
)
from cluster.team import Team
from cluster.test_pause import paused_in_a_full_queue

from converter.names import LEASE_NAME

Kind = tuple[str, str]

SHORT_TIMEOUT = 2


@dataclass(frozen=True)
class Trouble:
    """A fault at the first request of a kind, or at every one of them where it is `lasting`.

    `timeout` is the `apiserver_request_timeout`, in seconds; 0 leaves the one of a repository that
    says nothing of it.
    """

    fault: Fault
    lasting: bool = False
    timeout: int = 0

    @property
    def refuses(self) -> bool:
        """Whether the command gets an answer in the end, which is no."""
        return bool(self.fault.status) and (self.lasting or self.fault.status in (403, 409))

    @property
    def passes(self) -> bool:
        """Whether another try, or patience, is all that it takes."""
        return not self.lasting and not self.refuses


TROUBLES = {
    "409": Trouble(Fault(status=409)),
    "429": Trouble(Fault(status=429, headers={"Retry-After": "1"})),
    "500": Trouble(Fault(status=500)),
    "503": Trouble(Fault(status=503)),
    "cut before": Trouble(Fault(cut=True)),
    "cut after": Trouble(Fault(cut=True, after=True)),
    "late": Trouble(Fault(stall=2.0 * SHORT_TIMEOUT), timeout=SHORT_TIMEOUT),
    "409 for good": Trouble(Fault(status=409), lasting=True),
    "403 for good": Trouble(Fault(status=403), lasting=True),
    "500 for good": Trouble(Fault(status=500), lasting=True),
    "cut for good": Trouble(Fault(cut=True), lasting=True),
}
STALL_SECONDS, LONG_STALL_SECONDS = 3.0, 30.0


@dataclass(frozen=True)
class Must:
    """What an apply has to come to: its exit code, and whether the pause is in force then.

    `refused` is the code where the API server says no for good, `unanswered` where it says nothing.
    """

    refused: int
    unanswered: int
    pauses: bool = True


NOTHING_SENT = Must(1, 1, pauses=False)
UNCHECKED = Must(0, 0)
ONE_REFUSED = Must(3, 1)
NOT_PRUNED = Must(1, 1)

MUST = {
    ("get", "leases"): NOTHING_SENT,
    ("create", "leases"): NOTHING_SENT,
    ("update", "leases"): NOTHING_SENT,
    ("list", "jobs"): NOTHING_SENT,
    ("list", "configmaps"): NOTHING_SENT,
    ("list", "workloads"): NOTHING_SENT,
    ("get", "localqueues"): UNCHECKED,
    ("get", "clusterqueues"): UNCHECKED,
    ("get", "resourceflavors"): UNCHECKED,
    ("patch (dry run)", "jobs"): ONE_REFUSED,
    ("patch (dry run)", "configmaps"): ONE_REFUSED,
    ("patch (hand-off)", "jobs"): ONE_REFUSED,
    ("patch", "jobs"): ONE_REFUSED,
    ("patch", "configmaps"): ONE_REFUSED,
    ("patch", "workloads"): Must(1, 1, pauses=False),
    ("delete", "jobs"): NOT_PRUNED,
    ("delete", "configmaps"): NOT_PRUNED,
}


def must(kind: Kind, trouble: Trouble) -> tuple[int, bool]:
    """The exit code, and whether the pause has to be in force."""
    if trouble.passes:
        return 0, True
    if kind == ("patch", "workloads") and not trouble.lasting:
        # The Workload changed since it was read: it is read again, and patched.
        return 0, True
    found = MUST[kind]
    return found.refused if trouble.refuses else found.unanswered, found.pauses


def at_kind(kind: Kind, trouble: Trouble) -> Rule:
    done: list[int] = []

    def rule(call: Call) -> Fault | None:
        if (call.verb, call.kind) != kind or (done and not trouble.lasting):
            return None
        done.append(call.number)
        return trouble.fault

    return rule


@pytest.fixture
def proxy(team: Team) -> Iterator[Proxy]:
    write_pipelines(team)
    with proxied(team.kubeconfig, team.repo.parent) as running:
        yield running


def fail_and_run_again(each: Round, proxy: Proxy, kind: Kind, trouble: Trouble) -> None:
    team = each.team
    settings = {"apiserver_request_timeout": trouble.timeout} if trouble.timeout else {}
    team.write_settings(**settings)
    each.before()
    each.change()
    if kind == ("create", "leases"):
        team.kubectl("delete", "lease", LEASE_NAME)
    proxy.reset(at_kind(kind, trouble))
    done = apply_through(team, proxy)
    assert "Traceback" not in done.stderr, done.stderr
    code, pauses = must(kind, trouble)
    assert done.code == code, f"{done.code} is not {code}: {done.text}"
    if code:
        assert done.stderr.strip(), "nothing says what is wrong"
    proxy.reset()
    if code:
        free_the_lease(team)
    if pauses:
        each.check_pause("the first apply")
    each.check_nothing_lost("the first apply")
    if code:
        again = apply_here(team, prune=True)
        assert again.exit_code == 0, f"the apply after it: {list(map(str, again.events))}"
    each.check("the end")


def tried(team: Team, proxy: Proxy, chosen: Iterable[tuple[Kind, str, Trouble]]) -> list[str]:
    """What failed of the cases."""
    cases = {
        f"{name} at {' '.join(kind)}": partial(
            fail_and_run_again, Round(team, number), proxy, kind, trouble
        )
        for number, (kind, name, trouble) in enumerate(chosen, start=1)
    }
    return failures(cases)


def test_the_table_has_every_kind_of_request(team: Team, proxy: Proxy) -> None:
    whole = Round(team, 0)
    whole.before()
    whole.change()
    team.kubectl("delete", "lease", LEASE_NAME)
    for _ in range(2):
        assert apply_through(team, proxy).code == 0
    assert {(call.verb, call.kind) for call in proxy.calls} == MUST.keys()


def test_a_fault_at_a_kind_of_request_costs_no_pause_and_the_next_apply_finishes(
    team: Team, proxy: Proxy, request: pytest.FixtureRequest
) -> None:
    chosen = [(kind, name, trouble) for name, trouble in TROUBLES.items() for kind in MUST]
    if not request.config.getoption("--exhaustive"):
        # Prime to the number of kinds, so that these and the faults are both spread.
        chosen = chosen[5::37]
    assert tried(team, proxy, chosen) == []


def test_an_answer_that_takes_long_is_waited_for(
    team: Team, proxy: Proxy, request: pytest.FixtureRequest
) -> None:
    """With the timeout of a repository that says nothing of it."""
    exhaustive = request.config.getoption("--exhaustive")
    trouble = Trouble(Fault(stall=LONG_STALL_SECONDS if exhaustive else STALL_SECONDS))
    kinds = MUST if exhaustive else [("patch (hand-off)", "jobs")]
    assert tried(team, proxy, [(kind, "stalled", trouble) for kind in kinds]) == []


def test_a_hand_off_that_is_refused_starts_no_pod(team: Team) -> None:
    """A 409 says that the queue has the field in its hands only where it names the queue's."""
    with (
        paused_in_a_full_queue(team) as mark,
        proxied(team.kubeconfig, team.repo.parent) as proxy,
    ):
        team.write_campaign("late", 2, pipeline="short", window=1)
        proxy.reset(at_kind(("patch (hand-off)", "jobs"), TROUBLES["409"]))
        done = team.run("apply", ".", kubeconfig=proxy.kubeconfig)
        assert done.code == 3, done.text
        assert team.job("late")["spec"]["suspend"] is True
        assert team.pods_created(mark, "late") == []
