"""One call among others: conflicts, answers that are lost, and what it may not do."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from unit.holds.scripted import (
    OPEN,
    Clock,
    ScriptedStore,
    attempt,
    held,
    hold,
    release,
)

from converter.errors import ApiError, ClusterUnavailable, Forbidden, Invalid, NoCredentials
from converter.holds.carry_out import TRIES_AGAIN
from converter.holds.deadline import call_bound
from converter.holds.errors import (
    DeadlinePassed,
    HoldError,
    InvalidCall,
    OutcomeUnknown,
    PodsRemain,
    Rejected,
    StaleHold,
    TooManyConflicts,
    Unsupported,
)
from converter.holds.mark import Mark
from converter.holds.rules import Call, State

CALLS = [hold(3), release(3), OPEN]
RUNNING = State()
GATED = State(queued=False, opened=False, stopped=True)


def instance(store: ScriptedStore) -> int | None:
    assert store.state is not None
    return store.state.mark.instance if store.state.mark is not None else 0


def becomes(state: State | None) -> Callable[[ScriptedStore], object]:
    return lambda store: store.become(state)


def fails(error: Exception) -> Callable[[ScriptedStore], object]:
    def raises(store: ScriptedStore) -> None:
        raise error

    return raises


def start_of(call: Call) -> State:
    """A state in which the call writes."""
    return {CALLS[0]: RUNNING, CALLS[1]: held(3), CALLS[2]: GATED}[call]


@pytest.mark.parametrize("call", CALLS, ids=str)
@pytest.mark.parametrize("seconds", [None, math.nan, math.inf, -math.inf])
def test_without_a_deadline_nothing_is_sent(call: Call, seconds: float | None) -> None:
    store = ScriptedStore(start_of(call))
    with pytest.raises(InvalidCall, match=r"needs a deadline, such as 30s$"):
        attempt(store, call, seconds)
    assert (store.reads, store.writes) == (0, 0)


@pytest.mark.parametrize("call", CALLS, ids=str)
@pytest.mark.parametrize("seconds", [0.0, -1.0])
def test_after_the_deadline_nothing_is_sent(call: Call, seconds: float) -> None:
    store = ScriptedStore(start_of(call))
    with pytest.raises(DeadlinePassed, match=r"^the deadline passed before the request to read"):
        attempt(store, call, seconds)
    assert (store.reads, store.writes) == (0, 0)


@pytest.mark.parametrize("number", [0, -1, 2**32, True, 1.0, "1"])
@pytest.mark.parametrize("action", [hold, release])
def test_an_instance_that_is_none_sends_nothing(
    action: Callable[[object], Call], number: object
) -> None:
    store = ScriptedStore(RUNNING)
    with pytest.raises(InvalidCall, match=r"is no instance: write a number from 1 to 4294967295$"):
        attempt(store, action(number))
    assert (store.reads, store.writes) == (0, 0)


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_a_deadline_that_passes_after_the_read_stops_the_write(call: Call) -> None:
    clock = Clock()

    def passes(store: ScriptedStore) -> None:
        clock.now += 30

    store = ScriptedStore(start_of(call), {"read 1": passes})
    with pytest.raises(DeadlinePassed, match=r"before the request to update Job/one was sent$"):
        attempt(store, call, 30, clock)
    assert (store.reads, store.writes) == (1, 0)


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_a_deadline_that_passes_at_a_conflict_stops_the_retry(call: Call) -> None:
    clock = Clock()

    def passes(store: ScriptedStore) -> None:
        store.touch()
        clock.now += 30

    store = ScriptedStore(start_of(call), {"write 1": passes})
    with pytest.raises(Rejected, match=r"before the request to read Job/one was sent$"):
        attempt(store, call, 30, clock)
    assert (store.reads, store.writes, store.landed) == (1, 1, [])


@pytest.mark.parametrize("call", CALLS, ids=str)
@pytest.mark.parametrize("conflicts", range(1, 9))
def test_up_to_eight_writes_of_the_status_are_waited_out(call: Call, conflicts: int) -> None:
    script = {f"write {n}": ScriptedStore.touch for n in range(1, conflicts + 1)}
    store = ScriptedStore(start_of(call), script)
    assert attempt(store, call).wrote
    assert (store.writes, len(store.landed)) == (conflicts + 1, 1)


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_the_ninth_conflict_is_an_error(call: Call) -> None:
    script = {f"write {n}": ScriptedStore.touch for n in range(1, 10)}
    store = ScriptedStore(start_of(call), script)
    with pytest.raises(TooManyConflicts) as raised:
        attempt(store, call)
    assert (store.writes, store.landed) == (9, []) == (1 + TRIES_AGAIN, [])
    assert not isinstance(raised.value, Rejected)
    assert str(raised.value) == (
        f"Job/one: others wrote it at each of 9 tries: {call.action} it again"
    )
    assert raised.value.in_force == (3 if call == release(3) else None)


def test_an_earlier_try_that_landed_is_success_without_another_write() -> None:
    store = ScriptedStore(RUNNING, {"write 1": becomes(held(3))})
    done = attempt(store, hold(3))
    assert not done.wrote
    assert (store.writes, store.landed, instance(store)) == (1, [], 3)


@pytest.mark.parametrize(
    ("before", "meanwhile", "said"),
    [
        (RUNNING, held(4), "hold 4 is in force, which is newer"),
        (held(1), State(), "another call was faster: no hold is in force"),
        (held(1), held(2), "another call was faster: hold 2 is in force"),
        (held(2), held(1), "another call was faster: hold 1 is in force"),
        (RUNNING, held(1), "another call was faster: hold 1 is in force"),
        (replace(held(3), stopped=False), State(), "another call was faster: no hold is in force"),
    ],
)
def test_a_hold_that_was_overtaken_is_stale(before: State, meanwhile: State, said: str) -> None:
    """By a newer one, and by any other: the hold that it was decided on is no longer there."""
    store = ScriptedStore(before, {"write 1": becomes(meanwhile)})
    with pytest.raises(StaleHold) as raised:
        attempt(store, hold(3))
    assert str(raised.value) == f"Job/one: {said}"
    assert raised.value.in_force == (meanwhile.mark.instance if meanwhile.mark else None)
    assert (store.state, store.landed) == (meanwhile, [])


def test_only_the_last_look_counts_for_what_has_changed() -> None:
    """Hold 1 is replaced while the status is written too: the second conflict has nothing new."""
    script = {"write 1": ScriptedStore.touch, "write 2": becomes(held(2))}
    store = ScriptedStore(held(1), script)
    with pytest.raises(StaleHold):
        attempt(store, hold(3))
    assert instance(store) == 2


def test_a_release_that_met_a_conflict_goes_on_while_its_hold_is_there() -> None:
    store = ScriptedStore(held(3), {"write 1": becomes(held(3, ended=True))})
    assert attempt(store, release(3)).wrote
    assert store.state == State(stopped=True, ended=True)


@pytest.mark.parametrize("meanwhile", [held(4), held(2), State()], ids=["newer", "older", "none"])
def test_a_release_whose_hold_has_gone_is_stale(meanwhile: State) -> None:
    store = ScriptedStore(held(3), {"write 1": becomes(meanwhile)})
    with pytest.raises(StaleHold, match=r"^Job/one: .* in force, not hold 3$"):
        attempt(store, release(3))
    assert (store.state, store.landed) == (meanwhile, [])


def test_the_kinds_of_rejection() -> None:
    rejections = (StaleHold, PodsRemain, DeadlinePassed)
    others = (Unsupported, TooManyConflicts, OutcomeUnknown, InvalidCall)
    assert all(issubclass(kind, Rejected) for kind in rejections)
    assert all(issubclass(kind, HoldError) for kind in others)
    assert not any(issubclass(kind, Rejected) for kind in others)


def test_hold_2_between_the_read_and_the_write_of_hold_1_survives() -> None:
    def second(store: ScriptedStore) -> None:
        other = ScriptedStore(store.state)
        assert attempt(other, hold(2)).wrote
        store.become(other.state)

    store = ScriptedStore(RUNNING, {"write 1": second})
    with pytest.raises(StaleHold, match="hold 2 is in force, which is newer"):
        attempt(store, hold(1))
    assert (instance(store), store.landed) == (2, [])


def test_a_release_that_was_held_up_before_its_read_lifts_no_newer_hold() -> None:
    store = ScriptedStore(held(1), {"read 1": becomes(held(2))})
    with pytest.raises(StaleHold, match="hold 2 is in force, not hold 1"):
        attempt(store, release(1))
    assert (instance(store), store.writes) == (2, 0)


class LostAnswers(ScriptedStore):
    """The first write lands, and nobody hears of it."""

    def write(self, *arguments: object) -> None:
        super().write(*arguments)  # type: ignore[arg-type]
        if self.writes == 1:
            raise ClusterUnavailable("no answer")


def test_after_a_lost_answer_a_hold_is_made_again_and_a_release_is_not() -> None:
    """Whether a release came into force cannot be told from a hold that is there or not."""
    store = LostAnswers(RUNNING)
    with pytest.raises(OutcomeUnknown, match=r"whether the hold came into force is not known"):
        attempt(store, hold(3))
    assert not attempt(store, hold(3)).wrote
    assert store.writes == 1

    store = LostAnswers(held(3))
    with pytest.raises(OutcomeUnknown, match=r"whether the release came into force is not known"):
        attempt(store, release(3))
    with pytest.raises(Rejected, match="no hold is in force, not hold 3"):
        attempt(store, release(3))
    assert store.state == State()


@pytest.mark.parametrize("timeout", [1.0, 60.0, 3600.0])
def test_a_call_is_over_later_than_the_api_server_s_own_timeout(timeout: float) -> None:
    """That nobody places the next hold before is the supervisor's; see test_holds_model."""
    assert timeout < call_bound(timeout) < timeout + 60


