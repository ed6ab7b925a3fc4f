"""Counting requests by the API server's audit log."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from localcluster.audit import AuditLog, parse_event


def line(**changes: Any) -> str:
    event = {
        "kind": "Event",
        "apiVersion": "audit.k8s.io/v1",
        "level": "Metadata",
        "auditID": "1",
        "stage": "ResponseComplete",
        "requestURI": "/api/v1/namespaces/n/configmaps/c?fieldManager=m&dryRun=All",
        "verb": "patch",
        "user": {"username": "admin", "groups": ["system:masters"]},
        "userAgent": "campaigns/1.0",
        "objectRef": {"resource": "configmaps", "namespace": "n", "name": "c", "apiVersion": "v1"},
        "responseStatus": {"code": 200},
        "requestObject": {"data": {"a": "b"}},
        "requestReceivedTimestamp": "2026-01-02T03:04:05.678901Z",
    }
    return json.dumps(event | changes) + "\n"


def test_an_event() -> None:
    event = parse_event(line())
    assert (event.verb, event.user, event.user_agent) == ("patch", "admin", "campaigns/1.0")
    assert (event.group, event.resource, event.subresource) == ("", "configmaps", "")
    assert (event.namespace, event.name, event.code) == ("n", "c", 200)
    assert event.body == {"data": {"a": "b"}}
    assert event.query["fieldManager"] == ["m"]
    assert event.dry_run
    assert event.is_write


def test_an_event_without_an_object() -> None:
    whole = json.loads(line(requestURI="/readyz", verb="get"))
    kept = {key: whole[key] for key in ("auditID", "stage", "verb", "requestURI")}
    event = parse_event(json.dumps(kept | {"requestReceivedTimestamp": "2026-01-02T03:04:05Z"}))
    assert (event.resource, event.user, event.code, event.body) == ("", "", 0, None)
    assert not event.dry_run
    assert not event.is_write


LINES = {
    "mine": line(auditID="mine"),
    "theirs": line(auditID="theirs", userAgent="kubectl/1.35", user={"username": "bob"}),
    "list": line(auditID="list", verb="list", requestURI="/api/v1/configmaps", objectRef={}),
    "status": line(
        auditID="status",
        requestURI="/apis/batch/v1/namespaces/m/jobs/j/status",
        objectRef={"resource": "jobs", "subresource": "status", "namespace": "m", "name": "j"},
        responseStatus={"code": 409},
    ),
    "started": line(auditID="started", stage="ResponseStarted", verb="watch"),
}


@pytest.mark.parametrize(
    ("asked", "found"),
    [
        ({}, ["mine", "theirs", "list", "status"]),
        ({"user_agent": "campaigns/"}, ["mine", "list", "status"]),
        ({"user": "bob"}, ["theirs"]),
        ({"verbs": ("list", "watch")}, ["list"]),
        ({"resource": "jobs"}, ["status"]),
        ({"resource": "jobs", "subresource": ""}, []),
        ({"namespace": "m"}, ["status"]),
        ({"dry_run": True}, ["mine", "theirs"]),
        ({"dry_run": False}, ["list", "status"]),
        ({"code": 409}, ["status"]),
        ({"stage": "ResponseStarted"}, ["started"]),
        ({"user_agent": "campaigns/", "dry_run": True}, ["mine"]),
    ],
)
def test_events_that_fit(tmp_path: Path, asked: dict[str, Any], found: list[str]) -> None:
    log = AuditLog(tmp_path / "audit.log")
    log.path.write_text("".join(LINES.values()))
    assert [event.id for event in log.events(**asked)] == found


def test_events_after_a_mark(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log")
    assert log.end() == 0
    log.path.write_text(LINES["mine"])
    mark = log.end()
    with log.path.open("a") as handle:
        handle.write(LINES["theirs"])
    assert [event.id for event in log.events(mark)] == ["theirs"]


def test_a_line_that_is_being_written_is_left_for_later(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log")
    log.path.write_text(LINES["mine"] + LINES["theirs"][:40])
    assert [event.id for event in log.events()] == ["mine"]


def test_a_mark_within_a_line_that_is_being_written_leaves_that_line_out(tmp_path: Path) -> None:
    log = AuditLog(tmp_path / "audit.log")
    log.path.write_text(LINES["mine"][:40])
    mark = log.end()
    with log.path.open("a") as handle:
        handle.write(LINES["mine"][40:] + LINES["theirs"])
    assert [event.id for event in log.events(mark)] == ["theirs"]
