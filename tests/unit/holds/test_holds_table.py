"""Every state of an object, with every call, and with others that write at every step."""

from __future__ import annotations

import itertools
from collections.abc import Callable

import pytest
from unit.holds.scripted import Clock, ScriptedStore, attempt
from unit.holds.state_table import (
    AFTER_A_CONFLICT,
    ALONE,
    CALLS,
    EVENTS,
    STARTS,
    STEPS,
    WRITES,
    Cell,
    Expected,
    Outcome,
    cells,
    expected,
    states,
    words,
)

from converter.holds.errors import (
    DeadlinePassed,
    HoldError,
    InvalidCall,
    PodsRemain,
    Rejected,
    StaleHold,
)
from converter.holds.rules import State

KINDS: dict[Outcome, type[HoldError]] = {
    Outcome.STALE: StaleHold,
    Outcome.PODS_REMAIN: PodsRemain,
    Outcome.REJECTED: Rejected,
    Outcome.TOO_LATE: DeadlinePassed,
    Outcome.INVALID: InvalidCall,
}


def script(cell: Cell, clock: Clock) -> dict[str, Callable[[ScriptedStore], object]]:
    """What happens before which request."""

    def happens(store: ScriptedStore) -> None:
        assert store.state is not None
        store.become(EVENTS[cell.event](store.state))

    def passes(store: ScriptedStore) -> None:
        clock.now += 60
        if cell.deadline == "passes before the retry":
            store.touch()

    if cell.deadline == "passed":
        clock.now += 60
    if cell.deadline == "passes before the write":
        return {"read 1": passes}
    if cell.deadline == "passes before the retry":
        return {"write 1": passes}
    if not cell.step:
        return {}
    if cell.step == STEPS[2]:
        return {"write 1": ScriptedStore.touch, "write 2": happens}
    return {"read 1" if cell.step == STEPS[0] else "write 1": happens}


def difference(cell: Cell, wanted: Expected) -> str:
    """How a cell's call ends otherwise than it should; empty where it does not."""
    clock = Clock()
    store = ScriptedStore(cell.state)
    made_at = clock.now
    store.script = script(cell, clock)
    seconds = None if cell.deadline == "none" else made_at + 30 - clock.now
    error: HoldError | None = None
    wrote = False
    try:
        done = attempt(store, CALLS[cell.action], seconds, clock)
        wrote = done.wrote
        if done.state != wanted.state:
            return f"it says {done.state}, not {wanted.state}"
    except HoldError as raised:
        error = raised
    if type(error) is not KINDS.get(wanted.outcome, type(None)):
        return f"{error!r}, not {wanted.outcome}"
    if error is not None and error.in_force != wanted.in_force:
        return f"it says that {error.in_force} is in force, not {wanted.in_force}"
    if (store.state, store.writes) != (wanted.state, wanted.sent):
        return f"{store.state} by {store.writes} updates, not {wanted.state} by {wanted.sent}"
    if (wrote, len(store.landed)) != (wanted.outcome in WRITES, wanted.outcome in WRITES):
        return f"written: {store.landed}, and it says {wrote}"
    if store.starts != (wanted.outcome in STARTS):
        return f"{store.starts} starts, not {wanted.outcome}"
    return ""


ALL = list(cells())


@pytest.mark.parametrize("action", CALLS)
def test_every_cell_ends_as_the_table_has_it(action: str) -> None:
    of_action = [cell for cell in ALL if cell.action == action]
    wrong = ((cell, difference(cell, expected(cell))) for cell in of_action)
    assert list(itertools.islice(((cell, how) for cell, how in wrong if how), 3)) == []


def test_no_cell_is_missing() -> None:
    """880 states: 304 of a Workload, 576 of an object without a queue."""
    assert [sum(state.queued is queued for state in states()) for queued in (True, False)] == [
        304,
        576,
    ]
    assert len(ALL) == 880 * 3 * (1 + 4 + 9 * 3) == 84480
    assert len(set(ALL)) == len(ALL)


def test_every_row_and_every_outcome_is_some_cells() -> None:
    met = {words(state, action) for state in states() for action in CALLS}
    for rows in (ALONE,):
        fitting = {next(need for need, _ in rows if set(need.split()) <= each) for each in met}
        assert fitting == {need for need, _ in rows}
    assert {expected(cell).outcome for cell in ALL} == set(Outcome)
    assert len({need for need, _ in AFTER_A_CONFLICT}) == len(AFTER_A_CONFLICT)


def test_a_state_is_told_apart_by_every_field() -> None:
    """A field that is added to what is read has to come into the table."""
    fields = set(State.__dataclass_fields__)
    varied = {name for name in fields if len({getattr(state, name) for state in states()}) > 1}
    assert varied == fields
