"""Pauses and resumes on Koord-Queue: what is decided of every state, and what is then written."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest
from unit.cluster.api_server import Answer, ApiServer, Request, failure, serve
from unit.reconcile.koord_store import (
    BY_GIT,
    JOB_PATH,
    SCHEMA_PATH,
    STRICT,
    UNIT_PATH,
    KoordStore,
    koord_job,
    queue_unit,
)
from unit.reconcile.live_objects import NAMESPACE, Object

from converter.cluster.objects import name
from converter.cluster.resources import JOBS
from converter.errors import CannotPause
from converter.holds.queue_unit import queue_unit_state
from converter.holds.rules import Action, Call
from converter.holds.rules import decide as decide_call
from converter.koord_queue.unit import NO_ACTIVE
from converter.model import Backend
from converter.names import (
    BUDGET_SPENT_ANNOTATION,
    HOLD_ANNOTATION,
    KOORD_ACTIVE_ANNOTATION,
    NUDGED_ANNOTATION,
    PAUSED_ANNOTATION,
)
from converter.reconcile import verify
from converter.reconcile.levers.koord_queue import KEPT_BY_GATE, KoordQueueLever
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.pause import Decision, Move
from converter.reconcile.plan import PauseWish
from converter.reconcile.sync import Sync, settle
from converter.reconcile.units import job_uid

LEVER = KoordQueueLever()
PAUSE = PauseWish("scan", "scan", active=False)
RESUME = PauseWish("scan", "scan", active=True)
GONE = {"deletionTimestamp": "2026-01-03T00:00:00Z"}

PHASES = (
    "",
    "Enqueued",
    "Reserved",
    "Dequeued",
    "SchedFailed",
    "TimeoutBackoff",
    "Running",
    "Succeed",
    "Failed",
    "Preempted",
    "Somehow",
)
ANNOTATIONS = {
    "none": {},
    "paused by git": BY_GIT,
    "Koord-Queue's alone": {KOORD_ACTIVE_ANNOTATION: "false"},
    "git's alone": {PAUSED_ANNOTATION: "true"},
    "true, by hand": {KOORD_ACTIVE_ANNOTATION: "true"},
}
JOB_STATES = ("suspended", "running", "ended", "being deleted", "absent")
UNITS = ("there", "absent", "of an earlier Job", "on its way out")
HOLDS = {"none": {}, "in force": {HOLD_ANNOTATION: "7"}, "unreadable": {HOLD_ANNOTATION: "x"}}


@dataclass(frozen=True)
class Cell:
    """One state of the table, in words, and what git wants."""

    wish: str
    job: str
    annotations: str
    unit: str
    phase: str
    active: bool | None
    reclaimed: bool
    hold: str

    @property
    def has_unit(self) -> bool:
        return self.unit == "there"

    @property
    def is_inactive(self) -> bool:
        return self.has_unit and self.active is False

    @property
    def is_preempted(self) -> bool:
        return self.has_unit and (self.reclaimed or self.phase == "Preempted")

    @property
    def is_held(self) -> bool:
        return self.has_unit and self.hold != "none"

    @property
    def git_paused_it(self) -> bool:
        return self.annotations in ("paused by git", "git's alone")


# What is decided: the move, what it is made on, and a word of the reason.
Expected = tuple[Move, str, str]
NOTHING: Expected = (Move.NOTHING, "", "")

# The first rule that fits decides.
RULES: tuple[tuple[str, Callable[[Cell], bool], Expected], ...] = (
    (
        "a Job that is not there, has ended or is on its way out has nothing to stop or start",
        lambda c: c.job in ("absent", "ended", "being deleted"),
        NOTHING,
    ),
    (
        "nor has one that has ended for Koord-Queue",
        lambda c: c.has_unit and c.phase in ("Succeed", "Failed"),
        NOTHING,
    ),
    (
        "pause: a QueueUnit that may run is made inactive, whoever else has stopped or holds it",
        lambda c: c.wish == "pause" and c.has_unit and not c.is_inactive,
        (Move.PATCH, "QueueUnit", ""),
    ),
    (
        "pause: what is inactive for another reason is noted as git's, with both annotations",
        lambda c: c.wish == "pause" and c.has_unit and c.annotations != "paused by git",
        (Move.PATCH, "QueueUnit", ""),
    ),
    ("pause: all is written", lambda c: c.wish == "pause" and c.has_unit, NOTHING),
    (
        "pause: without a QueueUnit the Job is annotated, so that the one that comes is inactive",
        lambda c: c.wish == "pause" and c.annotations != "paused by git",
        (Move.PATCH, "Job", ""),
    ),
    (
        "pause: and it is waited for, since nothing says yet that it will be",
        lambda c: c.wish == "pause",
        (Move.WAIT, "", ""),
    ),
    (
        "resume: a hold wins over git; what git had noted goes, for the release",
        lambda c: c.is_held and c.git_paused_it,
        (Move.REMEMBER, "", "is in force"),
    ),
    ("resume: a hold wins over git", lambda c: c.is_held, (Move.KEEP, "", "is in force")),
    (
        "resume: what is being preempted is left alone until that is over",
        lambda c: c.git_paused_it and c.is_inactive and c.is_preempted,
        (Move.KEEP, "", "preempting"),
    ),
    (
        "resume: what git has paused is made active, or its pause is taken back to the end",
        lambda c: c.git_paused_it and c.has_unit,
        (Move.PATCH, "QueueUnit", ""),
    ),
    (
        "resume: also where no QueueUnit has come yet",
        lambda c: c.annotations == "paused by git",
        (Move.PATCH, "Job", ""),
    ),
    (
        "resume: and that git paused it stays noted until one has come, or it would stay inactive",
        lambda c: c.annotations == "git's alone",
        NOTHING,
    ),
    (
        "resume: what somebody or its execution time has stopped stays stopped",
        lambda c: c.is_inactive,
        (Move.KEEP, "", "write suspend: true in campaigns/scan.yaml"),
    ),
    ("resume: it is as git has it", lambda c: True, NOTHING),
)


def cells(wish: str, job: str) -> Iterator[Cell]:
    for said, unit in itertools.product(ANNOTATIONS, UNITS):
        if unit == "absent":
            yield Cell(wish, job, said, unit, "", None, False, "none")
            continue
        every = itertools.product(PHASES, (None, True, False), (False, True), HOLDS)
        for phase, active, reclaimed, hold in every:
            yield Cell(wish, job, said, unit, phase, active, reclaimed, hold)


def live_job(cell: Cell) -> Object | None:
    if cell.job == "absent":
        return None
    made = koord_job(ANNOTATIONS[cell.annotations], suspend=cell.job != "running")
    if cell.job == "ended":
        made["status"] = {"conditions": [{"type": "Complete", "status": "True"}]}
    if cell.job == "being deleted":
        made["metadata"] |= GONE
    return made


def live_units(cell: Cell) -> list[Object]:
    if cell.unit == "absent":
        return []
    status: Object = {}
    if cell.reclaimed:
        taken = {"name": "scan", "replicas": 2, "running": 1, "reclaimState": {"replicas": 1}}
        status["admissions"] = [taken]
    held = HOLDS[cell.hold]
    unit = queue_unit(koord_job(), cell.phase, active=cell.active, annotations=held, **status)
    if cell.reclaimed and not cell.phase:
        unit["status"] = status
    if cell.unit == "of an earlier Job":
        unit["metadata"]["ownerReferences"][0]["uid"] = "uid-of-an-earlier-job"
    if cell.unit == "on its way out":
        unit["metadata"] |= GONE
    return [unit]


def decided(cell: Cell) -> tuple[Decision, Expected]:
    """The decision, and the same as the table has it."""
    job = live_job(cell)
    found = () if job is None else _of(job, live_units(cell))
    wish = PAUSE if cell.wish == "pause" else RESUME
    decision = LEVER.decide(wish, job, found, reactivate=True)
    targets = [each for each in LEVER.targets(job, found) if _named(each) in decision.workloads]
    return decision, (decision.move, "".join(str(each["kind"]) for each in targets), "")


def _of(job: Object, units: Sequence[Object]) -> tuple[Object, ...]:
    return tuple(
        each for each in units if job_uid(each, Backend.KOORD_QUEUE) == job["metadata"]["uid"]
    )


def _named(live: Any) -> str:
    return str(live["metadata"]["name"])


@pytest.mark.parametrize("job", JOB_STATES)
@pytest.mark.parametrize("wish", ["pause", "resume"])
def test_every_state_of_a_job_and_its_queue_unit(wish: str, job: str) -> None:
    wrong = []
    number = 0
    for cell in cells(wish, job):
        number += 1
        words, (move, target, reason) = next(
            (words, then) for words, when, then in RULES if when(cell)
        )
        decision, (is_move, is_target, _) = decided(cell)
        if (is_move, is_target) != (move, target) or reason not in decision.reason:
            wrong.append(f"{cell}: {words}: not {decision}, made on {is_target or 'nothing'}")
    assert not wrong, f"{len(wrong)} of {number} cells: " + "\n".join(wrong[:5])


def test_every_rule_of_the_table_decides_some_cell() -> None:
    """A rule that none reaches would say what no test asks."""
    reached = {
        next(words for words, when, _ in RULES if when(cell))
        for wish, job in itertools.product(("pause", "resume"), JOB_STATES)
        for cell in cells(wish, job)
    }
    assert reached == {words for words, _, _ in RULES}


@pytest.mark.parametrize("reactivate", [False, True])
def test_reactivate_says_nothing_here(reactivate: bool) -> None:
    """Kueue's deactivations are undone by it; an execution time would begin anew at each apply."""
    stopped = queue_unit(koord_job(), "Enqueued", active=False)
    decision = LEVER.decide(RESUME, koord_job(), [stopped], reactivate=reactivate)
    assert decision.move is Move.KEEP


