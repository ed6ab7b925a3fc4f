"""One apply at a time (apply.md 3), against a server that keeps resourceVersions."""

import itertools
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from unit.cluster.api_server import ApiServer, Object, serve
from unit.cluster.lease_store import LeaseStore, held_by

from converter.cluster import lease
from converter.cluster.resources import JOBS
from converter.errors import ApiError, ClusterUnavailable, LeaseHeld, LeaseLost, Refused

# Far from this machine's own clock, so that a use of that one would show.
NOW = datetime(2001, 1, 1, 12, 0, tzinfo=UTC)
BODY = {"metadata": {"name": "scan"}}


@pytest.fixture
def store() -> LeaseStore:
    return LeaseStore()


@pytest.fixture
def api(store: LeaseStore) -> Iterator[ApiServer]:
    with serve(store) as server:
        server.now = NOW
        yield server


@pytest.fixture
def renew_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every write renews."""
    monkeypatch.setattr(lease, "RENEW_AFTER_SECONDS", 0.0)


def test_it_is_taken_for_the_run_and_given_up_after_it(store: LeaseStore, api: ApiServer) -> None:
    with lease.held(api.client(), "n", "me"):
        assert store.spec["holderIdentity"] == "me"
        assert store.spec["leaseDurationSeconds"] == 300
        assert store.spec["renewTime"].startswith("2001-01-01T12:00:0")
    assert store.spec["holderIdentity"] == ""


def test_it_is_given_up_when_the_run_fails(store: LeaseStore, api: ApiServer) -> None:
    with pytest.raises(ZeroDivisionError), lease.held(api.client(), "n", "me"):
        raise ZeroDivisionError
    assert store.spec["holderIdentity"] == ""


def test_one_that_was_given_up_is_taken_again(store: LeaseStore, api: ApiServer) -> None:
    for _ in range(2):
        with lease.held(api.client(), "n", "me"):
            assert store.spec["holderIdentity"] == "me"
    assert store.spec["leaseTransitions"] == 1


def test_a_second_apply_sends_nothing_and_names_the_holder(
    store: LeaseStore, api: ApiServer
) -> None:
    store.lease = held_by("ada@ci-7", NOW - timedelta(minutes=4))
    with pytest.raises(LeaseHeld, match="ada@ci-7"), lease.held(api.client(), "n", "me"):
        pytest.fail("two runs at once")
    assert [method for method, _ in api.asked()] == ["GET"]
    assert store.spec["holderIdentity"] == "ada@ci-7"


@pytest.mark.parametrize(
    ("age", "is_held"), [(timedelta(minutes=4), True), (timedelta(minutes=5), False)]
)
def test_a_holder_is_believed_for_5_minutes_by_the_servers_clock(
    store: LeaseStore, api: ApiServer, age: timedelta, is_held: bool
) -> None:
    store.lease = held_by("dead", NOW - age)
    if is_held:
        with pytest.raises(LeaseHeld), lease.held(api.client(), "n", "me"):
            pytest.fail("two runs at once")
    else:
        with lease.held(api.client(), "n", "me"):
            assert store.spec["holderIdentity"] == "me"
            assert store.spec["leaseTransitions"] == 5


@pytest.mark.parametrize(
    "spec", [{}, {"holderIdentity": "x"}, {"renewTime": "2001-01-01T12:00:00Z"}]
)
def test_a_lease_that_nobody_holds(spec: dict[str, str]) -> None:
    assert not lease.is_held({"spec": spec}, NOW)


def test_the_lost_answer_to_our_own_create_is_no_other_holder(
    store: LeaseStore, api: ApiServer
) -> None:
    store.lose = 1
    with lease.held(api.client(), "n", "me"):
        assert store.spec["holderIdentity"] == "me"


def test_the_lost_answer_to_our_own_take_over_is_no_other_holder(
    store: LeaseStore, api: ApiServer
) -> None:
    store.lease = held_by("dead", NOW - timedelta(hours=1))
    store.lose = 1
    with lease.held(api.client(), "n", "me") as held:
        assert held.holder == "me"


def test_of_two_that_take_over_at_once_one_gets_through(
    store: LeaseStore, api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.lease = held_by("dead", NOW - timedelta(hours=1))
    is_held = lease.is_held

    def overtaken(seen: Object, now: datetime) -> bool:
        store.take_over("quicker", NOW)
        return is_held(seen, now)

    monkeypatch.setattr(lease, "is_held", overtaken)
    with pytest.raises(LeaseHeld, match="quicker"), lease.held(api.client(), "n", "me"):
        pytest.fail("two runs at once")


def test_a_write_soon_after_the_last_renewal_asks_nothing(api: ApiServer) -> None:
    with lease.held(api.client(), "n", "me") as held:
        before = len(api.requests)
        held.keep()
        assert len(api.requests) == before


def test_one_that_was_slow_to_get_is_renewed_before_the_first_write(
    api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says when it was asked for, and runs out counted from then."""
    seconds = itertools.chain([0.0], itertools.repeat(31.0))
    monkeypatch.setattr(lease, "monotonic", lambda: next(seconds))
    with lease.held(api.client(), "n", "me") as held:
        before = len(api.requests)
        held.keep()
        assert [request.method for request in api.requests[before:]] == ["PUT"]


