"""Carries one call out: read, decide, write on the condition that nothing has changed since."""

from dataclasses import dataclass, replace
from typing import Final, Protocol

from converter.errors import (
    ApiError,
    ClusterUnavailable,
    Conflict,
    Forbidden,
    NoCredentials,
    NotFound,
)
from converter.holds.call import check_instance
from converter.holds.deadline import Deadline
from converter.holds.errors import (
    HoldError,
    OutcomeUnknown,
    PodsRemain,
    Rejected,
    StaleHold,
    TooManyConflicts,
    Unsupported,
)
from converter.holds.history import Entry, Happened
from converter.holds.rules import Action, Call, Decision, State, Verdict, decide, in_force

# After a conflict. Writers of a status come every few seconds; that many in a row are something
# else.
TRIES_AGAIN: Final = 8


class Store(Protocol):
    """One object. Both raise ApiError and ClusterUnavailable; neither sends anything twice."""

    @property
    def target(self) -> str:
        """The object as ``Kind/name``."""
        ...

    def read(self, deadline: Deadline) -> State:
        """The object as it is now. Raises Rejected where there is nothing to hold."""
        ...

    def write(self, decision: Decision, deadline: Deadline) -> None:
        """Update what was read last. Raises Conflict where it has changed since."""
        ...


@dataclass(frozen=True, slots=True)
class Done:
    """A call that is in force; `wrote` is false where it was already."""

    target: str
    state: State
    wrote: bool


def carry_out(store: Store, call: Call, deadline: Deadline) -> Done:
    """Carry a call out against one object. Raises HoldError, and ClusterUnavailable from a read."""
    if call.action is not Action.OPEN:
        check_instance(call.instance)
    before: State | None = None
    for _ in range(1 + TRIES_AGAIN):
        # The client asks once more at the moment that it sends.
        deadline.check(f"read {store.target}")
        state = _read(store, deadline)
        decision = decide(state, call, before)
        if decision.verdict is Verdict.DONE:
            return Done(store.target, state, wrote=False)
        if decision.after is None:
            raise _refusal(store.target, decision, state)
        deadline.check(f"update {store.target}")
        try:
            _write(store, call, decision, deadline)
        except Conflict:
            before = state
            continue
        return Done(store.target, decision.after, wrote=True)
    raise TooManyConflicts(
        f"{store.target}: others wrote it at each of {1 + TRIES_AGAIN} tries: {call.action} it "
        "again",
        in_force=_number(before),
    )


def _read(store: Store, deadline: Deadline) -> State:
    try:
        return store.read(deadline)
    except Forbidden as error:
        raise Unsupported(f"{store.target} may not be read: {error.message}") from error
    except NotFound as error:
        raise Rejected(f"{store.target}: there is none ({error.message})") from error
    except ApiError as error:
        raise Rejected(
            f"{store.target} could not be read: {error.reason}: {error.message}"
        ) from error


def _write(store: Store, call: Call, decision: Decision, deadline: Deadline) -> None:
    try:
        store.write(replace(decision, entry=entry_of(call)), deadline)
    except Conflict:
        raise
    except NotFound as error:
        raise Rejected(f"{store.target} was deleted meanwhile") from error
    except Forbidden as error:
        raise Unsupported(f"{store.target} may not be updated: {error.message}") from error
    except ApiError as error:
        if error.status >= 500:
            raise _unknown(store, call, str(error)) from error
        raise Rejected(f"{store.target}: {error.reason}: {error.message}") from error
    except NoCredentials as error:
        raise Unsupported(f"{store.target} was not updated: {error}") from error
    except ClusterUnavailable as error:
        raise _unknown(store, call, str(error)) from error


def entry_of(call: Call) -> Entry | None:
    """What a call adds to the history of the objects that it comes into force on."""
    if call.action is Action.OPEN:
        return None
    what = Happened.HELD if call.action is Action.HOLD else Happened.RELEASED
    return Entry(what, call.instance, at=call.at, by=call.by, reason=call.reason)


def _unknown(store: Store, call: Call, why: str) -> OutcomeUnknown:
    # Not sent again here: a release whose answer was lost would be told apart from a stale one by
    # nothing.
    return OutcomeUnknown(
        f"{store.target}: whether the {call.action} came into force is not known ({why}): look at "
        "`campaigns holds` once the timeout of whoever was asked has passed"
    )


def _refusal(target: str, decision: Decision, state: State) -> HoldError:
    kinds: dict[Verdict, type[HoldError]] = {
        Verdict.REJECTED: Rejected,
        Verdict.STALE: StaleHold,
        Verdict.PODS_REMAIN: PodsRemain,
    }
    why = decision.why
    if decision.verdict is Verdict.PODS_REMAIN:
        why = f"{in_force(state)}, and {why}"
    return kinds[decision.verdict](f"{target}: {why}", in_force=_number(state))


def _number(state: State | None) -> int | None:
    return state.mark.instance if state is not None and state.mark is not None else None
