"""Holds as programs ask for them: targets, parts, Events, and what is refused unsent."""

from __future__ import annotations

import json
import re
import runpy
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest
from unit.cluster.api_server import Answer, ApiServer, Request, failure, serve
from unit.holds.parts import (
    NAMESPACE,
    REPOSITORY,
    Server,
    job,
    jobs_and_workloads,
    workload,
)

from converter.cluster.client import Client
from converter.errors import ClusterUnavailable
from converter.holds.api import Holds, Part, call_bound
from converter.holds.carry_out import Done
from converter.holds.errors import (
    DeadlinePassed,
    InvalidCall,
    PodsRemain,
    Rejected,
    StaleHold,
    Unsupported,
)
from converter.holds.history import LAST, MOST_BYTES, Entry, Happened, history_of, with_entry
from converter.holds.listing import Enforced
from converter.holds.target import Target, in_order, target_of
from converter.model import Backend
from converter.names import HOLD_ANNOTATION, HOLD_HISTORY_ANNOTATION, OPENED_ANNOTATION

PARTS = ("letters-part1", "letters-part2", "letters-part10")


@pytest.fixture
def server() -> Server:
    return Server()


@pytest.fixture
def api(server: Server) -> Iterator[ApiServer]:
    with serve(server) as api:
        yield api


@pytest.fixture
def holds(api: ApiServer) -> Holds:
    return Holds(api.client(), NAMESPACE, repository=REPOSITORY)


def writes(api: ApiServer) -> list[tuple[str, str]]:
    return [
        (each.method, each.path.rpartition("/namespaces/team/")[2])
        for each in api.requests
        if each.method != "GET"
    ]


def done(part: Part) -> Done:
    assert isinstance(part.outcome, Done), part
    return part.outcome


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("letters", Target("", "letters")),
        ("job/letters-part2", Target("Job", "letters-part2")),
        ("Job/a", Target("Job", "a")),
        ("trainjob/tune.1", Target("TrainJob", "tune.1")),
        ("workload/job-a-1b2c", Target("Workload", "job-a-1b2c")),
    ],
)
def test_a_target_is_read_as_it_is_typed(text: str, target: Target) -> None:
    assert target_of(text) == target
    assert target_of(str(target)) == target


@pytest.mark.parametrize(
    "text", ["", "Letters", "a b", "pod/x", "job/", "job/A", "job/a/b", "/a", "letters\n", "a.b"]
)
def test_what_is_no_target_is_refused(text: str) -> None:
    with pytest.raises(InvalidCall, match="write a campaign's name, job/NAME"):
        target_of(text)


def test_parts_are_in_the_order_of_their_numbers() -> None:
    names = [each["metadata"]["name"] for each in in_order(map(job, reversed(PARTS)))]
    assert names == list(PARTS)


def test_a_campaign_is_held_and_released_part_by_part(
    server: Server, api: ApiServer, holds: Holds
) -> None:
    server.add(*jobs_and_workloads(*map(job, reversed(PARTS)), job("maps", "maps")))
    parts = holds.hold("letters", 3, deadline=30, by="ops", reason="node a7 is lost")
    assert [part.target for part in parts] == [f"job/{name}" for name in PARTS]
    assert all(done(part).wrote and not part.failed for part in parts)
    assert [write for write in writes(api) if write[0] == "PUT"] == [
        ("PUT", f"workloads/job-{name}") for name in PARTS
    ]
    for name in PARTS:
        assert server.objects["workloads"][f"job-{name}"]["spec"]["active"] is False
    assert server.objects["workloads"]["job-maps"]["spec"]["active"] is True

    again = holds.hold("letters", 3, deadline=30, by="ops")
    assert not any(done(part).wrote for part in again)
    with pytest.raises(StaleHold, match="hold 3 is in force"):
        raise holds.release("letters", 2, deadline=30, by="ops")[0].outcome  # type: ignore[misc]

    released = holds.release("letters", 3, deadline=30, by="ops")
    assert all(done(part).wrote for part in released)
    for name in PARTS:
        metadata = server.objects["workloads"][f"job-{name}"]["metadata"]
        assert server.objects["workloads"][f"job-{name}"]["spec"]["active"] is True
        assert list(metadata["annotations"]) == [HOLD_HISTORY_ANNOTATION]


def test_every_part_is_tried_whatever_becomes_of_the_others(server: Server, holds: Holds) -> None:
    first, second, third = map(job, PARTS)
    server.add(first, *jobs_and_workloads(second), *jobs_and_workloads(third))
    server.refuses = lambda request: (
        failure(403, "Forbidden", "no")
        if request.method == "PUT" and request.path.endswith("part2")
        else None
    )
    parts = holds.hold("letters", 3, deadline=30, by="ops")
    assert [type(part.outcome) for part in parts] == [Rejected, Unsupported, Done]
    assert [part.failed for part in parts] == [True, True, False]