def error(kind: type[ApiError], status: int, reason: str) -> ApiError:
    return kind("put", "Job/one", status, reason, "on purpose")


@pytest.mark.parametrize("call", CALLS, ids=str)
@pytest.mark.parametrize(
    ("step", "problem", "kind", "said"),
    [
        (
            "read 1",
            error(Forbidden, 403, "Forbidden"),
            Unsupported,
            "Job/one may not be read: on purpose",
        ),
        (
            "read 1",
            error(ApiError, 500, "InternalError"),
            Rejected,
            "Job/one could not be read: InternalError: on purpose",
        ),
        (
            "write 1",
            error(Forbidden, 403, "Forbidden"),
            Unsupported,
            "Job/one may not be updated: on purpose",
        ),
        ("write 1", error(Invalid, 422, "Invalid"), Rejected, "Job/one: Invalid: on purpose"),
        ("write 1", error(ApiError, 499, "Odd"), Rejected, "Job/one: Odd: on purpose"),
        ("write 1", NoCredentials("no token"), Unsupported, "Job/one was not updated: no token"),
    ],
)
def test_what_the_api_server_refuses(
    call: Call, step: str, problem: Exception, kind: type[HoldError], said: str
) -> None:
    store = ScriptedStore(start_of(call), {step: fails(problem)})
    with pytest.raises(kind) as raised:
        attempt(store, call)
    assert (type(raised.value), str(raised.value)) == (kind, said)
    assert store.landed == []


