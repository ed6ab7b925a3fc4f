"""Whether holds work on a cluster: one is placed, fenced and lifted on an object made for that."""

from collections.abc import Callable

from converter.errors import ApiError, ClusterUnavailable, Conflict
from converter.holds.carry_out import Store, carry_out
from converter.holds.deadline import Deadline
from converter.holds.errors import StaleHold, Unsupported
from converter.holds.rules import Action, Call, State, decide, in_force

_FIRST = 1
_OTHER = 2


class DoesNotHold(Unsupported):
    """A hold was accepted and is not kept to, so that no hold means anything on this cluster."""


def round_trip(store_of: Callable[[], Store], deadline: Deadline, *, at: str, by: str) -> None:
    """Hold 1, a write that comes too late, release 2, and release 1, on an object without a hold.

    The late write and release 2 have to fail and change nothing. Raises DoesNotHold where that is
    not so, Unsupported where this identity may not do it, other HoldErrors and ClusterUnavailable
    where it cannot be told. `store_of` makes a store of the object; `at` and `by` are written into
    the hold.
    """
    late, store = store_of(), store_of()
    earlier = late.read(deadline)
    carry_out(store, Call(Action.HOLD, _FIRST, at=at, by=by), deadline)
    _expect_hold(store.read(deadline), "after it was placed")
    _expect_refused(late, earlier, deadline)
    _expect_hold(store.read(deadline), "after a late write was refused")
    try:
        carry_out(store, Call(Action.RELEASE, _OTHER, at=at, by=by), deadline)
    except StaleHold:
        _expect_hold(store.read(deadline), "after the release of another one was refused")
    else:
        raise DoesNotHold(f"{store.target}: release {_OTHER} was accepted on hold {_FIRST}")
    released = carry_out(store, Call(Action.RELEASE, _FIRST, at=at, by=by), deadline)
    found = store.read(deadline)
    if found.mark is not None or found.stopped != released.state.stopped:
        raise DoesNotHold(f"{store.target}: after release {_FIRST}, {_stands(found)}")


def _expect_hold(found: State, when: str) -> None:
    if found.mark is None or found.mark.instance != _FIRST or not found.stopped:
        raise DoesNotHold(f"hold {_FIRST} was accepted, and {when} {_stands(found)}")


def _expect_refused(late: Store, earlier: State, deadline: Deadline) -> None:
    """A write decided on what was read before the hold is refused for its resourceVersion."""
    decision = decide(earlier, Call(Action.HOLD, _OTHER))
    try:
        late.write(decision, deadline)
    except Conflict:
        return
    except (ApiError, ClusterUnavailable) as error:
        raise Unsupported(f"a late write was not refused for its version: {error}") from error
    raise DoesNotHold(
        f"{late.target}: an update of a version that was no longer there was accepted, so a late "
        "call can undo a newer hold"
    )


def _stands(found: State) -> str:
    return f"{in_force(found)} and the object is {'stopped' if found.stopped else 'not stopped'}"