def spent_unit(reason: str = "MaximumExecutionTimeExceeded") -> Object:
    evicted = {"type": "Evicted", "status": "True", "reason": reason}
    made = queue_unit(koord_job(), "Enqueued", active=False, conditions=[evicted])
    made["spec"]["maximumExecutionTimeSeconds"] = 600
    return made


def test_a_spent_execution_time_is_remembered_on_the_job_before_the_reason_is_overwritten() -> None:
    decision = LEVER.decide(RESUME, koord_job(), [spent_unit()], reactivate=True)
    assert decision.move is Move.REMEMBER
    assert "its execution time of 600 s is over" in decision.reason
    assert "the whole time once more" in decision.reason

    noted = koord_job({BUDGET_SPENT_ANNOTATION: "2026-01-02T00:00:00Z"})
    again = LEVER.decide(RESUME, noted, [spent_unit("Deactivated")], reactivate=True)
    assert again == replace(decision, move=Move.KEEP)


def test_one_that_was_evicted_and_is_active_has_spent_nothing() -> None:
    unit = spent_unit()
    unit["spec"]["active"] = True
    assert LEVER.decide(RESUME, koord_job(), [unit], reactivate=True).move is Move.NOTHING


@pytest.mark.parametrize(
    ("job", "units", "expected"),
    [
        (None, [], True),
        (koord_job(conditions=[{"type": "Failed", "status": "True"}]), [], True),
        (koord_job(BY_GIT), [queue_unit(koord_job(), "Enqueued", active=False)], True),
        (koord_job(BY_GIT), [queue_unit(koord_job(), active=False)], True),
        (koord_job(BY_GIT, active=1), [queue_unit(koord_job(), "Enqueued", active=False)], False),
        (koord_job(suspend=False), [queue_unit(koord_job(), "Running", active=False)], False),
        (koord_job(BY_GIT), [queue_unit(koord_job(), "Enqueued")], False),
        (koord_job(BY_GIT), [], False),
        (koord_job(), [queue_unit(koord_job(), "Succeed")], True),
        *(
            (koord_job(BY_GIT), [queue_unit(koord_job(), phase, active=False)], False)
            for phase in ("Reserved", "Dequeued", "SchedReady", "SchedSucceed", "Running")
        ),
    ],
    ids=[
        "no Job",
        "ended",
        "inactive",
        "born inactive",
        "pods are ending",
        "not stopped",
        "suspended alone is no pause: it keeps its quota",
        "annotated alone is no pause: nothing was read back",
        "ended for Koord-Queue",
        "has its quota",
        "admitted: started next by controllers without the gate",
        "checked: started next",
        "scheduled: started next",
        "running for Koord-Queue",
    ],
)
def test_when_a_pause_holds(job: Object | None, units: list[Object], expected: bool) -> None:
    assert LEVER.holds(job, units) is expected


