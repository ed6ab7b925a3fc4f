"""Every pause on the cluster is what git says it is (apply.md, Pause)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

import pytest
from unit.cluster.api_server import Answer, ApiServer, Request, failure, serve
from unit.reconcile.live_objects import (
    NAMESPACE,
    Object,
    applied,
    deactivated,
    ended,
    evicted,
    held,
    job,
    running,
    workload,
)

from converter.errors import LeaseLost
from converter.names import FIELD_MANAGER, KUEUE_JOB_UID_LABEL
from converter.queues.kueue import Kueue
from converter.reconcile import sync
from converter.reconcile.outcome import Event, Fate, Outcome
from converter.reconcile.plan import PauseWish
from converter.reconcile.sync import Sync, sync_pause

PAUSE = PauseWish("scan", "scan", active=False)
RESUME = PauseWish("scan", "scan", active=True)
RUNS = running(job())
OUTSIDE = applied(Kueue().prepare(job(suspended=True).body, None).body)


@dataclass
class Workloads:
    """The Workloads of a namespace; `refused` and `vanished` ones cannot be patched.

    `changes` are the Workloads that others write after the LIST, one before each patch; `unread`
    is how many LISTs are refused, `trickle` come one with each LIST, and `jobs` is what is left of
    the Jobs at the end.
    """

    present: list[Object] = field(default_factory=list)
    changes: list[Object] = field(default_factory=list)
    jobs: dict[str, Object] = field(default_factory=lambda: {"scan": RUNS})
    unread: int = 0
    moved: dict[str, str] = field(default_factory=dict)
    appear_later: list[Object] = field(default_factory=list)
    trickle: list[Object] = field(default_factory=list)
    refused: tuple[str, ...] = ()
    vanished: tuple[str, ...] = ()
    unanswered: tuple[str, ...] = ()
    patched: list[tuple[str, bool]] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    lists: int = 0

    def __call__(self, request: Request) -> Answer:
        name = request.path.rpartition("/")[2]
        if request.method == "GET" and "/jobs/" in request.path:
            found = self.jobs.get(name)
            return Answer(200, found) if found else failure(404, "NotFound")
        if request.method == "GET" and name != "workloads":
            return Answer(200, self._named(name))
        if request.method == "GET":
            self.lists += 1
            if self.lists <= self.unread:
                return failure(403, "Forbidden", "not allowed")
            assert request.query["labelSelector"] == KUEUE_JOB_UID_LABEL
            if self.lists > 1:
                self.present += self.appear_later
            if self.trickle:
                self.present.append(self.trickle.pop())
            return Answer(200, {"metadata": {}, "items": self.present})
        if name in self.refused:
            return failure(403, "Forbidden", "not allowed")
        if name in self.vanished:
            return failure(404, "NotFound")
        if name in self.unanswered:
            return Answer(200, b"<html>")
        if self.changes:
            changed = self.changes.pop(0)
            self.present = [w for w in self.present if w is not self._named(name)] + [changed]
        if request.method == "DELETE":
            found = self._named(name)["metadata"]
            wanted = {key: found[key] for key in ("uid", "resourceVersion")}
            if request.body["preconditions"] != wanted:
                return failure(409, "Conflict")
            self.deleted.append(name)
            return Answer(200, {})
        assert request.query["fieldManager"] == FIELD_MANAGER
        assert set(request.body["spec"]) <= {"active", "queueName"}
        read = request.body.get("metadata", {}).get("resourceVersion")
        assert (read is not None) is request.body["spec"]["active"]
        if read not in (None, self._named(name)["metadata"]["resourceVersion"]):
            return failure(409, "Conflict")
        self.patched.append((name, request.body["spec"]["active"]))
        self.moved.update({name: request.body["spec"].get("queueName", "")})
        return Answer(200, {"metadata": {"name": name}})

    def _named(self, name: str) -> Object:
        (found,) = (each for each in self.present if each["metadata"]["name"] == name)
        return found

    def by_job(self) -> dict[str, tuple[Object, ...]]:
        found: dict[str, tuple[Object, ...]] = {}
        for each in self.present:
            uid = each["metadata"]["labels"][KUEUE_JOB_UID_LABEL]
            found[uid] = (*found.get(uid, ()), each)
        return found


@pytest.fixture
def kueue() -> Workloads:
    return Workloads()


@pytest.fixture
def api(kueue: Workloads, monkeypatch: pytest.MonkeyPatch) -> Iterator[ApiServer]:
    monkeypatch.setattr(sync, "POLL_SECONDS", 0.01)
    with serve(kueue) as server:
        yield server


def synced(
    api: ApiServer,
    kueue: Workloads,
    wishes: list[PauseWish],
    *live: Object,
    wait_seconds: float = 0.0,
) -> Outcome:
    outcome = Outcome(lambda event: None)
    jobs = {each["metadata"]["name"]: each for each in live}
    here = Sync(api.client(), NAMESPACE, jobs, outcome, reactivate=True, concurrency=4)
    sync_pause(here, wishes, kueue.by_job(), wait_seconds)
    return outcome


def fates(outcome: Outcome) -> list[tuple[Fate, str]]:
    return [(event.fate, event.target) for event in outcome.events]


def test_what_agrees_with_git_is_not_patched(api: ApiServer, kueue: Workloads) -> None:
    kueue.present = [workload(RUNS, active=False)]
    assert synced(api, kueue, [PAUSE], RUNS).events == []
    assert api.requests == []


def test_pauses_come_before_resumes(api: ApiServer, kueue: Workloads) -> None:
    resumed = evicted(job("a-first"))
    kueue.present = [workload(resumed, active=False), workload(RUNS)]
    wishes = [PauseWish("a-first", "a-first", active=True), PAUSE]
    outcome = synced(api, kueue, wishes, resumed, RUNS)
    assert kueue.patched == [("job-scan", False), ("job-a-first", True)]
    assert fates(outcome) == [(Fate.PAUSED, "scan"), (Fate.RESUMED, "a-first")]
    assert outcome.exit_code == 0


@pytest.mark.parametrize(
    ("queue", "active", "moved"),
    [("old", True, "gpu"), ("gpu", True, ""), ("old", False, "")],
    ids=["resume after a change of queue", "resume", "pause"],
)
def test_a_resume_takes_the_workload_to_the_queue_of_the_job(
    api: ApiServer, kueue: Workloads, queue: str, active: bool, moved: str
) -> None:
    """Kueue moves a Workload itself, but not one that is inactive."""
    waits = evicted(job()) if active else RUNS
    present = workload(waits, active=not active)
    kueue.present = [{**present, "spec": {**present["spec"], "queueName": queue}}]
    synced(api, kueue, [PauseWish("scan", "scan", active=active)], waits)
    assert kueue.moved == {"job-scan": moved}


def test_a_held_workload_stays_held_and_that_is_said(api: ApiServer, kueue: Workloads) -> None:
    kueue.present = [held(RUNS)]
    outcome = synced(api, kueue, [RESUME], evicted(job()))
    assert kueue.patched == []
    assert re.search("hold 7", outcome.events[0].detail)
    assert outcome.exit_code == 0


def test_what_kueue_had_deactivated_is_made_anew_with_the_reason(
    api: ApiServer, kueue: Workloads
) -> None:
    kueue.present = [deactivated(RUNS)]
    outcome = synced(api, kueue, [RESUME], evicted(job()))
    assert fates(outcome) == [(Fate.RESUMED, "scan")]
    assert "made anew, since Kueue had deactivated it" in outcome.events[0].detail
    assert "RequeuingLimitExceeded" in outcome.events[0].detail
    assert (kueue.patched, kueue.deleted) == ([], ["job-scan"])


def test_a_hold_on_what_kueue_had_deactivated_is_respected_until_the_delete(
    api: ApiServer, kueue: Workloads
) -> None:
    kueue.present = [deactivated(RUNS)]
    on_hold = held(RUNS)
    on_hold["metadata"]["resourceVersion"] = "2"
    kueue.changes = [on_hold]
    outcome = synced(api, kueue, [RESUME], evicted(job()))
    assert kueue.deleted == []
    assert fates(outcome) == [(Fate.NOTE, "scan")]


def test_a_workload_that_comes_late_is_paused(api: ApiServer, kueue: Workloads) -> None:
    kueue.appear_later = [workload(RUNS)]
    outcome = synced(api, kueue, [PAUSE], RUNS, wait_seconds=30)
    assert kueue.patched == [("job-scan", False)]
    assert fates(outcome) == [(Fate.PAUSED, "scan")]
    assert kueue.lists == 2


def test_the_wait_starts_anew_with_each_workload_that_comes(
    api: ApiServer, kueue: Workloads
) -> None:
    """Of hundreds of new Jobs, Kueue makes the last Workload long after the first."""
    jobs = [running(job(f"scan-{number}")) for number in range(20)]
    kueue.trickle = [*map(workload, jobs)]
    wishes = [PauseWish(f"scan-{number}", "scan", active=False) for number in range(20)]
    # 20 reads take four times as long.
    outcome = synced(api, kueue, wishes, *jobs, wait_seconds=0.05)
    assert {event.fate for event in outcome.events} == {Fate.PAUSED}
    assert len(kueue.patched) == 20


def test_no_workload_in_time_is_a_pause_that_does_not_hold(
    api: ApiServer, kueue: Workloads
) -> None:
    outcome = synced(api, kueue, [PAUSE], RUNS, wait_seconds=0.02)
    assert fates(outcome) == [(Fate.PAUSE_FAILED, "scan")]
    assert "no Workload after 0.02 s" in outcome.events[0].detail
    assert outcome.exit_code == 1


def test_the_wait_for_one_does_not_delay_the_others(api: ApiServer, kueue: Workloads) -> None:
    other = running(job("other"))
    kueue.present = [workload(other)]
    wishes = [PAUSE, PauseWish("other", "other", active=False)]
    outcome = synced(api, kueue, wishes, RUNS, other)
    assert fates(outcome) == [(Fate.PAUSED, "other"), (Fate.PAUSE_FAILED, "scan")]


@pytest.mark.parametrize("trouble", ["refused", "vanished", "unanswered"])
def test_a_workload_that_cannot_be_patched_is_named_and_the_others_are_paused(
    api: ApiServer, kueue: Workloads, trouble: str
) -> None:
    others = [running(job(f"other-{number}")) for number in range(9)]
    kueue.present = [workload(RUNS), *map(workload, others)]
    setattr(kueue, trouble, ("job-scan",))
    wishes = [PauseWish(f"other-{n}", "other", active=False) for n in range(9)]
    outcome = synced(api, kueue, [PAUSE, *wishes], RUNS, *others)
    failed = [event for event in outcome.events if event.fate is Fate.PAUSE_FAILED]
    assert [event.target for event in failed] == ["scan"]
    assert "Workload" in failed[0].detail
    assert outcome.count(Fate.PAUSED) == 9
    assert outcome.exit_code == 1


def test_a_list_that_fails_is_read_again_until_the_wait_is_over(
    api: ApiServer, kueue: Workloads
) -> None:
    kueue.unread = 1
    kueue.appear_later = [workload(RUNS)]
    outcome = synced(api, kueue, [PAUSE], RUNS, wait_seconds=30)
    assert fates(outcome) == [(Fate.PAUSED, "scan")]
    assert kueue.lists == 2


def test_a_list_that_keeps_failing_is_a_pause_that_does_not_hold(
    api: ApiServer, kueue: Workloads
) -> None:
    kueue.unread = 10_000
    outcome = synced(api, kueue, [PAUSE], RUNS, wait_seconds=0.05)
    assert fates(outcome) == [(Fate.PAUSE_FAILED, "scan")]
    assert "not allowed" in outcome.events[0].detail


@pytest.mark.parametrize(
    "left", [{}, {"scan": ended(job())}, {"scan": OUTSIDE}], ids=["gone", "ended", "outside"]
)
def test_a_job_that_cannot_run_any_more_needs_no_workload(
    api: ApiServer, kueue: Workloads, left: dict[str, Object]
) -> None:
    kueue.jobs = left
    assert synced(api, kueue, [PAUSE], RUNS).events == []


def later(present: Object, version: int) -> Object:
    present["metadata"]["resourceVersion"] = str(version)
    return present


def test_a_hold_that_was_placed_after_the_list_is_not_overridden(
    api: ApiServer, kueue: Workloads
) -> None:
    kueue.present = [workload(RUNS, active=False)]
    kueue.changes = [later(held(RUNS), 2)]
    outcome = synced(api, kueue, [RESUME], evicted(job()))
    assert kueue.patched == []
    assert fates(outcome) == [(Fate.NOTE, "scan")]
    assert "hold 7" in outcome.events[0].detail


@pytest.mark.parametrize(("changes", "fate"), [(2, Fate.RESUMED), (3, Fate.RESUME_FAILED)])
def test_a_resume_of_a_workload_that_changed_is_tried_3_times(
    api: ApiServer, kueue: Workloads, changes: int, fate: Fate
) -> None:
    kueue.present = [workload(RUNS, active=False)]
    kueue.changes = [later(workload(RUNS, active=False), n + 2) for n in range(changes)]
    outcome = synced(api, kueue, [RESUME], evicted(job()))
    assert fates(outcome) == [(fate, "scan")]


def test_a_pause_holds_for_a_workload_that_changed_too(api: ApiServer, kueue: Workloads) -> None:
    kueue.present = [workload(RUNS)]
    kueue.changes = [later(workload(RUNS), 2)]
    assert fates(synced(api, kueue, [PAUSE], RUNS)) == [(Fate.PAUSED, "scan")]


def test_a_report_that_fails_does_not_keep_a_pause_from_being_sent(
    api: ApiServer, kueue: Workloads
) -> None:
    others = [running(job(f"other-{number}")) for number in range(9)]
    kueue.present = [*map(workload, others)]

    def closed(event: Event) -> None:
        raise BrokenPipeError(event)

    jobs = {each["metadata"]["name"]: each for each in others}
    here = Sync(api.client(), NAMESPACE, jobs, Outcome(closed), reactivate=True, concurrency=1)
    with pytest.raises(BrokenPipeError):
        sync_pause(here, [PauseWish(n, n, active=False) for n in jobs], kueue.by_job(), 0.0)
    assert len(kueue.patched) == 9


def test_the_lease_is_kept_while_a_pause_waits(api: ApiServer) -> None:
    """Nothing else would renew it: a wait writes nothing."""

    def lost() -> None:
        raise LeaseLost("taken by other")

    jobs = {"scan": RUNS}
    client = api.client().guarded_by(lost)
    here = Sync(client, NAMESPACE, jobs, Outcome(print), reactivate=True, concurrency=1)
    with pytest.raises(LeaseLost):
        sync_pause(here, [PAUSE], {}, 30.0)
