"""What reaches an API server, on real connections: nothing after the deadline, nothing twice."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from unit.cluster.api_server import Answer, ApiServer, Object, Request, failure, serve
from unit.holds.held_server import (
    JOB_PATH,
    PODS_PATH,
    WORKLOAD_PATH,
    WORKLOADS_PATH,
    HeldServer,
    job,
)
from unit.holds.scripted import AT, OPEN, Clock, hold, release
from urllib3.util import connection

from converter.cluster.client import Client
from converter.errors import ClusterUnavailable
from converter.holds.carry_out import Store, carry_out
from converter.holds.deadline import Deadline, deadline_in
from converter.holds.errors import (
    DeadlinePassed,
    OutcomeUnknown,
    PodsRemain,
    Rejected,
    TooManyConflicts,
    Unsupported,
)
from converter.holds.kinds import OWNERS
from converter.holds.plain import PlainStore
from converter.holds.rules import Call
from converter.holds.workload import WorkloadStore

READS = [("GET", JOB_PATH), ("GET", WORKLOADS_PATH)]
PLAIN_READS = [("GET", JOB_PATH), ("GET", PODS_PATH)]


@pytest.fixture
def held() -> HeldServer:
    return HeldServer()


@pytest.fixture
def api(held: HeldServer) -> Iterator[ApiServer]:
    with serve(held) as server:
        yield server


def queued(client: Client) -> Store:
    return WorkloadStore(client, "n", OWNERS["Job"], "one")


def plain(client: Client) -> Store:
    return PlainStore(client, "n", OWNERS["Job"], "one")


STORES = [(queued, READS, WORKLOAD_PATH), (plain, PLAIN_READS, JOB_PATH)]
StoreOf = Callable[[Client], Store]


@pytest.mark.parametrize(("store_of", "reads", "path"), STORES)
def test_a_hold_and_a_release_are_one_update_of_one_object(
    held: HeldServer, api: ApiServer, store_of: StoreOf, reads: list[object], path: str
) -> None:
    for each in (JOB_PATH, WORKLOAD_PATH):
        held.objects[each]["metadata"]["annotations"] = {"gitops-campaigns.io/opened": "true"}
    before = {each: dict(held.objects[each]["spec"]) for each in held.objects}
    call = hold(3)
    assert carry_out(store_of(api.client()), call, deadline_in(30)).wrote
    assert api.asked() == [*reads, ("PUT", path)]
    sent = api.requests[-1].body
    assert sent["metadata"]["resourceVersion"] == "1"
    stopped = {"active": False} if store_of is queued else {"suspend": True}
    assert sent["spec"] == {**before[path], **stopped}
    assert held.annotations(path) == {
        "opened": "true",
        "hold-instance": "3",
        "held-at": AT,
        "held-by": call.by,
        "hold-reason": call.reason,
    }

    assert not carry_out(store_of(api.client()), call, deadline_in(30)).wrote
    assert api.asked()[3:] == reads

    assert carry_out(store_of(api.client()), release(3), deadline_in(30)).wrote
    assert api.asked()[5:] == [*reads, ("PUT", path)]
    assert {each: held.objects[each]["spec"] for each in held.objects} == before
    starts = {} if store_of is queued else {"starts": "1"}
    assert held.annotations(path) == {"opened": "true", **starts}


def test_an_opening_and_a_release_count_the_starts(held: HeldServer, api: ApiServer) -> None:
    held.objects[JOB_PATH] = job(suspend=True)
    for call in (OPEN, hold(1), release(1)):
        assert carry_out(plain(api.client()), call, deadline_in(30)).wrote
    assert held.objects[JOB_PATH]["spec"]["suspend"] is False
    assert held.annotations(JOB_PATH) == {"opened": "true", "starts": "2"}


def pod(phase: str, **metadata: str) -> Object:
    return {"metadata": {"name": "one-0", **metadata}, "status": {"phase": phase}}


@pytest.mark.parametrize(
    ("left", "remains"),
    [
        (pod("Running"), True),
        (pod("Pending"), True),
        (pod("Unknown"), True),
        (pod("Running", deletionTimestamp=AT), True),
        (pod("Failed", deletionTimestamp=AT), True),
        ({"metadata": {"name": "one-0"}}, True),
        (pod("Succeeded"), False),
        (pod("Failed"), False),
    ],
)
def test_a_release_waits_for_pods_that_may_still_run(
    held: HeldServer, api: ApiServer, left: Object, remains: bool
) -> None:
    held.objects[JOB_PATH] = job(suspend=True)
    carry_out(plain(api.client()), OPEN, deadline_in(30))
    carry_out(plain(api.client()), hold(1), deadline_in(30))
    held.pods = [left]
    before = held.objects[JOB_PATH]["metadata"]["resourceVersion"]
    asked = len(api.requests)
    if remains:
        with pytest.raises(PodsRemain, match="hold 1 is in force, and a pod of it has not ended"):
            carry_out(plain(api.client()), release(1), deadline_in(30))
        assert held.objects[JOB_PATH]["metadata"]["resourceVersion"] == before
        assert api.asked()[asked:] == PLAIN_READS
    else:
        assert carry_out(plain(api.client()), release(1), deadline_in(30)).wrote


@pytest.mark.parametrize(("store_of", "reads", "path"), STORES)
def test_no_request_is_sent_after_the_deadline(
    held: HeldServer, api: ApiServer, store_of: StoreOf, reads: list[object], path: str
) -> None:
    """Whichever request it passes during, that one is the last."""
    for last in range(1, 7):
        clock = Clock()
        first = len(api.requests)

        def passes(
            request: Request, *, end: int = first + last, clock: Clock = clock
        ) -> Answer | None:
            if len(api.requests) == end:
                clock.now += 30
            if request.method == "PUT":
                held.touch(path)
            return None

        held.before = passes
        with pytest.raises(DeadlinePassed):
            carry_out(store_of(api.client()), hold(3), deadline_in(30, clock))
        assert len(api.requests) == first + last
    assert [each for each in api.asked() if each[0] == "PUT" and each[1] != path] == []
    assert held.annotations(path) == {}


def test_credentials_that_take_long_to_renew_send_nothing_late(
    api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = Clock()
    client = api.client()

    def renews(configuration: object) -> None:
        clock.now += 30

    monkeypatch.setattr(client._configuration, "refresh_api_key_hook", renews)
    with pytest.raises(DeadlinePassed, match=r"before the request to read Job/one was sent$"):
        carry_out(queued(client), hold(3), deadline_in(30, clock))
    assert api.requests == []


def test_a_connection_that_takes_long_to_be_made_sends_nothing_late(
    api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, connect = Clock(), connection.create_connection

    def slowly(*arguments: Any, **options: Any) -> Any:
        clock.now += 30
        return connect(*arguments, **options)

    monkeypatch.setattr(connection, "create_connection", slowly)
    with pytest.raises(DeadlinePassed, match=r"before the request to read Job/one was sent$"):
        carry_out(queued(api.client()), hold(3), deadline_in(30, clock))
    assert api.requests == []


@pytest.mark.parametrize(
    ("stalled", "kind"), [("GET", ClusterUnavailable), ("PUT", OutcomeUnknown)]
)
def test_a_request_ends_with_the_deadline_and_not_with_its_own_timeout(
    held: HeldServer, api: ApiServer, stalled: str, kind: type[Exception]
) -> None:
    """A timeout of its own would see the answer, which comes when the call has ended."""
    clock, ended = Clock(), threading.Event()

    def stalls(request: Request) -> Answer | None:
        if request.path == WORKLOADS_PATH:
            clock.now += 29.7
        if request.method == stalled and ended.wait(20):
            return Answer(lost=True)
        return None

    held.before = stalls
    client = api.client(request_timeout=60)
    with pytest.raises(kind):
        carry_out(queued(client), hold(3), deadline_in(0.3 if stalled == "GET" else 30, clock))
    ended.set()
    assert [method for method, _ in api.asked()].count(stalled) == 1


@pytest.mark.parametrize("method", ["GET", "PUT"])
@pytest.mark.parametrize(
    "fault",
    [
        failure(429, "TooManyRequests"),
        failure(500, "InternalError"),
        failure(503, "ServiceUnavailable"),
        failure(504, "Timeout"),
        Answer(lost=True),
    ],
    ids=lambda fault: "lost" if fault.lost else str(fault.status),
)
def test_what_fails_is_not_sent_again(
    held: HeldServer, api: ApiServer, method: str, fault: Answer
) -> None:
    held.before = lambda request: fault if request.method == method else None
    with pytest.raises((Rejected, OutcomeUnknown, ClusterUnavailable)) as raised:
        carry_out(queued(api.client()), hold(3), deadline_in(30))
    assert [each for each, _ in api.asked()].count(method) == 1
    unanswered = fault.lost or fault.status >= 500
    assert isinstance(raised.value, OutcomeUnknown) is (method == "PUT" and unanswered)


def test_an_answer_that_is_lost_leaves_a_hold_that_the_next_call_finds(
    held: HeldServer, api: ApiServer
) -> None:
    held.lose = 1
    with pytest.raises(OutcomeUnknown):
        carry_out(queued(api.client()), hold(3), deadline_in(30))
    assert not carry_out(queued(api.client()), hold(3), deadline_in(30)).wrote
    held.lose = 1
    with pytest.raises(OutcomeUnknown):
        carry_out(queued(api.client()), release(3), deadline_in(30))
    with pytest.raises(Rejected, match="no hold is in force, not hold 3"):
        carry_out(queued(api.client()), release(3), deadline_in(30))


def test_a_writer_of_the_status_that_never_stops(held: HeldServer, api: ApiServer) -> None:
    def touches(request: Request) -> Answer | None:
        if request.method == "PUT":
            held.touch(WORKLOAD_PATH)
        return None

    held.before = touches
    with pytest.raises(TooManyConflicts):
        carry_out(queued(api.client()), hold(3), deadline_in(30))
    assert [method for method, _ in api.asked()].count("PUT") == 9


@pytest.mark.parametrize("call", [hold(1), release(1)], ids=str)
@pytest.mark.parametrize("path", [WORKLOADS_PATH, WORKLOAD_PATH])
def test_without_the_right_to_workloads_both_calls_say_so(
    held: HeldServer, api: ApiServer, call: Call, path: str
) -> None:
    held.objects[WORKLOAD_PATH]["metadata"]["annotations"] = {
        "gitops-campaigns.io/hold-instance": "1"
    }
    forbidden = failure(403, "Forbidden", 'cannot update resource "workloads"')
    held.before = lambda request: forbidden if request.path == path else None
    with pytest.raises(Unsupported, match='cannot update resource "workloads"'):
        carry_out(queued(api.client()), call, deadline_in(30))


@pytest.mark.parametrize("call", [hold(1), release(1)], ids=str)
def test_without_a_workload_there_is_nothing_to_hold(
    held: HeldServer, api: ApiServer, call: Call
) -> None:
    del held.objects[WORKLOAD_PATH]
    with pytest.raises(Rejected, match="Job/one has no Workload"):
        carry_out(queued(api.client()), call, deadline_in(30))
    del held.objects[JOB_PATH]
    with pytest.raises(Rejected, match="Job/one: there is none"):
        carry_out(queued(api.client()), call, deadline_in(30))
    assert {method for method, _ in api.asked()} == {"GET"}


def test_what_is_left_of_a_deadline_is_never_negative() -> None:
    clock = Clock()
    deadline = Deadline(clock.now + 2, clock)
    assert deadline.rest == 2
    clock.now += 3
    assert deadline.rest == 0
