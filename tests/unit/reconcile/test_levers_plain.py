"""Starts, pauses and resumes of Jobs that no queue has: what is decided, and what is written."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from unit.cluster.api_server import Answer, ApiServer, Request, serve
from unit.reconcile.koord_store import JOB_PATH, KoordStore, koord_job
from unit.reconcile.live_objects import NAMESPACE, Object

from converter.cluster.objects import name
from converter.cluster.resources import JOBS
from converter.holds.kinds import OWNERS
from converter.holds.plain import plain_state
from converter.holds.rules import Action, Call
from converter.holds.rules import decide as decide_call
from converter.model import Backend
from converter.names import (
    HOLD_ANNOTATION,
    KOORD_QUOTA_LABEL,
    OPENED_ANNOTATION,
    STARTS_ANNOTATION,
    SUSPEND_ANNOTATION,
    WAS_INACTIVE_ANNOTATION,
)
from converter.reconcile.levers.plain import PlainLever
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.pause import Decision, Move
from converter.reconcile.plan import PauseWish
from converter.reconcile.sync import Sync, settle

LEVER = PlainLever()
PAUSE = PauseWish("scan", "scan", active=False)
RESUME = PauseWish("scan", "scan", active=True)
OPENED = {OPENED_ANNOTATION: "true", STARTS_ANNOTATION: "1"}
HELD = {HOLD_ANNOTATION: "7"}
IN_GIT = {SUSPEND_ANNOTATION: "true"}
NOTED = {WAS_INACTIVE_ANNOTATION: "true"}


def plain_job(
    annotations: dict[str, str] | None = None, *, suspend: bool = True, **status: Any
) -> Object:
    live = koord_job(annotations, suspend=suspend, **status)
    del live["metadata"]["labels"][KOORD_QUOTA_LABEL]
    return live


def deleted(live: Object) -> Object:
    live["metadata"]["deletionTimestamp"] = "2026-01-03T00:00:00Z"
    return live


def ended(how: str) -> Object:
    return plain_job(OPENED, suspend=False, conditions=[{"type": how, "status": "True"}])


# A state in words, the Job in it, and what a pause and a resume of it come to.
STATES: tuple[tuple[str, Object | None, Move, Move], ...] = (
    ("there is none", None, Move.NOTHING, Move.NOTHING),
    ("never started: waits at its gate", plain_job(), Move.NOTHING, Move.PATCH),
    ("never started, and paused", plain_job(IN_GIT), Move.NOTHING, Move.PATCH),
    ("started", plain_job(OPENED, suspend=False), Move.PATCH, Move.NOTHING),
    ("started by hand, past its gate", plain_job(suspend=False), Move.PATCH, Move.NOTHING),
    (
        "started, and to be paused",
        plain_job(OPENED | IN_GIT, suspend=False),
        Move.PATCH,
        Move.NOTHING,
    ),
    ("paused", plain_job(OPENED | IN_GIT), Move.NOTHING, Move.PATCH),
    ("suspended by hand", plain_job(OPENED), Move.NOTHING, Move.PATCH),
    ("paused, and its pods are ending", plain_job(OPENED, terminating=2), Move.NOTHING, Move.PATCH),
    ("held", plain_job(OPENED | HELD), Move.NOTE_IN_HOLD, Move.KEEP),
    ("held at its gate", plain_job(HELD), Move.NOTE_IN_HOLD, Move.KEEP),
    ("held, and git's pause was sent", plain_job(OPENED | HELD | IN_GIT), Move.NOTHING, Move.KEEP),
    ("held, and git's pause is noted", plain_job(OPENED | HELD | NOTED), Move.NOTHING, Move.KEEP),
    (
        "held by a hold that nobody can read",
        plain_job({HOLD_ANNOTATION: "x"}),
        Move.NOTE_IN_HOLD,
        Move.KEEP,
    ),
    ("held by name alone: it runs", plain_job(OPENED | HELD, suspend=False), Move.PATCH, Move.KEEP),
    ("complete", ended("Complete"), Move.NOTHING, Move.NOTHING),
    ("failed", ended("Failed"), Move.NOTHING, Move.NOTHING),
    ("on its way out", deleted(plain_job(OPENED, suspend=False)), Move.NOTHING, Move.NOTHING),
    ("on its way out, at its gate", deleted(plain_job()), Move.NOTHING, Move.NOTHING),
)


@pytest.mark.parametrize(("words", "live", "pause", "resume"), STATES, ids=[s[0] for s in STATES])
def test_every_state_of_a_job(words: str, live: Object | None, pause: Move, resume: Move) -> None:
    del words
    for wish, move in ((PAUSE, pause), (RESUME, resume)):
        decision = LEVER.decide(wish, live, (), reactivate=True)
        assert decision.move is move, wish
        writes = move in (Move.PATCH, Move.NOTE_IN_HOLD)
        assert decision.workloads == (("scan",) if writes else ())
        assert decision == LEVER.decide(wish, live, (), reactivate=False)


@pytest.mark.parametrize(
    ("live", "expected"),
    [
        (None, True),
        (plain_job(), True),
        (plain_job(OPENED, terminating=1), True),
        (plain_job(OPENED, suspend=False), False),
        (ended("Complete"), True),
        (deleted(plain_job(suspend=False)), True),
    ],
)
def test_when_a_pause_holds(live: Object | None, expected: bool) -> None:
    assert LEVER.holds(live, ()) is expected


def test_a_hold_that_is_kept_says_what_lifts_it() -> None:
    decision = LEVER.decide(RESUME, plain_job(OPENED | HELD), (), reactivate=True)
    assert "stays inactive: hold 7 is in force" in decision.reason
    assert "`campaigns release scan --instance 7 --deadline 30s` lifts it" in decision.reason


@pytest.fixture
def store() -> KoordStore:
    return KoordStore()


@pytest.fixture
def api(store: KoordStore) -> Iterator[ApiServer]:
    with serve(store) as server:
        yield server


def synced(api: ApiServer, wish: PauseWish) -> list[Event]:
    client = api.client()
    read = {name(each): each for each in client.list(JOBS, NAMESPACE)}
    outcome = Outcome(lambda event: None)
    sync = Sync(client, NAMESPACE, read, outcome, True, 1, Backend.NONE)
    settle(sync, [wish], sync.read_units())
    return list(outcome.events)


def bodies(api: ApiServer) -> list[Object]:
    assert {each.path for each in api.requests if each.method != "GET"} <= {JOB_PATH}
    return [each.body for each in api.requests if each.method != "GET"]


def start(number: int, version: str = "1") -> Object:
    annotations = {OPENED_ANNOTATION: "true", STARTS_ANNOTATION: str(number)}
    return {
        "metadata": {"annotations": annotations, "resourceVersion": version},
        "spec": {"suspend": False},
    }


STOP: Object = {"metadata": {"uid": "uid-scan"}, "spec": {"suspend": True}}


def test_a_job_is_opened_in_one_write(store: KoordStore, api: ApiServer) -> None:
    store.put(plain_job())
    assert synced(api, RESUME) == [Event(Fate.RESUMED, "scan", "Job/scan started", "scan")]
    assert bodies(api) == [start(1)]
    assert synced(api, RESUME) == []


@pytest.mark.parametrize(("written", "number"), [("1", 2), ("41", 42), ("", 1), ("many", 1)])
def test_a_resume_counts_the_starts(
    written: str, number: int, store: KoordStore, api: ApiServer
) -> None:
    store.put(plain_job({OPENED_ANNOTATION: "true", STARTS_ANNOTATION: written}))
    (event,) = synced(api, RESUME)
    assert bodies(api) == [start(number)]
    again = f"started again (start {number})" if number > 1 else "started"
    assert event.detail == f"Job/scan {again}"


def test_a_pause_suspends_the_job_whatever_it_is_by_then(store: KoordStore, api: ApiServer) -> None:
    store.put(plain_job(OPENED, suspend=False))
    store.before = _once("PATCH", lambda: store.touch(JOB_PATH))
    assert synced(api, PAUSE) == [Event(Fate.PAUSED, "scan", "Job/scan suspended", "scan")]
    assert bodies(api) == [STOP]
    assert synced(api, PAUSE) == []


def test_a_start_is_decided_anew_where_the_job_has_changed(
    store: KoordStore, api: ApiServer
) -> None:
    store.put(plain_job())
    store.before = _once("PATCH", lambda: store.touch(JOB_PATH))
    assert [event.fate for event in synced(api, RESUME)] == [Fate.RESUMED]
    assert bodies(api) == [start(1), start(1, "2")]


def test_a_hold_that_comes_between_is_not_overrun(store: KoordStore, api: ApiServer) -> None:
    store.put(plain_job(OPENED))

    def hold() -> None:
        store.job["metadata"]["annotations"] |= HELD
        store.touch(JOB_PATH)

    store.before = _once("PATCH", hold)
    assert [event.fate for event in synced(api, RESUME)] == [Fate.NOTE]
    assert store.job["spec"]["suspend"] is True


@pytest.mark.parametrize("wish", [PAUSE, RESUME])
def test_another_job_of_the_name_is_neither_started_nor_stopped(
    wish: PauseWish, store: KoordStore, api: ApiServer
) -> None:
    """It was deleted and made again since it was read, by anybody."""
    store.put(plain_job(OPENED, suspend=wish.active))

    def make_anew() -> None:
        store.job["metadata"]["uid"] = "uid-of-another"
        store.touch(JOB_PATH)

    store.before = _once("PATCH", make_anew)
    assert [event.fate for event in synced(api, wish)] == [Fate.RESUME_FAILED] * wish.active
    assert store.job["spec"]["suspend"] is wish.active


def test_gits_pause_is_noted_in_a_hold(store: KoordStore, api: ApiServer) -> None:
    store.put(plain_job(OPENED | HELD))
    (event,) = synced(api, PAUSE)
    assert event.detail == "Job/scan stays suspended when hold 7 is released"
    metadata = {"resourceVersion": "1", "annotations": {WAS_INACTIVE_ANNOTATION: "true"}}
    assert bodies(api) == [{"metadata": metadata}]


def test_a_job_that_is_gone_runs_no_more_and_does_not_run(
    store: KoordStore, api: ApiServer
) -> None:
    for wish, said in ((PAUSE, []), (RESUME, ["read Job/scan: 404 NotFound: no: apply again"])):
        store.put(plain_job(suspend=wish.active))
        store.before = _once("PATCH", lambda: store.objects.clear())
        assert [event.detail for event in synced(api, wish)] == said


@pytest.mark.parametrize(
    ("live", "starts"),
    [
        # What apply suspended of a campaign that is held back has no annotation of git's pause.
        (plain_job(OPENED), False),
        (plain_job(OPENED | IN_GIT), False),
        (plain_job(), False),
        (plain_job(OPENED, suspend=False), True),
    ],
    ids=["suspended by apply or by hand", "paused", "at its gate", "running"],
)
def test_a_release_starts_what_ran_when_it_was_held(live: Object, starts: bool) -> None:
    before = plain_state(live, OWNERS["Job"], 0)
    held = decide_call(before, Call(Action.HOLD, 7)).after
    assert held is not None
    released = decide_call(held, Call(Action.RELEASE, 7))
    assert released.starts is starts


def test_what_is_said() -> None:
    patch, job = Decision(Move.PATCH, ("scan",)), plain_job()
    assert LEVER.foreseen(PAUSE, job, job, patch) == "spec.suspend: false -> true"
    assert LEVER.foreseen(RESUME, job, job, patch) == "spec.suspend: true -> false"
    noted = Decision(Move.NOTE_IN_HOLD, ("scan",), "hold 7")
    assert LEVER.foreseen(PAUSE, job, job, noted) == "stays suspended when hold 7 is released"
    (event,) = LEVER.events([PAUSE], {}, {"scan": job})
    assert event.detail == "created suspended, at its start gate"
    assert LEVER.events([PAUSE], {"scan": job}, {"scan": job}) == []


def _once(method: str, change: Callable[[], object]) -> Callable[[Request], Answer | None]:
    left = [change]

    def before(request: Request) -> Answer | None:
        if left and request.method == method:
            left.pop()()
        return None

    return before