def test_a_queue_unit_on_its_way_out_pauses_nothing() -> None:
    """Koord-Queue makes another when it is gone."""
    dying = queue_unit(koord_job(), "Enqueued", active=False)
    dying["metadata"] |= GONE
    assert not LEVER.holds(koord_job(BY_GIT), [dying])
    assert "has no QueueUnit" in LEVER.unenforced(koord_job(BY_GIT), [dying], 10)


@pytest.mark.parametrize(
    ("job", "units", "words"),
    [
        (koord_job(suspend=False), [], "has no QueueUnit after 10 s"),
        (
            koord_job(suspend=False),
            [queue_unit(koord_job(), "Running", active=False)],
            "QueueUnitActive on in koord-queue-controllers",
        ),
        (
            koord_job(suspend=False),
            [queue_unit(koord_job(), "Preempted", active=False)],
            "being preempted",
        ),
        (koord_job(), [queue_unit(koord_job(), "Enqueued")], "set to true again by somebody"),
        (koord_job(active=1), [queue_unit(koord_job(), active=False)], "pods have not ended"),
        (
            koord_job(),
            [queue_unit(koord_job(), "Dequeued", active=False)],
            "admitted all the same (phase Dequeued), so its Job is about to start",
        ),
    ],
)
def test_why_a_pause_is_not_enforced(job: Object, units: list[Object], words: str) -> None:
    assert words in LEVER.unenforced(job, units, 10)