def test_an_unanswered_read_of_a_part_is_that_parts_own(server: Server, holds: Holds) -> None:
    server.add(*jobs_and_workloads(*map(job, PARTS)))
    server.refuses = lambda request: (
        Answer(lost=True) if request.path.endswith("/jobs/letters-part1") else None
    )
    parts = holds.hold("letters", 3, deadline=30, by="ops")
    assert [type(part.outcome) for part in parts] == [ClusterUnavailable, Done, Done]


def test_a_part_that_has_ended_needs_no_hold_while_others_go_on(
    server: Server, holds: Holds
) -> None:
    server.add(*jobs_and_workloads(job(PARTS[0], ended=True), job(PARTS[1])))
    parts = holds.hold("letters", 3, deadline=30, by="ops")
    assert [part.failed for part in parts] == [False, False]
    assert parts[0].ended
    assert isinstance(parts[0].outcome, Rejected)
    parts = holds.release("letters", 3, deadline=30, by="ops")
    assert [part.failed for part in parts] == [False, False]


def test_a_campaign_that_has_ended_whole_is_not_held(server: Server, holds: Holds) -> None:
    server.add(*jobs_and_workloads(job("letters", ended=True)))
    (part,) = holds.hold("letters", 3, deadline=30, by="ops")
    assert part.failed
    assert "it has ended" in str(part.outcome)


def test_campaigns_of_other_repositories_are_none_of_ours(server: Server, api: ApiServer) -> None:
    server.add(
        *jobs_and_workloads(job("letters-part1"), job("letters", repository="example.org/b"))
    )
    ours = Holds(api.client(), NAMESPACE, repository=REPOSITORY)
    assert len(ours.hold("letters", 1, deadline=30, by="ops")) == 1
    with pytest.raises(InvalidCall, match=r"several repositories .*\(example.org/b, "):
        Holds(api.client(), NAMESPACE).hold("letters", 1, deadline=30, by="ops")
    with pytest.raises(Rejected, match=f"no Job of a campaign maps of {REPOSITORY}"):
        ours.hold("maps", 1, deadline=30, by="ops")


def test_jobs_that_may_not_be_listed_are_no_missing_campaign(server: Server, holds: Holds) -> None:
    server.refuses = lambda request: failure(403, "Forbidden", "cannot list jobs")
    with pytest.raises(Unsupported, match="cannot list jobs"):
        holds.hold("letters", 1, deadline=30, by="ops")


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        ({"deadline": None}, InvalidCall, "needs a deadline"),
        ({"deadline": 0.0}, DeadlinePassed, "before the request"),
        ({"instance": 0}, InvalidCall, "from 1 to 4294967295"),
        ({"instance": 2**32}, InvalidCall, "from 1 to 4294967295"),
        ({"instance": True}, InvalidCall, "True is no instance"),
        ({"by": ""}, InvalidCall, "by whom"),
        ({"by": "x" * 201}, InvalidCall, "200 or fewer"),
        ({"reason": "a\nb"}, InvalidCall, r"U\+000A: write one line"),
        ({"reason": "a\u202eb"}, InvalidCall, r"U\+202E"),
        ({"reason": "\ud800"}, InvalidCall, r"U\+D800"),
        ({"reason": "x" * 501}, InvalidCall, "501 characters: write 500 or fewer"),
        ({"target": "pod/x"}, InvalidCall, "is no target"),
    ],
)
def test_a_call_that_makes_no_sense_sends_nothing(
    call: dict[str, object], error: type[Exception], words: str, holds: Holds, api: ApiServer
) -> None:
    whole: dict[str, object] = {"target": "letters", "instance": 1, "deadline": 30.0, "by": "ops"}
    with pytest.raises(error, match=words):
        holds.hold(**{**whole, **call})  # type: ignore[arg-type]
    assert api.requests == []


def test_text_as_people_write_it_is_taken(server: Server, holds: Holds) -> None:
    server.add(*jobs_and_workloads(job("letters")))
    reason = 'Störung: node "a7" 修理 🔧'
    assert not holds.hold("letters", 1, deadline=30, by="Jörg <j@x.de>", reason=reason)[0].failed
    (held,) = holds.list()
    assert (held.mark.by, held.mark.reason) == ("Jörg <j@x.de>", reason)
    assert held.history[0].reason == reason


