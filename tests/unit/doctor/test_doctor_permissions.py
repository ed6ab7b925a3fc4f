"""What an identity may do, and which commands that is enough for."""

import pytest
from unit.doctor.findings import UNREAD, holds

from converter.doctor.finding import Finding
from converter.doctor.needs import (
    EVERYTHING,
    NEEDS,
    Access,
    Command,
    Named,
    Purpose,
    excesses,
    questions,
)
from converter.doctor.permissions import Answers, Rights, asked, permission_findings, spelt

NAMES = {
    Named.LEASE: ("campaigns-apply",),
    Named.NAMESPACE: ("team",),
    Named.QUEUE: ("gpu",),
    Named.CLUSTER_QUEUE: ("gpu-cq",),
    Named.FLAVORS: ("a", "b"),
    Named.CLASSES: (),
}
APPLY, VIEW, HOLD = Purpose.APPLY, Purpose.VIEW, Purpose.HOLD


def rights(*purposes: Purpose, but: Answers | None = None) -> Rights:
    """All that identities of the chart for these purposes may do; `but` are other answers."""
    granted = {
        each
        for need in NEEDS
        if need.purposes & set(purposes)
        for each in questions(need, NAMES, "team")
    }
    answers = {each: each in granted for each in asked("team", NAMES)}
    return Rights("team", NAMES, {**answers, **(but or {})})


def statuses(found: tuple[Finding, ...]) -> dict[str, str]:
    return {each.check.removeprefix("may-"): str(each.status) for each in found}


FINE = {"explain": "ok", "report": "ok", "status": "ok", "doctor": "ok", "excess": "ok"}
HOLDS = dict.fromkeys(("hold", "release", "holds"), "ok")


@pytest.mark.parametrize(
    ("purposes", "wish", "expected"),
    [
        ((APPLY, VIEW), None, {"apply": "ok", "diff": "ok", **FINE}),
        ((APPLY,), None, {"apply": "ok", "diff": "ok", **FINE}),
        ((APPLY,), APPLY, {"apply": "ok", "diff": "ok", "doctor": "ok", "excess": "ok"}),
        ((APPLY,), VIEW, FINE | dict.fromkeys(("status", "explain", "report"), "warning")),
        ((VIEW,), None, {"apply": "warning", "diff": "warning", **FINE}),
        ((VIEW,), VIEW, FINE),
        (
            (HOLD,),
            None,
            FINE
            | dict.fromkeys(("apply", "diff", "status", "explain", "report"), "warning")
            | HOLDS,
        ),
        ((HOLD,), HOLD, HOLDS | {"excess": "ok"}),
        (
            (APPLY,),
            HOLD,
            dict.fromkeys(("hold", "release"), "fault") | {"holds": "ok", "excess": "ok"},
        ),
        ((VIEW,), APPLY, {"apply": "fault", "diff": "fault", "doctor": "ok", "excess": "ok"}),
        (
            (),
            None,
            dict.fromkeys(("apply", "diff", "status", "explain", "report"), "fault")
            | {"doctor": "warning", "excess": "ok"},
        ),
    ],
)
def test_what_an_identity_is_fit_for(
    purposes: tuple[Purpose, ...], wish: Purpose | None, expected: dict[str, str]
) -> None:
    findings = permission_findings(rights(*purposes), wish)
    assert statuses(findings) == expected
    for finding in findings:
        holds(finding, finding.status)


def finding(of: Rights, check: str, wish: Purpose | None = None) -> Finding:
    return next(each for each in permission_findings(of, wish) if each.check.endswith(check))


CREATE_JOBS = Access("batch", "jobs", "create", namespace="team")
PATCH_JOBS = Access("batch", "jobs", "patch", namespace="team")
LEASE = Access("coordination.k8s.io", "leases", "get", "campaigns-apply", "team")
FLAVOR = Access("kueue.x-k8s.io", "resourceflavors", "get", "b")


def test_what_is_lacking_is_named_with_what_to_do() -> None:
    lacking = rights(APPLY, but={CREATE_JOBS: False, PATCH_JOBS: False, LEASE: False})
    holds(
        finding(lacking, "apply"),
        "warning",
        "may not create/patch jobs.batch, get leases.coordination.k8s.io campaigns-apply",
        "apply.enabled",
    )
    holds(finding(lacking, "diff"), "warning", "may not create/patch jobs.batch ->")


def test_without_reading_the_queue_apply_only_checks_less() -> None:
    lacking = rights(APPLY, but={FLAVOR: False})
    holds(finding(lacking, "apply", APPLY), "warning", "get resourceflavors.kueue.x-k8s.io b")
    holds(finding(lacking, "apply"), "ok", "checks less than with every right (--for apply")


def test_what_is_not_known_is_not_called_lacking() -> None:
    unknown = rights(APPLY, VIEW, but={CREATE_JOBS: UNREAD})
    holds(finding(unknown, "apply", APPLY), "unknown", "no answer")
    holds(finding(unknown, "status", VIEW), "ok")


def test_without_events_a_hold_only_tells_less() -> None:
    lacking = rights(HOLD, but={Access("", "events", "create", namespace="team"): False})
    holds(finding(lacking, "hold", HOLD), "warning", "tells less without: create events")
    update = Access("kueue.x-k8s.io", "workloads", "update", namespace="team")
    holds(finding(rights(HOLD, but={update: False}), "hold", HOLD), "fault", "holder.enabled")


SECRETS = Access("", "secrets", "get", namespace="team")
EXEC = Access("", "pods/exec", "create", namespace="team")
NODES = Access("", "nodes", "delete")


@pytest.mark.parametrize(
    ("but", "status", "words"),
    [
        ({}, "ok", "no Secrets"),
        ({SECRETS: True}, "warning", "may also get secrets"),
        ({EXEC: True, NODES: True}, "warning", "create pods/exec, delete nodes"),
        ({EVERYTHING: True, SECRETS: True}, "warning", "everything on the cluster"),
        ({SECRETS: UNREAD}, "unknown", "no answer"),
        ({SECRETS: UNREAD, NODES: True}, "warning", "delete nodes"),
    ],
)
def test_what_is_too_much(but: Answers, status: str, words: str) -> None:
    holds(finding(rights(APPLY, but=but), "excess"), status, words)


def test_each_question_is_asked_once_and_only_about_names_that_are_known() -> None:
    questions_asked = asked("team", NAMES)
    assert len(set(questions_asked)) == len(questions_asked)
    about = {each.name for each in questions_asked if each.resource == "resourceflavors"}
    assert about == {"a", "b", ""}  # the last one: may it patch any?
    assert not [each for each in questions_asked if each.resource == "workloadpriorityclasses"]


@pytest.mark.parametrize("command", Command)
def test_every_command_needs_something(command: Command) -> None:
    assert any(command in need.needed_by | need.helps for need in NEEDS)


def test_no_need_is_an_excess() -> None:
    needed = {(need.group, need.resource, need.verb) for need in NEEDS}
    assert not needed & {(each.group, each.resource, each.verb) for each in excesses("team")}


def test_permissions_as_people_say_them() -> None:
    assert spelt([CREATE_JOBS, LEASE, PATCH_JOBS, EXEC]) == (
        "create/patch jobs.batch, get leases.coordination.k8s.io campaigns-apply, create pods/exec"
    )