# The writes.


@pytest.fixture
def store() -> KoordStore:
    return KoordStore()


@pytest.fixture
def api(store: KoordStore) -> Iterator[ApiServer]:
    with serve(store) as server:
        yield server


def synced(api: ApiServer, wish: PauseWish) -> list[Event]:
    """What a whole round of apply's lever makes of the store as it is: read, decide, write."""
    client = api.client()
    read = {name(each): each for each in client.list(JOBS, NAMESPACE)}
    outcome = Outcome(lambda event: None)
    sync = Sync(client, NAMESPACE, read, outcome, True, 1, Backend.KOORD_QUEUE)
    settle(sync, [wish], sync.read_units())
    return list(outcome.events)


def sent(api: ApiServer) -> list[tuple[str, Object]]:
    """The writes: what they are made on, and the body. A dry run is said."""
    names = {JOB_PATH: "Job", UNIT_PATH: "QueueUnit"}
    return [
        (names[each.path] + (" dry run" if "dryRun" in each.query else ""), each.body)
        for each in api.requests
        if each.method != "GET"
    ]


def on_job(**annotations: str | None) -> tuple[str, Object]:
    names = {
        "active": KOORD_ACTIVE_ANNOTATION,
        "paused": PAUSED_ANNOTATION,
        "spent": BUDGET_SPENT_ANNOTATION,
    }
    said = {names[key]: value for key, value in annotations.items()}
    return "Job", {"metadata": {"annotations": said, "uid": "uid-scan"}}


OFF: Object = {"spec": {"active": False}}


def on(version: str = "1") -> Object:
    return {"metadata": {"resourceVersion": version}, "spec": {"active": True}}


def test_a_pause_writes_the_annotation_and_then_the_field(
    store: KoordStore, api: ApiServer
) -> None:
    job = koord_job(suspend=False)
    store.put(job, queue_unit(job, "Running"))
    (event,) = synced(api, PAUSE)
    assert event == Event(Fate.PAUSED, "scan", "QueueUnit/scan active=false", "scan")
    assert sent(api) == [
        ("QueueUnit dry run", OFF),
        on_job(active="false", paused="true"),
        ("QueueUnit", OFF),
    ]
    patches = [each for each in api.requests if each.path == UNIT_PATH and each.method == "PATCH"]
    assert {each.query["fieldValidation"] for each in patches} == {"Strict"}
    assert store.unit["spec"]["active"] is False


def test_a_resume_takes_the_annotation_away_first_and_its_own_note_last(
    store: KoordStore, api: ApiServer
) -> None:
    job = koord_job(BY_GIT)
    store.put(job, queue_unit(job, "Enqueued", active=False))
    (event,) = synced(api, RESUME)
    assert event == Event(Fate.RESUMED, "scan", "QueueUnit/scan active=true", "scan")
    assert sent(api) == [
        on_job(active=None),
        ("QueueUnit", on()),
        on_job(active=None, paused=None, spent=None),
    ]
    left = store.job["metadata"]["annotations"]
    assert not {KOORD_ACTIVE_ANNOTATION, PAUSED_ANNOTATION} & left.keys()


def test_what_is_as_git_has_it_is_not_written(store: KoordStore, api: ApiServer) -> None:
    paused = koord_job(BY_GIT)
    store.put(paused, queue_unit(paused, "Enqueued", active=False))
    assert synced(api, PAUSE) == []
    store.put(koord_job(suspend=False), queue_unit(paused, "Running"))
    assert synced(api, RESUME) == []
    assert sent(api) == []


@pytest.mark.parametrize("wish", [PAUSE, RESUME])
def test_true_is_never_written_into_the_annotation(
    wish: PauseWish, store: KoordStore, api: ApiServer
) -> None:
    """It would undo what Koord-Queue itself has stopped."""
    for said in ANNOTATIONS.values():
        job = koord_job(said)
        store.put(job, queue_unit(job, "Enqueued", active=wish.active is False))
        synced(api, wish)
    written = [body["metadata"]["annotations"] for to, body in sent(api) if to == "Job"]
    assert written
    assert {each.get(KOORD_ACTIVE_ANNOTATION, "-") for each in written} <= {"false", None, "-"}