@pytest.mark.parametrize("call", CALLS, ids=str)
def test_a_write_that_failed_in_the_server_may_have_landed(call: Call) -> None:
    store = ScriptedStore(start_of(call), {"write 1": fails(error(ApiError, 500, "InternalError"))})
    with pytest.raises(OutcomeUnknown, match="look at `campaigns holds`"):
        attempt(store, call)
    assert store.writes == 1


def test_an_api_server_that_does_not_answer_a_read_is_no_rejection() -> None:
    store = ScriptedStore(RUNNING, {"read 1": fails(ClusterUnavailable("no answer"))})
    with pytest.raises(ClusterUnavailable, match="no answer"):
        attempt(store, hold(3))


@pytest.mark.parametrize(
    ("state", "call", "said"),
    [
        (held(None), hold(3), r"its hold has an instance that is no number from 1 to 4294967295"),
        (held(None), release(3), r"an administrator has to take the annotations .* away$"),
        (State(ended=True), hold(3), r"it has ended, so there is nothing to hold$"),
        (State(going=True), hold(3), r"it is being deleted"),
        (
            replace(held(3), queued=False, pods_remain=1),
            release(3),
            r"hold 3 is in force, and a pod of it has not ended; release it when they are gone$",
        ),
        (
            replace(held(3), queued=False, pods_remain=2),
            release(3),
            r"hold 3 is in force, and 2 of its pods have not ended",
        ),
        (State(mark=Mark(4)), release(3), r"hold 4 is in force, not hold 3$"),
        (RUNNING, OPEN, r"a queue system starts it"),
        (replace(GATED, ended=True), OPEN, r"it has ended, and is not run again$"),
        (replace(GATED, going=True), OPEN, r"it is being deleted$"),
    ],
)
def test_a_refusal_says_why(state: State, call: Call, said: str) -> None:
    store = ScriptedStore(state)
    with pytest.raises(Rejected, match=rf"^Job/one: .*{said}") as raised:
        attempt(store, call)
    assert raised.value.in_force == (state.mark.instance if state.mark else None)
