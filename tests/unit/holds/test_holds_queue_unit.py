"""Holds on QueueUnits: what is read and written, what is listed, and what is refused."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import pytest
from unit.cluster.api_server import Answer, ApiServer, Request, failure, serve
from unit.reconcile.koord_store import (
    BY_GIT,
    JOB_PATH,
    STRICT,
    UNIT_PATH,
    KoordStore,
    koord_job,
    queue_unit,
)
from unit.reconcile.live_objects import NAMESPACE, Object

from converter.holds.api import Holds, Part
from converter.holds.carry_out import Done
from converter.holds.errors import Rejected, StaleHold, TooManyConflicts, Unsupported
from converter.holds.listing import Enforced, held_queue_units
from converter.holds.mark import Mark
from converter.holds.queue_unit import held_queue_unit, queue_unit_state
from converter.holds.rules import Decision, State, Verdict
from converter.koord_queue.unit import NO_ACTIVE
from converter.model import Backend
from converter.names import (
    HOLD_ANNOTATION,
    HOLD_HISTORY_ANNOTATION,
    KOORD_ACTIVE_ANNOTATION,
    NUDGED_ANNOTATION,
    PAUSED_ANNOTATION,
    SUSPEND_ANNOTATION,
    WAS_INACTIVE_ANNOTATION,
)

GONE = {"deletionTimestamp": "2026-01-03T00:00:00Z"}
IN_GIT = {SUSPEND_ANNOTATION: "true"}
BY_HAND = {KOORD_ACTIVE_ANNOTATION: "false"}
EVENTS = f"/api/v1/namespaces/{NAMESPACE}/events"


def test_every_state_of_a_queue_unit() -> None:
    """Phase, activity, hold and what git said, each read for itself."""
    every = itertools.product(
        ("", "Enqueued", "Running", "TimeoutBackoff", "Succeed", "Failed"),
        (None, True, False),
        ({}, {HOLD_ANNOTATION: "7"}, {HOLD_ANNOTATION: "x"}),
        ({}, BY_GIT, BY_HAND, IN_GIT, BY_GIT | IN_GIT),
        (False, True),
    )
    for phase, active, hold, said, going in every:
        job = koord_job(said)
        unit = queue_unit(job, phase, active=active, annotations=hold)
        if going:
            unit["metadata"] |= GONE
        mark = Mark(7 if hold[HOLD_ANNOTATION] == "7" else None) if hold else None
        assert queue_unit_state(unit, job) == State(
            mark=mark,
            stopped=active is False,
            # Git's pause is noted by the lever; the annotation alone may be anybody's.
            stopped_by_other=active is False and not hold and PAUSED_ANNOTATION not in said,
            ended=phase in ("Succeed", "Failed"),
            going=going,
            paused_in_git=PAUSED_ANNOTATION in said or SUSPEND_ANNOTATION in said,
        )


def test_a_decision_is_one_update_of_the_queue_unit() -> None:
    unit = queue_unit(koord_job(), "Running")
    after = State(mark=Mark(7, by="ops"), stopped=True)
    body = held_queue_unit(unit, Decision(Verdict.WRITE, after=after))
    assert body["spec"] == {**unit["spec"], "active": False}
    assert body["metadata"]["annotations"][HOLD_ANNOTATION] == "7"
    assert body["status"] == unit["status"]
    assert "active" not in unit["spec"]
    bare = {key: value for key, value in unit.items() if key != "spec"}
    assert held_queue_unit(bare, Decision(Verdict.WRITE, after=after))["spec"] == {"active": False}
    with pytest.raises(ValueError, match="leaves no object"):
        held_queue_unit(unit, Decision(Verdict.DONE))


class HoldStore(KoordStore):
    """With updates and Events as well."""

    def __call__(self, request: Request) -> Answer:
        if request.path == EVENTS:
            return Answer(201, request.body)
        if request.method != "PUT":
            return super().__call__(request)
        if (instead := self.before(request)) is not None:
            return instead
        there = self.objects.get(request.path)
        if there is None:
            return failure(404, "NotFound")
        body = dict(request.body)
        if body["metadata"]["resourceVersion"] != there["metadata"]["resourceVersion"]:
            return failure(409, "Conflict")
        if not self.declares:
            if self.strict:
                return failure(400, "BadRequest", STRICT)
            body["spec"] = {key: body["spec"][key] for key in body["spec"] if key != "active"}
        self.objects[request.path] = body
        self.touch(request.path)
        return Answer(200, self.objects[request.path])


@pytest.fixture
def store() -> HoldStore:
    return HoldStore()


@pytest.fixture
def api(store: HoldStore) -> Iterator[ApiServer]:
    with serve(store) as server:
        yield server


@pytest.fixture
def holds(api: ApiServer) -> Holds:
    return Holds(api.client(), NAMESPACE, backend=Backend.KOORD_QUEUE)


def only(parts: tuple[Part, ...]) -> Part:
    (part,) = parts
    return part


def hold(holds: Holds, instance: int = 7) -> Part:
    return only(holds.hold("job/scan", instance, deadline=30, by="ops", reason="a lost node"))


def release(holds: Holds, instance: int = 7) -> Part:
    return only(holds.release("job/scan", instance, deadline=30, by="ops"))


def writes(api: ApiServer) -> list[tuple[str, str]]:
    names = {JOB_PATH: "Job", UNIT_PATH: "QueueUnit", EVENTS: "Event"}
    return [(each.method, names[each.path]) for each in api.requests if each.method != "GET"]


def test_a_hold_and_its_release(store: HoldStore, api: ApiServer, holds: Holds) -> None:
    job = koord_job(suspend=False)
    store.put(job, queue_unit(job, "Running"))
    assert isinstance(hold(holds).outcome, Done)
    assert store.unit["spec"]["active"] is False
    assert store.unit["metadata"]["annotations"][HOLD_ANNOTATION] == "7"
    # The Job is touched, or Koord-Queue would not look at what runs; nothing of it is changed.
    assert writes(api) == [("PUT", "QueueUnit"), ("PATCH", "Job"), ("POST", "Event")]
    changed = {**store.job["metadata"]["annotations"]}
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", changed.pop(NUDGED_ANNOTATION))
    assert changed == job["metadata"]["annotations"]
    assert store.job["spec"] == job["spec"]

    assert isinstance(release(holds, 6).outcome, StaleHold)
    assert store.unit["spec"]["active"] is False
    assert isinstance(release(holds).outcome, Done)
    assert store.unit["spec"]["active"] is True
    assert HOLD_ANNOTATION not in store.unit["metadata"]["annotations"]
    assert HOLD_HISTORY_ANNOTATION in store.unit["metadata"]["annotations"]


@pytest.mark.parametrize(
    ("annotations", "active", "noted", "after"),
    [
        ({}, None, False, True),
        ({}, False, True, False),
        (BY_GIT, False, False, False),
        (BY_GIT | IN_GIT, False, False, False),
        (BY_HAND, False, True, False),
    ],
    ids=["ran", "stopped by another", "paused", "paused, as the Job says too", "stopped by hand"],
)
def test_a_release_leaves_as_it_is_what_something_else_stops(
    annotations: dict[str, str],
    active: bool | None,
    noted: bool,
    after: bool,
    store: HoldStore,
    holds: Holds,
) -> None:
    job = koord_job(annotations)
    store.put(job, queue_unit(job, "Enqueued", active=active))
    hold(holds)
    assert (WAS_INACTIVE_ANNOTATION in store.unit["metadata"]["annotations"]) is noted
    assert isinstance(release(holds).outcome, Done)
    assert store.unit["spec"]["active"] is after


def test_what_git_pauses_under_a_hold_stays_so(store: HoldStore, holds: Holds) -> None:
    job = koord_job()
    store.put(job, queue_unit(job, "Enqueued"))
    hold(holds)
    store.job["metadata"]["annotations"] |= BY_GIT
    assert isinstance(release(holds).outcome, Done)
    assert store.unit["spec"]["active"] is False


def other_units_owner(unit: Object) -> Object:
    unit["metadata"]["ownerReferences"][0]["uid"] = "uid-of-an-earlier-job"
    return unit


@pytest.mark.parametrize("unit", [None, other_units_owner(queue_unit(koord_job()))])
def test_without_a_queue_unit_of_its_own_a_job_cannot_be_held(
    unit: Object | None, store: HoldStore, api: ApiServer, holds: Holds
) -> None:
    store.put(koord_job(), *([] if unit is None else [unit]))
    refused = hold(holds).outcome
    assert isinstance(refused, Rejected)
    assert "Job/scan has no QueueUnit" in str(refused)
    assert writes(api) == []


def test_a_job_that_is_not_there(holds: Holds) -> None:
    assert isinstance(hold(holds).outcome, Rejected)


@pytest.mark.parametrize("phase", ["Succeed", "Failed"])
def test_what_has_ended_is_not_held(phase: str, store: HoldStore, holds: Holds) -> None:
    job = koord_job()
    store.put(job, queue_unit(job, phase))
    refused = hold(holds).outcome
    assert isinstance(refused, Rejected)
    assert "it has ended" in str(refused)


@pytest.mark.parametrize("strict", [False, True])
def test_a_definition_without_the_field_holds_nothing(
    strict: bool, store: HoldStore, api: ApiServer, holds: Holds
) -> None:
    store.declares, store.strict = False, strict
    job = koord_job(suspend=False)
    store.put(job, queue_unit(job, "Running"))
    refused = hold(holds).outcome
    assert isinstance(refused, Unsupported)
    assert str(refused) == NO_ACTIVE
    assert writes(api) == [("PUT", "QueueUnit")]
    put = next(each for each in api.requests if each.method == "PUT")
    assert put.query == {"fieldValidation": "Strict"}


@pytest.mark.parametrize("status", [403, 404, 409, 500])
def test_whoever_may_not_touch_the_job_has_placed_the_hold_all_the_same(
    status: int, store: HoldStore, holds: Holds
) -> None:
    job = koord_job(suspend=False)
    store.put(job, queue_unit(job, "Running"))
    store.before = lambda request: (
        failure(status, "Whatever") if request.method == "PATCH" else None
    )
    assert isinstance(hold(holds).outcome, Done)
    assert store.unit["spec"]["active"] is False


def test_a_job_of_the_same_name_is_not_touched(store: HoldStore, holds: Holds) -> None:
    job = koord_job(suspend=False)
    store.put(job, queue_unit(job, "Running"))

    def before(request: Request) -> None:
        if request.method == "PATCH":
            store.job["metadata"]["uid"] = "uid-of-another"

    store.before = before
    assert isinstance(hold(holds).outcome, Done)
    assert NUDGED_ANNOTATION not in store.job["metadata"]["annotations"]


@pytest.mark.parametrize("times", [1, 8, 9])
def test_a_conflict_is_read_again(times: int, store: HoldStore, holds: Holds) -> None:
    job = koord_job(suspend=False)
    store.put(job, queue_unit(job, "Running"))
    left = [None] * times

    def before(request: Request) -> None:
        if request.method == "PUT" and left:
            left.pop()
            store.touch(UNIT_PATH)

    store.before = before
    outcome = hold(holds).outcome
    assert isinstance(outcome, Done if times <= 8 else TooManyConflicts)


@pytest.mark.parametrize("target", ["workload/scan", "trainjob/scan"])
def test_only_jobs_are_held(target: str, store: HoldStore, holds: Holds) -> None:
    refused = only(holds.hold(target, 7, deadline=30, by="ops")).outcome
    assert isinstance(refused, Unsupported)
    assert "with Koord-Queue name the campaign or the Job" in str(refused)


def test_nobody_but_koord_queue_opens_a_job(store: HoldStore, holds: Holds) -> None:
    job = koord_job()
    store.put(job, queue_unit(job, "Enqueued"))
    refused = only(holds.open("job/scan", deadline=30)).outcome
    assert isinstance(refused, Rejected)
    assert "a queue system starts it" in str(refused)


def held(phase: str = "Enqueued", *, active: bool = False) -> Object:
    return queue_unit(koord_job(), phase, active=active, annotations={HOLD_ANNOTATION: "7"})


def dying(unit: Object) -> Object:
    return {**unit, "metadata": {**unit["metadata"], **GONE}}


@pytest.mark.parametrize(
    ("unit", "job", "enforced"),
    [
        (held(), koord_job(), Enforced.YES),
        (held(), None, Enforced.YES),
        (held("Running"), koord_job(suspend=False, active=2), Enforced.STOPPING),
        (held("Running"), koord_job(suspend=False), Enforced.STOPPING),
        (held(), koord_job(active=1), Enforced.STOPPING),
        (held(), koord_job(terminating=1), Enforced.STOPPING),
        (held(active=True), koord_job(), Enforced.NO),
        (dying(held()), koord_job(), Enforced.NO),
        (held("Succeed"), koord_job(), Enforced.ENDED),
    ],
)
def test_a_list_says_whether_a_hold_stops_what_it_is_on(
    unit: Object, job: Object | None, enforced: Enforced
) -> None:
    (found,) = held_queue_units([unit], [] if job is None else [job])
    assert found.enforced is enforced
    assert (found.target, found.carrier) == ("job/scan", "QueueUnit/scan")
    assert found.campaign == ("scan" if job is not None else "")
    assert found.mark == Mark(7)


def test_only_holds_are_listed(store: HoldStore, holds: Holds) -> None:
    job = koord_job()
    store.put(job, queue_unit(job, "Enqueued"))
    assert holds.list() == ()
    hold(holds)
    (found,) = holds.list()
    assert found.mark.by == "ops"
    assert found.stops == "campaign scan"


def test_a_hold_on_the_queue_unit_of_an_earlier_job_belongs_to_no_campaign() -> None:
    (found,) = held_queue_units([other_units_owner(held())], [koord_job()])
    assert found.campaign == ""
    assert found.enforced is Enforced.YES