@pytest.mark.parametrize("writes", range(4))
@pytest.mark.parametrize("wish", [PAUSE, RESUME])
def test_the_next_apply_finishes_what_was_killed_between_two_writes(
    wish: PauseWish, writes: int, store: KoordStore, api: ApiServer
) -> None:
    job = koord_job({} if not wish.active else BY_GIT, suspend=wish.active)
    store.put(job, queue_unit(job, "Enqueued", active=None if not wish.active else False))
    store.writes_left = writes
    synced(api, wish)
    store.writes_left = None
    synced(api, wish)
    annotations = store.job["metadata"]["annotations"]
    assert store.unit["spec"]["active"] is wish.active
    assert annotations.get(KOORD_ACTIVE_ANNOTATION) == (None if wish.active else "false")
    assert annotations.get(PAUSED_ANNOTATION) == (None if wish.active else "true")
    settled = len(sent(api))
    assert synced(api, wish) == []
    assert len(sent(api)) == settled


@pytest.mark.parametrize("writes", range(4))
def test_git_may_change_its_mind_after_a_kill(
    writes: int, store: KoordStore, api: ApiServer
) -> None:
    """A resume that was killed part-way is paused again, and the other way round."""
    for first, then in ((RESUME, PAUSE), (PAUSE, RESUME)):
        job = koord_job(BY_GIT if first.active else {}, suspend=True)
        store.put(job, queue_unit(job, "Enqueued", active=not first.active))
        store.writes_left = writes
        synced(api, first)
        store.writes_left = None
        synced(api, then)
        annotations = store.job["metadata"]["annotations"]
        assert store.unit["spec"]["active"] is then.active
        assert (annotations.get(KOORD_ACTIVE_ANNOTATION) == "false") is not then.active
        assert (annotations.get(PAUSED_ANNOTATION) == "true") is not then.active


def test_an_old_definition_refuses_the_pause_before_anything_is_written(
    store: KoordStore, api: ApiServer
) -> None:
    """An annotation without its field would keep Koord-Queue from ever starting the Job."""
    store.declares = False
    job = koord_job(suspend=False)
    store.put(job, queue_unit(job, "Running"))
    (event,) = synced(api, PAUSE)
    assert event == Event(Fate.PAUSE_FAILED, "scan", NO_ACTIVE, "scan")
    assert "queueunits.scheduling.x-k8s.io" in event.detail
    assert [to for to, _ in sent(api)] == ["QueueUnit dry run"]


def test_the_same_where_there_is_no_queue_unit_yet(store: KoordStore, api: ApiServer) -> None:
    store.declares = False
    store.put(koord_job(suspend=False))
    (event,) = synced(api, PAUSE)
    assert event.detail == NO_ACTIVE
    assert sent(api) == []
    assert [each.path for each in api.requests][-1] == SCHEMA_PATH


@pytest.mark.parametrize("annotated", [False, True])
def test_a_field_that_is_dropped_without_a_word_is_no_pause(
    annotated: bool, store: KoordStore, api: ApiServer
) -> None:
    store.declares = store.strict = False
    job = koord_job(BY_GIT if annotated else {}, suspend=False)
    store.put(job, queue_unit(job, "Running"))
    (event,) = synced(api, PAUSE)
    assert event == Event(Fate.PAUSE_FAILED, "scan", NO_ACTIVE, "scan")


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (failure(422, "Invalid", STRICT), NO_ACTIVE),
        (failure(400, "BadRequest", STRICT), NO_ACTIVE),
        (failure(422, "Invalid", "spec.podSet: Required"), "QueueUnit/scan: Invalid: spec.podSet"),
        (failure(403, "Forbidden", "may not patch"), "QueueUnit/scan: Forbidden: may not patch"),
    ],
)
def test_what_refuses_a_pause_is_named(
    answer: Answer, words: str, store: KoordStore, api: ApiServer
) -> None:
    job = koord_job(suspend=False)
    store.put(job, queue_unit(job, "Running"))
    store.before = lambda request: (
        answer if request.path == UNIT_PATH and request.method == "PATCH" else None
    )
    (event,) = synced(api, PAUSE)
    assert event.fate is Fate.PAUSE_FAILED
    assert words in event.detail


def once(at: tuple[str, str], change: Callable[[], object]) -> Callable[[Request], Answer | None]:
    """Somebody else's change, made just before the first request of this method and path."""
    left = [change]

    def before(request: Request) -> Answer | None:
        if left and (request.method, request.path) == at:
            left.pop()()
        return None

    return before


def test_a_resume_is_decided_anew_where_the_queue_unit_has_changed(
    store: KoordStore, api: ApiServer
) -> None:
    job = koord_job(BY_GIT)
    store.put(job, queue_unit(job, "Enqueued", active=False))
    store.before = once(("PATCH", UNIT_PATH), lambda: store.touch(UNIT_PATH))
    (event,) = synced(api, RESUME)
    assert event.fate is Fate.RESUMED
    assert [body for to, body in sent(api) if to == "QueueUnit"] == [on("1"), on("2")]
    assert store.unit["spec"]["active"] is True