@pytest.mark.usefixtures("renew_at_once")
def test_a_lost_lease_stops_the_run_before_its_next_write(
    store: LeaseStore, api: ApiServer
) -> None:
    client = api.client()
    with lease.held(client, "n", "me") as held:
        guarded = client.guarded_by(held.keep)
        guarded.apply(JOBS, "n", BODY, manager="m")
        store.take_over("other", NOW)
        with pytest.raises(LeaseLost, match="taken by other"):
            guarded.apply(JOBS, "n", BODY, manager="m")
    assert len(store.others) == 1
    assert store.spec["holderIdentity"] == "other"


@pytest.mark.usefixtures("renew_at_once")
def test_a_deleted_lease_is_lost(store: LeaseStore, api: ApiServer) -> None:
    with lease.held(api.client(), "n", "me") as held:
        store.lease = None
        with pytest.raises(LeaseLost, match="deleted"):
            held.keep()


@pytest.mark.usefixtures("renew_at_once")
def test_the_lost_answer_to_our_own_renewal_is_no_loss(store: LeaseStore, api: ApiServer) -> None:
    with lease.held(api.client(), "n", "me") as held:
        store.lose = 1
        held.keep()
        held.keep()
    assert store.spec["holderIdentity"] == ""


@pytest.mark.usefixtures("renew_at_once")
def test_a_renewal_that_fails_is_made_up_for_by_the_next(store: LeaseStore, api: ApiServer) -> None:
    """It is not the fault of the object that was about to be written."""
    client = api.client()
    with lease.held(client, "n", "me") as held:
        store.broken = 1
        guarded = client.guarded_by(held.keep)
        guarded.apply(JOBS, "n", BODY, manager="m")
        guarded.apply(JOBS, "n", BODY, manager="m")
    assert len(store.others) == 2


@pytest.mark.usefixtures("renew_at_once")
def test_renewals_that_fail_for_too_long_are_a_loss(
    store: LeaseStore, api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "give_up_after_seconds", lambda longest_try_seconds: 0.0)
    with lease.held(api.client(), "n", "me") as held:
        store.broken = 1
        with pytest.raises(LeaseLost, match="403"):
            held.keep()


@pytest.mark.usefixtures("renew_at_once")
def test_a_late_renewal_that_succeeds_proves_that_nobody_took_over(
    api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lease, "give_up_after_seconds", lambda longest_try_seconds: 0.0)
    with lease.held(api.client(), "n", "me") as held:
        held.keep()


@pytest.mark.parametrize("request_timeout", [5.0, 60.0, 250.0])
def test_the_last_request_before_giving_up_ends_before_another_run_may_take_over(
    api: ApiServer, request_timeout: float
) -> None:
    longest = api.client(request_timeout).longest_try_seconds
    assert longest > request_timeout
    give_up = lease.give_up_after_seconds(longest)
    assert give_up >= lease.RENEW_AFTER_SECONDS
    assert give_up + longest < lease.DURATION.total_seconds()


def test_a_request_that_may_outlast_the_lease_is_refused(api: ApiServer) -> None:
    with (
        pytest.raises(Refused, match="set it to 250 or less"),
        lease.held(api.client(251.0), "n", "me"),
    ):
        pytest.fail("with a Lease that cannot be kept")
    assert api.requests == []


def test_after_the_run_nothing_is_written_any_more(api: ApiServer) -> None:
    with lease.held(api.client(), "n", "me") as held:
        pass
    with pytest.raises(LeaseLost, match="the run is over"):
        held.keep()


@pytest.mark.usefixtures("renew_at_once")
def test_a_wait_in_which_nothing_is_written_keeps_the_lease(
    store: LeaseStore, api: ApiServer
) -> None:
    client = api.client()
    with lease.held(client, "n", "me") as held:
        client.check()
        store.take_over("other", NOW)
        with pytest.raises(LeaseLost, match="taken by other"):
            client.guarded_by(held.keep).check()


def test_a_failing_release_does_not_hide_the_runs_own_end(
    store: LeaseStore, api: ApiServer
) -> None:
    with lease.held(api.client(), "n", "me"):
        store.broken = 1
    assert store.spec["holderIdentity"] == "me"


def test_no_permission_is_an_error_of_its_own(store: LeaseStore, api: ApiServer) -> None:
    store.broken = 1
    with pytest.raises(ApiError, match="403"), lease.held(api.client(), "n", "me"):
        pytest.fail("without a Lease")


def test_a_server_without_a_clock_cannot_judge_a_lease(store: LeaseStore, api: ApiServer) -> None:
    api.now = None
    store.lease = held_by("other", NOW)
    with pytest.raises(ClusterUnavailable, match="Date"), lease.held(api.client(), "n", "me"):
        pytest.fail("without a Lease")