def test_an_event_tells_of_each_write_and_of_nothing_else(server: Server, holds: Holds) -> None:
    server.add(*jobs_and_workloads(job("letters")))
    holds.hold("letters", 3, deadline=30, by="ops", reason="node a7 is lost")
    holds.hold("letters", 3, deadline=30, by="ops")
    holds.release("letters", 1, deadline=30, by="eve")
    holds.release("letters", 3, deadline=30, by="maria")
    placed, released = server.events
    assert placed["involvedObject"] == {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "namespace": NAMESPACE,
        "name": "letters",
        "uid": "uid-letters",
    }
    assert (placed["type"], placed["reason"]) == ("Normal", "Held")
    assert placed["message"] == "hold 3 was placed by ops: node a7 is lost"
    assert (released["reason"], released["message"]) == (
        "Released",
        "hold 3 was released by maria",
    )


def test_the_event_of_a_workload_that_was_named_is_on_it(server: Server, holds: Holds) -> None:
    server.add(*jobs_and_workloads(job("letters")))
    holds.hold("workload/job-letters", 3, deadline=30, by="ops")
    (event,) = server.events
    assert event["involvedObject"]["kind"] == "Workload"
    assert event["involvedObject"]["apiVersion"] == "kueue.x-k8s.io/v1beta2"


def test_an_event_that_cannot_be_written_is_a_note(server: Server, holds: Holds) -> None:
    server.add(*jobs_and_workloads(job("letters")))
    server.refuses = lambda request: (
        failure(403, "Forbidden", "no events") if request.method == "POST" else None
    )
    (part,) = holds.hold("letters", 3, deadline=30, by="ops")
    assert not part.failed
    assert "no events" in part.note


def test_no_event_is_sent_after_the_deadline(server: Server, api: ApiServer) -> None:
    server.add(*jobs_and_workloads(job("letters")))
    now = [0.0]

    def until_written(request: Request) -> Answer | None:
        now[0] += 10.0 if request.method == "PUT" else 0.0
        return None

    server.refuses = until_written
    holds = Holds(api.client(), NAMESPACE, clock=lambda: now[0])
    (part,) = holds.hold("job/letters", 3, deadline=10, by="ops")
    assert not part.failed
    assert "deadline passed" in part.note
    assert writes(api) == [("PUT", "workloads/job-letters")]


def test_without_a_queue_the_object_itself_is_held_opened_and_released(
    server: Server, api: ApiServer
) -> None:
    gated = job("letters")
    gated["spec"]["suspend"] = True
    server.add(gated)
    holds = Holds(api.client(), NAMESPACE, backend=Backend.NONE)
    assert done(holds.open("letters", deadline=30)[0]).wrote
    assert server.objects["jobs"]["letters"]["spec"]["suspend"] is False
    assert done(holds.hold("job/letters", 2, deadline=30, by="ops")[0]).wrote
    metadata = server.objects["jobs"]["letters"]["metadata"]
    assert metadata["annotations"][HOLD_ANNOTATION] == "2"
    assert metadata["annotations"][OPENED_ANNOTATION] == "true"
    (held,) = holds.list()
    assert (held.target, held.stops, held.enforced) == (
        "job/letters",
        "campaign letters",
        Enforced.STOPPING,
    )
    pod = {"kind": "Pod", "metadata": {"name": "p", "labels": {}}, "status": {"phase": "Running"}}
    pod["metadata"]["labels"] = {"batch.kubernetes.io/job-name": "letters"}  # type: ignore[index]
    server.add(pod)
    (part,) = holds.release("letters", 2, deadline=30, by="ops")
    assert isinstance(part.outcome, PodsRemain)
    server.objects["pods"].clear()
    assert done(holds.release("letters", 2, deadline=30, by="ops")[0]).wrote
    assert server.objects["jobs"]["letters"]["spec"]["suspend"] is False
    (part,) = holds.hold("workload/x", 2, deadline=30, by="ops")
    assert isinstance(part.outcome, Unsupported)


def test_other_backends_hold_nothing(api: ApiServer) -> None:
    holds = Holds(api.client(), NAMESPACE, backend=Backend.SLURM)
    with pytest.raises(Unsupported, match="slurm"):
        holds.hold("letters", 1, deadline=30, by="ops")
    with pytest.raises(Unsupported, match="slurm"):
        holds.list()
    assert api.requests == []


@pytest.mark.parametrize(
    ("spec", "conditions", "suspended", "enforced"),
    [
        ({"active": False}, (), True, Enforced.YES),
        ({"active": False}, ("QuotaReserved",), True, Enforced.STOPPING),
        ({"active": False}, (), False, Enforced.STOPPING),
        ({"active": True}, (), True, Enforced.NO),
        ({"active": True}, ("Finished",), False, Enforced.ENDED),
    ],
)
def test_whether_a_hold_is_enforced(
    spec: dict[str, bool],
    conditions: tuple[str, ...],
    suspended: bool,
    enforced: Enforced,
    server: Server,
    holds: Holds,
) -> None:
    live = job("letters-part2")
    live["spec"]["suspend"] = suspended
    made = workload(live, **spec)
    made["metadata"]["annotations"] = {HOLD_ANNOTATION: "7"}
    made["status"]["conditions"] = [{"type": each, "status": "True"} for each in conditions]
    server.add(live, made, *jobs_and_workloads(job("maps", "maps")))
    (held,) = holds.list()
    assert held.enforced is enforced
    assert (held.target, held.carrier) == ("job/letters-part2", "Workload/job-letters-part2")
    assert held.stops == "campaign letters, part 2"