def test_a_hold_that_comes_between_is_not_overrun(store: KoordStore, api: ApiServer) -> None:
    job = koord_job(BY_GIT)
    store.put(job, queue_unit(job, "Enqueued", active=False))

    def hold() -> None:
        store.unit["metadata"]["annotations"][HOLD_ANNOTATION] = "7"
        store.touch(UNIT_PATH)

    store.before = once(("PATCH", UNIT_PATH), hold)
    (event,) = synced(api, RESUME)
    assert event.fate is Fate.NOTE
    assert "hold 7 is in force" in event.detail
    assert store.unit["spec"]["active"] is False


def test_a_queue_unit_that_keeps_changing_is_a_failure(store: KoordStore, api: ApiServer) -> None:
    job = koord_job(BY_GIT)
    store.put(job, queue_unit(job, "Enqueued", active=False))

    def before(request: Request) -> None:
        if (request.method, request.path) == ("PATCH", UNIT_PATH):
            store.touch(UNIT_PATH)

    store.before = before
    (event,) = synced(api, RESUME)
    assert event.fate is Fate.RESUME_FAILED
    assert event.detail == "QueueUnit/scan keeps changing: apply again"


def test_a_queue_unit_that_is_made_inactive_while_git_resumes_is_resumed_too(
    store: KoordStore, api: ApiServer
) -> None:
    """It was made from the annotation as it was, and nothing would make it active any more."""
    job = koord_job(BY_GIT)
    store.put(job)
    store.before = once(
        ("PATCH", JOB_PATH), lambda: store.put(queue_unit(job, "Enqueued", active=False))
    )
    (event,) = synced(api, RESUME)
    assert event.fate is Fate.RESUMED
    assert store.unit["spec"]["active"] is True
    assert PAUSED_ANNOTATION not in store.job["metadata"]["annotations"]


def test_a_resume_without_a_queue_unit_is_of_the_annotation(
    store: KoordStore, api: ApiServer
) -> None:
    store.put(koord_job(BY_GIT))
    (event,) = synced(api, RESUME)
    assert event.detail == "Job/scan its annotation was taken away"
    assert sent(api) == [on_job(active=None)]


def test_a_queue_unit_that_comes_after_the_resume_is_resumed_by_the_next(
    store: KoordStore, api: ApiServer
) -> None:
    """It was made from the annotation as it was read before, and looked for before it was there."""
    store.put(koord_job(BY_GIT))
    synced(api, RESUME)
    assert synced(api, RESUME) == []
    store.put(queue_unit(store.job, "Enqueued", active=False))
    (event,) = synced(api, RESUME)
    assert event.detail == "QueueUnit/scan active=true"
    assert store.unit["spec"]["active"] is True
    assert PAUSED_ANNOTATION not in store.job["metadata"]["annotations"]
    assert synced(api, RESUME) == []


def test_a_queue_unit_is_looked_for_with_the_right_to_list_alone(
    store: KoordStore, api: ApiServer
) -> None:
    store.put(koord_job(BY_GIT))
    synced(api, RESUME)
    assert UNIT_PATH not in {each.path for each in api.requests}


def test_a_pause_of_what_waits_says_what_it_hangs_on(store: KoordStore, api: ApiServer) -> None:
    """Without that gate koord-queue admits it later, when apply no longer looks."""
    job = koord_job()
    store.put(job, queue_unit(job, "Enqueued"))
    (event,) = synced(api, PAUSE)
    assert event.detail == f"QueueUnit/scan active=false; {KEPT_BY_GATE}"
    assert "feature gate QueueUnitActive" in KEPT_BY_GATE


def test_a_note_of_a_spent_time_goes_when_somebody_has_it_run_again(
    store: KoordStore, api: ApiServer
) -> None:
    job = koord_job({BUDGET_SPENT_ANNOTATION: "2026-01-02T00:00:00Z"}, suspend=False)
    store.put(job, queue_unit(job, "Running", active=True))
    assert synced(api, RESUME) == []
    assert BUDGET_SPENT_ANNOTATION not in store.job["metadata"]["annotations"]
    assert len(sent(api)) == 1
    assert synced(api, RESUME) == []
    assert len(sent(api)) == 1


