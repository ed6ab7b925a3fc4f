"""Where a Job is that no queue has."""

from __future__ import annotations

from dataclasses import replace

import pytest
from unit.reconcile.koord_store import koord_job
from unit.reconcile.live_objects import Object

from converter.model import Backend
from converter.names import HOLD_ANNOTATION, OPENED_ANNOTATION, SUSPEND_ANNOTATION
from converter.observe.job_phase import JobPhase
from converter.observe.phase import Phase
from converter.observe.plain_phase import plain_phase
from converter.observe.status import of_job

CREATED = "2026-01-01T00:00:00Z"
SUSPENDED_AT = "2026-01-02T08:00:00Z"
STARTED = "2026-01-02T10:00:00Z"
SUSPENDED = [{"type": "Suspended", "status": "True", "lastTransitionTime": SUSPENDED_AT}]
OPENED = {OPENED_ANNOTATION: "true"}
IN_GIT = {SUSPEND_ANNOTATION: "true"}
HELD = {HOLD_ANNOTATION: "7"}


def suspended(**annotations: str) -> Object:
    return koord_job(annotations, conditions=SUSPENDED)


def running(annotations: dict[str, str] | None = None) -> Object:
    return koord_job(annotations, suspend=False, startTime=STARTED)


@pytest.mark.parametrize(
    ("job", "pods", "phase", "detail"),
    [
        (suspended(), 0, Phase.WAITING, "it was created and not started: apply again"),
        (suspended(**IN_GIT), 0, Phase.PAUSED, ""),
        (running(OPENED), 2, Phase.RUNNING, ""),
        (running(), 2, Phase.RUNNING, ""),
        (
            running(OPENED | IN_GIT),
            2,
            Phase.PAUSING,
            "its Job is not suspended: apply again",
        ),
        (suspended(**OPENED, **IN_GIT), 2, Phase.PAUSING, "2 pods ending"),
        (suspended(**OPENED, **IN_GIT), 0, Phase.PAUSED, ""),
        (suspended(**OPENED), 0, Phase.PAUSED, "not by git, which lets it run: apply again"),
        (suspended(**HELD), 0, Phase.HELD, "hold 7"),
        (suspended(**OPENED, **HELD), 0, Phase.HELD, "hold 7"),
        (suspended(**OPENED, **IN_GIT, **HELD), 0, Phase.HELD, "hold 7"),
        (suspended(**OPENED, **HELD), 1, Phase.PAUSING, "being held by hold 7: 1 pod ending"),
        (running(OPENED | HELD), 2, Phase.RUNNING, "hold 7 does not stop it"),
    ],
    ids=[
        "at its gate",
        "created paused",
        "started",
        "started by hand",
        "started again while it is paused",
        "being paused",
        "paused",
        "suspended by hand",
        "held at its gate",
        "held",
        "held, and paused in git",
        "being held",
        "held by name alone",
    ],
)
def test_every_state(job: Object, pods: int, phase: Phase, detail: str) -> None:
    assert replace(plain_phase(job, pods), since="") == JobPhase(phase, detail)


@pytest.mark.parametrize(
    ("job", "since"),
    [
        (running(OPENED), STARTED),
        (suspended(**OPENED), SUSPENDED_AT),
        (koord_job(), CREATED),
        (koord_job(suspend=False), CREATED),
    ],
)
def test_since_when(job: Object, since: str) -> None:
    assert plain_phase(job, 0).since == since


def test_its_pods_are_counted_until_they_have_ended() -> None:
    ending = koord_job(OPENED | IN_GIT, active=1, terminating=1, conditions=SUSPENDED)
    status = of_job(ending, (), backend=Backend.NONE)
    assert (status.phase, status.detail) == (Phase.PAUSING, "2 pods ending")
    assert status.queue == ""