def test_another_workload_of_a_held_job_that_is_active_is_said(
    server: Server, holds: Holds
) -> None:
    live = job("letters")
    live["spec"]["suspend"] = True
    made, other = workload(live, active=False), workload(live)
    made["metadata"]["annotations"] = {HOLD_ANNOTATION: "seven"}
    other["metadata"]["name"] = "other"
    server.add(live, made, other)
    (held,) = holds.list()
    assert held.mark.instance is None
    assert held.enforced is Enforced.NO


def test_a_caller_waits_for_its_deadline_and_the_bound(api: ApiServer) -> None:
    holds = Holds(api.client(), NAMESPACE, apiserver_request_timeout=34.0)
    assert holds.call_bound == call_bound(34.0) > 34.0


ENTRY = Entry(Happened.HELD, 1, "2026-01-01T00:00:00Z", "ops", "because")


def test_the_last_holds_are_kept_and_the_oldest_go(server: Server, holds: Holds) -> None:
    server.add(*jobs_and_workloads(job("letters")))
    for number in range(1, 7):
        holds.hold("letters", number, deadline=30, by="ops")
        holds.release("letters", number, deadline=30, by="maria")
    written = server.objects["workloads"]["job-letters"]["metadata"]["annotations"]
    kept = history_of(written[HOLD_HISTORY_ANNOTATION])
    assert len(kept) == LAST
    assert [(each.what, each.instance) for each in kept[-2:]] == [("held", 6), ("released", 6)]
    assert kept[-1].by == "maria"


def test_a_history_of_long_reasons_loses_its_oldest() -> None:
    written = ""
    for number in range(1, 11):
        written = with_entry(written, replace(ENTRY, instance=number, reason="修" * 1000))
    assert len(written.encode()) <= MOST_BYTES
    assert history_of(written)[-1].instance == 10


@pytest.mark.parametrize(
    "written",
    [
        "{",
        "7",
        "[7]",
        "null",
        '[{"what":"lost","instance":1}]',
        "[[]]",
        "[" * 100_000,
        '["\\ud800"]',
    ],
    ids=lambda text: text[:12],
)
def test_a_history_that_somebody_broke_is_begun_anew(written: str) -> None:
    assert history_of(written) == ()
    assert history_of(with_entry(written, ENTRY)) == (ENTRY,)


def test_half_a_character_in_a_history_breaks_nothing() -> None:
    odd = with_entry(json.dumps([{**vars_of(ENTRY), "reason": "\ud800"}]), ENTRY)
    assert len(history_of(odd)) == 2


def vars_of(entry: Entry) -> dict[str, object]:
    return {
        "what": entry.what,
        "instance": entry.instance,
        "at": entry.at,
        "by": entry.by,
        "reason": entry.reason,
    }


def test_times_are_of_now_in_utc(server: Server, holds: Holds) -> None:
    server.add(*jobs_and_workloads(job("letters")))
    before = datetime.now(UTC).replace(microsecond=0)
    holds.hold("letters", 1, deadline=30, by="ops")
    at = datetime.fromisoformat(holds.list()[0].mark.at)
    assert before <= at <= datetime.now(UTC)


DOCUMENT = Path(__file__).parents[3] / "docs" / "holds.md"


def test_the_example_in_the_document_runs(
    server: Server,
    api: ApiServer,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
) -> None:
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    monkeypatch.setattr(Client, "from_kubeconfig", api.client)
    held, stale = job("letters-part1"), job("letters-part2")
    server.add(*jobs_and_workloads(held, stale, job("letters-part3"), job("letters-part4")))
    server.objects["workloads"]["job-letters-part2"]["metadata"]["annotations"] = {
        HOLD_ANNOTATION: "9"
    }
    server.refuses = lambda request: (
        Answer(lost=True) if request.method == "PUT" and request.path.endswith("part3") else None
    )
    del server.objects["workloads"]["job-letters-part4"]
    script = tmp_path / "example.py"
    script.write_text(example)
    runpy.run_path(str(script))
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == [
        "job/letters-part2 is held by 9",
        "job/letters-part3 is settled in 95.0 seconds",
    ]
    assert lines[2].startswith("job/letters-part4 Job/letters-part4 has no Workload")
    assert lines[3:] == ["job/letters-part1 4 stopping", "job/letters-part2 9 no"]