def test_what_git_paused_is_not_forgotten_of_a_job_that_has_changed(
    store: KoordStore, api: ApiServer
) -> None:
    """Under a hold the note goes; of a Job that somebody has changed since, the next apply sees."""
    job = koord_job(BY_GIT)
    held = queue_unit(job, "Enqueued", active=False, annotations={HOLD_ANNOTATION: "7"})
    store.put(job, held)
    store.before = once(("PATCH", JOB_PATH), lambda: store.touch(JOB_PATH))
    synced(api, RESUME)
    assert store.job["metadata"]["annotations"][PAUSED_ANNOTATION] == "true"
    synced(api, RESUME)
    assert PAUSED_ANNOTATION not in store.job["metadata"]["annotations"]


def test_a_queue_unit_on_its_way_out_is_not_written(store: KoordStore, api: ApiServer) -> None:
    """The Job has the name of it: the annotation is for the one that comes after."""
    job = koord_job(suspend=False)
    dying = queue_unit(job, "Running")
    dying["metadata"] |= GONE
    store.put(job, dying)
    (event,) = synced(api, PAUSE)
    assert event.detail == f"Job/scan annotated with {KOORD_ACTIVE_ANNOTATION}: false"
    assert [to for to, _ in sent(api)] == ["Job"]


def test_another_job_of_the_name_is_left_alone(store: KoordStore, api: ApiServer) -> None:
    """It was deleted and made again since it was read, by anybody."""
    job = koord_job(BY_GIT)
    store.put(job, queue_unit(job, "Enqueued", active=False))

    def replace_job() -> None:
        store.job["metadata"]["uid"] = "uid-of-another"

    store.before = once(("PATCH", JOB_PATH), replace_job)
    (event,) = synced(api, RESUME)
    assert event.fate is Fate.RESUME_FAILED
    assert "another Job of its name" in event.detail
    assert store.job["metadata"]["annotations"][KOORD_ACTIVE_ANNOTATION] == "false"
    assert store.unit["spec"]["active"] is False


def test_koord_queue_is_made_to_look_at_a_running_job_that_was_annotated_already(
    store: KoordStore, api: ApiServer
) -> None:
    """A change of a running QueueUnit alone does not wake its controllers."""
    job = koord_job(BY_GIT, suspend=False)
    store.put(job, queue_unit(job, "Running", active=True))
    synced(api, PAUSE)
    assert [to for to, _ in sent(api)] == ["QueueUnit", "Job"]
    assert NUDGED_ANNOTATION in store.job["metadata"]["annotations"]


def test_a_resume_says_that_the_execution_time_begins_anew(
    store: KoordStore, api: ApiServer
) -> None:
    job = koord_job({**BY_GIT, BUDGET_SPENT_ANNOTATION: "2026-01-02T00:00:00Z"})
    store.put(job, queue_unit(job, "Enqueued", active=False))
    (event,) = synced(api, RESUME)
    assert event.detail.endswith("active=true, with its whole execution time once more")
    assert BUDGET_SPENT_ANNOTATION not in store.job["metadata"]["annotations"]


def test_a_resume_says_that_koord_queue_may_never_start_it(
    store: KoordStore, api: ApiServer
) -> None:
    job = koord_job(BY_GIT)
    admissions = [{"name": "scan", "replicas": 2, "running": 0}]
    store.put(job, queue_unit(job, "Enqueued", active=False, admissions=admissions))
    (event,) = synced(api, RESUME)
    assert "still counts it as admitted" in event.detail


def test_a_spent_execution_time_is_noted_once(store: KoordStore, api: ApiServer) -> None:
    store.put(koord_job(), spent_unit())
    assert [event.fate for event in synced(api, RESUME)] == [Fate.NOTE]
    assert [event.fate for event in synced(api, RESUME)] == [Fate.NOTE]
    assert [to for to, _ in sent(api)] == ["Job"]
    assert store.job["metadata"]["annotations"][BUDGET_SPENT_ANNOTATION] == "2026-01-01T00:00:00Z"
    assert store.unit["spec"]["active"] is False


@pytest.mark.parametrize("refused", [403, 409, 404])
def test_a_note_that_cannot_be_written_is_no_failure(
    refused: int, store: KoordStore, api: ApiServer
) -> None:
    store.put(koord_job(), spent_unit())
    reasons = {403: "Forbidden", 409: "Conflict", 404: "NotFound"}
    store.before = lambda request: (
        failure(refused, reasons[refused]) if request.method == "PATCH" else None
    )
    (event,) = synced(api, RESUME)
    assert event.fate is Fate.NOTE


def test_what_git_resumed_under_a_hold_is_active_when_that_is_released(
    store: KoordStore, api: ApiServer
) -> None:
    job = koord_job(BY_GIT)
    held = {HOLD_ANNOTATION: "7"}
    store.put(job, queue_unit(job, "Enqueued", active=False, annotations=held))
    release = Call(Action.RELEASE, 7)

    before = decide_call(queue_unit_state(store.unit, store.job), release).after
    assert before is not None
    assert before.stopped
    assert [event.fate for event in synced(api, RESUME)] == [Fate.NOTE]
    assert store.unit["spec"]["active"] is False
    after = decide_call(queue_unit_state(store.unit, store.job), release).after
    assert after is not None
    assert not after.stopped


def test_a_pause_that_nobody_enforces_fails_with_the_gate_that_may_be_off(
    store: KoordStore, api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "FIRST_PAUSE_SECONDS", 0.01)
    job = koord_job(BY_GIT, suspend=False, active=2)
    store.put(job, queue_unit(job, "Running", active=False))
    outcome = Outcome(lambda event: None)
    sync = Sync(api.client(), NAMESPACE, {"scan": job}, outcome, True, 1, Backend.KOORD_QUEUE)
    verify.verify_pauses(sync, [PAUSE], sync.read_units(), 0.05)
    (event,) = outcome.events
    assert event.fate is Fate.PAUSE_FAILED
    assert "feature gate QueueUnitActive" in event.detail
    # An earlier apply may have been killed before it had Koord-Queue look: once, not at each look.
    ((to, body),) = sent(api)
    assert to == "Job"
    assert set(body["metadata"]["annotations"]) == {NUDGED_ANNOTATION}


def test_a_pause_that_this_apply_has_written_needs_no_reminder(
    store: KoordStore, api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(verify, "FIRST_PAUSE_SECONDS", 0.01)
    job = koord_job(suspend=False, active=2)
    store.put(job, queue_unit(job, "Running"))
    outcome = Outcome(lambda event: None)
    sync = Sync(api.client(), NAMESPACE, {"scan": job}, outcome, True, 1, Backend.KOORD_QUEUE)
    settle(sync, [PAUSE], sync.read_units())
    written = len(sent(api))
    verify.verify_pauses(sync, [PAUSE], {"uid-scan": (store.unit,)}, 0.05)
    assert [event.fate for event in outcome.events] == [Fate.PAUSED, Fate.PAUSE_FAILED]
    assert len(sent(api)) == written


def test_another_job_of_the_name_is_not_paused_while_a_pause_is_watched(
    store: KoordStore, api: ApiServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It may be anybody's. The one that was to be paused runs no more."""
    monkeypatch.setattr(verify, "FIRST_PAUSE_SECONDS", 0.01)
    read = koord_job(BY_GIT, suspend=False)
    job = koord_job(suspend=False)
    job["metadata"]["uid"] = "uid-of-another"
    store.put(job, queue_unit(job, "Running"))
    outcome = Outcome(lambda event: None)
    sync = Sync(api.client(), NAMESPACE, {"scan": read}, outcome, True, 1, Backend.KOORD_QUEUE)
    verify.verify_pauses(sync, [PAUSE], {}, 0.2)
    assert outcome.events == []
    assert "active" not in store.unit["spec"]
    assert PAUSED_ANNOTATION not in store.job["metadata"]["annotations"]


def test_what_a_diff_foresees() -> None:
    job, unit = koord_job(), queue_unit(koord_job(), "Running")
    stopped = queue_unit(koord_job(), active=False)
    patch = Decision(Move.PATCH, ("scan",))
    assert LEVER.foreseen(PAUSE, job, unit, patch) == "spec.active: true -> false"
    assert LEVER.foreseen(RESUME, job, stopped, patch) == "spec.active: false -> true"
    assert (
        LEVER.foreseen(PAUSE, job, job, patch) == "annotated with scheduling.x-k8s.io/active: false"
    )
    assert LEVER.foreseen(RESUME, job, job, patch) == "without scheduling.x-k8s.io/active: false"
    assert LEVER.foreseen(PAUSE, job, stopped, patch) == "is inactive already, and stays so for git"


def test_only_what_is_created_inactive_is_said_of_the_jobs_themselves() -> None:
    job = koord_job(BY_GIT)
    (event,) = LEVER.events([PAUSE], {}, {"scan": job})
    assert event == Event(Fate.PAUSED, "scan", f"created inactive; {KEPT_BY_GATE}", "scan")
    assert LEVER.events([PAUSE], {"scan": job}, {"scan": job}) == []
    assert LEVER.events([RESUME], {}, {"scan": job}) == []


def test_a_cluster_that_cannot_pause_raises(store: KoordStore, api: ApiServer) -> None:
    store.declares = False
    job, unit = koord_job(), queue_unit(koord_job())
    store.put(job, unit)
    patch = Decision(Move.PATCH, ("scan",))
    with pytest.raises(CannotPause, match=re.escape("has no spec.active")):
        LEVER.write(api.client(), NAMESPACE, PAUSE, job, unit, patch)
